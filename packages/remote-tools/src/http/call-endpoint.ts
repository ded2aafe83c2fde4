/**
 * One call of an HTTP tool: the request, made again where that helps, and the answer as a result.
 *
 *   planned request ─headers─▶ send ─▶ retry? ─wait─▶ send … ─▶ ToolResult
 *
 * C1 The author's headers win over those of the input, in any case of letters.
 * C2 What fails is a failed result that names the origin at most, and no header.
 * C3 Waiting ends with the call.
 */
import { errorMessage, sleep, ToolResult, TuttiError, type ToolContext } from '@tutti/core'
import {
  guardedRequest,
  NetworkError,
  type GuardedResponse,
  type HttpConnections,
  type RequestSettings,
} from '@tutti/net'

import { retryDelayMs, type RetryReason } from './retries.ts'
import { toHttpResult, type AnswerRules } from './to-result.ts'

import type { HeaderRecord, HeaderSource, ResolvedHttpOptions } from './options.ts'
import type { PlannedRequest } from './request-parts.ts'

/** A place that requests go to, as a tool is set up for it. */
export interface Endpoint extends AnswerRules {
  readonly options: ResolvedHttpOptions
  readonly connections: HttpConnections
  /** Limit of one call, in milliseconds. */
  readonly timeoutMs: number
}

/** Makes the request of a call; what fails is a failed result. */
export async function callEndpoint(
  endpoint: Endpoint,
  planned: PlannedRequest,
  context: ToolContext,
): Promise<ToolResult | string> {
  const { options, connections } = endpoint
  const url = URL.parse(planned.url)
  if (url === null) return requestFailure('the URL of the request is invalid')
  if (connections.closed) return requestFailure(`the tool was closed (${url.origin})`)
  const making = headersOf(options, planned, context)
  const headers = making instanceof Promise ? await making : making
  const { method, redirects, maxResponseBytes: maxBytes } = options
  const { signal } = context
  const settings: RequestSettings & { readonly signal: AbortSignal } = {
    method,
    headers,
    ...(planned.body === undefined ? {} : { body: planned.body }),
    ...(redirects === 0 ? { redirect: 'manual' } : { maxRedirects: redirects }),
    maxBytes,
    signal,
    // The call has a limit of its own.
    timeoutMs: Infinity,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
  }
  const attempted = await attempts(endpoint, url, settings)
  if (attempted.ok) return toHttpResult(attempted.answer, endpoint)
  const { error } = attempted
  if (!signal.aborted && connections.closed) {
    return requestFailure(`the tool was closed (${url.origin})`)
  }
  return requestFailure(signal.aborted ? errorMessage(error) : failureReason(error, url))
}

/** Limit until a connection is open, in milliseconds. */
const CONNECT_TIMEOUT_MS = 10_000

/** The reason in text without secrets: of the URL it names the origin at most. */
function failureReason(error: unknown, { origin }: URL): string {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof NetworkError ? `${cause.message} (${origin})` : errorMessage(error)
}

function requestFailure(reason: string): ToolResult {
  return ToolResult.failure(`HTTP request failed: ${reason}`)
}

type Attempt =
  | { readonly ok: true; readonly answer: GuardedResponse }
  | { readonly ok: false; readonly error: unknown }

async function attempts(
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
    const reason = retries.max === 0 || signal.aborted ? undefined : retryReason(attempt)
    if (reason === undefined) return attempt
    const delayMs = retryDelayMs(
      {
        reason,
        attempts: made,
        retryAfter: attempt.ok ? attempt.answer.headers.get('retry-after') : null,
        now: clock.now(),
        leftMs: timeoutMs - (clock.elapsed() - startedAt),
        chance: Math.random(),
      },
      retries,
    )
    if (delayMs === undefined) return attempt
    await sleep(clock, delayMs, signal)
  }
}

function retryReason(attempt: Attempt): RetryReason | undefined {
  if (attempt.ok) return attempt.answer.status >= 400 ? attempt.answer.status : undefined
  const { error } = attempt
  return TuttiError.isInstance(error) && error.retryable ? 'network' : undefined
}

function headersOf(
  { headers, idempotencyKeyHeader }: ResolvedHttpOptions,
  planned: PlannedRequest,
  context: ToolContext,
): HeaderRecord | Promise<HeaderRecord> {
  const base: HeaderRecord = {
    ...traceHeaders(context),
    ...planned.headers,
    ...(idempotencyKeyHeader === undefined
      ? {}
      : { [idempotencyKeyHeader.toLowerCase()]: context.idempotencyKey }),
  }
  return typeof headers === 'function'
    ? withOwnHeaders(base, headers, context)
    : { ...base, ...headers }
}

/** The trace of the call. Headers of that name which the author or the input sets win. */
function traceHeaders({ traceparent, tracestate }: ToolContext): HeaderRecord {
  if (traceparent === undefined) return {}
  return tracestate === undefined ? { traceparent } : { traceparent, tracestate }
}

async function withOwnHeaders(
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
