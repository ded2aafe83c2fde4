/** Calls a route of the protocol's table and reads its answer as what the table says. */
import { decode } from '@tutti/protocol'

import { exchange, type CallOptions, type Exchange } from './exchange.ts'
import { decodeAnswer } from './read-answer.ts'

import type { ResolvedClientOptions } from '../options.ts'
import type { RouteRequest } from './send.ts'

/** A schema of the protocol. */
export type AnswerSchema = Parameters<typeof decode>[0]

/** The type of the values that fit a schema. */
export type AnswerValue<S extends AnswerSchema> = Extract<
  ReturnType<typeof decode<S>>,
  { readonly ok: true }
>['value']

/** A route whose answer is JSON. */
export interface JsonRoute<S extends AnswerSchema> {
  readonly method: RouteRequest['method']
  readonly response: S
}

/** What is sent to a route: everything but its method. */
export interface RouteCall extends Omit<Exchange, 'method'>, CallOptions {}

/**
 * The decoded answer of a route.
 *
 * @throws {TuttiClientError} with the server's code, or CONNECTION_FAILED, TIMED_OUT, BAD_RESPONSE or
 * ABORTED.
 */
export async function callRoute<S extends AnswerSchema>(
  settings: ResolvedClientOptions,
  { method, response }: JsonRoute<S>,
  call: RouteCall,
): Promise<AnswerValue<S>> {
  const answer = await exchange(settings, { ...call, method })
  return decodeAnswer(answer, (value) => decode(response, value))
}

/** The body of a route that answers with text, or with nothing. @throws as `callRoute` */
export async function callPlainRoute(
  settings: ResolvedClientOptions,
  { method }: { readonly method: RouteRequest['method'] },
  call: RouteCall,
): Promise<string> {
  const headers = { accept: 'text/plain, application/json', ...call.headers }
  const { text } = await exchange(settings, { ...call, method, headers })
  return text
}
