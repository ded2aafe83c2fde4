/** The control API of durable runs: HTTP, SSE and WebSocket. */
export type { ControlApiOptions } from './options.ts'
export { serveControlApi, type ControlApiServer, type ListenOptions } from './serve-control-api.ts'
