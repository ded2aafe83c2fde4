/** Tests that the trace of a call reaches HTTP servers, programs, workers and MCP servers. */
import { createServer, type IncomingHttpHeaders } from 'node:http'

import { runTool, Type, type AgentTool } from '@tutti/core'
import { describe, expect, it, onTestFinished } from 'vitest'

import { httpTool, mcpTools, openApiTools, processTool } from '../src/index.ts'

import type { AddressInfo } from 'node:net'

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const tracestate = 'vendor=1'

/** Context with a trace, as in a run. */
const TRACED = { traceparent: () => traceparent, tracestate }

async function call(
  tool: AgentTool | undefined,
  options: object = TRACED,
  input: object = {},
): Promise<unknown> {
  if (tool === undefined) throw new Error('There is no such tool')
  const made = { id: 'c', name: tool.name, arguments: JSON.stringify(input) }
  const { result } = await runTool(tool, made, options)
  if (!result.success) throw new Error(result.errorMessage)
  return result.structured ?? JSON.parse(result.output)
}

/** Starts a server that returns the headers of the request. */
async function echoServer(): Promise<string> {
  const server = createServer((request, response) => {
    const { traceparent: parent, tracestate: state }: IncomingHttpHeaders = request.headers
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ parent: parent ?? null, state: state ?? null }))
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  // NOTE: the address of a TCP server has this type.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('the trace of an HTTP tool', () => {
  const shared = {
    name: 'echo',
    description: 'Echoes',
    method: 'POST',
    input: Type.Object({}),
    output: Type.Unknown(),
  } as const

  it('The trace of an HTTP tool is sent as headers', async () => {
    const tool = httpTool({ ...shared, url: await echoServer() })
    onTestFinished(() => tool.close())
    expect(await call(tool)).toEqual({ parent: traceparent, state: tracestate })
    expect(await call(tool, { traceparent: () => traceparent })).toEqual({
      parent: traceparent,
      state: null,
    })
    expect(await call(tool, {})).toEqual({ parent: null, state: null })
  })

  it('The trace of an HTTP tool is replaced by headers of the author', async () => {
    const url = await echoServer()
    const fixed = httpTool({ ...shared, url, headers: { Traceparent: 'own' } })
    const made = httpTool({ ...shared, url, headers: () => ({ TraceParent: 'made' }) })
    onTestFinished(async () => {
      await Promise.all([fixed.close(), made.close()])
    })
    expect(await call(fixed)).toMatchObject({ parent: 'own' })
    expect(await call(made)).toMatchObject({ parent: 'made' })
  })

  it('The trace of an HTTP tool is also sent by a tool of an OpenAPI document', async () => {
    const url = await echoServer()
    const document = {
      openapi: '3.1.0',
      info: { title: 'Echo', version: '1' },
      servers: [{ url }],
      paths: {
        '/echo': { get: { operationId: 'echo', responses: { 200: { description: 'OK' } } } },
      },
    }
    const imported = openApiTools(document)
    onTestFinished(() => imported.close())
    const body = { parent: traceparent, state: tracestate }
    expect(await call(imported.tools[0])).toMatchObject({ body })
  })
})

describe('the trace of a program', () => {
  const program = { name: 'echo', description: 'Echoes', command: process.execPath } as const

  it('The trace of a program is in its environment', async () => {
    const code = `process.stdout.write(JSON.stringify({ structured: {
      parent: process.env.TRACEPARENT ?? null, state: process.env.TRACESTATE ?? null } }))`
    const tool = processTool({ ...program, args: ['--eval', code] })
    onTestFinished(() => tool.close())
    const input = { input: 'x' }
    expect(await call(tool, TRACED, input)).toEqual({ parent: traceparent, state: tracestate })
    expect(await call(tool, {}, input)).toEqual({ parent: null, state: null })
  })

  it('The trace of a program is sent with each call of a worker', async () => {
    const code = `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, traceparent = null, tracestate = null } = JSON.parse(line)
      console.log(JSON.stringify({ id, structured: { parent: traceparent, state: tracestate } }))
    })`
    const tool = processTool({ ...program, args: ['--eval', code], mode: 'worker' })
    onTestFinished(() => tool.close())
    const input = { input: 'x' }
    expect(await call(tool, TRACED, input)).toEqual({ parent: traceparent, state: tracestate })
    expect(await call(tool, {}, input)).toEqual({ parent: null, state: null })
  })
})

it('The trace of a call is sent to an MCP server under the keys of the protocol', async () => {
  const code = `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line)
    const { traceparent = null, tracestate = null } = params?._meta ?? {}
    const results = {
      initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} },
        serverInfo: { name: 'echo', version: '1' } },
      'tools/list': { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] },
      'tools/call': { content: [{ type: 'text', text: JSON.stringify({ traceparent, tracestate }) }] },
    }
    if (id === undefined) return
    const answer = results[method] === undefined
      ? { error: { code: -32601, message: 'Unknown method' } } : { result: results[method] }
    console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
  })`
  const imported = await mcpTools({
    command: process.execPath,
    args: ['--eval', code],
    killGraceMs: 0,
  })
  onTestFinished(() => imported.close())
  expect(await call(imported.tools[0])).toEqual({ traceparent, tracestate })
  expect(await call(imported.tools[0], {})).toEqual({ traceparent: null, tracestate: null })
})
