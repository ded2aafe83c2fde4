/** The definition of an ensemble: what its author writes, and the same with every default filled in. */
import type { CaptureMode, ReviewPolicy, Workflow } from '@tutti/protocol'
import type { ChatModel } from '../model/chat-model.ts'
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
  /** Budget of a whole run. */
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
  /** @default PARALLEL when a task has context, else SEQUENTIAL; `plan` has the resolved one */
  readonly workflow?: Workflow
  /** Model of the manager in HIERARCHICAL. @default the ensemble's */
  readonly managerModel?: ChatModel
}

/** The definition of an ensemble by its author. */
export interface EnsembleDefinition extends EnsembleSettings {
  /** @default '' */
  readonly description?: string
  readonly tasks: readonly Task[]
  /** Reaction to the failure of a task. @default FAIL_FAST */
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
  /** Whether the logger of a run gets every task, model turn and tool call. @default false */
  readonly verbose?: boolean
  /** Longest tool output in the log of a run, in characters; negative is no limit. @default 200 */
  readonly toolLogTruncateLength?: number
  /** Model turns of the manager. @default 20 */
  readonly managerMaxIterations?: number
}

/** An ensemble with its defaults filled in, and its plan. Plain readonly data. */
export interface ResolvedEnsemble
  extends EnsembleSettings, Required<Omit<EnsembleDefinition, keyof EnsembleSettings>> {
  readonly plan: Plan
  /** The task of the manager; present exactly in HIERARCHICAL. */
  readonly manager?: Task
}
