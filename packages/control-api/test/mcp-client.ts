/** MCP clients of both eras, as their own library makes them, and what a test does with them. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

import type { CallToolResult, ElicitResult, Progress } from '@modelcontextprotocol/client'
import type { TestServer } from './open-server.ts'

/** How a client finds out what to speak: 2026-07-28 in the one case, 2025-11-25 in the other. */
export const MODES = ['auto', 'legacy'] as const

/** What a client is and can. */
export interface ClientOptions {
  readonly mode?: (typeof MODES)[number]
  readonly key?: string
  /** Fills in the forms that it is shown; without it the client shows none. */
  readonly fill?: (form: Form) => ElicitResult | Promise<ElicitResult>
}

/** A form as a client is shown it. */
export interface Form {
  readonly message: string
  readonly signal: AbortSignal
}

/** A client that is connected, and what it hears. */
export interface Peer extends AsyncDisposable {
  readonly client: Client
  /** Notes on progress, of all calls. */
  readonly notes: readonly Progress[]
  /** Calls a tool, wanting notes. */
  call(name: string, given?: Record<string, unknown>, signal?: AbortSignal): Promise<CallToolResult>
  /** Resolves when a note with that text has come. */
  heard(text: string): Promise<void>
}

/** Connects a client. */
export async function connected(
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

/** The run that a result tells of. */
export function runIdOf({ structuredContent: value }: CallToolResult): string {
  if (typeof value !== 'object' || value === null || !('runId' in value)) return ''
  return String(value.runId)
}

/** The text of a result. */
export function textOf({ content }: CallToolResult): string {
  return content.map((one) => (one.type === 'text' ? one.text : one.type)).join('\n')
}
