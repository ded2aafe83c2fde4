/** An MCP server over stdio for tests, with every kind of result and failure. */
import { spawn } from 'node:child_process'
import process from 'node:process'

import { Server } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'

import type { CallToolResult, ServerContext, Tool } from '@modelcontextprotocol/server'

type Body = (
  input: Readonly<Record<string, unknown>>,
  context: ServerContext,
) => CallToolResult | Promise<CallToolResult>

interface Known {
  readonly tool: Tool
  readonly body: Body
}

const ANY = { type: 'object' } as const

let cancelled = 0

const known: Known[] = [
  one('echo', (input) => text(JSON.stringify(input)), {
    description: ' Repeats its input ',
    inputSchema: {
      type: 'object',
      properties: { message: { type: 'string' }, times: { type: 'integer', minimum: 1 } },
      required: ['message'],
    },
    annotations: { readOnlyHint: true },
  }),
  one('a b/c', () => text('odd')),
  one('a_b.c', () => text('odd too'), { annotations: { idempotentHint: true } }),
  one('fail', () => ({ ...text('no such file'), isError: true })),
  one('fail-silently', () => ({ content: [], isError: true })),
  one('throw', () => {
    throw new Error('the tool broke')
  }),
  one('media', () => ({
    content: [
      { type: 'text', text: 'look' },
      { type: 'image', mimeType: 'image/png', data: Buffer.alloc(10).toString('base64') },
      { type: 'audio', mimeType: 'audio/wav', data: Buffer.alloc(11).toString('base64') },
      { type: 'resource_link', uri: 'file:///a', name: 'a', mimeType: 'text/x' },
      { type: 'resource', resource: { uri: 'file:///b', text: 'bee' } },
      { type: 'resource', resource: { uri: 'file:///c', blob: 'AAAA', mimeType: 'x/y' } },
    ],
  })),
  one('count', ({ n }) => ({ content: [], structuredContent: { n } }), {
    outputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
    annotations: { destructiveHint: false },
  }),
  one('progress', async (_, { mcpReq: { _meta: meta, notify } }) => {
    const progressToken = meta?.progressToken
    if (progressToken === undefined) return text('nobody asked')
    const all = [
      { progress: 1, total: 4 },
      { progress: 2, message: 'half' },
      { progress: 9, total: 4 },
    ]
    for (const params of all) {
      await notify({ method: 'notifications/progress', params: { ...params, progressToken } })
    }
    return text('done')
  }),
  one('wait', (_, { mcpReq: { signal } }) => {
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        cancelled += 1
        resolve(text('stopped'))
      })
    })
  }),
  one('cancelled', () => text(String(cancelled))),
  one('env', () => text(Object.keys(process.env).toSorted().join(' '))),
  one('pid', () => text(String(process.pid))),
  one('spawn', () => {
    const child = spawn('sleep', ['1000'])
    return text(String(child.pid))
  }),
  one('noise', () => {
    process.stdout.write('a log line on stdout\n')
    return text('after the noise')
  }),
  one('crash', () => {
    process.stderr.write('out of luck\n', () => process.exit(3))
    return new Promise(() => undefined)
  }),
  one('grow', async (_, { mcpReq: { notify } }) => {
    known.push(one('grown', () => text('grown')))
    await notify({ method: 'notifications/tools/list_changed' })
    return text('grew')
  }),
]

const server = new Server(
  { name: 'test', version: '1.0.0' },
  { capabilities: { tools: { listChanged: true } } },
)

/** Number of tools on one page of the list. */
const PAGE = 5

server.setRequestHandler('tools/list', ({ params }) => {
  const from = Number(params?.cursor ?? 0)
  const tools = known.slice(from, from + PAGE).map(({ tool }) => tool)
  const next = from + PAGE
  return next < known.length ? { tools, nextCursor: String(next) } : { tools }
})

server.setRequestHandler('tools/call', ({ params }, context) => {
  const found = known.find(({ tool }) => tool.name === params.name)
  if (found === undefined) throw new Error(`no tool ${params.name}`)
  return found.body(params.arguments ?? {}, context)
})

await server.connect(new StdioServerTransport())

function one(name: string, body: Body, more: Partial<Tool> = {}): Known {
  return { tool: { name, inputSchema: ANY, ...more }, body }
}

function text(said: string): CallToolResult {
  return { content: [{ type: 'text', text: said }] }
}
