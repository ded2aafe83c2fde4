/**
 * Which requests were made of a peer. A call that is made again, since its connection was lost, is the same
 * request, and its answer is waited for; when the request is over without an answer it is another one.
 */
import { requestIdOf } from './peer-request.ts'

/** A request that was made. */
export interface AskedRequest {
  readonly requestId: string
  /** When it was first made, by `Clock.elapsed`. */
  readonly askedAt: number
}

/** Calls that are remembered, the newest; one that is not is taken for new. */
const REMEMBERED_CALLS = 1_000

/** The requests of one tool. */
export class AskedRequests {
  readonly #calls = new Map<string, { asked: AskedRequest; readonly round: number }>()

  /** The request that a call is, by words that stand for the call. */
  of(words: readonly (string | number)[], now: number): AskedRequest {
    const key = requestIdOf(words)
    const { asked, round } = this.#calls.get(key) ?? this.#made(words, { round: 0, now })
    this.#remember(key, { asked, round })
    return asked
  }

  /** Has the next call of these words be another request. */
  endOf(words: readonly (string | number)[], now: number): void {
    const key = requestIdOf(words)
    const { round } = this.#calls.get(key) ?? { round: 0 }
    this.#remember(key, this.#made(words, { round: round + 1, now }))
  }

  #made(
    words: readonly (string | number)[],
    { round, now }: { readonly round: number; readonly now: number },
  ): { asked: AskedRequest; readonly round: number } {
    return { asked: { requestId: requestIdOf([...words, round]), askedAt: now }, round }
  }

  #remember(key: string, call: { asked: AskedRequest; readonly round: number }): void {
    this.#calls.delete(key)
    this.#calls.set(key, call)
    const [oldest] = this.#calls.keys()
    if (this.#calls.size > REMEMBERED_CALLS && oldest !== undefined) this.#calls.delete(oldest)
  }
}
