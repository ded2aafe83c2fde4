/** Regular expressions of schemas. */
import type { CheckRun } from './check-run.ts'

/** Compiled regular expression. */
export interface Pattern {
  /**
   * Returns whether any part of the text matches.
   *
   * @throws {CheckLimitError} when the run has no steps left.
   */
  test(text: string, run: CheckRun): boolean
}

/**
 * Compiles the regular expressions of one schema.
 *
 * @throws {SyntaxError} when the text is not a regular expression, or one that the engine does not support.
 */
export type PatternEngine = (source: string) => Pattern

/** Number of characters that a regular expression without backtracking reads in the time of a step. */
const CHARACTERS_PER_STEP = 16

/** The engine of JavaScript, with the flag `u`. Only for patterns of authors: backtracking can take exponential time. */
export const nativePatterns: PatternEngine = (source) => toPattern(new RegExp(source, 'u'))

/** Returns a pattern of a regular expression of JavaScript. */
export function toPattern(expression: RegExp): Pattern {
  return {
    test(text, run) {
      run.spend(1 + text.length / CHARACTERS_PER_STEP)
      return expression.test(text)
    },
  }
}
