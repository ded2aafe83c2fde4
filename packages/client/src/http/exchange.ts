/**
 * One plain call on the network: a request, its whole answer, and the repeats of what may be repeated.
 *
 * X1 A call takes at most its time limit, repeats and the waits between them included.
 * X2 Only a safe call is repeated, at most `maxRepeats` times, and only after a failure that may pass.
 * X3 A repeat waits at least as long as the server asks; one that would not fit into the time limit is
 *    not made, and the failure is thrown at once.
 */
import { openScope, type CallScope } from '../call-scope.ts'
import { TuttiClientError } from '../errors.ts'
import { backoffMs } from '../reconnect.ts'
import { answerError, type HttpAnswer } from './read-answer.ts'
import { readBodyText, send, type RouteRequest } from './send.ts'

import type { ResolvedClientOptions } from '../options.ts'

/** Settings of one call. */
export interface CallOptions {
  /** Aborts the call; it then fails with ABORTED. What the server has begun goes on. */
  readonly signal?: AbortSignal | undefined
  /**
   * Time for the call, from the request to the end of its answer with all repeats, in milliseconds;
   * `Infinity` for no limit. It fails with TIMED_OUT then. @default `timeoutMs` of the client
   */
  readonly timeoutMs?: number | undefined
}

/** A request, and how long and how often it may be tried. */
export interface Exchange extends RouteRequest, CallOptions {
  /** Whether doing it twice is the same as once. @default true for GET, else false */
  readonly isSafe?: boolean
  /** Time that the server was asked to take, in milliseconds, on top of the limit. @default 0 */
  readonly serverTimeMs?: number
  /** A status from 400 up that is an answer and no error. */
  readonly alsoGood?: number
}

/**
 * The answer to a request.
 *
 * @throws {TuttiClientError} with the server's code, or CONNECTION_FAILED, TIMED_OUT, BAD_RESPONSE or
 * ABORTED.
 * @throws {RangeError} when the time limit is no number above 0.
 */
export async function exchange(
  settings: ResolvedClientOptions,
  { signal, timeoutMs, serverTimeMs = 0, isSafe, alsoGood, ...request }: Exchange,
): Promise<HttpAnswer> {
  const { clock, reconnect, random } = settings
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
      const delayMs = Math.max(
        backoffMs(attempt, { ...reconnect, random }),
        outcome.error.retryAfterMs ?? 0,
      )
      if (clock.elapsed() + delayMs >= deadline) throw outcome.error
      await scope.pause(delayMs)
    }
    return await once()
  } finally {
    stop()
    scope.close()
  }
}

/** An answer, or a failure that may pass. */
type Outcome =
  | { readonly ok: true; readonly answer: HttpAnswer }
  | { readonly ok: false; readonly error: TuttiClientError }

/** What comes of a try. @throws {TuttiClientError} what no repeat can mend. */
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
  if (timeoutMs > 0) return timeoutMs
  throw new RangeError(`Cannot call: timeoutMs must be a number above 0, got ${timeoutMs}`)
}
