/** Serves direct calls of tools. */
import { ROUTES } from '@tutti/protocol'
import { InvokeToolBody } from '@tutti/protocol/internal'
import {
  findTool,
  invokeCatalogTool,
  readJsonBody,
  type HttpRoute,
  readTrace,
} from '@tutti/gateway/internal'

import type { ResolvedControlApiOptions } from '../options.ts'

/** Returns the route that calls a tool of the catalog. */
export function toolRoutes(options: ResolvedControlApiOptions): readonly HttpRoute[] {
  return [
    {
      ...ROUTES.invokeTool,
      async handle({ request, parameters: { name = '' } }) {
        const tool = findTool(options.tools.tools, name)
        const { input } = await readJsonBody(request, InvokeToolBody, options.maxBodyBytes)
        const { signal } = request
        return Response.json(
          await invokeCatalogTool(options, tool, { input, signal, ...readTrace(request.headers) }),
        )
      },
    },
  ]
}
