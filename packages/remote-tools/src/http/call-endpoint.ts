/**
 * One call of an HTTP tool: the request, made again where that helps, and the answer as a result.
 *
 *   planned request ─headers─▶ send ─▶ retry? ─wait─▶ send … ─▶ ToolResult
 *
 * C1 The author's headers win over those of the input, in any case of letters.
 * C2 What fails is a failed result that names the origin at most, and no header.
 * C3 Waiting ends with the call.
 */
import { errorMessage, sleep, ToolResult, type ToolContext } from '@tutti/core'
import { ACCEPTED_CODINGS } from '@tutti/net'

import { headerOf, toTarget, type HttpAnswer, type HttpRequest } from './exchange.ts'
import { failureReason, mayPass } from './failure-reason.ts'
import { headerProblems } from './header-rules.ts'
import { retryDelayMs, type RetryReason } from './retries.ts'
import { toHttpResult, type AnswerRules } from './to-result.ts'

import type { HttpConnections } from './connections.ts'
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
  const target = targetOf(options, planned)
  if (target === undefined) return requestFailure('the URL of the request is invalid')
  if (connections.closed) return requestFailure(`the tool was closed (${target.origin})`)
  const making = headersOf(options, planned, context)
  const headers = making instanceof Promise ? await making : making
  const problems = options.checksHeaders ? headerProblems(headers) : []
  if (problems.length > 0) return requestFailure(problems.join('; '))
  const request = { target, method: options.method, headers, body: planned.body }
  const { signal } = context
  const attempted = await attempts(endpoint, request, signal)
  if (attempted.ok) return toHttpResult(attempted.answer, endpoint)
  const { error } = attempted
  const reason = signal.aborted ? errorMessage(error) : failureReason(error, target.origin)
  return requestFailure(reason)
}

function targetOf({ fixedTarget, template }: ResolvedHttpOptions, { url }: PlannedRequest) {
  if (fixedTarget !== undefined && url === template.text) return fixedTarget
  const read = URL.parse(url)
  return read === null ? undefined : toTarget(read)
}

function requestFailure(reason: string): ToolResult {
  return ToolResult.failure(`HTTP request failed: ${reason}`)
}

type Attempt =
  | { readonly ok: true; readonly answer: HttpAnswer }
  | { readonly ok: false; readonly error: unknown }

async function attempts(
  { options, connections, timeoutMs }: Endpoint,
  request: HttpRequest,
  signal: AbortSignal,
): Promise<Attempt> {
  const { clock, retries, redirects, guardsFirst, maxResponseBytes: maxBytes } = options
  const startedAt = retries.max === 0 ? 0 : clock.elapsed()
  for (let made = 1; ; made += 1) {
    let attempt: Attempt
    try {
      const answer = await connections.send(request, { signal, maxBytes, redirects, guardsFirst })
      attempt = { ok: true, answer }
    } catch (error) {
      attempt = { ok: false, error }
    }
    const reason = retries.max === 0 || signal.aborted ? undefined : retryReason(attempt)
    if (reason === undefined) return attempt
    const delayMs = retryDelayMs(
      {
        reason,
        attempts: made,
        retryAfter: attempt.ok ? headerOf(attempt.answer, 'retry-after') : undefined,
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
  return mayPass(attempt.error) ? 'network' : undefined
}

function headersOf(
  { headers, idempotencyKeyHeader }: ResolvedHttpOptions,
  planned: PlannedRequest,
  context: ToolContext,
): HeaderRecord | Promise<HeaderRecord> {
  const base: HeaderRecord = {
    'accept-encoding': ACCEPTED_CODINGS,
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
