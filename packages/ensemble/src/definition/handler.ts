/** Handlers: tasks that code performs, without an agent or a model. */
import type { Inputs } from './template.ts'
import type { HandlerOutput } from './handler-output.ts'
import type { HandlerOperations } from './operations.ts'
import type { EventToAwait } from './wait.ts'
import type { AgentTool, Logger, ToolResult } from '@tutti/core'
import type { CallerRequest } from '@tutti/core/internal'

/** Role of a task with a handler, on the wire. */
export const HANDLER_ROLE = '(deterministic)'

/** Output of an earlier task in the context of a later one. */
export interface ContextOutput {
  readonly taskName: string
  readonly agentRole: string
  readonly description: string
  readonly output: string
}

/** Context of a handler. Its members can be destructured, because none uses `this`. */
export interface HandlerContext extends HandlerOperations {
  readonly runId: string
  readonly taskName: string
  readonly attempt: number
  /** Description and expected output with the inputs of the run filled in. */
  readonly description: string
  readonly expectedOutput: string
  /** Outputs of the tasks in the context of this one, in the order of declaration. */
  readonly context: readonly ContextOutput[]
  readonly inputs: Inputs
  /**
   * Request of the agent or MCP client that started the run; absent if the run was started through another
   * API.
   */
  readonly request?: CallerRequest
  /** Aborts when the handler must stop. */
  readonly signal: AbortSignal
  readonly logger: Logger
  /**
   * Key that is the same for every try at this work, so that a repeated call has its side effects only once.
   */
  readonly idempotencyKey: string
  /**
   * Returns a URL with which a service without a key sends one event to this run, to hand over before `waitFor`: `POST` with the
   * data as JSON. It is the same whenever the attempt asks for this event, also in a step, and valid until the run ends.
   *
   * @throws {TuttiError} CONFIG_INVALID for an invalid event, or if the run is not on a server with a public URL.
   */
  readonly callbackUrl: (event: EventToAwait) => Promise<string>
}

/**
 * Performs a task. Returns text, a `ToolResult`, a value that matches the output schema of the task, or a
 * `handlerOutput` with files, URLs and data. An error that it throws fails the task; `requestRejected`
 * rejects the request of the run.
 */
export type TaskHandler<Output = unknown> = (
  context: HandlerContext,
) => HandlerReturn<Output> | Promise<HandlerReturn<Output>>

type HandlerReturn<Output> = string | ToolResult | HandlerOutput | Output

/**
 * Performs a task instead of an agent: a function, or a tool. The input of a tool is the last output in the
 * context of the task, else the description.
 */
export type Handler<Output = unknown> = TaskHandler<Output> | AgentTool
