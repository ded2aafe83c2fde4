/** Strategies for the failure of a step. */
import { findChoiceProblems } from '@tutti/core/internal'

/**
 * Strategy for the failure of a step. `FAIL_FAST` stops at the first failure. `CONTINUE_ON_FAILURE` continues: a pipeline
 * passes the error message to the next step; `parallel` and `mapEach` return it in place of the result.
 */
export type PipelineErrorStrategy = 'FAIL_FAST' | 'CONTINUE_ON_FAILURE'

/** Returns the problems of a strategy. */
export function findStrategyProblems(strategy: PipelineErrorStrategy): readonly string[] {
  return findChoiceProblems('errorStrategy', strategy, ['FAIL_FAST', 'CONTINUE_ON_FAILURE'])
}
