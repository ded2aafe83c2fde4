/**
 * Limits the unsent data of all connections of this process together.
 *
 * API-U1 While more than `maxUnreadBytes` are unsent, the connections with the most unsent data are closed. Clients
 *    reconnect and continue after the last event that they received.
 *
 * Unsent bytes are counted in the sockets, so HTTP, event streams and WebSockets count alike.
 */
import type { Socket } from 'node:net'

/** Minimum time between two checks, in milliseconds. */
const CHECK_MS = 50

/** Options of {@link UnreadData}. */
export interface UnreadDataOptions {
  readonly maxUnreadBytes: number
  /** Returns the time of a monotonic clock in milliseconds. */
  readonly elapsed: () => number
  /** Called for each connection that is closed. */
  readonly onDrop: () => void
}

/** Tracks and limits the unsent data of all connections. */
export class UnreadData {
  readonly #options: UnreadDataOptions
  readonly #sockets = new Set<Socket>()
  #checkedAt = -Infinity

  constructor(options: UnreadDataOptions) {
    this.#options = options
  }

  /** Includes a connection until it closes. */
  add(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('close', () => this.#sockets.delete(socket))
  }

  /** Enforces the limit, unless that was done within the last {@link CHECK_MS}. */
  check(): void {
    const now = this.#options.elapsed()
    if (now - this.#checkedAt < CHECK_MS) return
    this.#checkedAt = now
    this.makeRoom()
  }

  /** Closes the connections with the most unsent data until the limit is met. */
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
