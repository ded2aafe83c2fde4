/** A plain call: one request, one JSON answer, within a time limit. */
import { openScope } from '../call-scope.ts'
import { answerError, readAnswer } from './read-answer.ts'
import { readText, send, type HttpRequest } from './send.ts'

import type { ResolvedClientOptions } from '../options.ts'
import type { Decoded } from '@tutti/protocol'

/** Settings of one call. */
export interface CallOptions {
  /** Aborts the call; it then fails with ABORTED. What the server has begun goes on. */
  readonly signal?: AbortSignal | undefined
}

/** A request and how its answer is read. */
export interface RouteCall<T> extends HttpRequest, CallOptions {
  decode(value: unknown): Decoded<T>
}

/**
 * The decoded answer.
 *
 * @throws {TuttiClientError} with the server's code, or CONNECTION_FAILED, TIMED_OUT, BAD_RESPONSE or
 * ABORTED.
 */
export async function callRoute<T>(
  settings: ResolvedClientOptions,
  { signal, decode, ...request }: RouteCall<T>,
): Promise<T> {
  const { clock, timeoutMs } = settings
  const scope = openScope(clock, [signal])
  const { method, path } = request
  const stop = scope.limit(timeoutMs, `${method} ${path} took longer than ${timeoutMs} ms`)
  try {
    const response = await send(settings, request, scope)
    const { status, headers, ok } = response
    const text = await readText(response, request, scope)
    const answer = { request, status, headers, text, receivedAt: clock.now() }
    if (!ok) throw answerError(answer)
    return readAnswer(answer, decode)
  } finally {
    stop()
    scope.close()
  }
}
