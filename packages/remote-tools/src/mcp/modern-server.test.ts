import { createServer, type IncomingMessage } from 'node:http'

import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { runTool } from '@tutti/core'
import { expect, it, onTestFinished } from 'vitest'

import { onBody } from '../../../../tooling/test-kit/on-body.ts'
import { mcpTools } from './mcp-tools.ts'

import type { AddressInfo } from 'node:net'

const REGION = { type: 'string', 'x-mcp-header': 'Region' }

/** Creates a server of protocol version 2026-07-28 with one tool; one argument is also sent in a header. */
function weatherServer(): McpServer {
  const made = new McpServer({ name: 'weather', version: '1' }, { capabilities: { tools: {} } })
  const inputSchema = { type: 'object', properties: { region: REGION, day: { type: 'string' } } }
  made.server.setRequestHandler('tools/list', () => ({
    tools: [{ name: 'forecast', inputSchema: { ...inputSchema, type: 'object' } }],
  }))
  made.server.setRequestHandler('tools/call', ({ params }) => ({
    content: [{ type: 'text', text: JSON.stringify(params.arguments) }],
  }))
  return made
}

/** Starts the server and records the headers of each request. */
async function startWeather() {
  const requests: IncomingMessage['headers'][] = []
  const handler = createMcpHandler(weatherServer)
  const server = createServer((incoming, outgoing) => {
    requests.push(incoming.headers)
    onBody(incoming, async (content) => {
      const body = incoming.method === 'POST' ? { body: content } : {}
      const headers = new Headers(
        Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
      )
      const url = `http://localhost${incoming.url}`
      const response = await handler.fetch(
        new Request(url, { method: incoming.method ?? 'GET', headers, ...body }),
      )
      outgoing.writeHead(response.status, Object.fromEntries(response.headers))
      outgoing.end(Buffer.from(await response.arrayBuffer()))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await handler.close()
  })
  // NOTE: the address of a TCP server has this type.
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/mcp`, requests }
}

it('An MCP server that supports protocol version 2026-07-28 is used with it, and gets arguments in the declared headers', async () => {
  const { url, requests } = await startWeather()
  await using imported = await mcpTools({ url })
  const [forecast] = imported.tools
  if (forecast === undefined) throw new Error('The server has a tool')
  const call = { id: 'c', name: 'forecast', arguments: '{"region":"eu","day":"today"}' }
  const { result } = await runTool(forecast, call)
  expect(result).toMatchObject({ success: true, output: '{"region":"eu","day":"today"}' })
  expect(requests.map((headers) => headers['mcp-method'])).not.toContain('initialize')
  expect(requests.at(-1)).toMatchObject({
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-param-region': 'eu',
  })
})

it('An MCP server gets the token of its authorization provider with each request', async () => {
  const { url, requests } = await startWeather()
  const authProvider = { token: () => Promise.resolve('secret-1') }
  await using imported = await mcpTools({ url, authProvider })
  expect(imported.tools).toHaveLength(1)
  expect(new Set(requests.map(({ authorization }) => authorization))).toEqual(
    new Set(['Bearer secret-1']),
  )
})
