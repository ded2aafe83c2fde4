/** For the other packages of Tutti only: its names may change in every version. */
export type { OnUnfinished } from './definition/on-unfinished.ts'
export type { ErrorStrategy } from './definition/ensemble-definition.ts'
export type { GuardedInput, GuardedOutput, Guardrails } from './definition/guardrail.ts'
export { HandlerOutput, type HandlerOutputOptions } from './definition/handler-output.ts'
export { type ContextOutput, type Handler, HANDLER_ROLE } from './definition/handler.ts'
export type { DelegationLimits } from './definition/delegation-limits.ts'
export {
  assertInputs,
  findUnknownInputs,
  inputVariables,
  missingInputs,
  namedInputs,
  taskVariables,
} from './definition/inputs.ts'
export type { InMemoryStoreOptions } from './memory/in-memory-store.ts'
export type { MemoryScopeDefinition } from './memory/memory.ts'
export { type BuiltInTier, isSameTier, type ModelCatalogOptions } from './model/model-catalog.ts'
export type { RateLimitOptions } from './model/rate-limit.ts'
export { findHistoryProblems } from './definition/history.ts'
export { listAllTasks } from './definition/manager.ts'
export { MANAGER, type Plan } from './definition/plan.ts'
export {
  DEFAULT_MAX_REVISIONS,
  DEFAULT_REVIEW_TIMEOUT_MS,
  findDefaultsProblems,
  reviewAfter,
  type ReviewDefaults,
  type ReviewSetting,
  reviewSettingsOf,
} from './definition/review-settings.ts'
export { DEFAULT_EXPECTED_OUTPUT, DEFAULT_MAX_ITERATIONS } from './definition/task.ts'
export type {
  DirectiveInput,
  ReviewTimeoutAction,
  ReviewTiming,
  Workflow,
} from '@tutti/protocol/internal'
export { findClientToolProblems } from './agent/client-tools.ts'
export type { ResumePoint } from './run/run-options.ts'
export type { RunEnding } from './run/run-result.ts'
export { findUnknownTiers, findUnpriced } from './run/check-options.ts'
export {
  type GivenResults,
  type GivenResultsReading,
  readGivenResults,
} from './run/given-results.ts'
export { narrowedBudget } from './run/narrowed-budget.ts'
export { assertTextSizes, DEFAULT_TEXT_LIMITS, type TextLimits } from './definition/text-limits.ts'
export { listReviewsOfFork } from './reviews/consent.ts'
export { type StepUsage, sumStepUsage } from './scope/step-usage.ts'
export { addUsage, type Usage, ZERO_USAGE } from './usage/usage.ts'
export { type AppliedCommand, applyToUnowned, type UnownedRun } from './steering/unowned-run.ts'
export type { CancelRunOptions } from './steering/steering.ts'
export type { RunSnapshot, TaskSnapshot } from './run/run-handle.ts'
export type { ModelChoice, ModelSwitch } from './steering/model-steering.ts'
export type { RuleMetric } from './definition/model-rule.ts'
export type { RunProfile } from './steering/profiles.ts'
export type { TierChoice } from './steering/tiers.ts'
export type { OpenReview } from './ports/run-reviewer.ts'
export type { TaskPhase } from './run/schedule.ts'
export {
  describeCode,
  diffManifests,
  type EnsembleCode,
  type EnsembleManifest,
  isTextDifference,
  type ManifestDifference,
  type ManifestFields,
  type ManifestValue,
} from './definition/manifest.ts'
export type { AgentRunOptions } from './adapters/ensemble-agent.ts'
export type { EnsembleToolSettings } from './adapters/ensemble-tool.ts'
export { inputsFrom } from './adapters/inputs-from.ts'
export type {
  AssistantMessage,
  ModelCallOptions,
  ModelPrice,
  ProviderContent,
  SystemMessage,
  ToolMessage,
  UserMessage,
} from './model/chat-model.ts'
export type { RunJournal } from './ports/run-journal.ts'
export type { Directive, RunStep, StepError, StepOf, TaskStep } from './ports/run-step.ts'
