/** State of a run as one immutable value, derived from its events. */
import type { CancelCause, CancelMode, RunStatus, Workflow } from '../schemas/enums.ts'
import type { FileChanged } from '../schemas/events/agent-events.ts'
import type { EnsembleCompleted, RunOutput } from '../schemas/events/run-events.ts'
import type { TagMap } from '../schemas/scalars.ts'
import type { RunMetrics } from '../schemas/run-metrics.ts'
import type { DirectiveState } from './directives.ts'
import type { ReviewState } from './reviews.ts'
import type { TaskState } from './task-state.ts'
import { NO_TOTALS, type RunTotals } from './usage.ts'

/** State of a run after its events so far. A field is absent until an event sets it. */
export interface RunState {
  /** `ensembleId` of the run. */
  readonly id?: string
  readonly ensemble?: string
  readonly status: RunStatus
  /** Present once a cancel was requested. */
  readonly cancelMode?: CancelMode
  /** Cause of the last cancel, and the key of its caller. */
  readonly cancel?: { readonly cause: CancelCause; readonly actor?: string }
  readonly workflow?: Workflow
  readonly inputs: Readonly<Record<string, string>>
  readonly tags: Readonly<TagMap>
  readonly queuedAt?: string
  /** Time before which the run does not start; absent for a run that could start at once. */
  readonly startAt?: string
  readonly startedAt?: string
  readonly completedAt?: string
  readonly durationMs?: number
  readonly exitReason?: EnsembleCompleted['exitReason']
  /** Failure of the run; `code` is a failure code, as open text. */
  readonly error?: { readonly message: string; readonly code?: string }
  /** Outputs of the tasks, as listed at the end of the run. */
  readonly outputs?: readonly RunOutput[]
  /** Totals as reported at the end of the run; `totals` are those of the tasks so far. */
  readonly metrics?: RunMetrics
  /** Model that the whole run was last switched to; the `model` of a task overrides it. */
  readonly model?: string
  /** Tier that the whole run was last switched to; absent after a switch to a model by its alias. */
  readonly modelTier?: string
  /** Profile that was last applied to the run. */
  readonly profile?: string
  /** Run that this one was forked from, and `seq` of the last copied event. */
  readonly parent?: {
    readonly runId: string
    readonly at: number
    /** Mode of the replay; absent for a fork. */
    readonly replay?: 'frozen' | 'models'
  }
  /** Number of the process that owns the run; absent while it is the first. */
  readonly epoch?: number
  /** Name of the task whose output is the run's output, as its events state it. */
  readonly outputTask?: string
  /** Tasks of the plan and of delegations, in the order of their `index`. */
  readonly tasks: readonly TaskState[]
  /** All reviews, open or closed, in the order in which they opened. */
  readonly reviews: readonly ReviewState[]
  /** All directives, in the order in which they took effect. */
  readonly directives: readonly DirectiveState[]
  /** All delegations, in the order in which they began. */
  readonly delegations: readonly DelegationState[]
  /** All changes of files, in order. */
  readonly changedFiles: readonly FileChangeState[]
  /** Usage of all attempts of all tasks, without what a fork has copied. */
  readonly totals: RunTotals
}

/** Change of a file, as in `file_changed`. */
export type FileChangeState = Readonly<Omit<FileChanged, 'type'>>

/** Work that one task delegated to another. */
export interface DelegationState {
  readonly delegationId: string
  /** Task that delegates. */
  readonly taskName: string
  readonly attempt: number
  readonly delegatingAgentRole: string
  readonly workerRole: string
  readonly status: 'RUNNING' | 'COMPLETED' | 'FAILED'
  /** Description of the work; absent, like the next three fields, when the delegation was refused before it began. */
  readonly taskDescription?: string
  /** Name of the task that it added. */
  readonly workerTask?: string
  readonly workerTaskIndex?: number
  /** 1 for a delegation by a task of the plan. */
  readonly depth?: number
  /** Present if the task was handed off: the worker continues its conversation. */
  readonly handoff?: true
  /** Time at which it began; absent in logs without it. */
  readonly startedAt?: string
  /** Time at which it ended with any outcome; absent in logs without it. */
  readonly completedAt?: string
  /** Present with COMPLETED. */
  readonly durationMs?: number
  /** Present with FAILED. */
  readonly reason?: string
}

/** Returns the state of a run without events. */
export function emptyRunState(): RunState {
  return {
    status: 'ACCEPTED',
    inputs: {},
    tags: {},
    tasks: [],
    reviews: [],
    directives: [],
    delegations: [],
    changedFiles: [],
    totals: NO_TOTALS,
  }
}
