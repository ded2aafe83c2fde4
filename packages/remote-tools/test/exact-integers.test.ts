/** Integers beyond 2^53 from a model to services, servers and programs, and back. */
import { runInThisContext } from 'node:vm'
import { createServer } from 'node:http'

import { runTool, type AgentTool, type ToolResult } from '@tutti/core'
import { formatExactJson } from '@tutti/core/internal'
import { describe, expect, it, onTestFinished } from 'vitest'

import { onBody } from '../../../tooling/test-kit/on-body.ts'
import { localServer, type Answer } from '../../../tooling/test-kit/local-server.ts'
import { httpTool, mcpTools, openApiTools, processTool, type McpTools } from '../src/index.ts'

import type { AddressInfo } from 'node:net'

const ID = '725653563933458432'
const OTHER = '-9223372036854775807'

/** Integers of 1 to 40 digits, around the limits of common types. */
const INTEGERS: readonly bigint[] = [
  ...[53n, 63n, 64n].flatMap((bits) => [2n ** bits - 1n, 2n ** bits, 2n ** bits + 1n]),
  ...Array.from({ length: 40 }, (_, index) => 10n ** BigInt(index) + BigInt(index)),
].flatMap((integer) => [integer, -integer])

async function call(tool: AgentTool, args: string): Promise<ToolResult> {
  return (await runTool(tool, { id: 'c', name: tool.name, arguments: args })).result
}

const answerWith =
  (body: string): Answer =>
  (response) => {
    response.setHeader('content-type', 'application/json').end(body)
  }

const int64 = { type: 'integer', format: 'int64' }

/** Document with an integer in every part of a request and of its response. */
const DOCUMENT = {
  openapi: '3.1.0',
  info: { title: 'Test', version: '1' },
  paths: {
    '/items/{id}': {
      post: {
        operationId: 'save',
        parameters: [
          { in: 'path', name: 'id', required: true, schema: int64 },
          { in: 'query', name: 'after', schema: int64 },
          { in: 'query', name: 'ids', schema: { type: 'array', items: int64 } },
          {
            in: 'query',
            name: 'filter',
            content: { 'application/json': { schema: { type: 'object' } } },
          },
          { in: 'header', name: 'x-id', schema: int64 },
        ],
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: {
                type: 'object',
                properties: {
                  owner: int64,
                  tags: { type: 'array', items: {} },
                  note: { type: 'string' },
                },
              },
            },
          },
        },
        responses: {
          200: {
            content: {
              'application/json': {
                schema: { type: 'object', properties: { id: int64 }, required: ['id'] },
              },
            },
          },
        },
      },
    },
  },
}

describe('a tool of an OpenAPI document', () => {
  it.each([
    ['numbers', ID],
    ['text', `"${ID}"`],
  ])(
    'A tool of an OpenAPI document sends the digits of %s in every part of the request',
    async (_, id) => {
      const server = await localServer(answerWith(`{"id":${ID}}`))
      const imported = openApiTools(DOCUMENT, { baseUrl: server.origin, outputCheck: 'strict' })
      onTestFinished(() => imported.close())
      const [tool] = imported.tools
      if (tool === undefined) throw new Error('The document has no tool')
      const result = await call(
        tool,
        `{"id":${id},"after":${id},"ids":[1,${id}],"filter":{"a":${ID}},"x-id":${id},"owner":${id},"tags":[${ID}],"note":${ID}}`,
      )
      expect(result).toMatchObject({
        success: true,
        output: `{"id":${ID}}`,
        structured: { id: ID },
      })
      const [request] = server.requests
      expect(request?.url).toBe(
        `/items/${ID}?after=${ID}&ids=1&ids=${ID}&filter=${encodeURIComponent(`{"a":${ID}}`)}`,
      )
      expect(request?.headers['x-id']).toBe(ID)
      expect(request?.body).toBe(`{"owner":${ID},"tags":[${ID}],"note":"${ID}"}`)
    },
  )

  it('A tool of an OpenAPI document sends every integer exactly', async () => {
    const server = await localServer(answerWith('{"id":1}'))
    const imported = openApiTools(DOCUMENT, { baseUrl: server.origin })
    onTestFinished(() => imported.close())
    const [tool] = imported.tools
    if (tool === undefined) throw new Error('The document has no tool')
    for (const integer of INTEGERS) {
      await call(tool, `{"id":${integer},"owner":${integer}}`)
    }
    expect(server.requests.map(({ url }) => url)).toEqual(INTEGERS.map((each) => `/items/${each}`))
    expect(server.requests.map(({ body }) => body)).toEqual(
      INTEGERS.map((each) => `{"owner":${each}}`),
    )
  })
})

describe('an HTTP tool', () => {
  const input = {
    type: 'object',
    properties: { id: { type: 'integer' }, owner: { type: 'integer' } },
  }

  it('An HTTP tool sends the digits in its URL and body, and returns those of the response', async () => {
    const server = await localServer(answerWith(`{"list":[${ID},5]}`))
    const tool = httpTool({
      name: 'h',
      description: 'd',
      method: 'POST',
      url: `${server.origin}/{id}`,
      input,
    })
    onTestFinished(() => tool.close())
    expect(await call(tool, `{"id":${ID},"owner":${OTHER}}`)).toMatchObject({
      output: `{"list":[${ID},5]}`,
      structured: { body: { list: [ID, 5] } },
    })
    expect(server.requests[0]).toMatchObject({ url: `/${ID}`, body: `{"owner":${OTHER}}` })
  })

  it('An HTTP tool refuses the integer if the author builds the request, which the schema declares as a number', async () => {
    const server = await localServer(answerWith('{}'))
    const tool = httpTool({
      name: 'h',
      description: 'd',
      method: 'POST',
      url: server.origin,
      input,
      request: (body) => ({ body }),
    })
    onTestFinished(() => tool.close())
    expect((await call(tool, `{"id":${ID}}`)).errorMessage).toContain(`got ${ID}`)
    expect(server.requests).toEqual([])
  })
})

describe('a process tool', () => {
  const echo = 'process.stdin.pipe(process.stdout)'
  const worker = `
    const lines = require('node:readline').createInterface({ input: process.stdin })
    console.log('{"ready":true}')
    lines.on('line', (line) => {
      const id = JSON.parse(line).id
      console.log('{"id":"' + id + '","output":{"got":' + /"input":(\\{.*?\\})/.exec(line)[1] + '}}')
    })`
  const input = { type: 'object', properties: { id: { type: 'integer' } } }

  it('A process tool passes the digits to a program and back', async () => {
    const tool = processTool({
      name: 'p',
      description: 'd',
      command: process.execPath,
      args: ['-e', echo],
      input,
    })
    onTestFinished(() => tool.close())
    const args = `{"id":${ID}}`
    expect((await call(tool, args)).output).toBe(`{"input":${args}}`)
  })

  it('A process tool passes the digits to a worker and back', async () => {
    const tool = processTool({
      name: 'p',
      description: 'd',
      command: process.execPath,
      args: ['-e', worker],
      input,
      mode: 'worker',
    })
    onTestFinished(() => tool.close())
    const result = await call(tool, `{"id":${ID}}`)
    expect(result).toMatchObject({
      output: `{"got":{"id":${ID}}}`,
      structured: { got: { id: ID } },
    })
  })
})

/** Handles a message of MCP without parsing its numbers: returns the JSON text of the response, or undefined. */
const RESPOND = `(line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return undefined
  const reply = (result) => '{"jsonrpc":"2.0","id":' + JSON.stringify(id) + ',"result":' + result + '}'
  if (method === 'initialize') return reply(JSON.stringify({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } }))
  const schema = '{"type":"object","properties":{"id":{"type":"integer","maximum":1000000000000000000000000000000000000000000},"any":{}}}'
  if (method === 'tools/list') return reply('{"tools":[{"name":"a","inputSchema":' + schema + ',"outputSchema":' + schema + '}]}')
  if (method !== 'tools/call') return '{"jsonrpc":"2.0","id":' + JSON.stringify(id) + ',"error":{"code":-32601,"message":"No"}}'
  const args = /"arguments":(\\{.*?\\})/.exec(line)[1]
  return reply('{"content":[],"structuredContent":' + args + '}')
}`

async function overStdio(): Promise<McpTools> {
  const program = `const respond = ${RESPOND}
    console.log('a log line with a quote " and 12345678901234567890')
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const response = respond(line)
      // Pieces end within numbers and within characters.
      const bytes = Buffer.from(response === undefined ? '' : response + '\\n')
      for (let at = 0; at < bytes.length; at += 7) process.stdout.write(bytes.subarray(at, at + 7))
    })`
  return mcpTools({ command: process.execPath, args: ['-e', program] }, { outputCheck: 'strict' })
}

async function overHttp(type: 'json' | 'stream'): Promise<McpTools> {
  // NOTE: the text is a function of this type.
  const respond = runInThisContext(`(${RESPOND})`) as (line: string) => string | undefined
  const server = createServer((request, response) => {
    onBody(request, (body) => {
      if (request.method !== 'POST') return response.writeHead(405).end()
      const answer = respond(body)
      if (answer === undefined) return response.writeHead(202).end()
      if (type === 'json') return response.setHeader('content-type', 'application/json').end(answer)
      response.setHeader('content-type', 'text/event-stream')
      const middle = answer.length - 30
      response.write(
        `id: 12345678901234567890\r\nevent: message\r\ndata: ${answer.slice(0, middle)}`,
      )
      return setImmediate(() => response.end(`${answer.slice(middle)}\r\n\r\n`))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  // NOTE: the address of a TCP server has this type.
  return mcpTools(
    { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` },
    { outputCheck: 'strict' },
  )
}

describe.each([
  ['stdio', overStdio],
  ['HTTP', () => overHttp('json')],
  ['an event stream', () => overHttp('stream')],
])('a tool of an MCP server over %s', (_, connect) => {
  it('A tool of an MCP server gets the digits, and returns those of the structured content', async () => {
    const imported = await connect()
    onTestFinished(() => imported.close())
    const [tool] = imported.tools
    if (tool === undefined) throw new Error(formatExactJson(imported.skipped))
    expect(JSON.parse(JSON.stringify(tool.inputSchema))).toMatchObject({
      properties: { id: { maximum: 1e42 } },
    })
    expect(await call(tool, `{"id":${ID},"any":["ü",${OTHER}]}`)).toMatchObject({
      success: true,
      output: `{"id":${ID},"any":["ü",${OTHER}]}`,
      structured: { id: ID, any: ['ü', OTHER] },
    })
    expect((await call(tool, `{"id":"${ID}"}`)).output).toBe(`{"id":${ID}}`)
    for (const integer of INTEGERS) {
      const args = `{"id":${integer},"any":${integer}}`
      expect((await call(tool, args)).output).toBe(args)
    }
  })
})
