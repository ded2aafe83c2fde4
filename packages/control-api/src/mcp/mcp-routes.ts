/** The server as an MCP server. */
import type { ResolvedControlApiOptions } from '../options.ts'
import type { Route } from '../routes/route.ts'

/** The routes of the MCP server. */
export function mcpRoutes(_options: ResolvedControlApiOptions): readonly Route[] {
  return []
}
