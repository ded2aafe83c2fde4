/** Calls routes of the protocol's table and decodes their responses. */
import { decode } from '@tutti/protocol'

import { exchange, type CallOptions, type Exchange } from './exchange.ts'
import { decodeAnswer } from './read-answer.ts'

import type { ResolvedClientOptions } from '../options.ts'
import type { RouteRequest } from './send.ts'

/** A schema of the protocol. */
export type AnswerSchema = Parameters<typeof decode>[0]

/** Type of the values that match a schema. */
export type AnswerValue<S extends AnswerSchema> = Extract<
  ReturnType<typeof decode<S>>,
  { readonly ok: true }
>['value']

/** A route with a JSON response. */
export interface JsonRoute<S extends AnswerSchema> {
  readonly method: RouteRequest['method']
  readonly response: S
}

/** A request to a route, without its method. */
export interface RouteCall extends Omit<Exchange, 'method'>, CallOptions {}

/**
 * Calls a route and returns its decoded response.
 *
 * @throws {TuttiClientError} with a code of the server, or CONNECTION_FAILED, TIMED_OUT, BAD_RESPONSE or ABORTED.
 */
export async function callRoute<S extends AnswerSchema>(
  settings: ResolvedClientOptions,
  { method, response }: JsonRoute<S>,
  call: RouteCall,
): Promise<AnswerValue<S>> {
  const answer = await exchange(settings, { ...call, method })
  return decodeAnswer(answer, (value) => decode(response, value))
}

/** Calls a route whose response is text, or empty. @throws as `callRoute` */
export async function callPlainRoute(
  settings: ResolvedClientOptions,
  { method }: { readonly method: RouteRequest['method'] },
  call: RouteCall,
): Promise<string> {
  const headers = { accept: 'text/plain, application/json', ...call.headers }
  const { text } = await exchange(settings, { ...call, method, headers })
  return text
}
