/** Collects what is wrong with a request, so that all of it is told at once. */
import { TuttiError } from '@tutti/core'

import type { ErrorCode, Problem } from '@tutti/protocol'

/** Problems that are told, at most: more help nobody, and each costs time to put into words. */
const MAX_TOLD = 100

/** What is wrong with a request so far. */
export class Refusals {
  readonly #problems: Problem[] = []
  #code: ErrorCode | undefined
  #untold = 0

  /** Notes a problem; `path` is a JSON Pointer into the body, `message` puts it into words when it is told. */
  add(code: ErrorCode, path: string, message: () => string): void {
    this.#code ??= code
    if (this.#problems.length < MAX_TOLD) this.#problems.push({ path, message: message() })
    else this.#untold += 1
  }

  /** @throws {TuttiError} with the code of the first problem and the texts of all, up to a hundred. */
  throwIfAny(): void {
    if (this.#code === undefined) return
    const texts = new Set(this.#problems.map((problem) => problem.message))
    if (this.#untold > 0) texts.add(`and ${this.#untold} more problems`)
    throw new TuttiError(this.#code, [...texts].join('; '), {
      details: { problems: this.#problems },
    })
  }
}
