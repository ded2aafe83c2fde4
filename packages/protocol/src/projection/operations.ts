/** Operations of a {@link RunProjection}: what the next event of a run changes for a reader. */
import type { RunUsage } from '../run-usage.ts'
import type { RunEventOf } from '../schemas/run-event.ts'

/** One operation. Readers handle those that their protocol can show, in order. */
export type RunOperation =
  | TaskOperation
  | TurnStarted
  | BlockOpened
  | BlockGrown
  | BlockClosed
  | BlocksWithdrawn
  | OutputStated
  | CallRequested
  | CallEnded
  | OpenedReview
  | ClosedReview
  | RunEnded

/** A task is planned, or its status changes. */
export interface TaskOperation {
  readonly type: 'task'
  readonly name: string
  /** RETRYING when an attempt has failed and another one follows. */
  readonly status: 'PENDING' | 'RUNNING' | 'COMPLETED' | 'RETRYING' | 'FAILED' | 'SKIPPED'
  /** Whether its output is that of the run. */
  readonly isOutput: boolean
  readonly agentRole?: string
  /** From 1; absent for a task that has not begun. */
  readonly attempt?: number
  /** Reason of a failure or a skip. */
  readonly reason?: string
  /** Failure code of a failed attempt. */
  readonly code?: string
  /** Present when it completed. */
  readonly result?: TaskOutput
}

/** Output of a completed task. */
export type TaskOutput = Pick<
  RunEventOf<'task_completed'>,
  'taskName' | 'output' | 'structuredOutput' | 'parts'
>

/** A model turn of the output task begins. */
export interface TurnStarted {
  readonly type: 'turn_started'
  /** Whether the turn has begun before. Its earlier blocks are then withdrawn. */
  readonly isRestart: boolean
}

/** A text of the output task: the text or the reasoning of one model turn, or an output that differs from them. */
export interface OutputBlock {
  /** Unique in the run. */
  readonly id: string
  readonly kind: 'text' | 'reasoning' | 'output'
  /** Text of the answer that it continues, because the model reached its output limit; empty for other blocks. */
  readonly before: string
}

/** A block begins. */
export interface BlockOpened {
  readonly type: 'block_opened'
  readonly block: OutputBlock
}

/** Text is appended to an open block. */
export interface BlockGrown {
  readonly type: 'block_grown'
  readonly block: OutputBlock
  readonly delta: string
}

/** A block is complete. */
export interface BlockClosed {
  readonly type: 'block_closed'
  readonly block: OutputBlock
  /** All of its text. */
  readonly text: string
  /** Names of the tools that its turn calls; empty for the text of an answer and for reasoning. */
  readonly toolNames: readonly string[]
  /** Reason why the model ended the turn; absent for an output and for reasoning. */
  readonly finishReason?: RunEventOf<'llm_iteration_completed'>['finishReason']
}

/** Blocks are void. An open one among them will not be closed. */
export interface BlocksWithdrawn {
  readonly type: 'withdrawn'
  readonly blocks: readonly OutputBlock[]
  /** Whether the blocks are those of the running turn, or of an answer that did not become the output. */
  readonly of: 'turn' | 'answer'
}

/** The output of the run is known. If no block has this text, a block of the kind `output` precedes. */
export interface OutputStated {
  readonly type: 'output'
  readonly text: string
}

/** A model requests a tool call, in any task. */
export interface CallRequested {
  readonly type: 'call_requested'
  /** Unique in the run. */
  readonly callId: string
  /** Id of the turn's text block; unique in the run even if the turn has no text. */
  readonly turnId: string
  readonly toolName: string
  /** As the model wrote them: JSON text. */
  readonly arguments: string
}

/** A call that a model requested has ended. */
export interface CallEnded {
  readonly type: 'call_ended'
  readonly callId: string
  readonly event: RunEventOf<'tool_called'>
}

/** Review that waits for a decision. */
export interface WaitingReview extends RunEventOf<'review_requested'> {
  /** Id of the call under review, as in {@link CallRequested}; absent for other reviews. */
  readonly callId?: string
}

/** A review waits for a decision. */
export interface OpenedReview {
  readonly type: 'review_opened'
  readonly review: WaitingReview
}

/** A review no longer waits. */
export interface ClosedReview {
  readonly type: 'review_closed'
  readonly review: WaitingReview
  readonly event: RunEventOf<'review_decided' | 'review_timed_out' | 'review_withdrawn'>
}

/** The run has ended. */
export interface RunEnded {
  readonly type: 'ended'
  readonly status: RunEventOf<'run_result'>['status']
  /**
   * `length` for an answer that the model's output limit cut, whether the task accepted it or failed; `refusal` and
   * `content_filter` for a run that failed for this reason.
   */
  readonly reason: 'stop' | 'length' | 'refusal' | 'content_filter' | 'cancelled' | 'failed'
  /** Output of a completed run; absent if it has none. */
  readonly output?: string
  /** Explanation of the model that refused, or else the error of the run; empty for other reasons. */
  readonly refusal: string
  /** Message of the error; empty for a run that did not fail. */
  readonly error: string
  /** Failure code; empty for a run that did not fail. */
  readonly code: string
  readonly usage: RunUsage
  readonly event: RunEventOf<'run_result'>
}
