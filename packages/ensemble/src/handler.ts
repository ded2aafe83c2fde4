/** Handlers: tasks that are done by code, with no agent and no model. */
import type { ContextOutput } from './agent/prompt.ts'
import type { Inputs } from './template.ts'
import type { AgentTool, Logger, ToolResult } from '@tutti/core'

/** What the wire calls whoever does a task that has a handler. */
export const HANDLER_ROLE = '(deterministic)'

/** What a handler is given. Its members may be taken out of it: none needs `this`. */
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
  /** Aborts when the work is to stop. */
  readonly signal: AbortSignal
  readonly logger: Logger
  /** The same for every try to do this work: a handler asked twice is to do the same thing once. */
  readonly idempotencyKey: string
}

/**
 * Does a task: returns text, a `ToolResult`, or a value that fits the output schema of the task. What it
 * throws fails the task.
 */
export type TaskHandler<Output = unknown> = (
  context: HandlerContext,
) => string | ToolResult | Output | Promise<string | ToolResult | Output>

/**
 * Who does a task in place of an agent: a function, or a tool, which is given the last output that the
 * task builds on, else the description.
 */
export type Handler<Output = unknown> = TaskHandler<Output> | AgentTool
