/** Calling tools by hand. */
import { InvokeToolBody, ROUTES } from '@tutti/protocol'

import { readBody } from '../http/read-body.ts'
import { traceOf } from '../http/trace-of.ts'
import { findTool, invokeTool } from '../tools/invoke-tool.ts'

import type { ResolvedControlApiOptions } from '../options.ts'
import type { Route } from './route.ts'

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
