/** Collects the problems of a request, so that all of them are reported at once. */
import { TuttiError } from '@tutti/core'
import { formatMoreProblems } from '@tutti/protocol/internal'

import type { ErrorCode } from '@tutti/protocol'
import type { Problem } from '@tutti/protocol/internal'

/** Maximum number of problems described. Each costs a search for similar names. */
const MAX_DESCRIBED = 20

/** Maximum number of problems repeated in the message of the error. */
const MAX_IN_MESSAGE = 5

/** The problems of a request so far. */
export class Refusals {
  readonly #problems: Problem[] = []
  #code: ErrorCode | undefined
  #undescribed = 0

  /** Adds a problem; `path` is a JSON Pointer into the body, `message` describes it when it is reported. */
  add(code: ErrorCode, path: string, message: () => string): void {
    this.#code ??= code
    if (this.#problems.length < MAX_DESCRIBED) this.#problems.push({ path, message: message() })
    else this.#undescribed += 1
  }

  /** @throws {TuttiError} with the code of the first problem, the texts of the first few, and all described. */
  throwIfAny(): void {
    if (this.#code === undefined) return
    const texts = [...new Set(this.#problems.map((problem) => problem.message))]
    const shown = texts.slice(0, MAX_IN_MESSAGE)
    const more = texts.length - shown.length + this.#undescribed
    const rest = more === 0 ? [] : [`and ${formatMoreProblems(more)}`]
    const undescribed = { path: '', message: `has ${formatMoreProblems(this.#undescribed)}` }
    throw new TuttiError(this.#code, [...shown, ...rest].join('; '), {
      details: {
        problems: this.#undescribed === 0 ? this.#problems : [...this.#problems, undescribed],
      },
    })
  }
}

/**
 * Refuses a request with problems in the part at `path`.
 *
 * @throws {TuttiError} BAD_REQUEST with the texts of the first few problems, and all described.
 */
export function assertNoProblems(path: string, problems: readonly Problem[]): void {
  if (problems.length === 0) return
  const found = problems
    .slice(0, MAX_DESCRIBED)
    .map(({ path: inner, message }) => ({ path: `${path}${inner}`, message }))
  const shown = found.slice(0, MAX_IN_MESSAGE).map((one) => `${one.path} ${one.message}`)
  const rest = problems.length - shown.length
  const text = [...shown, ...(rest === 0 ? [] : [`and ${formatMoreProblems(rest)}`])].join('; ')
  throw new TuttiError('BAD_REQUEST', `Invalid request body: ${text}`, {
    details: { problems: found },
  })
}
