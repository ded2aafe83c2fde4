/**
 * Asks about the open reviews of a followed run, except waits for events and times, once each and one at a time, while the view
 * is suspended.
 */
import { TuttiClientError, type TuttiClient } from '@tutti/client'
import { errorMessage } from '@tutti/core/internal'
import type { RunState } from '@tutti/protocol'
import type { ReviewState } from '@tutti/protocol/internal'

import { decideAtTerminal } from './review-prompt.ts'
import { formatBuildWait } from './review-subject.ts'

import type { CommandIo } from '../../terminal/command-io.ts'
import type { Display } from './display.ts'

export interface ReviewQueueOptions {
  readonly client: TuttiClient
  readonly runId: string
  readonly io: CommandIo
  readonly display: Display
  /** Whether the command can prompt; otherwise the display shows how to decide a review. */
  readonly canAsk: boolean
  /** Called before a prompt. */
  readonly suspend: () => void
  /** Called after a prompt. */
  readonly resume: () => void
}

/** Queue of prompts for open reviews. */
export class ReviewQueue {
  readonly #options: ReviewQueueOptions
  /** Ids of the reviews that the user was asked about. */
  readonly #seen = new Set<string>()
  #state: RunState | undefined
  #asked: { readonly reviewId: string; readonly closed: AbortController } | undefined
  #work: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(options: ReviewQueueOptions) {
    this.#options = options
  }

  /** Whether a prompt is open. */
  get isAsking(): boolean {
    return this.#asked !== undefined
  }

  /** Updates the queue after an event: closes a prompt whose review is no longer open, and opens the next prompt. */
  update(state: RunState): void {
    this.#state = state
    if (this.#asked !== undefined && !isOpen(state, this.#asked.reviewId))
      this.#asked.closed.abort()
    this.#askNext()
  }

  /** Asks again about reviews that the user has put off. */
  askAgain(state: RunState): void {
    this.#seen.clear()
    this.update(state)
  }

  /** Closes the open prompt, and waits until the terminal is free. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#asked?.closed.abort()
    await this.#work
  }

  #askNext(): void {
    if (!this.#options.canAsk || this.#asked !== undefined || this.#isClosed) return
    const review = this.#state?.reviews.find(
      ({ status, kind, reviewId }) =>
        status === 'OPEN' && kind !== 'EVENT' && !this.#seen.has(reviewId),
    )
    if (review === undefined) return
    this.#seen.add(review.reviewId)
    this.#work = this.#ask(review)
  }

  async #ask(review: ReviewState): Promise<void> {
    const { io, display, client, runId } = this.#options
    const closed = new AbortController()
    this.#asked = { reviewId: review.reviewId, closed }
    this.#options.suspend()
    let message: string | undefined
    try {
      const applied = await decideAtTerminal(review, io, {
        signal: closed.signal,
        decide: (decision) => client.reviews.decide(review.reviewId, decision),
      })
      if (applied === undefined && closed.signal.aborted) {
        message = `The review of ${review.taskName} is closed`
      }
      const { waitsForBuild } = applied ?? {}
      if (waitsForBuild !== undefined) message = formatBuildWait(runId, waitsForBuild)
    } catch (error) {
      message = `Failed to send the decision: ${TuttiClientError.isInstance(error) ? error.message : errorMessage(error)}`
    }
    this.#asked = undefined
    if (this.#isClosed) return
    this.#options.resume()
    if (message !== undefined) display.print(message)
    this.#askNext()
  }
}

function isOpen({ reviews }: RunState, reviewId: string): boolean {
  return reviews.some((review) => review.reviewId === reviewId && review.status === 'OPEN')
}
