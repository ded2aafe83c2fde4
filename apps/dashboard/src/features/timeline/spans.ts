/** What a timeline is made of: things that took time, and things that happened at once. */
import type { Selection } from '../../api/selection.ts'
import type {
  AgentCallState,
  DirectiveState,
  ReviewState,
  TaskState,
  ToolCallState,
  TurnFailure,
  TurnState,
} from '@tutti/protocol'

/** How it stands. */
export type SpanStatus = 'running' | 'done' | 'failed' | 'stopped'

interface Timed {
  /** Milliseconds since 1970. */
  readonly startMs: number
  /** Never before the start; absent while it goes on. */
  readonly endMs?: number
  readonly status: SpanStatus
  readonly target: Selection
}

/** One call of a model: the one that counts in its turn, or one that failed before it. */
export interface ModelSpan extends Timed {
  readonly kind: 'model'
  readonly turn: TurnState
  readonly failure?: TurnFailure
}

/** One tool call, or a step of one. */
export interface ToolSpan extends Timed {
  readonly kind: 'tool'
  readonly call: ToolCallState
}

/** One try of a tool call to have another agent work. */
export interface AgentSpan extends Timed {
  readonly kind: 'agent'
  readonly agentCall: AgentCallState
}

/** Work in a task. */
export type NoteSpan = ModelSpan | ToolSpan | AgentSpan

/** One attempt at a task. */
export interface AttemptSpan extends Timed {
  readonly kind: 'attempt'
  /** The task as it was at the end of the attempt. */
  readonly task: TaskState
}

/** A gate that held a task. */
export interface GateSpan extends Timed {
  readonly kind: 'gate'
  readonly gate: ReviewState
}

/** Anything that took time. */
export type TimelineSpan = NoteSpan | AttemptSpan | GateSpan

/** A model was switched; for the whole run, or one task. */
export interface ModelSwitchMark {
  readonly model: string
  readonly previousModel?: string | undefined
  readonly taskName?: string | undefined
  readonly actor?: string | undefined
}

/** Something that happened to the run at once. */
export type TimelineMark = { readonly atMs: number; readonly target?: Selection } & (
  | { readonly kind: 'directive'; readonly directive: DirectiveState }
  | { readonly kind: 'switch'; readonly change: ModelSwitchMark }
  | { readonly kind: 'cancel'; readonly mode: string; readonly actor?: string | undefined }
  | { readonly kind: 'resume'; readonly epoch: number }
)
