/** Starts MCP servers for tests, as child processes or over HTTP; they stop with the test. */
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
import { createMcpServer, createMcpServerState, type McpServerState } from './mcp-server.ts'

import type { AgentConnector } from '@tutti/agent-call/internal'
import type { McpProgram } from '@tutti/mcp/internal'

const require = createRequire(import.meta.url)

/** Path of the reference server. */
export const EVERYTHING = require.resolve('@modelcontextprotocol/server-everything/dist/index.js')

/** Returns the command that starts the test server as a child process. */
export function testServerProcess(...args: readonly string[]): McpProgram {
  const path = fileURLToPath(new URL('mcp-child.ts', import.meta.url))
  return { command: process.execPath, args: [path, ...args] }
}

/** Creates a connector that is closed with the test. */
export function connectorTo(options: McpConnectorOptions): AgentConnector {
  const connector = mcpConnector(options)
  onTestFinished(() => connector.close?.())
  return connector
}

/** A running HTTP server. It can be used as the option `server`, which only reads `url`. */
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

  /** Received requests, such as `POST tools/call`. */
  get requests(): readonly string[] {
    return this.#served.requests
  }

  /** Active sessions by id; tests clear it to simulate lost sessions. */
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

/** Protocol of a server: the modern one, or the legacy one with or without sessions. */
export type Era = 'modern' | 'sessions' | 'stateless'

/** Starts an HTTP server on loopback. */
export async function startMcpServer(
  era: Era,
  state: McpServerState = createMcpServerState(),
  names?: readonly string[],
): Promise<McpTestServer> {
  const requests: string[] = []
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>()
  const handler = createMcpHandler(() => createMcpServer(state, names))
  const answer = async (request: Request): Promise<Response> => {
    requests.push(await nameRequest(request))
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
      onsessioninitialized: (sessionId) => {
        sessions.set(sessionId, transport)
      },
    })
    await createMcpServer(state, names).connect(transport)
    return transport.handleRequest(request)
  }
  const server = serve({ fetch: answer, port: 0, hostname: '127.0.0.1' })
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(async () => {
    if ('closeAllConnections' in server) server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await handler.close()
  })
  // NOTE: the address of a server that listens on a port has this type.
  const { port } = server.address() as AddressInfo
  return new McpTestServer(`http://127.0.0.1:${port}/mcp`, { era, state, requests, sessions })
}

async function nameRequest(request: Request): Promise<string> {
  if (request.method !== 'POST') return request.method
  const { method = 'answer' } = (await request.clone().json()) as { method?: string }
  return `POST ${method}`
}

/** Returns a port without a listener. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // NOTE: as above.
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Starts the reference server on a port; it stops with `end` or with the test. */
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
