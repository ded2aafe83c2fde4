/** The tool contract: what an agent, a pipeline and the control API know of a tool. */
import type { Limiter } from './limiter.ts'
import type { ToolResult } from './tool-result.ts'
import type { ToolContext } from './tool-context.ts'
import type { Decoded } from '@tutti/protocol'
import type { StandardToolSchema } from './tool-schema.ts'
import type { TSchema } from 'typebox'

/** Something a model can call by name. Made by `defineTool` or `defineTextTool`. */
export interface AgentTool {
  /** Name the model calls it by: letters, digits, `_` and `-`, at most 64 of them. */
  readonly name: string
  /** What it does, written for the model. */
  readonly description: string
  /** Whether its input is an object of its own shape, or one string under the field `input`. */
  readonly kind: 'typed' | 'text'
  /** The author's own JSON Schema of the arguments: it is sent to the model as it is. */
  readonly inputSchema: TSchema
  /** JSON Schema of the structured result, when the tool declares one. */
  readonly outputSchema?: TSchema
  /** How long one call may take, in milliseconds; the time a person takes to approve is not counted. */
  readonly timeoutMs: number
  /**
   * How long a cancelled call may take to stop, in milliseconds, when it needs longer than the calls around it;
   * Infinity for one whose work has limits of its own.
   */
  readonly graceMs?: number
  /** False when a call whose outcome is unknown must not be made again. */
  readonly idempotent: boolean
  /** Whether a person must agree to each call. */
  readonly requireApproval: boolean
  /** Bounds how many calls run at the same time; tools may share one. */
  readonly limiter?: Limiter
  /** The input as the body gets it (defaults filled in, slips of form mended), or every problem it has. */
  readInput(input: unknown): Decoded<unknown> | Promise<Decoded<unknown>>
  /**
   * Checks `input` and runs the tool body. Bad input is a failed result; what the body throws is
   * thrown. `runTool` is the safe way to call.
   */
  call(input: unknown, context: ToolContext): Promise<ToolResult>
}

/**
 * A tool whose input and output types are known to the compiler. `Input` is what the body gets, `Source`
 * what a caller gives: a schema library can make the one of the other. It is a Standard Schema of its input too:
 * whatever takes one (a router, a form, another tool) can take the tool.
 */
export interface TypedTool<Input, Output = string, Source = Input>
  extends AgentTool, StandardToolSchema<Source, Input> {
  readInput(input: unknown): Decoded<Input> | Promise<Decoded<Input>>
  /** The tool body itself, for tests: no check of the input, no time limit, no approval. */
  execute(input: Input, context: ToolContext<Input>): Promise<string | ToolResult | Output>
}
