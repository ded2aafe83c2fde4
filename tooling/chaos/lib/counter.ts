/**
 * The counter of tool calls: an HTTP server outside of the system. It records each call that arrives, and
 * replies after a delay, so that faults interrupt calls.
 */
import { json } from 'node:stream/consumers'

import { listenLocally, type Listening } from '../../net/listen.ts'
import { draw } from './draw.ts'

/** A tool call that reached the counter. Times are in milliseconds since 1970. */
export interface CountedCall {
  /** Idempotency key of the call. */
  readonly key: string
  readonly runId: string
  readonly task: string
  readonly tool: string
  readonly piece: string
  /** Process that made the call. */
  readonly pid: number
  /** Time at which the body of the tool began, by that process; the call may reach the counter much later. */
  readonly at: number
  /** Time of the reply; absent when the connection had closed before. */
  answeredAt?: number
}

/** Instructions for the runs of the ensemble `hold`; the reply to a GET. */
export interface HoldState {
  readonly isReleased: boolean
  /** Interval between the words of a run, in milliseconds. Without it, they write none. */
  readonly wordMs?: number
}

/** A listening counter. */
export interface Counter extends Listening {
  readonly calls: readonly CountedCall[]
  /** Sets the interval at which a run of the ensemble `hold` writes a word, in milliseconds. @default it writes none */
  setWordMs(wordMs: number): void
  /** Lets the runs of the ensemble `hold` end. */
  release(): void
}

/** Maximum delay of a reply, in milliseconds. */
const MAX_DELAY_MS = 150

/** Starts a counter on a free port of 127.0.0.1. */
export async function startCounter(seed: number): Promise<Counter> {
  const calls: CountedCall[] = []
  let hold: HoldState = { isReleased: false }
  const server = await listenLocally((request, response) => {
    if (request.method === 'GET') {
      response.end(JSON.stringify(hold))
      return
    }
    void json(request).then((body) => {
      // NOTE: only the tools of `chaos.config.mjs` call this server.
      const call = body as CountedCall
      calls.push(call)
      const position = call.key.slice(call.runId.length)
      setTimeout(
        () => {
          if (request.socket.destroyed) return
          call.answeredAt = Date.now()
          response.end('counted')
        },
        MAX_DELAY_MS * draw(seed, 'counter', call.piece, position),
      )
    }, request.destroy.bind(request))
  })
  return {
    ...server,
    calls,
    setWordMs(wordMs) {
      hold = { ...hold, wordMs }
    },
    release() {
      hold = { ...hold, isReleased: true }
    },
  }
}
