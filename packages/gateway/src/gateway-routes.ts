/** Routes of all protocols. */
import { a2aRoutes } from './a2a/routes.ts'
import { aguiRoutes } from './ag-ui/routes.ts'
import { aiSdkRoutes } from './ai-sdk/routes.ts'
import { mcpRoutes } from './mcp/routes.ts'
import { completionRoutes } from './openai/chat/routes.ts'
import { modelRoutes } from './openai/models.ts'
import { responsesRoutes } from './openai/responses/routes.ts'

import type { GatewayOptions } from './gateway-options.ts'
import type { HttpRoute } from './http/route.ts'
import type { McpParts } from './mcp/endpoint.ts'

/** Returns the routes of all protocols, in the order in which they are matched. */
export function gatewayRoutes(options: GatewayOptions, mcp: McpParts): readonly HttpRoute[] {
  return [
    ...a2aRoutes(options),
    ...aguiRoutes(options),
    ...modelRoutes(options),
    ...completionRoutes(options),
    ...responsesRoutes(options),
    ...aiSdkRoutes(options),
    ...mcpRoutes(options, mcp),
  ]
}
