/** For the other packages of Tutti only: its names may change in every version. */
export { describeMetrics, type ServerMetricsOptions } from './metrics/server-metrics.ts'
export type { MetricDescription } from './metrics/registry.ts'
export { REDACTED, redactor } from './secrets/redactor.ts'
export { cancelOrphans, OrphanWatch, type Redactor, type Shared } from '@tutti/gateway/internal'
