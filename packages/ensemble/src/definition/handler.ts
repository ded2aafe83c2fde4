/** Handlers: tasks that are done by code, with no agent and no model. */
import type { Inputs } from './template.ts'
import type { HandlerOutput } from './handler-output.ts'
import type { AgentTool, CallerRequest, Logger, ToolResult } from '@tutti/core'

/** Role of a task with a handler, on the wire. */
export const HANDLER_ROLE = '(deterministic)'

/** Output of an earlier task that a later one builds on. */
export interface ContextOutput {
  readonly taskName: string
  readonly agentRole: string
  readonly description: string
  readonly output: string
}

/** The context of a handler. Its members can be destructured: none needs `this`. */
export interface HandlerContext {
  readonly runId: string
  readonly taskName: string
  readonly attempt: number
  /** Description and expected output with the inputs of the run put in. */
  readonly description: string
  readonly expectedOutput: string
  /** Outputs of the tasks that this one builds on, in the order of their declaration. */
  readonly context: readonly ContextOutput[]
  readonly inputs: Inputs
  /** The request of the agent or MCP client that started the run; absent when it came over another API. */
  readonly request?: CallerRequest
  /** Aborts when the work is to stop. */
  readonly signal: AbortSignal
  readonly logger: Logger
  /** The same for every try to do this work: a handler asked twice is to do the same thing once. */
  readonly idempotencyKey: string
}

/**
 * Performs a task. Returns text, a `ToolResult`, a value that fits the output schema of the task, or a
 * `handlerOutput` with files, URLs and data. What it throws fails the task; `requestRejected` rejects the
 * request of the run.
 */
export type TaskHandler<Output = unknown> = (
  context: HandlerContext,
) => HandlerReturn<Output> | Promise<HandlerReturn<Output>>

type HandlerReturn<Output> = string | ToolResult | HandlerOutput | Output

/**
 * Who does a task in place of an agent: a function, or a tool, which is given the last output that the
 * task builds on, else the description.
 */
export type Handler<Output = unknown> = TaskHandler<Output> | AgentTool
