/** What the failure of a step means for the rest. */
import { findChoiceProblems } from '@tutti/core'

/**
 * `FAIL_FAST` stops at the first failure. `CONTINUE_ON_FAILURE` goes on: a pipeline hands the error
 * message to the next step, `parallel` and `mapEach` put it where the result would be.
 */
export type PipelineErrorStrategy = 'FAIL_FAST' | 'CONTINUE_ON_FAILURE'

/** What is wrong with a strategy, if anything. */
export function strategyProblems(strategy: PipelineErrorStrategy): readonly string[] {
  return findChoiceProblems('errorStrategy', strategy, ['FAIL_FAST', 'CONTINUE_ON_FAILURE'])
}
