/** Counts completed requests and logs them at debug level. */
import type { ResolvedControlApiOptions } from '../options.ts'

/** A completed request. Its URL is not recorded, because it can contain tickets and search texts. */
export interface AnsweredRequest {
  readonly method: string
  /** Name of the route; undefined if none matched. */
  readonly route?: string | undefined
  readonly status: number
  readonly durationMs: number
  /** Name of the key. */
  readonly actor?: string | undefined
  readonly runId?: string | undefined
  /** Id under which an internal error is logged; only with status 500. */
  readonly requestId?: string | undefined
  /** Trace id from the caller. */
  readonly traceId?: string | undefined
}

/** Route label of requests that matched no route. */
const NO_ROUTE = 'none'

/** Adds a request to the metrics and to the log. */
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
