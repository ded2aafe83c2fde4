/** One tool call as a model made it, and how it ended. */
import type { TuttiError } from '../errors.ts'
import type { ToolResult } from '../tool-result.ts'

/** One call as a model made it. */
export interface ToolCall {
  /** The model's id of the call. */
  readonly id: string
  readonly name: string
  /** The arguments as the model wrote them: JSON text. */
  readonly arguments: string
}

/**
 * How a call ended, besides its result: the body returned or its input was refused (`finished`), it
 * threw, its time was up, it was cancelled and stopped, or was cancelled and did not stop (`abandoned`).
 * `exit_early` and `misconfigured` are for the caller and not for the model: a reviewer ended the
 * run, or the tool cannot work as it is set up.
 */
export type ToolCallEnd =
  | 'finished'
  | 'threw'
  | 'timed_out'
  | 'cancelled'
  | 'abandoned'
  | 'exit_early'
  | 'misconfigured'

/** Result of one call and how it came about. */
export interface ToolCallOutcome {
  readonly result: ToolResult
  /** Time from when the call had its turn, in whole milliseconds. */
  readonly durationMs: number
  /** Time the call waited for its turn, in whole milliseconds. */
  readonly waitedMs: number
  readonly end: ToolCallEnd
  /** What was thrown; present exactly with the ends `exit_early` and `misconfigured`. */
  readonly error?: TuttiError
}

/** A call that a tool made as a part of its own call. */
export interface NestedToolCall extends ToolCall {
  /** Id of the call that it is a part of. */
  readonly parentId: string
}
