/** The MCP servers for tests at places where they can be reached, until the test is over. */
import { spawn } from 'node:child_process'
import { createServer, type AddressInfo } from 'node:net'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

import { serve } from '@hono/node-server'
import {
  createMcpHandler,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { onTestFinished } from 'vitest'

import { mcpConnector, type McpConnectorOptions } from '../src/mcp/mcp-connector.ts'
import { mcpServer, mcpServerState, type McpServerState } from './mcp-server.ts'

import type { AgentConnector } from '@tutti/agent-call'
import type { McpProgram } from '@tutti/mcp'

const require = createRequire(import.meta.url)

/** The program of the reference server. */
export const EVERYTHING = require.resolve('@modelcontextprotocol/server-everything/dist/index.js')

/** The server for tests as a program. */
export function testProgram(...args: readonly string[]): McpProgram {
  const path = fileURLToPath(new URL('mcp-program.ts', import.meta.url))
  return { command: process.execPath, args: [path, ...args] }
}

/** A way that is closed with its test. */
export function connectorTo(options: McpConnectorOptions): AgentConnector {
  const connector = mcpConnector(options)
  onTestFinished(() => connector.close?.())
  return connector
}

/** A server that is reached over HTTP: an endpoint, whose other members are not options. */
export class McpTestServer {
  readonly url: string
  readonly #served: Served

  constructor(url: string, served: Served) {
    this.url = url
    this.#served = served
  }

  get era(): Era {
    return this.#served.era
  }

  get state(): McpServerState {
    return this.#served.state
  }

  /** Requests that it has received, such as `POST tools/call`. */
  get requests(): readonly string[] {
    return this.#served.requests
  }

  /** Ids of its sessions, without those that it has forgotten. */
  get sessions(): Map<string, unknown> {
    return this.#served.sessions
  }
}

interface Served {
  readonly era: Era
  readonly state: McpServerState
  readonly requests: readonly string[]
  readonly sessions: Map<string, unknown>
}

/** How a server serves: today's era, that before with or without sessions. */
export type Era = 'modern' | 'sessions' | 'stateless'

/** Starts a server on this machine. */
export async function startMcpServer(
  era: Era,
  state: McpServerState = mcpServerState(),
  names?: readonly string[],
): Promise<McpTestServer> {
  const requests: string[] = []
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>()
  const handler = createMcpHandler(() => mcpServer(state, names))
  const answer = async (request: Request): Promise<Response> => {
    requests.push(await nameOf(request))
    if (era === 'modern') return handler.fetch(request)
    if (era === 'sessions') return withSession(request)
    const isModern = request.headers.get('mcp-method') !== null
    return isModern ? new Response('unknown', { status: 404 }) : handler.fetch(request)
  }
  const withSession = async (request: Request): Promise<Response> => {
    const id = request.headers.get('mcp-session-id')
    const known = id === null ? undefined : sessions.get(id)
    if (known !== undefined) return known.handleRequest(request)
    if (id !== null) return new Response('Session not found', { status: 404 })
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (made) => {
        sessions.set(made, transport)
      },
    })
    await mcpServer(state, names).connect(transport)
    return transport.handleRequest(request)
  }
  const server = serve({ fetch: answer, port: 0, hostname: '127.0.0.1' })
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(async () => {
    if ('closeAllConnections' in server) server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await handler.close()
  })
  // NOTE: a server that listens on a port has an address of this kind.
  const { port } = server.address() as AddressInfo
  return new McpTestServer(`http://127.0.0.1:${port}/mcp`, { era, state, requests, sessions })
}

async function nameOf(request: Request): Promise<string> {
  if (request.method !== 'POST') return request.method
  const { method = 'answer' } = (await request.clone().json()) as { method?: string }
  return `POST ${method}`
}

/** A port that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // NOTE: as above.
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Starts the reference server on a port; ends it when asked, at the latest with the test. */
export async function startEverything(
  mode: 'streamableHttp' | 'sse',
  port: number,
): Promise<{ end(): Promise<void> }> {
  const child = spawn(process.execPath, [EVERYTHING, mode], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => {
      resolve()
    })
  })
  const end = (): Promise<void> => {
    child.kill('SIGKILL')
    return ended
  }
  onTestFinished(end)
  child.stdout.resume()
  for await (const line of createInterface({ input: child.stderr })) {
    if (/listening|running on port/i.test(line)) break
  }
  child.stderr.resume()
  return { end }
}
