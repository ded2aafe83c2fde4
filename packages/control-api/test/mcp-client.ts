/** MCP clients of both eras, built on the SDK, with helpers for tests. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

import type { CallToolResult, ElicitResult, Progress } from '@modelcontextprotocol/client'
import type { TestServer } from './open-server.ts'

/** Negotiation of a client: 2026-07-28 or 2025-11-25. */
export const MODES = ['auto', 'legacy'] as const

export interface ClientOptions {
  readonly mode?: (typeof MODES)[number]
  readonly key?: string
  /** Answers forms; without it the client does not support them. */
  readonly fill?: (form: Form) => ElicitResult | Promise<ElicitResult>
}

/** A form as the client receives it. */
export interface Form {
  readonly message: string
  readonly signal: AbortSignal
}

/** A connected client with its notifications. */
export interface Peer extends AsyncDisposable {
  readonly client: Client
  /** Progress notifications of all calls. */
  readonly notes: readonly Progress[]
  /** Calls a tool with progress notifications. */
  call(name: string, given?: Record<string, unknown>, signal?: AbortSignal): Promise<CallToolResult>
  /** Resolves when a notification with that text has arrived. */
  heard(text: string): Promise<void>
}

export async function connectClient(
  { url }: Pick<TestServer, 'url'>,
  { mode = 'auto', key, fill }: ClientOptions = {},
): Promise<Peer> {
  const client = new Client(
    { name: 'test', version: '1' },
    {
      versionNegotiation: { mode },
      capabilities: fill === undefined ? {} : { elicitation: { form: {} } },
    },
  )
  if (fill !== undefined) {
    client.setRequestHandler('elicitation/create', async ({ params: { message } }, { mcpReq }) =>
      fill({ message, signal: mcpReq.signal }),
    )
  }
  const headers: Record<string, string> =
    key === undefined ? {} : { authorization: `Bearer ${key}` }
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }),
  )
  const notes: Progress[] = []
  const watchers = new Set<() => void>()
  return {
    client,
    notes,
    call: (name, given = {}, signal) =>
      client.callTool(
        { name, arguments: given },
        {
          ...(signal === undefined ? {} : { signal }),
          onprogress: (note) => {
            notes.push(note)
            for (const watcher of watchers) watcher()
          },
        },
      ),
    heard: (text) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!notes.some(({ message = '' }) => message.includes(text))) return
          watchers.delete(look)
          resolve()
        }
        watchers.add(look)
        look()
      }),
    async [Symbol.asyncDispose]() {
      await client.close()
    },
  }
}

/** Returns the run id in a result. */
export function runIdOf({ structuredContent: value }: CallToolResult): string {
  if (typeof value !== 'object' || value === null || !('runId' in value)) return ''
  return String(value.runId)
}

/** Returns the text of a result. */
export function textOf({ content }: CallToolResult): string {
  return content.map((one) => (one.type === 'text' ? one.text : one.type)).join('\n')
}
