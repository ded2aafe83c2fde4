/** The server as an A2A agent. */
import type { ResolvedControlApiOptions } from '../options.ts'
import type { Route } from '../routes/route.ts'

/** The routes of the A2A agent: its card, JSON-RPC and REST. */
export function a2aRoutes(_options: ResolvedControlApiOptions): readonly Route[] {
  return []
}
