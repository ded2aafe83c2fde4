/** What a store keeps of a run and of its tasks, besides its events. Instants are milliseconds since 1970. */
import type { CallerRequest } from '@tutti/core'
import type { Budget } from '@tutti/ensemble'
import type {
  FinishReason,
  RunEventOf,
  RunOptionsBody,
  RunStatus,
  TagMap,
  TaskDefinitionBody,
  TaskOverrideBody,
  TaskStatus,
  Workflow,
} from '@tutti/protocol'

/** A run. */
export interface RunRecord {
  readonly runId: string
  /** Name of the ensemble it runs. */
  readonly ensemble: string
  readonly workflow: Workflow
  readonly status: RunStatus
  readonly inputs: Readonly<Record<string, string>>
  readonly tags: Readonly<TagMap>
  /** The tasks of the plan, and those that delegations made. */
  readonly taskCount: number
  readonly completedTasks: number
  readonly createdAt: number
  readonly startedAt?: number
  readonly completedAt?: number
  readonly durationMs?: number
  /** Why it failed. */
  readonly error?: string
  /** How often it was claimed; the fencing token of its present owner. */
  readonly epoch: number
  /** Sequence number of its newest event. */
  readonly lastSeq: number
  /** What it was asked to do otherwise than its ensemble says; absent when nothing. */
  readonly request?: RequestedRun
  /** Who submitted it: the name of a key. */
  readonly actor?: string
  /** Names of the webhooks that are told of it; absent when there are none. */
  readonly webhooks?: readonly string[]
}

/**
 * A run as a list shows it: with what its tasks have used so far, and what it waits for. Without what has no
 * small limit; of `error` only the start.
 */
export interface ListedRun extends Omit<RunRecord, 'inputs' | 'request' | 'webhooks'> {
  /** Over all tasks and their attempts; -1 when a provider did not say. */
  readonly totalTokens: number
  readonly totalToolCalls: number
  /** In US dollars; absent as soon as tokens were used whose price is not known. */
  readonly costUsd?: number
  /** The first task that is being worked on; absent when there is none, and when the run has ended. */
  readonly currentTask?: Pick<TaskRecord, 'name' | 'taskIndex'>
  /** Reviews that wait for a decision. */
  readonly openReviews: number
}

/** What a run does otherwise than its ensemble says, as the wire has it. Plain data. */
export interface RequestedRun {
  /** Tasks in place of those of the ensemble. */
  readonly tasks?: readonly TaskDefinitionBody[]
  /** Task name, or the start of its description → what changes. */
  readonly taskOverrides?: Readonly<Record<string, TaskOverrideBody>>
  readonly options?: RunOptionsBody
  /** What the run may use, beside what its ensemble allows it: the smaller of both counts. */
  readonly budget?: Budget
  /** W3C trace context of whoever asked. */
  readonly traceparent?: string
  /** What goes with it. */
  readonly tracestate?: string
  /** The request of the agent or MCP client that started the run, for its tools and handlers. */
  readonly origin?: CallerRequest
  /**
   * What whoever took the submission in wants to find again with the run, such as the message that asked
   * for it; JSON, and of no meaning to the run.
   */
  readonly memo?: Readonly<Record<string, unknown>>
}

/** A task of a run. */
export interface TaskRecord {
  /** From 1, as on the wire. */
  readonly taskIndex: number
  readonly name: string
  readonly description: string
  readonly agentRole: string
  readonly status: TaskStatus
  /** Attempts begun so far. */
  readonly attempt: number
  readonly startedAt?: number
  readonly completedAt?: number
  readonly durationMs?: number
  /** Tokens so far, over all attempts, as all that was used; -1 when a provider did not say. */
  readonly inputTokens: number
  readonly outputTokens: number
  readonly toolCallCount: number
  /** Cost so far in US dollars; absent when a price is not known. */
  readonly costUsd?: number
  readonly output?: string
  /** Whether it has an output that was not read, because the outputs of later tasks are long. */
  readonly outputOmitted?: boolean
  readonly error?: string
  /** Finish reason of the last answer of the model; absent before the end, and when no model ended the attempt. */
  readonly finishReason?: FinishReason
}

/** A review of a run. */
export interface ReviewRecord extends Pick<RunRecord, 'ensemble' | 'inputs' | 'tags'> {
  readonly reviewId: string
  readonly runId: string
  readonly status: ReviewStatus
  /** The event with which it opened: what is asked, of which task. */
  readonly request: RunEventOf<'review_requested'>
  readonly openedAt: number
  /** When its time is over; absent when it waits for ever. */
  readonly expiresAt?: number
  /** Who decided, when that is known. */
  readonly decidedBy?: string
}

/** What became of a review. */
export type ReviewStatus = 'OPEN' | 'DECIDED' | 'TIMED_OUT' | 'WITHDRAWN'

/** What a submit brings. */
export interface NewRun extends Pick<
  RunRecord,
  | 'runId'
  | 'ensemble'
  | 'workflow'
  | 'inputs'
  | 'tags'
  | 'taskCount'
  | 'createdAt'
  | 'request'
  | 'actor'
  | 'webhooks'
> {
  readonly submission?: SubmissionKey
  /** Under which its result may be given again; no caller can read or set it. */
  readonly cacheKey?: string
}

/** How a submission that is sent again is recognised. */
export interface SubmissionKey {
  /** Chosen by whoever submits. */
  readonly idempotencyKey: string
  /** What was asked for; another one under the same key is refused. */
  readonly fingerprint: string
}
