/**
 * Queue of the received messages of one connection.
 *
 * API-I1 At most `MAX_IN_FLIGHT` messages are handled at a time. They start in the order of arrival.
 * API-I2 At most `PER_TURN` messages start before other connections and timers get a turn.
 * API-I3 While messages wait, the connection is not read. This slows the sender down and bounds memory.
 * API-I4 A large message waits for a read turn, and later messages of the connection wait for it.
 */
import { LARGE_BODY_BYTES } from '@tutti/gateway/internal'

import { messageSize } from './parse-message.ts'

import type { RawData, WebSocket } from 'ws'

/** Maximum number of messages handled at a time. Some wait for a tool or for another process. */
export const MAX_IN_FLIGHT = 64

/** Maximum number of messages started in one turn of the event loop. */
const PER_TURN = 8

/** Reads messages no faster than they are handled. */
export class MessageInbox {
  readonly #socket: Pick<WebSocket, 'pause' | 'resume'>
  readonly #answer: (data: RawData) => Promise<void>
  readonly #waiting: RawData[] = []
  #inFlight = 0
  #begunThisTurn = 0
  #isPaused = false
  readonly #takeTurn: () => Promise<void>
  /** Whether the first waiting message has no turn yet, waits for it, or has it. */
  #turn: 'none' | 'waiting' | 'taken' = 'none'

  constructor(
    socket: Pick<WebSocket, 'pause' | 'resume'>,
    answer: (data: RawData) => Promise<void>,
    takeTurn: () => Promise<void>,
  ) {
    this.#socket = socket
    this.#answer = answer
    this.#takeTurn = takeTurn
  }

  /** Adds a received message. */
  take(data: RawData): void {
    this.#waiting.push(data)
    this.#begin()
  }

  /** Drops waiting messages after the connection has closed. */
  clear(): void {
    this.#waiting.length = 0
  }

  #begin(): void {
    while (this.#inFlight < MAX_IN_FLIGHT && this.#begunThisTurn < PER_TURN) {
      const [data] = this.#waiting
      if (data === undefined || !this.#hasTurn(data)) break
      this.#waiting.shift()
      this.#turn = 'none'
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

  /** Whether the first waiting message may start; otherwise it asks for its turn. */
  #hasTurn(data: RawData): boolean {
    if (messageSize(data) <= LARGE_BODY_BYTES || this.#turn === 'taken') return true
    if (this.#turn === 'none') {
      this.#turn = 'waiting'
      void this.#takeTurn().then(() => {
        this.#turn = 'taken'
        this.#begin()
      })
    }
    return false
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
