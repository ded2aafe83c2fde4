/** Direct calls of the tools of a server. */
import { ROUTES, routePath, type ToolInfo } from '@tutti/protocol'
import type { InvokeToolBody, ToolInvocation } from '@tutti/protocol/internal'

import { callRoute } from './http/call-route.ts'

import type { CallOptions } from './http/exchange.ts'
import type { ResolvedClientOptions } from './options.ts'

/** Tools of a server. Every method throws {@link TuttiClientError}; an empty `name` is a TypeError. */
export interface ToolsClient {
  /** Returns the tools of the catalog with the schemas of their inputs. */
  list(options?: CallOptions): Promise<readonly ToolInfo[]>
  /**
   * Calls a tool with text, or with an object that matches its schema. A failure of the tool is a result with the
   * status FAILED, not an error. Tools may take longer than other calls: see `timeoutMs`.
   */
  invoke(
    name: string,
    input: InvokeToolBody['input'],
    options?: CallOptions,
  ): Promise<ToolInvocation>
}

/** Creates the tools part of a client. */
export function createToolsClient(settings: ResolvedClientOptions): ToolsClient {
  return {
    async list(options) {
      const path = routePath('getCapabilities')
      return (await callRoute(settings, ROUTES.getCapabilities, { ...options, path })).tools
    },
    invoke: async (name, input, options) =>
      callRoute(settings, ROUTES.invokeTool, {
        ...options,
        path: routePath('invokeTool', { name }),
        body: { input } satisfies InvokeToolBody,
      }),
  }
}
