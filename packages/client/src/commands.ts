/**
 * Commands to runs: their bodies, their replies and how they are sent. A command has the body of its REST route,
 * whether it is sent as a request or over an open WebSocket.
 */
import {
  decode,
  ROUTES,
  routePath,
  type CancelBody,
  type InjectBody,
  type ReviewDecisionBody,
  type RunCommandKind,
  type SwitchModelBody,
} from '@tutti/protocol'

import { exchange, type CallOptions } from './http/exchange.ts'
import { decodeAnswer } from './http/read-answer.ts'

import type { AnswerSchema, AnswerValue } from './http/call-route.ts'
import type { RouteRequest } from './http/send.ts'
import type { ResolvedClientOptions } from './options.ts'

/** Kind of command → its body. */
export interface CommandBodies {
  readonly cancel: CancelBody | undefined
  readonly switch_model: SwitchModelBody
  readonly inject: InjectBody
  readonly decide: ReviewDecisionBody
}

/** Kind of command → the schema of its reply, over HTTP and WebSocket alike. */
export const COMMAND_REPLIES = {
  cancel: ROUTES.cancelRun.response,
  switch_model: ROUTES.switchModel.response,
  inject: ROUTES.injectDirective.response,
  decide: ROUTES.decideReview.response,
} as const satisfies Readonly<Record<RunCommandKind, AnswerSchema>>

/** Reply to a command. */
export type CommandReply<K extends RunCommandKind> = AnswerValue<(typeof COMMAND_REPLIES)[K]>

/** A body whose fields may be undefined; JSON omits those. */
export type Loose<T> = { readonly [K in keyof T]: T[K] | undefined }

/** A command to a run or a review. */
export interface CommandRequest<K extends RunCommandKind = RunCommandKind> {
  readonly kind: K
  /** Id of the run; for `decide`, id of the review. */
  readonly target: string
  readonly body: Loose<CommandBodies[K]>
}

/** Sends commands to the server. A `TuttiConnection` is one. */
export interface CommandSender {
  /**
   * Sends a command and resolves with its reply.
   *
   * @throws {TuttiClientError} with a code of the server or of `LOCAL_ERROR_CODES`.
   */
  send<K extends RunCommandKind>(
    command: CommandRequest<K>,
    options?: CallOptions,
  ): Promise<CommandReply<K>>
}

/** Settings of a command. */
export interface CommandOptions extends CallOptions {
  /** Connection over which the command is sent. @default a separate HTTP request */
  readonly over?: CommandSender | undefined
}

type RequestLine = Pick<RouteRequest, 'method' | 'path'>

const REQUESTS: Readonly<Record<RunCommandKind, (target: string) => RequestLine>> = {
  cancel: (runId) => ({ ...ROUTES.cancelRun, path: routePath('cancelRun', { runId }) }),
  switch_model: (runId) => ({ ...ROUTES.switchModel, path: routePath('switchModel', { runId }) }),
  inject: (runId) => ({
    ...ROUTES.injectDirective,
    path: routePath('injectDirective', { runId }),
  }),
  decide: (reviewId) => ({ ...ROUTES.decideReview, path: routePath('decideReview', { reviewId }) }),
}

/** Returns the command sender of a client: over the connection in `over`, otherwise as a request. */
export function commandSender(
  settings: ResolvedClientOptions,
): <K extends RunCommandKind>(
  command: CommandRequest<K>,
  options?: CommandOptions,
) => Promise<CommandReply<K>> {
  return async (command, { over, ...options } = {}) => {
    if (over !== undefined) return over.send(command, options)
    const { kind, target, body } = command
    const { method, path } = REQUESTS[kind](target)
    const answer = await exchange(settings, { ...options, method, path, body })
    return decodeAnswer(answer, (value) => decode(COMMAND_REPLIES[kind], value))
  }
}
