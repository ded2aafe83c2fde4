/** What the events of a run tell about it, as one immutable value. */
import type { CancelMode, RunStatus, Workflow } from '../schemas/enums.ts'
import type { FileChanged } from '../schemas/events/agent-events.ts'
import type { EnsembleCompleted, RunOutput } from '../schemas/events/run-events.ts'
import type { TagMap } from '../schemas/scalars.ts'
import type { RunMetrics } from '../schemas/run-metrics.ts'
import type { DirectiveState } from './directives.ts'
import type { ReviewState } from './reviews.ts'
import type { TaskState } from './task-state.ts'
import { NO_TOTALS, type RunTotals } from './usage.ts'

/** A run as its events so far tell it. A field is absent until an event says it. */
export interface RunState {
  /** The `ensembleId` of the run. */
  readonly id?: string
  readonly ensemble?: string
  readonly status: RunStatus
  /** Present from the moment that a cancel was asked for. */
  readonly cancelMode?: CancelMode
  readonly workflow?: Workflow
  readonly inputs: Readonly<Record<string, string>>
  readonly tags: Readonly<TagMap>
  readonly queuedAt?: string
  readonly startedAt?: string
  readonly completedAt?: string
  readonly durationMs?: number
  readonly exitReason?: EnsembleCompleted['exitReason']
  /** Why the run failed; `code` is one of `FAILURE_CODES`, as open text. */
  readonly error?: { readonly message: string; readonly code?: string }
  /** What the tasks gave, as the end of the run lists it. */
  readonly outputs?: readonly RunOutput[]
  /** Totals as the end of the run says them; `totals` are those of the tasks so far. */
  readonly metrics?: RunMetrics
  /** The model that the whole run was switched to last; `model` of a task goes before it. */
  readonly model?: string
  /** The tier that the whole run was switched to last; absent after a switch to a model by its alias. */
  readonly modelTier?: string
  /** The profile that was applied to the run last. */
  readonly profile?: string
  /** Which holder of the run works on it; absent while it is the first. */
  readonly epoch?: number
  /** The tasks of the plan and those that delegations made, in the order of their `index`. */
  readonly tasks: readonly TaskState[]
  /** All reviews, open or closed, in the order in which they opened. */
  readonly reviews: readonly ReviewState[]
  /** Every directive, in the order in which they were taken up. */
  readonly directives: readonly DirectiveState[]
  /** Every delegation, in the order in which they began. */
  readonly delegations: readonly DelegationState[]
  /** Every change of a file, in order. */
  readonly changedFiles: readonly FileChangeState[]
  /** What the tasks have used, all attempts together. */
  readonly totals: RunTotals
}

/** One change of a file, as `file_changed` says it. */
export type FileChangeState = Readonly<Omit<FileChanged, 'type'>>

/** Work that one task handed to another. */
export interface DelegationState {
  readonly delegationId: string
  /** The task that delegates, and its attempt. */
  readonly taskName: string
  readonly attempt: number
  readonly delegatingAgentRole: string
  readonly workerRole: string
  readonly status: 'RUNNING' | 'COMPLETED' | 'FAILED'
  /** What is to be done; absent, as the next three, when it was refused before it began. */
  readonly taskDescription?: string
  /** Name of the task that it made. */
  readonly workerTask?: string
  readonly workerTaskIndex?: number
  /** 1 for a delegation by a task of the plan. */
  readonly depth?: number
  /** When it began; absent when the log does not say it. */
  readonly startedAt?: string
  /** When it ended, in whatever way; absent when the log does not say it. */
  readonly completedAt?: string
  /** Present with COMPLETED. */
  readonly durationMs?: number
  /** Present with FAILED. */
  readonly reason?: string
}

/** A run of which no event has been read. */
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
