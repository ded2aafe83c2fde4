import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import { fileURLToPath } from 'node:url'

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, it, onTestFinished } from 'vitest'

import { onBody } from '../../../tooling/test-kit/on-body.ts'
import { mcpConnector } from '../src/mcp/mcp-connector.ts'
import {
  connectorTo,
  EVERYTHING,
  freePort,
  startEverything,
  startMcpServer,
  testServerProcess,
} from './mcp-test-servers.ts'
import { askOnce, testCall } from './test-call.ts'

import type { AddressInfo, Socket } from 'node:net'
import type { McpServer } from '@tutti/mcp/internal'

describe('a child process', () => {
  it('A child process is started once for all tools with the same configuration', async () => {
    const server = testServerProcess()
    const pid = connectorTo({ server, tool: 'pid' })
    const pids = await Promise.all(
      [pid, pid, connectorTo({ server, tool: 'pid' })].map(
        async (one) => (await askOnce(one, {})).answer.output,
      ),
    )
    expect(new Set(pids).size).toBe(1)
    const other = await askOnce(connectorTo({ server: testServerProcess(), tool: 'pid' }), {})
    expect(pids).not.toContain(other.answer.output)
  })

  it('A child process gets a minimal environment and the configured variables', async () => {
    process.env['MCP_TEST_SECRET'] = 'x'
    onTestFinished(() => void delete process.env['MCP_TEST_SECRET'])
    const server = { ...testServerProcess(), env: { GIVEN: 'yes' } }
    const { answer } = await askOnce(connectorTo({ server, tool: 'environment' }), {})
    const names = String(answer.output).split(' ')
    expect(names).toContain('GIVEN')
    expect(names).toContain('PATH')
    expect(names).not.toContain('MCP_TEST_SECRET')
  })

  it('[MCP-M3]A child process fails the call with its last stderr line when it exits; [MCP-M1] is restarted by the next call', async () => {
    const server = testServerProcess()
    const crashing = askOnce(connectorTo({ server, tool: 'crash' }), {})
    await expect(crashing).rejects.toMatchObject({
      message: expect.stringMatching(/ended: it exited with code 3: out of luck$/),
      failureType: 'connection_lost',
      retryable: true,
    })
    const { answer } = await askOnce(connectorTo({ server, tool: 'echo' }), 'again')
    expect(answer.output).toBe('{"message":"again"}')
  })

  it('A child process may write lines that are not messages', async () => {
    const { answer } = await askOnce(
      connectorTo({ server: testServerProcess(), tool: 'noise' }),
      {},
    )
    expect(answer.output).toBe('after the noise')
  })

  it('A child process fails the call when it writes a message that is too long', async () => {
    const server = testServerProcess()
    const connector = connectorTo({ server, tool: 'long', maxMessageBytes: 100_000 })
    expect(String((await askOnce(connector, { bytes: 50_000 })).answer.output)).toHaveLength(50_000)
    await expect(askOnce(connector, { bytes: 200_000 })).rejects.toThrow(
      /a message longer than 100000 bytes$/,
    )
  })

  it.each([
    [
      'not-a-program-8',
      [],
      /^Cannot connect to MCP server "not-a-program-8": .* program "not-a-program-8" not found$/,
    ],
    [process.execPath, ['-e', 'process.exit(4)'], /^Cannot connect to .*: it exited with code 4$/],
  ])(
    'A child process reports why a command cannot be started as a server (%s)',
    async (command, args, message) => {
      const asking = askOnce(connectorTo({ server: { command, args } }), {})
      await expect(asking).rejects.toThrow(message)
    },
  )

  it('A child process is restarted as a legacy server when it exits during version discovery', async () => {
    const legacyOnly = `
      const { spawn } = require('node:child_process')
      const child = spawn(process.execPath, [process.argv[1], 'stdio'], { stdio: ['pipe', 'inherit', 'ignore'] })
      process.stdin.on('data', (data) => {
        if (data.includes('server/discover')) process.exit(1)
        child.stdin.write(data)
      })
      process.stdin.on('end', () => child.stdin.end())`
    const server = { command: process.execPath, args: ['-e', legacyOnly, EVERYTHING] }
    const { answer } = await askOnce(connectorTo({ server, tool: 'echo' }), 'hi')
    expect(answer.output).toBe('Echo: hi')
  })

  it('A child process ends when its last connector is closed, and later calls fail', async () => {
    const server = testServerProcess()
    const first = mcpConnector({ server, tool: 'pid' })
    const second = mcpConnector({ server, tool: 'pid' })
    const pid = Number((await askOnce(first, {})).answer.output)
    await first.close?.()
    expect(Number((await askOnce(second, {})).answer.output)).toBe(pid)
    await second.close?.()
    expect(() => process.kill(pid, 0)).toThrow('ESRCH')
    await expect(askOnce(second, {})).rejects.toThrow(/is closed$/)
  })

  it('[NET-P1] A child process ends together with its own child processes', async () => {
    const connector = mcpConnector({ server: testServerProcess(), tool: 'spawn' })
    const pid = Number((await askOnce(connector, {})).answer.output)
    await connector.close?.()
    while (isRunning(pid)) await new Promise((resolve) => setImmediate(resolve))
  })

  it('[MCP-M1] A child process is stopped when no call waits for it during its start', async () => {
    const silent = `
      require('node:net').connect(Number(process.argv[1]), '127.0.0.1').write(String(process.pid))
      setInterval(() => 0, 1000)`
    const { port, connected } = await listenForChild()
    const connector = connectorTo({
      server: { command: process.execPath, args: ['-e', silent, String(port)] },
    })
    const call = testCall()
    const connecting = connector.connect(call)
    const { ended } = await connected
    call.abort(new Error('enough'))
    await expect(connecting).rejects.toThrow('enough')
    await ended
  })
})

describe.each([
  ['a child process', async () => testServerProcess()],
  ['modern HTTP', () => startMcpServer('modern')],
  ['HTTP with sessions', () => startMcpServer('sessions')],
])('a server over %s', (_, start) => {
  it('[MCP-M4][MCP-T3] An MCP server does not keep the calling process alive when no call is running', async () => {
    const path = fileURLToPath(new URL('mcp-idle.ts', import.meta.url))
    const server: McpServer = await start()
    const config = 'url' in server ? { url: server.url } : server
    const args = ['--conditions=@tutti/source', path, JSON.stringify(config)]
    const child = spawn(process.execPath, args)
    onTestFinished(() => void child.kill('SIGKILL'))
    let output = ''
    child.stdout.on('data', (piece: Buffer) => (output += piece.toString()))
    child.stderr.on('data', (piece: Buffer) => (output += piece.toString()))
    const [code] = (await once(child, 'exit')) as [number]
    expect({ code, output: output.trim() }).toEqual({ code: 0, output: '{"message":"hi"}' })
  })
})

describe('an HTTP server', () => {
  it('[MCP-M2] An HTTP server gets the call again in a new session when it has lost the session', async () => {
    const server = await startMcpServer('sessions')
    const connector = connectorTo({ server, tool: 'echo' })
    await askOnce(connector, 'a')
    server.sessions.clear()
    expect((await askOnce(connector, 'b')).answer.output).toBe('{"message":"b"}')
    expect(server.state.calls.get('echo')).toBe(2)
    expect(server.requests.filter((name) => name === 'POST tools/call')).toHaveLength(3)
  })

  it('[MCP-M2] An HTTP server gets the next call in a new session after a restart', async () => {
    const port = await freePort()
    const first = await startEverything('streamableHttp', port)
    const connector = connectorTo({ server: { url: `http://127.0.0.1:${port}/mcp` }, tool: 'echo' })
    await askOnce(connector, 'a')
    await first.end()
    await expect(askOnce(connector, 'b')).rejects.toMatchObject({ retryable: true })
    await startEverything('streamableHttp', port)
    expect((await askOnce(connector, 'c')).answer.output).toBe('Echo: c')
  })

  it('An HTTP server gets a DELETE when its session is closed', async () => {
    const server = await startMcpServer('sessions')
    const connector = mcpConnector({ server, tool: 'echo' })
    await askOnce(connector, 'a')
    await connector.close?.()
    expect(server.requests.at(-1)).toBe('DELETE')
  })

  it('An HTTP server is reported as unreachable without the secrets of its address', async () => {
    const url = `http://127.0.0.1:${await freePort()}/mcp?key=secret`
    const asking = askOnce(connectorTo({ server: { url }, tool: 'echo' }), 'a')
    await expect(asking).rejects.toMatchObject({
      message: expect.stringMatching(
        /^Cannot connect to MCP server http:\/\/127.0.0.1:\d+: .*refused$/,
      ),
      failureType: 'unreachable',
      retryable: true,
    })
    expect(connectorTo({ server: { url }, tool: 'echo' }).uri).not.toContain('secret')
  })

  it('An HTTP server gets the configured headers', async () => {
    const { url, requests } = await startRawServer((request, response) => {
      response.statusCode = request.headers.authorization === 'Bearer k' ? 418 : 401
      response.end('short and stout')
    })
    const headers = (): Promise<Record<string, string>> =>
      Promise.resolve({ authorization: 'Bearer k' })
    const asking = askOnce(connectorTo({ server: { url, headers }, tool: 'echo' }), 'a')
    await expect(asking).rejects.toThrow(/ returned error 418 I'm a Teapot: short and stout$/)
    expect(requests.length).toBeGreaterThan(0)
    await expect(askOnce(connectorTo({ server: { url } }), 'a')).rejects.toMatchObject({
      message: expect.stringMatching(/ returned error 401 Unauthorized: short and stout$/),
      failureType: 'http_error',
      retryable: false,
    })
  })
})

describe('a client that the caller provides', () => {
  it('A client that the caller provides is used for calls and progress, and stays open', async () => {
    const { url } = await startMcpServer('sessions')
    const client = new Client({ name: 'mine', version: '1.0.0' })
    await client.connect(new StreamableHTTPClientTransport(new URL(url)))
    onTestFinished(() => client.close())
    const connector = mcpConnector({ server: { client }, tool: 'burst' })
    const call = testCall()
    const { chunks } = await askOnce(connector, {}, call)
    expect(chunks.length).toBe(call.arrivals)
    expect(chunks).toContainEqual({ progress: 1, total: 3 })
    await connector.close?.()
    expect((await client.listTools()).tools.length).toBeGreaterThan(0)
  })
})

/** Sends an invalid response to a tool call. */
type Fault = (response: ServerResponse, id: unknown) => void

const FAULTS: readonly (readonly [string, Fault, object])[] = [
  [
    'answers 503 with Retry-After',
    (response) => response.writeHead(503, { 'retry-after': '7' }).end('down for a while'),
    {
      message: expect.stringMatching(/ returned error 503 Service Unavailable: down for a while$/),
      failureType: 'http_error',
      retryable: true,
      retryAfterMs: 7_000,
    },
  ],
  [
    'answers 400',
    (response) => response.writeHead(400).end('no'),
    {
      message: expect.stringMatching(/ returned error 400 Bad Request: no$/),
      failureType: 'http_error',
    },
  ],
  [
    'answers with an HTML page',
    (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
    { failureType: 'invalid_response', retryable: false },
  ],
  [
    'answers with a truncated message',
    (response) => response.writeHead(200, JSON_TYPE).end('{"jsonrpc":"2.0",'),
    { failureType: 'invalid_response' },
  ],
  [
    'answers another request',
    (response) => response.writeHead(200, JSON_TYPE).end(createResponse('another', {})),
    { message: expect.stringMatching(/sent an invalid response: ./), retryable: false },
  ],
  [
    'accepts the request without an answer',
    (response) => response.writeHead(202).end(),
    { message: expect.stringMatching(/the answer to tools\/call is missing: HTTP 202/) },
  ],
  [
    'answers with a tool result of another type',
    (response, id) => response.writeHead(200, JSON_TYPE).end(createResponse(id, 5)),
    { failureType: 'invalid_response' },
  ],
  [
    'answers with an error',
    (response, id) =>
      response
        .writeHead(200, JSON_TYPE)
        .end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_050, message: 'too hot' } })),
    { message: expect.stringMatching(/error -32050: .*too hot/), failureType: 'agent_failed' },
  ],
  [
    'ends a stream before the answer',
    (response) => response.writeHead(200, SSE_TYPE).end(': nothing\n\n'),
    { failureType: 'connection_lost', retryable: true },
  ],
  [
    'resets a stream before the answer',
    (response) => {
      response.writeHead(200, SSE_TYPE)
      response.write(': nothing\n\n', () => response.destroy())
    },
    { failureType: 'connection_lost', retryable: true },
  ],
  [
    'resets the connection',
    (response) => void response.destroy(),
    { failureType: 'connection_lost', retryable: true },
  ],
  [
    'sends an endless event',
    (response) => {
      response.writeHead(200, SSE_TYPE)
      const more = (): void => {
        while (response.write('data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'.repeat(100)));
        response.once('drain', more)
      }
      more()
    },
    { message: expect.stringMatching(/longer than 100000 bytes$/), retryable: false },
  ],
  [
    'sends a long body',
    (response, id) =>
      response.writeHead(200, JSON_TYPE).end(createResponse(id, 'x'.repeat(200_000))),
    { message: expect.stringMatching(/longer than 100000 bytes$/) },
  ],
  [
    'requires a web page to be opened first',
    (response, id) => {
      const data = {
        elicitations: [{ mode: 'url', elicitationId: '1', url: 'https://a.test', message: 'm' }],
      }
      const error = { code: -32_042, message: 'log in', data }
      response.writeHead(200, JSON_TYPE).end(JSON.stringify({ jsonrpc: '2.0', id, error }))
    },
    {
      message: expect.stringMatching(/requires a web page to be opened/),
      failureType: 'input_required',
    },
  ],
]

describe.each(['modern', 'old'])('an HTTP server (%s protocol) that', (era) => {
  it.each(FAULTS)(
    'An HTTP server that %s fails the call at once',
    async (_, sendFault, failure) => {
      const { url } = await startRawServer((request, response) =>
        answerWithFault({ request, response, era }, sendFault),
      )
      const connector = connectorTo({ server: { url }, tool: 'echo', maxMessageBytes: 100_000 })
      await expect(askOnce(connector, 'a')).rejects.toMatchObject(failure)
    },
  )

  it('[MCP-T1] An HTTP server that sends comments keeps the call alive', async () => {
    const { url } = await startRawServer((request, response) =>
      answerWithFault({ request, response, era }, (answer, id) => {
        answer.writeHead(200, SSE_TYPE)
        answer.write(': still here\n\n')
        answer.end(`data: ${createResponse(id, { content: [], resultType: 'complete' })}\n\n`)
      }),
    )
    const call = testCall()
    await askOnce(connectorTo({ server: { url }, tool: 'echo' }), 'a', call)
    expect(call.arrivals).toBeGreaterThan(0)
  })
})

it('[MCP-M2] The connector does not repeat a call after a 404 from a server without sessions', async () => {
  let called = 0
  const { url } = await startRawServer((request, response) =>
    answerWithFault({ request, response, era: 'old' }, (answer) => {
      called += 1
      answer.writeHead(404).end('gone')
    }),
  )
  const asking = askOnce(connectorTo({ server: { url }, tool: 'echo' }), 'a')
  await expect(asking).rejects.toMatchObject({
    message: expect.stringMatching(/ returned error 404 Not Found: gone$/),
    failureType: 'http_error',
  })
  expect(called).toBe(1)
})

describe('a server with resumable streams', () => {
  it('[MCP-T1] A server with resumable streams gets a request for the rest of a broken stream', async () => {
    const { url } = await startRawServer((request, response) => {
      if (request.method === 'GET' && request.headers['last-event-id'] === 'e1') {
        response.writeHead(200, SSE_TYPE)
        response.end(
          `id: e2\ndata: ${createResponse(called, { content: [{ type: 'text', text: 'late' }] })}\n\n`,
        )
        return
      }
      answerWithFault({ request, response, era: 'old' }, (answer, id) => {
        called = id
        answer.writeHead(200, SSE_TYPE)
        answer.write('id: e1\nretry: 1\ndata:\n\n', () => answer.destroy())
      })
    })
    let called: unknown
    const { answer } = await askOnce(connectorTo({ server: { url }, tool: 'echo' }), 'a')
    expect(answer.output).toBe('late')
  })
})

const JSON_TYPE = { 'content-type': 'application/json' }
const SSE_TYPE = { 'content-type': 'text/event-stream' }

function createResponse(id: unknown, result: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', id, result })
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly era: string
}

/** Answers correctly until a tool is called, then sends the fault. */
function answerWithFault(exchange: Exchange, sendFault: Fault): void {
  const { request, response } = exchange
  if (request.method === 'POST') onBody(request, (body) => answerBody(exchange, body, sendFault))
  else response.writeHead(405).end()
}

function answerBody({ response, era }: Exchange, body: string, sendFault: Fault): void {
  const { id, method } = JSON.parse(body) as {
    readonly id?: number
    readonly method?: string
  }
  const tools = [{ name: 'echo', inputSchema: { type: 'object' } }]
  const common = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }
  const results: Readonly<Record<string, unknown>> = {
    'server/discover': {
      ...common,
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {} },
    },
    initialize: {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'raw', version: '1' },
    },
    'tools/list': era === 'modern' ? { ...common, tools } : { tools },
  }
  if (method === 'tools/call') sendFault(response, id)
  else if (method === 'server/discover' && era === 'old') response.writeHead(404).end()
  else if (id === undefined) response.writeHead(202).end()
  else response.writeHead(200, JSON_TYPE).end(createResponse(id, results[method ?? '']))
}

/** Returns whether a process is running; a zombie counts as ended. */
function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

/** Listens for one connection of a child process; `ended` resolves when the connection closes. */
async function listenForChild(): Promise<{
  readonly port: number
  readonly connected: Promise<{ readonly ended: Promise<unknown> }>
}> {
  const server = createTcpServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const connected = once(server, 'connection').then(async ([socket]: Socket[]) => {
    if (socket === undefined) throw new Error('no connection')
    await once(socket, 'data')
    socket.on('error', () => undefined)
    return { ended: new Promise((resolve) => socket.once('close', resolve)) }
  })
  // NOTE: the address of a server that listens on a port has this type.
  return { port: (server.address() as AddressInfo).port, connected }
}

async function startRawServer(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ readonly url: string; readonly requests: readonly string[] }> {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(request.method ?? '')
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  // NOTE: the address of a server that listens on a port has this type.
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/mcp`, requests }
}
