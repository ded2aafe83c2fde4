/** Counts requests that were answered, and writes them to the log at debug. */
import type { ResolvedControlApiOptions } from '../options.ts'

/** A request that was answered. Its address is not told: it holds tickets, and what people search for. */
export interface AnsweredRequest {
  readonly method: string
  /** Name of the route; undefined where there is none. */
  readonly route?: string | undefined
  readonly status: number
  readonly durationMs: number
  /** Name of the key. */
  readonly actor?: string | undefined
  readonly runId?: string | undefined
  /** With an answer of 500: what the error is logged under. */
  readonly requestId?: string | undefined
  /** The trace that the caller says the request belongs to. */
  readonly traceId?: string | undefined
}

/** The route where there is none. */
const NO_ROUTE = 'none'

/** Tells of a request. */
export function recordRequest(
  { metrics, logger }: Pick<ResolvedControlApiOptions, 'metrics' | 'logger'>,
  request: AnsweredRequest,
): void {
  const { route = NO_ROUTE, status, durationMs } = request
  const { httpRequests, httpDuration } = metrics.instruments
  httpRequests.add({ route, status: String(status) })
  httpDuration.observe({ route }, durationMs / 1_000)
  logger.debug('Request answered', { ...request, route, durationMs: Math.round(durationMs) })
}
