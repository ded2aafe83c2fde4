/** What the failure of a step means for the rest. */

/**
 * `FAIL_FAST` stops at the first failure. `CONTINUE_ON_FAILURE` goes on: a pipeline hands the error
 * message to the next step, `parallel` and `mapEach` put it where the result would be.
 */
export type ErrorStrategy = 'FAIL_FAST' | 'CONTINUE_ON_FAILURE'

/** What is wrong with a strategy, if anything. */
export function strategyProblems(strategy: ErrorStrategy): readonly string[] {
  if (strategy === 'FAIL_FAST' || strategy === 'CONTINUE_ON_FAILURE') return []
  const shown = JSON.stringify(strategy)
  return [`errorStrategy must be "FAIL_FAST" or "CONTINUE_ON_FAILURE", got ${shown}`]
}
