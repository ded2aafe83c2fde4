/**
 * The messages of one connection that wait to be answered.
 *
 * API-I1 At most `MAX_IN_FLIGHT` are answered at a time, begun in the order in which they came.
 * API-I2 At most `PER_TURN` are begun before other connections and timers get a turn.
 * API-I3 While messages wait, nothing more is read from the connection, so the sender is slowed down and memory
 *    holds only what was read with them.
 */
import type { RawData, WebSocket } from 'ws'

/** Messages that are answered at a time. Some wait for a tool or for another process. */
export const MAX_IN_FLIGHT = 64

/** Messages begun in one turn of the event loop. */
const PER_TURN = 8

/** Reads messages no faster than they are answered. */
export class MessageInbox {
  readonly #socket: Pick<WebSocket, 'pause' | 'resume'>
  readonly #answer: (data: RawData) => Promise<void>
  readonly #waiting: RawData[] = []
  #inFlight = 0
  #begunThisTurn = 0
  #isPaused = false

  constructor(
    socket: Pick<WebSocket, 'pause' | 'resume'>,
    answer: (data: RawData) => Promise<void>,
  ) {
    this.#socket = socket
    this.#answer = answer
  }

  /** Takes a message that came. */
  take(data: RawData): void {
    this.#waiting.push(data)
    this.#begin()
  }

  /** Drops what waits: the connection is over. */
  clear(): void {
    this.#waiting.length = 0
  }

  #begin(): void {
    while (this.#inFlight < MAX_IN_FLIGHT && this.#begunThisTurn < PER_TURN) {
      const data = this.#waiting.shift()
      if (data === undefined) break
      if (this.#begunThisTurn === 0) this.#endTurnLater()
      this.#begunThisTurn += 1
      this.#inFlight += 1
      void this.#answer(data).finally(() => {
        this.#inFlight -= 1
        this.#begin()
      })
    }
    this.#setPaused(this.#waiting.length > 0)
  }

  #endTurnLater(): void {
    setImmediate(() => {
      this.#begunThisTurn = 0
      this.#begin()
    })
  }

  #setPaused(isPaused: boolean): void {
    if (isPaused === this.#isPaused) return
    this.#isPaused = isPaused
    if (isPaused) this.#socket.pause()
    else this.#socket.resume()
  }
}
