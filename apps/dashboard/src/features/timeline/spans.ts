/** The elements of a timeline: spans of time, and marks at an instant. */
import type { Selection } from '../../api/selection.ts'
import type {
  AgentCallState,
  DirectiveState,
  ReviewState,
  TaskState,
  ToolCallState,
  TurnFailure,
  TurnState,
} from '@tutti/protocol/internal'

export type SpanStatus = 'running' | 'done' | 'failed' | 'stopped'

interface Timed {
  /** Milliseconds since 1970. */
  readonly startMs: number
  /** Never before the start; undefined while it is running. */
  readonly endMs?: number
  readonly status: SpanStatus
  readonly target: Selection
}

/** A model call: the one that counts in its turn, or a failed one before it. */
export interface ModelSpan extends Timed {
  readonly kind: 'model'
  readonly turn: TurnState
  readonly failure?: TurnFailure
}

/** A tool call, or a step of one. */
export interface ToolSpan extends Timed {
  readonly kind: 'tool'
  readonly call: ToolCallState
}

/** An attempt of a tool call to call another agent. */
export interface AgentSpan extends Timed {
  readonly kind: 'agent'
  readonly agentCall: AgentCallState
}

/** A span of work in a task. */
export type NoteSpan = ModelSpan | ToolSpan | AgentSpan

/** An attempt at a task. */
export interface AttemptSpan extends Timed {
  readonly kind: 'attempt'
  /** The task at the end of the attempt. */
  readonly task: TaskState
}

/** A review that a task waited for. */
export interface ReviewSpan extends Timed {
  readonly kind: 'review'
  readonly review: ReviewState
}

/** Any span. */
export type TimelineSpan = NoteSpan | AttemptSpan | ReviewSpan

/** A model switch of the whole run or of one task. */
export interface ModelSwitchMark {
  readonly model: string
  readonly previousModel?: string | undefined
  readonly taskName?: string | undefined
  readonly actor?: string | undefined
}

/** Something that happened to the run at an instant. */
export type TimelineMark = { readonly atMs: number; readonly target?: Selection } & (
  | { readonly kind: 'directive'; readonly directive: DirectiveState }
  | { readonly kind: 'switch'; readonly change: ModelSwitchMark }
  | { readonly kind: 'cancel'; readonly mode: string; readonly actor?: string | undefined }
  | { readonly kind: 'resume'; readonly epoch: number }
)
