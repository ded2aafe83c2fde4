/** For the other packages of Tutti only: its names may change in every version. */
export type { GuardedInput, Guardrails } from './definition/guardrail.ts'
export type { Handler } from './definition/handler.ts'
export type { CreateCallbackUrl } from './definition/wait.ts'
export type { DelegationLimits } from './definition/delegation-limits.ts'
export {
  assertInputs,
  findUnknownInputs,
  inputVariables,
  missingInputs,
  namedInputs,
  taskVariables,
} from './definition/inputs.ts'
export { isSameTier } from './model/model-catalog.ts'
export { findHistoryProblems } from './definition/history.ts'
export { listAllTasks } from './definition/manager.ts'
export { createEnsembleTask, createForEachTask, createLoopTask } from './definition/define-task.ts'
export { findLoopProblems } from './definition/check-loop.ts'
export { findWaitLimitProblems } from './definition/wait.ts'
export { findOwnHandoffProblems, type Handoff } from './definition/handoff.ts'
export { assertModels } from './definition/missing-models.ts'
export { reviewAtMax } from './definition/loop-end.ts'
export {
  findMappedInputProblems,
  findOutputProblems,
  findSubEnsembleProblems,
  type CheckedInput,
} from './definition/check-ensemble-task.ts'
export { changeSubEnsemble } from './definition/ensemble-task.ts'
export { readItemKey } from './definition/for-each.ts'
export { parseJsonList } from './definition/list-reader.ts'
export { findSubEnsemble } from './definition/sub-ensemble.ts'
export { findForEachProblems } from './definition/check-task.ts'
export { DEFAULT_MAX_ITEMS } from './definition/map-settings.ts'
export { mayBeList } from './definition/output-shape.ts'
export {
  type ForEachPlan,
  type LoopPlan,
  listTaskTree,
  listWorkingTasks,
  toWorkerRole,
} from './definition/task.ts'
export { findCycle, findSwitchProblems, MANAGER } from './definition/plan.ts'
export { countWhere } from './definition/count-where.ts'
export { PrefixIndex } from './definition/prefix-index.ts'
export {
  DEFAULT_REVIEW_TIMEOUT_MS,
  findDefaultsProblems,
  reviewAfter,
  type ReviewDefaults,
  type ReviewSetting,
  reviewSettingsOf,
} from './definition/review-settings.ts'
export type { ReviewTimeoutAction } from '@tutti/protocol/internal'
export { findClientToolProblems } from './agent/client-tools.ts'
export { findUnknownTiers, findUnpriced } from './run/check-options.ts'
export { type GivenResults, readGivenResults } from './run/given-results.ts'
export { narrowedBudget } from './run/narrowed-budget.ts'
export { assertTextSizes, DEFAULT_TEXT_LIMITS, type TextLimits } from './definition/text-limits.ts'
export { listEventsForFork, listReviewsOfFork } from './reviews/consent.ts'
export { hasOpenHandler } from './scope/step-log.ts'
export { sumStepUsage } from './scope/step-usage.ts'
export { addUsage } from './usage/usage.ts'
export { type AppliedCommand, applyToUnowned } from './steering/unowned-run.ts'
export type { RunSnapshot } from './run/run-handle.ts'
export type { TierChoice } from './steering/tiers.ts'
export type { OpenReview } from './ports/run-reviewer.ts'
export {
  describeCode,
  diffManifests,
  type EnsembleCode,
  type EnsembleManifest,
  isTextDifference,
  type ManifestDifference,
  type ManifestValue,
} from './definition/manifest.ts'
export type { EnsembleToolSettings } from './adapters/ensemble-tool.ts'
export type { AssistantMessage, ModelPrice, ToolMessage } from './model/chat-model.ts'
export type { RunJournal } from './ports/run-journal.ts'
export type { RunStep, StepError, StepOf } from './ports/run-step.ts'
