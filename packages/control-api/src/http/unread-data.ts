/**
 * Limits the data that waits in this process for readers, over all connections.
 *
 * API-U1 When more than `maxUnreadBytes` wait, the connections with the most are closed until it is less. Their
 *    readers come back and continue after the last event that they received.
 * API-U2 Bytes are counted where they wait, in the sockets: HTTP, event streams and WebSockets alike.
 */
import type { Socket } from 'node:net'

/** Sums are this old at most when data is written often, in milliseconds. */
const CHECK_MS = 50

/** Parts of the counter. */
export interface UnreadDataOptions {
  readonly maxUnreadBytes: number
  /** A clock that never goes back, in milliseconds. */
  readonly elapsed: () => number
  /** Called for each connection that is closed. */
  readonly onDrop: () => void
}

/** The unread data of all connections. */
export class UnreadData {
  readonly #options: UnreadDataOptions
  readonly #sockets = new Set<Socket>()
  #checkedAt = -Infinity

  constructor(options: UnreadDataOptions) {
    this.#options = options
  }

  /** Counts a connection until it closes. */
  add(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('close', () => this.#sockets.delete(socket))
  }

  /** Checks the limit, if that was not done a moment ago. */
  check(): void {
    const now = this.#options.elapsed()
    if (now - this.#checkedAt < CHECK_MS) return
    this.#checkedAt = now
    this.makeRoom()
  }

  /** Closes connections until the limit is kept. */
  makeRoom(): void {
    const { maxUnreadBytes, onDrop } = this.#options
    const holding: Socket[] = []
    let total = 0
    for (const socket of this.#sockets) {
      if (socket.writableLength === 0) continue
      holding.push(socket)
      total += socket.writableLength
    }
    if (total <= maxUnreadBytes) return
    for (const socket of holding.toSorted((a, b) => b.writableLength - a.writableLength)) {
      if (total <= maxUnreadBytes) return
      total -= socket.writableLength
      onDrop()
      socket.destroy()
    }
  }
}
