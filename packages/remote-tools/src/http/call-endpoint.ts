/**
 * Runs one call of an HTTP tool: sends the request, retries it if that can help, and converts the response to a result.
 *
 *   planned request ─headers─▶ send ─▶ retry? ─wait─▶ send … ─▶ ToolResult
 *
 * REMOTE-C1 The author's headers replace those of the input; names are case-insensitive.
 * REMOTE-C2 A failure is a failed result, which names the origin at most, and no header.
 * REMOTE-C3 Waiting for a retry ends with the call.
 */
import { ToolResult, TuttiError, type ToolContext } from '@tutti/core'
import { errorMessage, sleep } from '@tutti/core/internal'
import {
  guardedRequest,
  NetworkError,
  type GuardedResponse,
  type HttpConnections,
  type RequestSettings,
} from '@tutti/net/internal'

import { decideRetryDelay, type RetryReason } from './retries.ts'
import { toHttpResult, type AnswerRules } from './to-result.ts'

import type { HeaderRecord, HeaderSource, ResolvedHttpOptions } from './options.ts'
import type { PlannedRequest } from './request-parts.ts'

/** An HTTP endpoint with the options of its tool. */
export interface Endpoint extends AnswerRules {
  readonly options: ResolvedHttpOptions
  readonly connections: HttpConnections
  /** Time limit of one call, in milliseconds. */
  readonly timeoutMs: number
}

/** Sends the request of a call. Failures are failed results. */
export async function callEndpoint(
  endpoint: Endpoint,
  planned: PlannedRequest,
  context: ToolContext,
): Promise<ToolResult | string> {
  const { options, connections } = endpoint
  const url = URL.parse(planned.url)
  if (url === null) return requestFailure('the URL of the request is invalid')
  if (connections.closed) return requestFailure(`the tool is closed (${url.origin})`)
  const building = buildHeaders(options, planned, context)
  const headers = building instanceof Promise ? await building : building
  const { method, redirects, maxResponseBytes: maxBytes } = options
  const { signal } = context
  const settings: RequestSettings & { readonly signal: AbortSignal } = {
    method,
    headers,
    ...(planned.body === undefined ? {} : { body: planned.body }),
    ...(redirects === 0 ? { redirect: 'manual' } : { maxRedirects: redirects }),
    maxBytes,
    signal,
    // The call has its own time limit.
    timeoutMs: Infinity,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
  }
  const attempted = await sendWithRetries(endpoint, url, settings)
  if (attempted.ok) return toHttpResult(attempted.answer, endpoint)
  const { error } = attempted
  if (!signal.aborted && connections.closed) {
    return requestFailure(`the tool is closed (${url.origin})`)
  }
  return requestFailure(signal.aborted ? errorMessage(error) : explainFailure(error, url))
}

/** Time limit for opening a connection, in milliseconds. */
const CONNECT_TIMEOUT_MS = 10_000

/** Returns the reason without secrets: it names the origin at most. */
function explainFailure(error: unknown, { origin }: URL): string {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof NetworkError ? `${cause.message} (${origin})` : errorMessage(error)
}

function requestFailure(reason: string): ToolResult {
  return ToolResult.failure(`HTTP request failed: ${reason}`)
}

type Attempt =
  | { readonly ok: true; readonly answer: GuardedResponse }
  | { readonly ok: false; readonly error: unknown }

async function sendWithRetries(
  { options, connections, timeoutMs }: Endpoint,
  url: URL,
  settings: RequestSettings & { readonly signal: AbortSignal },
): Promise<Attempt> {
  const { clock, retries } = options
  const { signal } = settings
  const startedAt = retries.max === 0 ? 0 : clock.elapsed()
  for (let made = 1; ; made += 1) {
    let attempt: Attempt
    try {
      attempt = { ok: true, answer: await guardedRequest(url, { ...settings, connections }) }
    } catch (error) {
      attempt = { ok: false, error }
    }
    const reason = retries.max === 0 || signal.aborted ? undefined : findRetryReason(attempt)
    if (reason === undefined) return attempt
    const delayMs = decideRetryDelay(
      {
        reason,
        attempts: made,
        retryAfter: attempt.ok ? attempt.answer.headers.get('retry-after') : null,
        now: clock.now(),
        leftMs: timeoutMs - (clock.elapsed() - startedAt),
      },
      retries,
    )
    if (delayMs === undefined) return attempt
    await sleep(clock, delayMs, signal)
  }
}

function findRetryReason(attempt: Attempt): RetryReason | undefined {
  if (attempt.ok) return attempt.answer.status >= 400 ? attempt.answer.status : undefined
  const { error } = attempt
  return TuttiError.isInstance(error) && error.retryable ? 'network' : undefined
}

function buildHeaders(
  { headers, idempotencyKeyHeader }: ResolvedHttpOptions,
  planned: PlannedRequest,
  context: ToolContext,
): HeaderRecord | Promise<HeaderRecord> {
  const base: HeaderRecord = {
    ...buildTraceHeaders(context),
    ...planned.headers,
    ...(idempotencyKeyHeader === undefined
      ? {}
      : { [idempotencyKeyHeader.toLowerCase()]: context.idempotencyKey }),
  }
  return typeof headers === 'function'
    ? addHeadersFrom(base, headers, context)
    : { ...base, ...headers }
}

/** Returns the trace headers of the call. Headers of the author or of the input replace them. */
function buildTraceHeaders({ traceparent, tracestate }: ToolContext): HeaderRecord {
  if (traceparent === undefined) return {}
  return tracestate === undefined ? { traceparent } : { traceparent, tracestate }
}

async function addHeadersFrom(
  base: HeaderRecord,
  source: HeaderSource,
  context: ToolContext,
): Promise<HeaderRecord> {
  const result: Record<string, string> = { ...base }
  for (const [name, value] of Object.entries(await source(context))) {
    result[name.toLowerCase()] = value
  }
  return result
}
