/** Decisions that came before their gate is open again. */
import { reviewResolved } from './review-end.ts'

interface EarlyDecision {
  readonly onOpen: () => void
  readonly onNever: () => void
}

/** The decisions that wait, by review. */
export class EarlyDecisions {
  readonly #waiting = new Map<string, Set<EarlyDecision>>()
  readonly #onOpen: () => void

  /** `onOpen` is told for each decision, at the very moment when its gate opens. */
  constructor(onOpen: () => void) {
    this.#onOpen = onOpen
  }

  /**
   * Resolves when the gate is open.
   *
   * @throws {TuttiError} REVIEW_RESOLVED when it never will be.
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
          reject(reviewResolved(reviewId))
        },
      })
    })
  }

  /** The gate is open. */
  open(reviewId: string): void {
    for (const { onOpen } of this.#waiting.get(reviewId) ?? []) onOpen()
    this.#waiting.delete(reviewId)
  }

  /** The gate never opens. */
  refuse(reviewId: string): void {
    for (const { onNever } of this.#waiting.get(reviewId) ?? []) onNever()
    this.#waiting.delete(reviewId)
  }

  /** No gate opens any more. */
  refuseAll(): void {
    for (const reviewId of this.#waiting.keys()) this.refuse(reviewId)
  }
}
