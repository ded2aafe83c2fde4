/**
 * Serves the metrics of the process for Prometheus.
 *
 * With configured keys, the route requires `runs:read` like `/api/status`, because the metrics reveal load, cost and
 * tools. Prometheus sends a key with `authorization: { credentials: … }`. Give it its own key with this scope only, so
 * that it can be revoked separately.
 */
import { ROUTES } from '@tutti/protocol'

import { measureProcess } from '../metrics/process-metrics.ts'
import { createStoreCollector } from '../metrics/store-metrics.ts'
import { chooseFormat, MEDIA_TYPES, formatMetrics } from '../metrics/text-format.ts'

import type { HttpRoute } from '@tutti/gateway/internal'
import type { ResolvedControlApiOptions } from '../options.ts'

/** Route of the metrics, and the end of their measurement. */
export interface MetricsRoute {
  readonly route: HttpRoute
  /** Stops measuring the process. */
  stop(): void
}

/** Starts measuring the process, and returns the route that serves all metrics. */
export function metricsRoute({
  metrics,
  runs,
  clock,
  logger,
}: Pick<ResolvedControlApiOptions, 'metrics' | 'runs' | 'clock' | 'logger'>): MetricsRoute {
  const { instruments, cacheMs } = metrics
  const { registry } = instruments
  metrics.watch(runs)
  const processMetrics = measureProcess(instruments)
  const collectStore = createStoreCollector({ instruments, runs, clock, logger, cacheMs })
  return {
    stop() {
      processMetrics.stop()
    },
    route: {
      ...ROUTES.getMetrics,
      mediaTypes: ['text/plain', 'application/openmetrics-text'],
      async handle({ request }) {
        processMetrics.collect()
        await collectStore()
        const format = chooseFormat(request.headers.get('accept'))
        return new Response(formatMetrics(registry.read(), format), {
          headers: { 'content-type': MEDIA_TYPES[format] },
        })
      },
    },
  }
}
