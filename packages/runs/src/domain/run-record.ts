/** Stored records of runs, tasks and reviews. Instants are milliseconds since 1970. */
import type { CallerRequest } from '@tutti/core/internal'
import type { Budget } from '@tutti/ensemble'
import type { ChosenCode } from './run-code.ts'
import type { RunEventOf, RunStatus, TaskStatus } from '@tutti/protocol'
import type {
  ClientToolBody,
  FinishReason,
  HistoryMessage,
  RunOptionsBody,
  TagMap,
  TaskDefinitionBody,
  TaskOverrideBody,
  Workflow,
  ReplayMode,
  RunPriority,
} from '@tutti/protocol/internal'

/** A run as it is stored, without its events and tasks. */
export interface RunRecord {
  readonly runId: string
  /** Name of the ensemble it runs. */
  readonly ensemble: string
  readonly workflow: Workflow
  readonly status: RunStatus
  readonly inputs: Readonly<Record<string, string>>
  readonly tags: Readonly<TagMap>
  /** Number of tasks: those of the plan and those that delegations created. */
  readonly taskCount: number
  readonly completedTasks: number
  readonly createdAt: number
  /** Time before which it does not start; absent for a run that could start at once. */
  readonly startAt?: number
  /** Time by which its work must have begun (RUNS-L18); absent without a limit. */
  readonly startBy?: number
  /** Absent for the normal priority. */
  readonly priority?: RunPriority
  /** The fairness key that it was submitted with; absent for that of its actor (RUNS-L4). */
  readonly fairnessKey?: string
  readonly startedAt?: number
  readonly completedAt?: number
  readonly durationMs?: number
  /** The reason why it failed. */
  readonly error?: string
  /** Name of the task whose output is the run's output; absent before it has begun. */
  readonly outputTask?: string
  /** Number of times that it was claimed. */
  readonly epoch: number
  /** Sequence number of its newest event. */
  readonly lastSeq: number
  /** The settings that override those of its ensemble; absent when there are none. */
  readonly request?: RequestedRun
  /** The name of the key that submitted it. */
  readonly actor?: string
  /** Names of its webhooks; absent when there are none. */
  readonly webhooks?: readonly string[]
  readonly threadId?: string
  /** The run that it was forked from. */
  readonly parent?: RunParent
  /** Build chosen when it was created, then the build of the process that took it last. */
  readonly build?: string
  /** Digest of the code of its ensemble in that build. */
  readonly code?: string
  /** The columns that are damaged in the store, with the reasons; their fields are empty. */
  readonly unreadable?: string
}

/** The run that a fork begins with. */
export interface RunParent {
  readonly runId: string
  /** Sequence number of the last event that the fork has copied. */
  readonly at: number
  /** Mode in which the run replays its parent; absent for a fork. */
  readonly replay?: ReplayMode
}

/**
 * A run as a list shows it: with its usage so far, its current task and its open reviews, but without fields of
 * unlimited size. `error` is cut.
 */
export interface ListedRun extends Omit<RunRecord, 'inputs' | 'request' | 'webhooks'> {
  /** Position in the list of all runs; greater for a newer run. */
  readonly place: number
  /** Over all tasks and their attempts; -1 when a provider did not report it. */
  readonly totalTokens: number
  readonly totalToolCalls: number
  readonly skippedTasks: number
  /** In US dollars; absent once tokens with an unknown price were used. */
  readonly costUsd?: number
  /** The first running task; absent when no task is running, and when the run has ended. */
  readonly currentTask?: Pick<TaskRecord, 'name' | 'taskIndex'>
  /** Number of reviews that wait for a decision, without waits for events and times. */
  readonly openReviews: number
}

/** Settings of one run that override those of its ensemble, in the format of the wire. Plain data. */
export interface RequestedRun {
  /** Tasks that replace those of the ensemble. */
  readonly tasks?: readonly TaskDefinitionBody[]
  /** Task name, or the start of its description → its changes. */
  readonly taskOverrides?: Readonly<Record<string, TaskOverrideBody>>
  readonly options?: RunOptionsBody
  /** Budget of the run, in addition to that of its ensemble: the smaller limit applies. */
  readonly budget?: Budget
  /** Messages of the conversation before the run. */
  readonly history?: readonly HistoryMessage[]
  /** Tools that the client executes. */
  readonly clientTools?: readonly ClientToolBody[]
  /** W3C trace context of the caller. */
  readonly traceparent?: string
  /** The `tracestate` that belongs to `traceparent`. */
  readonly tracestate?: string
  /** The request of the agent or MCP client that started the run, for its tools and handlers. */
  readonly origin?: CallerRequest
  /**
   * JSON that the receiver of the submission stores with the run, such as the message that requested it. The run
   * ignores it.
   */
  readonly memo?: Readonly<Record<string, unknown>>
  /** Whether texts were removed when the run ended (RUNS-J3). */
  readonly isErased?: true
}

/** A task of a run. */
export interface TaskRecord {
  /** From 1, as on the wire. */
  readonly taskIndex: number
  readonly name: string
  readonly description: string
  readonly agentRole: string
  readonly status: TaskStatus
  /** Number of attempts started so far. */
  readonly attempt: number
  readonly startedAt?: number
  readonly completedAt?: number
  readonly durationMs?: number
  /** Tokens so far, over all attempts, like all usage; -1 when a provider did not report them. */
  readonly inputTokens: number
  readonly outputTokens: number
  readonly toolCallCount: number
  /** Cost so far in US dollars; absent when a price is unknown. */
  readonly costUsd?: number
  readonly output?: string
  /** Whether its output was not read, because the outputs of later tasks are long. */
  readonly outputOmitted?: boolean
  readonly error?: string
  /** Finish reason of the model's last answer; absent before the end, and when no model ended the attempt. */
  readonly finishReason?: FinishReason
  /** The columns that are damaged in the store, with the reasons; their fields are empty. */
  readonly unreadable?: string
}

/** A review of a run, with the fields of the run. */
export interface ReviewRecord extends Pick<RunRecord, 'ensemble' | 'inputs' | 'tags' | 'actor'> {
  readonly reviewId: string
  readonly runId: string
  readonly status: ReviewStatus
  /** The event that opened it, with the question and its task. */
  readonly request: RunEventOf<'review_requested'>
  readonly openedAt: number
  /** Time at which it expires; absent when it waits for ever. */
  readonly expiresAt?: number
  /** The reviewer who decided, if known. */
  readonly decidedBy?: string
  /** The columns that are damaged in the store, with the reasons; their fields are empty. */
  readonly unreadable?: string
}

/** The state of a review. */
export type ReviewStatus = 'OPEN' | 'DECIDED' | 'TIMED_OUT' | 'WITHDRAWN'

/** The record of a run to create. */
export interface NewRun extends Pick<
  RunRecord,
  | 'runId'
  | 'ensemble'
  | 'workflow'
  | 'inputs'
  | 'tags'
  | 'taskCount'
  | 'createdAt'
  | 'startAt'
  | 'startBy'
  | 'priority'
  | 'fairnessKey'
  | 'request'
  | 'actor'
  | 'webhooks'
> {
  readonly submission?: SubmissionKey
  /** Its number in its thread. */
  readonly thread?: NewThreadRun
  /** Key under which later requests find its result; callers can neither read nor set it. */
  readonly cacheKey?: string
  /** The code that executes it. @default the build of the process that takes it first */
  readonly code?: ChosenCode
}

/** Identifies a repeated submission. */
export interface SubmissionKey {
  /** Chosen by the client that submits. */
  readonly idempotencyKey: string
  /** Hash of the submission; another one under the same key is refused. */
  readonly fingerprint: string
}

/** The number of a new run in its thread. */
export interface NewThreadRun {
  readonly threadId: string
  /** Number of the run in its thread, from 1. Numbers of deleted runs are missing. */
  readonly number: number
  /**
   * Id of the thread's newest run if it had ended when its messages were read; absent in a thread without runs, and
   * if its messages may be incomplete (RUNS-H2).
   */
  readonly follows?: string
  /** The run as a message of its user. */
  readonly userMessage: string
}

/** A run and its tasks, in the order of their index. */
export interface RunWithTasks {
  readonly run: RunRecord
  readonly tasks: readonly TaskRecord[]
}
