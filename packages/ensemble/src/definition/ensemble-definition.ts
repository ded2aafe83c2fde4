/** The definition of an ensemble: as its author writes it, and with every default filled in. */
import type { CaptureMode, ReviewPolicy, Workflow } from '@tutti/protocol/internal'
import type { ChatModel } from '../model/chat-model.ts'
import type { OutputReader } from '../output/structured-output.ts'
import type { RateLimit } from '../model/rate-limit.ts'
import type { Budget } from '../usage/budget.ts'
import type { DelegationLimits } from './delegation-limits.ts'
import type { ModelRule } from './model-rule.ts'
import type { OnUnfinished } from './on-unfinished.ts'
import type { Plan } from './plan.ts'
import type { ReviewDefaults } from './review-settings.ts'
import type { Task } from './task.ts'

/** Reactions to the failure of a task. */
export const ERROR_STRATEGIES = ['FAIL_FAST', 'CONTINUE_ON_ERROR'] as const
/** Reaction to the failure of a task. */
export type ErrorStrategy = (typeof ERROR_STRATEGIES)[number]

/** Settings that a definition and a resolved ensemble have in common. */
interface EnsembleSettings {
  readonly name: string
  /**
   * Names of further inputs, in addition to the template variables of the tasks: those that handlers read, or that only
   * label a run. A run with any other input is refused. @default none. Without the list, inputs are refused by name only
   * if nothing can read them: tasks have template variables, and none has a handler
   */
  readonly inputs?: readonly string[]
  /**
   * Model of the tasks and agents without one. @default the model of the outer ensemble; a run by itself needs a model for
   * every task
   */
  readonly model?: ChatModel
  /** Models that are called, in this order, when a call of the first model fails for good. */
  readonly fallbackModels?: readonly ChatModel[]
  /** Rules by which a run switches the tier of its models. @default none */
  readonly modelRules?: readonly ModelRule[]
  /** Rate limit of the model calls of tasks and agents that set none, over all runs of the ensemble. */
  readonly rateLimit?: RateLimit
  /** Reaction to an answer that the model ended early; tasks and agents can set their own. */
  readonly onUnfinished?: OnUnfinished
  /** Budget of a whole run. */
  readonly budget?: Budget
  /**
   * Default capture mode of its runs, which determines what a server stores and shows in a trace. OFF stores
   * no prompts. @default STANDARD
   */
  readonly captureMode?: CaptureMode
  /** Limits of delegation between agents. */
  readonly delegation?: DelegationLimits
  /** Defaults for the reviews of tasks and tools. */
  readonly review?: ReviewDefaults
  /** @default PARALLEL if a task has context, else SEQUENTIAL; `plan` has the resolved one */
  readonly workflow?: Workflow
  /** Model of the manager in HIERARCHICAL. @default the ensemble's model */
  readonly managerModel?: ChatModel
}

/** Definition of an ensemble by its author. */
export interface EnsembleDefinition<
  Tasks extends readonly Task[] = readonly Task[],
> extends EnsembleSettings {
  /** @default '' */
  readonly description?: string
  readonly tasks: Tasks
  /** Reaction to the failure of a task. @default FAIL_FAST */
  readonly errorStrategy?: ErrorStrategy
  /**
   * Maximum number of tasks that run at the same time in PARALLEL, at least 1. Tasks that only wait for people do not count.
   * @default 16
   */
  readonly maxConcurrentTasks?: number
  /** Maximum number of tool calls of a run at the same time, over all its tasks, at least 1. @default 16 */
  readonly maxConcurrentToolCalls?: number
  /**
   * Maximum length of a tool output for a model, in characters; a negative number means no limit. A longer output is cut,
   * with a note of its length. @default 100000
   */
  readonly maxToolOutputLength?: number
  /** Maximum number of retries of a model call, at least 0. @default 2 */
  readonly modelRetries?: number
  /**
   * Maximum wait before a retry that a provider can request, in milliseconds, at least 0. If it requests
   * more, the next fallback model is called instead. @default 60000
   */
  readonly maxRetryAfterMs?: number
  /** Tasks whose output is reviewed unless they set `review`. @default NEVER */
  readonly reviewPolicy?: ReviewPolicy
  /** Whether a run logs every task, model turn and tool call. @default false */
  readonly verbose?: boolean
  /**
   * Maximum length of a tool output in the log, in characters; a negative number means no limit. @default 200
   */
  readonly toolLogTruncateLength?: number
  /** Maximum number of model turns of the manager. @default 20 */
  readonly managerMaxIterations?: number
}

/** An ensemble with its defaults filled in and its plan. Readonly data. `Output` is the type of its last task's output. */
export interface ResolvedEnsemble<Output = unknown>
  extends EnsembleSettings, Required<Omit<EnsembleDefinition, keyof EnsembleSettings>> {
  readonly plan: Plan
  /** Reader of the last task's output; absent if that is text. */
  readonly outputReader?: OutputReader<Output>
  /** Task of the manager; present only in HIERARCHICAL. */
  readonly manager?: Task
}
