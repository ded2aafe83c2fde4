/** The control API of durable runs over HTTP, SSE, WebSocket, A2A and MCP. */
export { createCallbackUrls } from './auth/callback-urls.ts'
export { apiKey, DEFAULT_SCOPES, type ApiKey, type KeyLimits } from './auth/keys.ts'
export { serverMetrics, type ServerMetrics } from './metrics/server-metrics.ts'
export type { ControlApiOptions, Webhook } from './options.ts'
export { serveControlApi, type ControlApiServer, type ListenOptions } from './serve-control-api.ts'
