/**
 * The metrics of the process, for Prometheus.
 *
 * Where keys are set it needs `runs:read`, as `/api/status`: the figures tell how much is done, at what cost and with
 * which tools, which is not for everybody who reaches the port. Prometheus sends a key as any client does
 * (`authorization: credentials`), and a key of its own with just this scope can be taken back by itself.
 */
import { ROUTES } from '@tutti/protocol'

import { measureProcess } from '../metrics/process-metrics.ts'
import { createStoreCollector } from '../metrics/store-metrics.ts'
import { chooseFormat, MEDIA_TYPES, formatMetrics } from '../metrics/text-format.ts'

import type { HttpRoute } from '@tutti/gateway'
import type { ResolvedControlApiOptions } from '../options.ts'

/** The route, and what ends the measuring. */
export interface MetricsRoute {
  readonly route: HttpRoute
  stop(): void
}

/** Begins to measure the process and its store, and makes the route that tells of it. */
export function metricsRoute({
  metrics,
  runs,
  clock,
  logger,
}: Pick<ResolvedControlApiOptions, 'metrics' | 'runs' | 'clock' | 'logger'>): MetricsRoute {
  const { instruments, cacheMs } = metrics
  const { registry } = instruments
  metrics.watch(runs)
  const figures = measureProcess(instruments)
  const collectStore = createStoreCollector({ instruments, runs, clock, logger, cacheMs })
  return {
    stop() {
      figures.stop()
    },
    route: {
      ...ROUTES.getMetrics,
      mediaTypes: ['text/plain', 'application/openmetrics-text'],
      async handle({ request }) {
        figures.collect()
        await collectStore()
        const format = chooseFormat(request.headers.get('accept'))
        return new Response(formatMetrics(registry.read(), format), {
          headers: { 'content-type': MEDIA_TYPES[format] },
        })
      },
    },
  }
}
