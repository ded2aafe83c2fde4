/** The tool contract: what an agent, a pipeline and the control API know of a tool. */
import type { Logger } from './logger.ts'
import type { ToolResult } from './tool-result.ts'
import type { TSchema } from 'typebox'

/** Something a model can call by name. Made by `defineTool` or `defineTextTool`. */
export interface AgentTool {
  /** Name the model calls it by: letters, digits, `_` and `-`, at most 64 of them. */
  readonly name: string
  /** What it does, written for the model. */
  readonly description: string
  /** The author's own schema of the arguments: validates the call and is sent to the model as it is. */
  readonly inputSchema: TSchema
  /** Schema of the structured result, when the tool declares one. */
  readonly outputSchema?: TSchema
  /** How long one call may take, in milliseconds. */
  readonly timeoutMs: number
  /** False when a call whose outcome is unknown must not be made again. */
  readonly idempotent: boolean
  /** Checks `input` and runs the tool body. Bad input is a failed result, never a throw. */
  call(input: unknown, context: ToolContext): Promise<ToolResult>
}

/** What a tool body is given besides its input. */
export interface ToolContext {
  /** Aborts when the call is cancelled or has timed out. */
  readonly signal: AbortSignal
  /**
   * Identity of this call: of its run, task, attempt, turn and the model's own id. A tool that is called
   * twice with the same key is asked to do the same thing once.
   */
  readonly idempotencyKey: string
  /** The model's own id of the call. */
  readonly callId: string
  /** Role of the agent that called, or `unknown`. */
  readonly agentRole: string
  /** Name of the task the call belongs to, if any. */
  readonly taskName?: string
  /** Run the call belongs to, if any. */
  readonly runId?: string
  /** A logger for this tool. */
  readonly logger: Logger
}
