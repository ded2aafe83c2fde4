/** Calling tools by hand. */
import { InvokeToolBody, ROUTES } from '@tutti/protocol'
import { findTool, invokeTool, readBody, type Route, traceOf } from '@tutti/gateway'

import type { ResolvedControlApiOptions } from '../options.ts'

/** The route that calls one tool of the catalog. */
export function toolRoutes(options: ResolvedControlApiOptions): readonly Route[] {
  return [
    {
      ...ROUTES.invokeTool,
      async handle({ request, parameters: { name = '' } }) {
        const tool = findTool(options.tools.tools, name)
        const { input } = await readBody(request, InvokeToolBody, options.maxBodyBytes)
        const { signal } = request
        return Response.json(
          await invokeTool(options, tool, { input, signal, ...traceOf(request.headers) }),
        )
      },
    },
  ]
}
