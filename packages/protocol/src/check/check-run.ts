/**
 * Steps and results of one check of one value.
 *
 * A step is one schema node applied to one part of a value, or as much other work as that takes. A value that needs more
 * steps than its run has is refused, because the same thread serves all other work of the process.
 */

/** Maximum number of steps of one check; they take 20 to 60 ms. A table of 25,000 coerced cells needs 540,000. */
export const MAX_CHECK_STEPS = 600_000

/** Maximum number of steps to describe the problems of an invalid value, in addition. */
export const MAX_DESCRIPTION_STEPS = 300_000

/** Thrown when a value cannot be checked within the steps of its run. */
export class CheckLimitError extends Error {
  override readonly name = 'CheckLimitError'

  constructor(steps: number) {
    super(`the check needs more than ${steps} steps`)
  }
}

/** One check. Mutable: it counts steps, and stores results so that no schema reads the same object twice. */
export class CheckRun {
  readonly #limit: number
  readonly #results = new Map<object, Map<unknown, unknown>>()
  #left: number

  /** @param limit - maximum number of steps */
  constructor(limit = MAX_CHECK_STEPS) {
    this.#limit = limit
    this.#left = limit
  }

  /** Number of steps so far. */
  get steps(): number {
    return this.#limit - this.#left
  }

  /**
   * Counts steps.
   *
   * @throws {CheckLimitError} when none are left.
   */
  spend(steps: number): void {
    this.#left -= steps
    if (this.#left < 0) throw new CheckLimitError(this.#limit)
  }

  /** Returns the stored results of a part of a schema, by value. */
  resultsOf<Result>(part: object): Map<unknown, Result> {
    let found = this.#results.get(part)
    if (found === undefined) {
      found = new Map()
      this.#results.set(part, found)
    }
    // NOTE: each part has results of one type.
    return found as Map<unknown, Result>
  }
}
