/**
 * The state of requests to a peer that outlives one connection. A call that is sent again because its
 * connection was lost is the same request, whose answer is still awaited. Once a request has ended without an
 * answer, the same call is another request.
 */
import { BoundedMap } from '@tutti/core/internal'

import { hashRequestId, type PeerReply } from './peer-request.ts'

/** A request that was sent. */
export interface PendingRequest {
  readonly requestId: string
  /** Time of the first attempt, by `Clock.elapsed`. */
  readonly askedAt: number
}

/** Maximum number of remembered calls, the newest; an older call counts as new. */
const MAX_REMEMBERED_CALLS = 1_000

/** The requests of one tool. */
export class PendingRequests {
  readonly #calls = new BoundedMap<string, { asked: PendingRequest; readonly round: number }>(
    MAX_REMEMBERED_CALLS,
  )

  /** Returns the request for a call, which `parts` identify. */
  find(parts: readonly (string | number)[], now: number): PendingRequest {
    const key = hashRequestId(parts)
    const { asked, round } = this.#calls.get(key) ?? this.#create(parts, { round: 0, now })
    this.#calls.set(key, { asked, round })
    return asked
  }

  /** Makes the next call with this key a new request. */
  end(parts: readonly (string | number)[], now: number): void {
    const key = hashRequestId(parts)
    const { round } = this.#calls.get(key) ?? { round: 0 }
    this.#calls.set(key, this.#create(parts, { round: round + 1, now }))
  }

  #create(
    parts: readonly (string | number)[],
    { round, now }: { readonly round: number; readonly now: number },
  ): { asked: PendingRequest; readonly round: number } {
    return { asked: { requestId: hashRequestId([...parts, round]), askedAt: now }, round }
  }
}

/** Reported events of one task: a peer that receives the request again repeats them from the first. */
export class ReportedEvents {
  readonly #reported: string[] = []
  #isAccepted = false
  /** Position in the list while the peer repeats it; undefined once it is past the end. */
  #position: number | undefined

  /** The task was requested again: its events start from the first. */
  startAgain(): void {
    this.#position = 0
  }

  /** Returns whether an event is new, and counts it as reported. */
  isNew(event: Extract<PeerReply, { type: 'task_accepted' | 'task_progress' }>): boolean {
    if (event.type === 'task_accepted') {
      const isFirst = !this.#isAccepted
      this.#isAccepted = true
      return isFirst
    }
    const text = JSON.stringify(event)
    if (this.#position !== undefined && this.#reported[this.#position] === text) {
      this.#position += 1
      return false
    }
    this.#position = undefined
    this.#reported.push(text)
    return true
  }
}
