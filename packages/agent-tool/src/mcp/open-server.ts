/** Opening a connection to an MCP server, wherever it is. */
import { OpenCalls } from './open-calls.ts'
import { openEndpoint } from './open-endpoint.ts'
import { openProgram } from './open-program.ts'

import type { Client } from '@modelcontextprotocol/client'
import type { OpenOptions, OpenServer } from './connect-client.ts'
import type { ResolvedMcpServer } from './mcp-server.ts'

/** Opens a connection; rejects when there is none. */
export async function openServer(
  server: ResolvedMcpServer,
  options: OpenOptions,
): Promise<OpenServer> {
  switch (server.kind) {
    case 'client':
      return givenClient(server.client)
    case 'program':
      return openProgram(server.program, options)
    case 'endpoint':
      return openEndpoint(server, options)
  }
}

function givenClient(client: Client): OpenServer {
  return {
    client,
    calls: new OpenCalls(),
    tools: undefined,
    fate: () => undefined,
    listen: () => Promise.resolve(),
    hasSession: () => false,
    close: () => Promise.resolve(),
  }
}
