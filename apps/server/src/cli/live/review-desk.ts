/**
 * The reviews of a run that is followed: each is asked about once, one after another, while the view stands aside.
 *
 * It tells nobody who can be asked nothing: then the lines of the display say how a review is answered.
 */
import { TuttiClientError } from '@tutti/client'
import { errorMessage } from '@tutti/core'
import type { GateState, RunState } from '@tutti/protocol'

import { decideAtTerminal } from '../review-prompt.ts'

import type { FollowRequest } from './follower.ts'

/** What happens around a question. */
export interface DeskHooks {
  before(): void
  after(): void
}

/** Asks about open reviews. */
export class ReviewDesk {
  readonly #request: FollowRequest
  readonly #hooks: DeskHooks
  /** Reviews that were asked about already, or are not to be. */
  readonly #seen = new Set<string>()
  #state: RunState | undefined
  #asked: { readonly reviewId: string; readonly closed: AbortController } | undefined
  #work: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(request: FollowRequest, hooks: DeskHooks) {
    this.#request = request
    this.#hooks = hooks
  }

  /** Whether somebody is being asked. */
  get isAsking(): boolean {
    return this.#asked !== undefined
  }

  /** Looks at the run after an event: ends a question that is settled, and asks the next. */
  look(state: RunState): void {
    this.#state = state
    if (this.#asked !== undefined && !isOpen(state, this.#asked.reviewId))
      this.#asked.closed.abort()
    this.#askNext()
  }

  /** Asks once more about what was put off. */
  askAgain(state: RunState): void {
    this.#seen.clear()
    this.look(state)
  }

  /** Ends the question that is open, and waits until the terminal is free. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#asked?.closed.abort()
    await this.#work
  }

  #askNext(): void {
    const { isInteractive, leavesAtReview } = this.#request
    if (!isInteractive || leavesAtReview || this.#asked !== undefined || this.#isClosed) return
    const gate = this.#state?.gates.find(
      ({ status, reviewId }) => status === 'OPEN' && !this.#seen.has(reviewId),
    )
    if (gate === undefined) return
    this.#seen.add(gate.reviewId)
    this.#work = this.#ask(gate)
  }

  async #ask(gate: GateState): Promise<void> {
    const { io, display } = this.#request
    const closed = new AbortController()
    this.#asked = { reviewId: gate.reviewId, closed }
    this.#hooks.before()
    let words: string | undefined
    try {
      const { reviews } = this.#request.client
      const applied = await decideAtTerminal(gate, io, {
        signal: closed.signal,
        decide: (decision) => reviews.decide(gate.reviewId, decision),
      })
      if (applied === undefined && closed.signal.aborted) {
        words = `The review of ${gate.taskName} is closed`
      }
    } catch (error) {
      words = `The decision was not taken: ${TuttiClientError.isInstance(error) ? error.message : errorMessage(error)}`
    }
    this.#asked = undefined
    if (this.#isClosed) return
    this.#hooks.after()
    if (words !== undefined) display.say(words)
    this.#askNext()
  }
}

function isOpen({ gates }: RunState, reviewId: string): boolean {
  return gates.some((gate) => gate.reviewId === reviewId && gate.status === 'OPEN')
}
