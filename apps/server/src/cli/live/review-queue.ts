/** The open reviews of a run that is followed: each is asked about once, one after another, while the view is suspended. */
import { TuttiClientError, type TuttiClient } from '@tutti/client'
import { errorMessage } from '@tutti/core'
import type { ReviewState, RunState } from '@tutti/protocol'

import { decideAtTerminal } from '../review-prompt.ts'

import type { CommandIo } from '../command-io.ts'
import type { Display } from './display.ts'

/** Where reviews are asked about. */
export interface ReviewQueueOptions {
  readonly client: TuttiClient
  readonly io: CommandIo
  readonly display: Display
  /** Whether anybody can be asked here; otherwise the display says how a review is answered. */
  readonly canAsk: boolean
  /** Called before a question, and after its answer. */
  readonly suspend: () => void
  readonly resume: () => void
}

/** Asks about open reviews. */
export class ReviewQueue {
  readonly #options: ReviewQueueOptions
  /** Reviews that were asked about already, or are not to be. */
  readonly #seen = new Set<string>()
  #state: RunState | undefined
  #asked: { readonly reviewId: string; readonly closed: AbortController } | undefined
  #work: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(options: ReviewQueueOptions) {
    this.#options = options
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
    if (!this.#options.canAsk || this.#asked !== undefined || this.#isClosed) return
    const gate = this.#state?.reviews.find(
      ({ status, reviewId }) => status === 'OPEN' && !this.#seen.has(reviewId),
    )
    if (gate === undefined) return
    this.#seen.add(gate.reviewId)
    this.#work = this.#ask(gate)
  }

  async #ask(gate: ReviewState): Promise<void> {
    const { io, display, client } = this.#options
    const closed = new AbortController()
    this.#asked = { reviewId: gate.reviewId, closed }
    this.#options.suspend()
    let words: string | undefined
    try {
      const applied = await decideAtTerminal(gate, io, {
        signal: closed.signal,
        decide: (decision) => client.reviews.decide(gate.reviewId, decision),
      })
      if (applied === undefined && closed.signal.aborted) {
        words = `The review of ${gate.taskName} is closed`
      }
    } catch (error) {
      words = `The decision was not taken: ${TuttiClientError.isInstance(error) ? error.message : errorMessage(error)}`
    }
    this.#asked = undefined
    if (this.#isClosed) return
    this.#options.resume()
    if (words !== undefined) display.say(words)
    this.#askNext()
  }
}

function isOpen({ reviews: gates }: RunState, reviewId: string): boolean {
  return gates.some((gate) => gate.reviewId === reviewId && gate.status === 'OPEN')
}
