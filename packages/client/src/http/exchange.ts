/**
 * One HTTP call: a request, its whole response, and retries of safe calls.
 *
 * CLIENT-X1 A call takes at most its time limit, including retries and the waits between them.
 * CLIENT-X2 Only a safe call is retried, at most `maxRepeats` times, and only after a transient failure.
 * CLIENT-X3 A retry waits at least as long as the server asks. If the wait exceeds the time limit, the failure is
 *    thrown at once.
 */
import { findExcessProblems } from '@tutti/protocol/internal'

import { openScope, type CallScope } from '../call-scope.ts'
import { TuttiClientError } from '../errors.ts'
import { retryDelayMs } from '../reconnect.ts'
import { answerError, type HttpAnswer } from './read-answer.ts'
import { readBodyText, send, type RouteRequest } from './send.ts'

import type { ResolvedClientOptions } from '../options.ts'

export interface CallOptions {
  /** Aborts the call, which then fails with ABORTED. The server continues what it has begun. */
  readonly signal?: AbortSignal | undefined
  /**
   * Time limit of the call with its retries, up to the end of the response, in milliseconds; `Infinity` for no limit.
   * Fails with TIMED_OUT. @default `timeoutMs` of the client
   */
  readonly timeoutMs?: number | undefined
}

/** A request with its limits. */
export interface Exchange extends RouteRequest, CallOptions {
  /** Whether a repeated call has no further effect. @default true for GET, else false */
  readonly isSafe?: boolean
  /** Time that the request asks the server to wait, in milliseconds, in addition to the limit. @default 0 */
  readonly serverTimeMs?: number
  /** A status of 400 or more that is not an error. */
  readonly alsoGood?: number
}

/**
 * Sends a request and returns its response.
 *
 * @throws {TuttiClientError} with a code of the server, or CONNECTION_FAILED, TIMED_OUT, BAD_RESPONSE or ABORTED.
 * @throws {RangeError} when the time limit is not above 0.
 */
export async function exchange(
  settings: ResolvedClientOptions,
  { signal, timeoutMs, serverTimeMs = 0, isSafe, alsoGood, ...request }: Exchange,
): Promise<HttpAnswer> {
  const { clock } = settings
  const limitMs = checkTimeLimit(timeoutMs ?? settings.timeoutMs) + serverTimeMs
  const deadline = clock.elapsed() + limitMs
  const repeats = (isSafe ?? request.method === 'GET') ? settings.maxRepeats : 0
  const scope = openScope(clock, [signal])
  const { method, path } = request
  const stop = scope.limit(limitMs, `${method} ${path} took longer than ${limitMs} ms`)
  const once = (): Promise<HttpAnswer> => sendOnce(settings, { ...request, alsoGood }, scope)
  try {
    for (let attempt = 1; attempt <= repeats; attempt += 1) {
      const outcome = await toOutcome(once())
      if (outcome.ok) return outcome.answer
      const delayMs = retryDelayMs(attempt, outcome.error, settings)
      if (clock.elapsed() + delayMs >= deadline) throw outcome.error
      await scope.pause(delayMs)
    }
    return await once()
  } finally {
    stop()
    scope.close()
  }
}

/** A response, or a transient failure. */
type Outcome =
  | { readonly ok: true; readonly answer: HttpAnswer }
  | { readonly ok: false; readonly error: TuttiClientError }

/** Returns the outcome of an attempt. @throws {TuttiClientError} a failure that a retry cannot fix. */
async function toOutcome(answer: Promise<HttpAnswer>): Promise<Outcome> {
  try {
    return { ok: true, answer: await answer }
  } catch (error) {
    if (TuttiClientError.isInstance(error) && error.retryable) return { ok: false, error }
    throw error
  }
}

async function sendOnce(
  settings: ResolvedClientOptions,
  { alsoGood, ...request }: RouteRequest & { readonly alsoGood: number | undefined },
  scope: CallScope,
): Promise<HttpAnswer> {
  const response = await send(settings, request, scope)
  const { status, headers, ok } = response
  const text = await readBodyText(response, request, scope)
  const answer = { request, status, headers, text, receivedAt: settings.clock.now() }
  if (!ok && status !== alsoGood) throw answerError(answer)
  return answer
}

function checkTimeLimit(timeoutMs: number): number {
  const [excess] = findExcessProblems({ timeoutMs })
  if (excess !== undefined) throw new RangeError(`Invalid time limit: ${excess}`)
  if (timeoutMs > 0) return timeoutMs
  throw new RangeError(`Invalid timeoutMs: must be above 0, got ${timeoutMs}`)
}
