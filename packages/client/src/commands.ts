/**
 * Commands to runs, and how they are sent. A command has the body of its REST route, whether it is sent as a request or
 * over an open WebSocket. All are derived from the protocol's table of commands.
 */
import { decode } from '@tutti/protocol'
import {
  commandEntry,
  commandPath,
  type CommandBody,
  type CommandResponse,
  type RunCommandKind,
} from '@tutti/protocol/internal'

import { exchange, type CallOptions } from './http/exchange.ts'
import { decodeAnswer } from './http/read-answer.ts'

import type { ResolvedClientOptions } from './options.ts'

/** A body whose fields may be undefined; JSON omits those. */
export type Loose<T> = { readonly [K in keyof T]: T[K] | undefined }

/** A command to a run or a review. */
export interface CommandRequest<K extends RunCommandKind = RunCommandKind> {
  readonly kind: K
  /** Id of the run; for `decide`, id of the review. */
  readonly target: string
  /** Undefined for no body, if all of its fields are optional. */
  readonly body: Loose<CommandBody<K>> | ({} extends CommandBody<K> ? undefined : never)
}

/** Sends commands to the server. A `TuttiClient` and a `TuttiConnection` are such senders. */
export interface CommandSender {
  /**
   * Sends a command and resolves with its response, the same over HTTP and WebSocket.
   *
   * @throws {TuttiClientError} with a code of the server or of `LOCAL_ERROR_CODES`.
   */
  send<K extends RunCommandKind>(
    command: CommandRequest<K>,
    options?: CallOptions,
  ): Promise<CommandResponse<K>>
}

export interface CommandOptions extends CallOptions {
  /** Connection over which the command is sent. @default a separate HTTP request */
  readonly over?: CommandSender | undefined
}

/** Returns the command sender of a client: over the connection in `over`, otherwise as a request. */
export function commandSender(
  settings: ResolvedClientOptions,
): <K extends RunCommandKind>(
  command: CommandRequest<K>,
  options?: CommandOptions,
) => Promise<CommandResponse<K>> {
  return async (command, { over, ...options } = {}) => {
    if (over !== undefined) return over.send(command, options)
    const { kind, target, body } = command
    const { method, response } = commandEntry(kind).route
    const path = commandPath(kind, target)
    const answer = await exchange(settings, { ...options, method, path, body })
    return decodeAnswer(answer, (value) => decode(response, value))
  }
}
