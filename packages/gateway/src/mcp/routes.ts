/** Routes of the server as an MCP server of both protocol eras, at one path. */
import type { GatewayOptions } from '../gateway-options.ts'
import type { HttpRoute } from '../http/route.ts'
import type { AnswerMcp, McpParts } from './endpoint.ts'

/** Path of the MCP endpoint. */
export const MCP_PATH = '/mcp'

/** Returns the routes of the MCP server. They need `runs:read`; calls need further scopes. */
export function mcpRoutes(options: GatewayOptions, parts: McpParts): readonly HttpRoute[] {
  let endpoint: Promise<AnswerMcp> | undefined
  const handle: HttpRoute['handle'] = async ({ request, caller }) => {
    endpoint ??= loadEndpoint(options, parts)
    return (await endpoint)(request, caller)
  }
  return ['POST', 'GET', 'DELETE'].map((method) => ({
    method,
    path: MCP_PATH,
    scope: 'runs:read',
    handle,
  }))
}

async function loadEndpoint(options: GatewayOptions, parts: McpParts): Promise<AnswerMcp> {
  const { mcpEndpoint } = await import('./endpoint.ts')
  return mcpEndpoint(options, parts)
}
