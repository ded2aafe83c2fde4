/** What a user writes: tasks that belong together, checked when they are put together. */
import { ensembleAgent, type AgentRunOptions } from './adapters/ensemble-agent.ts'
import { ensembleTool, type EnsembleToolSettings } from './adapters/ensemble-tool.ts'
import { assertEnsemble, assertTasks } from './definition/check-ensemble.ts'
import { DEFAULT_MANAGER_MAX_ITERATIONS, managerTask } from './definition/manager.ts'
import { DEFAULT_MAX_RETRY_AFTER_MS, DEFAULT_MODEL_RETRIES } from './model/retry-delay.ts'
import { inferWorkflow, planTasks, type Plan } from './definition/plan.ts'
import { DEFAULT_TOOL_LOG_LENGTH } from './run/logging-journal.ts'
import { startRun } from './run/start-run.ts'

import type { OnUnfinished } from './definition/on-unfinished.ts'
import type { Budget } from './usage/budget.ts'
import type { DelegationLimits } from './definition/delegation-limits.ts'
import type { Inputs } from './definition/inputs.ts'
import type { ChatModel } from './model/chat-model.ts'
import type { RateLimit } from './model/rate-limit.ts'
import type { ErrorStrategy } from './run/next.ts'
import type { ModelRule } from './steering/model-rules.ts'
import type { RunHandle } from './run/run-handle.ts'
import type { RunOptions } from './run/run-options.ts'
import type { RunResult } from './run/run-result.ts'
import type { ReviewDefaults } from './definition/review-settings.ts'
import type { Task } from './definition/task.ts'
import type { TypedTool } from '@tutti/core'
import type { LocalAgent } from '@tutti/agent-call'
import type { CaptureMode, ReviewPolicy, Workflow } from '@tutti/protocol'

/** Tasks running at the same time when nothing else is said: more than most graphs are wide. */
const DEFAULT_MAX_CONCURRENT_TASKS = 16

/** Tool calls of one run at the same time when nothing else is said. */
const DEFAULT_MAX_CONCURRENT_TOOL_CALLS = 16

/** What ensembles and their definitions say in the same way. */
interface EnsembleSettings {
  readonly name: string
  /** Model of every task and agent that names none. */
  readonly model?: ChatModel
  /** Models that are asked, in order, when a call fails for good. */
  readonly fallbackModels?: readonly ChatModel[]
  /** Rules by which a run switches the tier of its models by itself. @default none */
  readonly modelRules?: readonly ModelRule[]
  /** Bounds the model calls of all tasks and runs that have no limit of their own. */
  readonly rateLimit?: RateLimit
  /** Reaction to an answer that a model ended early; tasks and agents may set their own. */
  readonly onUnfinished?: OnUnfinished
  /** What a whole run may use. */
  readonly budget?: Budget
  /**
   * Default capture mode of its runs, which decides what a server stores and shows in a trace: OFF stores no
   * prompts. @default STANDARD
   */
  readonly captureMode?: CaptureMode
  /** Limits of what agents may hand to one another. */
  readonly delegation?: DelegationLimits
  /** Defaults for the reviews of tasks and tools. */
  readonly review?: ReviewDefaults
}

/** Tasks, the model they use, and how they follow one another. Plain readonly data. */
export interface Ensemble extends EnsembleSettings {
  readonly description: string
  readonly tasks: readonly Task[]
  /** The workflow its author asked for, if any; the one it has is in `plan`. */
  readonly workflow?: Workflow
  readonly plan: Plan
  /** The task of the manager; present exactly in HIERARCHICAL. */
  readonly manager?: Task
  readonly managerModel?: ChatModel
  readonly managerMaxIterations: number
  readonly errorStrategy: ErrorStrategy
  readonly maxConcurrentTasks: number
  /** Tool calls of all tasks of a run at the same time, at most. */
  readonly maxConcurrentToolCalls: number
  /** Longest tool output a model is given, in characters; negative is no limit. */
  readonly maxToolOutputLength: number
  /** Retries of a model call that failed for a reason that may pass. */
  readonly modelRetries: number
  /** Longest wait before a retry that a provider may ask for, in milliseconds. */
  readonly maxRetryAfterMs: number
  /** Which tasks a person looks at that do not say so themselves. */
  readonly reviewPolicy: ReviewPolicy
  /** Whether the logger of a run is told of every task, model turn and tool call. */
  readonly verbose: boolean
  /** Longest tool output in the log of a run, in characters; negative is no limit. */
  readonly toolLogTruncateLength: number
  /**
   * Runs the tasks in this process, with no server. A task that fails is a result, not a throw.
   *
   * @throws {TuttiError} INPUT_MISSING, naming every template variable without a value,
   * INPUT_TOO_LARGE when the inputs or a text with them are over a limit, or CONFIG_INVALID when the
   * options do not fit the ensemble; all before anything runs.
   */
  run(inputs?: Inputs, options?: RunOptions): Promise<RunResult>
  /**
   * Starts a run that can be steered: cancelled, switched to other models, told directives, and whose
   * gates are decided through what this returns.
   *
   * @throws {TuttiError} as {@link run} does.
   */
  start(inputs?: Inputs, options?: RunOptions): RunHandle
  /**
   * This ensemble as an agent of this process: each turn that it is asked is a run. Its input is an object of the
   * template variables, or a text where there is exactly one.
   */
  asAgent(options?: AgentRunOptions): LocalAgent
  /**
   * This ensemble as a tool, whose input is an object of the template variables. A cancel, the budget and the
   * trace of the caller go down; what the run does and uses, and what its gates ask, comes up.
   *
   * @throws {TypeError} naming every setting that does not fit.
   */
  asTool(settings?: EnsembleToolSettings): TypedTool<Inputs>
}

/** What the author of an ensemble writes. */
export interface EnsembleDefinition extends EnsembleSettings {
  /** @default '' */
  readonly description?: string
  readonly tasks: readonly Task[]
  /** @default PARALLEL when a task has context, else SEQUENTIAL */
  readonly workflow?: Workflow
  /** What the failure of a task means for the others. @default FAIL_FAST */
  readonly errorStrategy?: ErrorStrategy
  /** At least 1; matters in PARALLEL. @default 16 */
  readonly maxConcurrentTasks?: number
  /** Tool calls of all tasks of a run at the same time, at least 1. @default 16 */
  readonly maxConcurrentToolCalls?: number
  /** Longest tool output a model is given, in characters; negative is no limit. @default -1 */
  readonly maxToolOutputLength?: number
  /** At least 0. @default 2 */
  readonly modelRetries?: number
  /**
   * Longest wait before a retry that a provider may ask for, in milliseconds, at least 0. After a longer
   * one the call is not repeated; the next fallback model is asked. @default 60000
   */
  readonly maxRetryAfterMs?: number
  /** @default NEVER */
  readonly reviewPolicy?: ReviewPolicy
  /** Whether the logger of a run is told of every task, model turn and tool call. @default false */
  readonly verbose?: boolean
  /** Longest tool output in the log of a run, in characters; negative is no limit. @default 200 */
  readonly toolLogTruncateLength?: number
  /** Model of the manager in HIERARCHICAL. @default the ensemble's */
  readonly managerModel?: ChatModel
  /** Model turns of the manager. @default 20 */
  readonly managerMaxIterations?: number
}

/**
 * Makes an ensemble. An ensemble is a definition too: `ensemble({ ...trip, model })` is a copy with a
 * change, checked again.
 *
 * @throws {TuttiError} CONFIG_INVALID or CIRCULAR_DEPENDENCY, naming every problem.
 */
export function ensemble(definition: EnsembleDefinition): Ensemble {
  const tasks = [...definition.tasks]
  assertTasks(definition)
  const workflow = definition.workflow ?? inferWorkflow(tasks)
  assertEnsemble(definition, workflow)
  const managerMaxIterations = definition.managerMaxIterations ?? DEFAULT_MANAGER_MAX_ITERATIONS
  const made: Ensemble = {
    ...definition,
    description: definition.description ?? '',
    tasks,
    plan: planTasks(tasks, workflow),
    managerMaxIterations,
    errorStrategy: definition.errorStrategy ?? 'FAIL_FAST',
    maxConcurrentTasks: definition.maxConcurrentTasks ?? DEFAULT_MAX_CONCURRENT_TASKS,
    maxConcurrentToolCalls: definition.maxConcurrentToolCalls ?? DEFAULT_MAX_CONCURRENT_TOOL_CALLS,
    maxToolOutputLength: definition.maxToolOutputLength ?? -1,
    modelRetries: definition.modelRetries ?? DEFAULT_MODEL_RETRIES.maxRetries,
    maxRetryAfterMs: definition.maxRetryAfterMs ?? DEFAULT_MAX_RETRY_AFTER_MS,
    reviewPolicy: definition.reviewPolicy ?? 'NEVER',
    verbose: definition.verbose ?? false,
    toolLogTruncateLength: definition.toolLogTruncateLength ?? DEFAULT_TOOL_LOG_LENGTH,
    ...(workflow === 'HIERARCHICAL' ? { manager: managerOf(definition) } : {}),
    run: async (inputs = {}, options = {}) => startRun(made, inputs, options).result,
    start: (inputs = {}, options = {}) => startRun(made, inputs, { decidable: true, ...options }),
    asAgent: (options = {}) => ensembleAgent(made, options),
    asTool: (settings = {}) => ensembleTool(made, settings),
  }
  return made
}

function managerOf(definition: EnsembleDefinition): Task {
  return managerTask(definition.tasks, {
    model: definition.managerModel ?? definition.model,
    maxIterations: definition.managerMaxIterations ?? DEFAULT_MANAGER_MAX_ITERATIONS,
  })
}
