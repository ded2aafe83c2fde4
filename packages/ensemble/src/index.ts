/** Teams of LLM agents. A task is work for one agent; an ensemble is a set of tasks. */

// Definitions
export { agent, type Agent, type AgentDefinition } from './definition/agent.ts'
export type { Budget } from './usage/budget.ts'
export type { EnsembleDefinition } from './definition/ensemble-definition.ts'
export { handoff, type Handoff } from './definition/handoff.ts'
export { ensemble, run, type Ensemble, type RunOnceOptions } from './ensemble.ts'
export { condition } from './definition/make-condition.ts'
export type { Condition, ConditionScope, When } from './definition/condition.ts'
export type { GuardrailVerdict, InputGuardrail, OutputGuardrail } from './definition/guardrail.ts'
export { handlerOutput, requestRejected } from './definition/handler-output.ts'
export type { HandlerContext, TaskHandler } from './definition/handler.ts'
export type {
  ChildOptions,
  MapOptions,
  MapOutcome,
  ReduceOptions,
  StepContext,
} from './definition/operations.ts'
export type {
  DelegationPolicy,
  DelegationRequest,
  DelegationVerdict,
} from './definition/delegation-limits.ts'
export type { Inputs } from './definition/inputs.ts'
export { inMemoryStore } from './memory/in-memory-store.ts'
export { memoryScope, type MemoryScope } from './memory/memory.ts'
export { inMemoryReflectionStore } from './memory/reflection.ts'
export { modelCatalog, type ModelCatalog } from './model/model-catalog.ts'
export { priceList } from './model/prices.ts'
export { rateLimit, type RateLimit } from './model/rate-limit.ts'
export type { ReviewSettings } from './definition/review-settings.ts'
export { task } from './definition/define-task.ts'
export type { Task, TaskDefinition } from './definition/task.ts'
export type { StepOptions } from './definition/step-options.ts'
export type { EnsembleTaskDefinition, InputSource } from './definition/ensemble-task.ts'
export type { ForEach, ForEachOutcome, ReduceOutputs } from './definition/for-each.ts'
export type {
  Loop,
  LoopCondition,
  LoopHistory,
  LoopState,
  LoopVerdict,
} from './definition/loop-settings.ts'
export type { WaitFor, WaitForOptions, WaitOutcome } from './definition/wait.ts'
export type { AllOutcome, TaskWait } from './definition/wait-task.ts'
export type { RunMetrics } from '@tutti/protocol'

// Runs
export type { ClientTool } from './agent/client-tools.ts'
export type { RunOptions } from './run/run-options.ts'
export type { RunResult } from './run/run-result.ts'
export type { TaskResult } from './scope/task-outcome.ts'

// Steering
export type { RunHandle } from './run/run-handle.ts'
export type { ModelRule } from './definition/model-rule.ts'
export type { RunProfiles } from './steering/profiles.ts'
export type { DeliveredEvent, ReviewAnswer, RunReviewer } from './ports/run-reviewer.ts'

// Versions of code

// Ensembles as agents and tools

// Ports
export type { Prices } from './model/prices.ts'
