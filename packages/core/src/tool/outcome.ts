/** Tool calls and their outcomes. */
import type { TuttiError } from '../errors.ts'
import type { ToolResult } from './tool-result.ts'

/** Tool call of a model. */
export interface ToolCall {
  /** Tool-call id assigned by the model. */
  readonly id: string
  readonly name: string
  /** Arguments as the model wrote them: JSON text. */
  readonly arguments: string
}

/**
 * End of a call, in addition to its result. `finished`: the body returned, or its input was rejected. `threw`,
 * `timed_out`. `cancelled`: cancelled and stopped. `abandoned`: cancelled and did not stop. `exit_early` and
 * `misconfigured` are for the caller and not for the model: a reviewer ended the run, or the tool cannot work as
 * configured.
 */
export type ToolCallEnd =
  | 'finished'
  | 'threw'
  | 'timed_out'
  | 'cancelled'
  | 'abandoned'
  | 'exit_early'
  | 'misconfigured'

/** Input with which a reviewer replaced that of a call. */
export interface EditedInput {
  readonly toolName: string
  /** Whether the tool was called as a step of the call that the model made. */
  readonly isStep: boolean
  readonly input: unknown
}

/** Result of a call, with its end and its times. */
export interface ToolCallOutcome {
  readonly result: ToolResult
  /** Time from when the call had its slot, in whole milliseconds. */
  readonly durationMs: number
  /** Time that the call waited for its slot, in whole milliseconds. */
  readonly waitedMs: number
  readonly end: ToolCallEnd
  /** Thrown error; present exactly with the ends `exit_early` and `misconfigured`. */
  readonly error?: TuttiError
  /** Edits of reviewers during the call and its steps, in their order; absent if there are none. */
  readonly edits?: readonly EditedInput[]
}

/** Call that a tool made as a step of another call. */
export interface NestedToolCall extends ToolCall {
  /** Id of the call that it is a step of. */
  readonly parentId: string
}
