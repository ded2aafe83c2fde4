/**
 * Commands to runs: how each is worded, what answers it, and how it gets to the server. The client words a command
 * once, as the REST API does; a sender takes it there as a request, or over a WebSocket that is open.
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

/** Kind of command → what it says. */
export interface CommandBodies {
  readonly cancel: CancelBody | undefined
  readonly switch_model: SwitchModelBody
  readonly inject: InjectBody
  readonly decide: ReviewDecisionBody
}

/** Kind of command → the schema of its reply, whichever way it goes. */
export const COMMAND_REPLIES = {
  cancel: ROUTES.cancelRun.response,
  switch_model: ROUTES.switchModel.response,
  inject: ROUTES.injectDirective.response,
  decide: ROUTES.decideReview.response,
} as const satisfies Readonly<Record<RunCommandKind, AnswerSchema>>

/** The reply to a command. */
export type CommandReply<K extends RunCommandKind> = AnswerValue<(typeof COMMAND_REPLIES)[K]>

/** A body whose fields may be undefined; JSON leaves those out. */
export type Loose<T> = { readonly [K in keyof T]: T[K] | undefined }

/** A command. */
export interface CommandRequest<K extends RunCommandKind = RunCommandKind> {
  readonly kind: K
  /** Id of the run; of `decide` the id of the review. */
  readonly target: string
  readonly body: Loose<CommandBodies[K]>
}

/** A way for commands to get to the server. A `TuttiConnection` is one. */
export interface CommandSender {
  /**
   * Sends a command and resolves with its reply.
   *
   * @throws {TuttiClientError} with the server's code, or a local one.
   */
  send<K extends RunCommandKind>(
    command: CommandRequest<K>,
    options?: CallOptions,
  ): Promise<CommandReply<K>>
}

/** Settings of a command. */
export interface CommandOptions extends CallOptions {
  /** Connection that takes the command to the server. @default a request of its own */
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

/** Makes the sender of a client: over the connection that a command names, otherwise as a request. */
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
