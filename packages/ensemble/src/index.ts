/** Teams of LLM agents. A task is work for one agent; an ensemble is a set of tasks. */

// Definitions
export { agent, type Agent, type AgentDefinition } from './definition/agent.ts'
export type { OnUnfinished } from './definition/on-unfinished.ts'
export type { Budget } from './usage/budget.ts'
export type { EnsembleDefinition, ErrorStrategy } from './definition/ensemble-definition.ts'
export { ensemble, run, type Ensemble, type RunOnceOptions } from './ensemble.ts'
export type {
  GuardedInput,
  GuardedOutput,
  GuardrailVerdict,
  Guardrails,
  InputGuardrail,
  OutputGuardrail,
} from './definition/guardrail.ts'
export {
  HandlerOutput,
  handlerOutput,
  requestRejected,
  type HandlerOutputOptions,
} from './definition/handler-output.ts'
export {
  HANDLER_ROLE,
  type Handler,
  type HandlerContext,
  type TaskHandler,
} from './definition/handler.ts'
export type {
  DelegationLimits,
  DelegationPolicy,
  DelegationRequest,
  DelegationVerdict,
} from './definition/delegation-limits.ts'
export {
  assertInputs,
  findUnknownInputs,
  inputVariables,
  missingInputs,
  namedInputs,
  taskVariables,
  type Inputs,
} from './definition/inputs.ts'
export { inMemoryStore, type InMemoryStoreOptions } from './memory/in-memory-store.ts'
export { memoryScope, type MemoryScope, type MemoryScopeDefinition } from './memory/memory.ts'
export { inMemoryReflectionStore } from './memory/reflection.ts'
export {
  isSameTier,
  modelCatalog,
  type BuiltInTier,
  type ModelCatalog,
  type ModelCatalogOptions,
} from './model/model-catalog.ts'
export { priceList } from './model/prices.ts'
export { rateLimit, type RateLimit, type RateLimitOptions } from './model/rate-limit.ts'
export { findHistoryProblems } from './definition/history.ts'
export { listAllTasks } from './definition/manager.ts'
export { MANAGER, type Plan } from './definition/plan.ts'
export {
  DEFAULT_MAX_REVISIONS,
  DEFAULT_REVIEW_TIMEOUT_MS,
  findDefaultsProblems,
  reviewAfter,
  reviewSettingsOf,
  type ReviewDefaults,
  type ReviewSetting,
  type ReviewSettings,
} from './definition/review-settings.ts'
export { task } from './definition/define-task.ts'
export {
  DEFAULT_EXPECTED_OUTPUT,
  DEFAULT_MAX_ITERATIONS,
  type Task,
  type TaskDefinition,
} from './definition/task.ts'
export type { ReviewTimeoutAction, ReviewTiming, RunMetrics, Workflow } from '@tutti/protocol'

// Runs
export { findClientToolProblems, type ClientTool } from './agent/client-tools.ts'
export type { ContextOutput } from './definition/handler.ts'
export type { ResumePoint, RunOptions } from './run/run-options.ts'
export type { RunEnding, RunResult } from './run/run-result.ts'
export type { TaskResult } from './scope/task-outcome.ts'
export { findUnknownTiers, findUnpriced } from './run/check-options.ts'
export {
  readGivenResults,
  type GivenResults,
  type GivenResultsReading,
} from './run/given-results.ts'
export { narrowedBudget } from './run/narrowed-budget.ts'
export { assertTextSizes, DEFAULT_TEXT_LIMITS, type TextLimits } from './definition/text-limits.ts'
export { listReviewsOfFork } from './reviews/consent.ts'
export { sumStepUsage, type StepUsage } from './scope/step-usage.ts'
export { addUsage, ZERO_USAGE, type Usage } from './usage/usage.ts'

// Steering
export { applyToUnowned, type AppliedCommand, type UnownedRun } from './steering/unowned-run.ts'
export type { CancelRunOptions } from './steering/steering.ts'
export type { RunHandle, RunSnapshot, TaskSnapshot } from './run/run-handle.ts'
export type { DirectiveInput } from '@tutti/protocol'
export type { ModelChoice, ModelSwitch } from './steering/model-steering.ts'
export type { ModelRule, RuleMetric } from './definition/model-rule.ts'
export type { RunProfile, RunProfiles } from './steering/profiles.ts'
export type { TierChoice } from './steering/tiers.ts'
export type { OpenReview, ReviewAnswer, RunReviewer } from './ports/run-reviewer.ts'
export type { TaskPhase } from './run/next.ts'

// Versions of code
export {
  describeCode,
  diffManifests,
  isTextDifference,
  type EnsembleCode,
  type EnsembleManifest,
  type ManifestDifference,
  type ManifestFields,
  type ManifestValue,
} from './definition/manifest.ts'

// Ensembles as agents and tools
export type { AgentRunOptions } from './adapters/ensemble-agent.ts'
export type { EnsembleToolSettings } from './adapters/ensemble-tool.ts'
export { inputsFrom } from './adapters/inputs-from.ts'

// Ports
export type { MemoryEntry, MemoryQuery, MemoryStore } from './memory/memory.ts'
export type { Reflection, ReflectionStore } from './memory/reflection.ts'
export type {
  AssistantMessage,
  ChatModel,
  Message,
  ModelCallOptions,
  ModelChunk,
  ModelPrice,
  ModelReply,
  ModelRequest,
  ModelUsage,
  OutputFormat,
  ProviderContent,
  SystemMessage,
  ToolMessage,
  ToolSpecification,
  UserMessage,
} from './model/chat-model.ts'
export type { Prices } from './model/prices.ts'
export type { RunJournal } from './ports/run-journal.ts'
export type { Directive, RunStep, StepError, StepOf, TaskStep } from './ports/run-step.ts'
