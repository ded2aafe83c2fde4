/** The control API of durable runs over HTTP, SSE, WebSocket, A2A and MCP. */
export { apiKey, DEFAULT_SCOPES, type ApiKey, type KeyLimits } from './auth/keys.ts'
export {
  describeMetrics,
  serverMetrics,
  type ServerMetrics,
  type ServerMetricsOptions,
} from './metrics/server-metrics.ts'
export type { MetricDescription } from './metrics/registry.ts'
export type { ControlApiOptions, Webhook } from './options.ts'
export { serveControlApi, type ControlApiServer, type ListenOptions } from './serve-control-api.ts'
export { REDACTED, redactor } from './secrets/redactor.ts'
export { cancelOrphans, OrphanWatch, type Redactor, type Shared } from '@tutti/gateway'
