/** Decisions that arrive before their review is open again. */
import { reviewResolvedError } from './review-end.ts'

interface EarlyDecision {
  readonly onOpen: () => void
  readonly onNever: () => void
}

/** Decisions that wait for their review, by review. */
export class EarlyDecisions {
  readonly #waiting = new Map<string, Set<EarlyDecision>>()
  readonly #onOpen: () => void

  /** `onOpen` is called for each waiting decision, synchronously when its review opens. */
  constructor(onOpen: () => void) {
    this.#onOpen = onOpen
  }

  /**
   * Resolves when the review is open.
   *
   * @throws {TuttiError} REVIEW_RESOLVED if it never opens.
   */
  untilOpen(reviewId: string): Promise<void> {
    const waiting = this.#waiting.get(reviewId) ?? new Set()
    this.#waiting.set(reviewId, waiting)
    return new Promise((resolve, reject) => {
      waiting.add({
        onOpen: () => {
          this.#onOpen()
          resolve()
        },
        onNever: () => {
          reject(reviewResolvedError(reviewId))
        },
      })
    })
  }

  /** Resolves the decisions of a review that has opened. */
  open(reviewId: string): void {
    for (const { onOpen } of this.#waiting.get(reviewId) ?? []) onOpen()
    this.#waiting.delete(reviewId)
  }

  /** Rejects the decisions of a review that never opens. */
  reject(reviewId: string): void {
    for (const { onNever } of this.#waiting.get(reviewId) ?? []) onNever()
    this.#waiting.delete(reviewId)
  }

  /** Rejects all decisions when the run has ended. */
  rejectAll(): void {
    for (const reviewId of this.#waiting.keys()) this.reject(reviewId)
  }
}
