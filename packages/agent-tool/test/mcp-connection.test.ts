import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import { fileURLToPath } from 'node:url'

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, it, onTestFinished } from 'vitest'

import { mcpConnector } from '../src/mcp/mcp-connector.ts'
import {
  connectorTo,
  EVERYTHING,
  freePort,
  startEverything,
  startMcpServer,
  testProgram,
} from './mcp-test-servers.ts'
import { askOnce, testCall } from './test-call.ts'

import type { AddressInfo, Socket } from 'node:net'
import type { McpServer } from '@tutti/mcp'

describe('a program', () => {
  it('is started once for all calls of all tools that share its description', async () => {
    const server = testProgram()
    const pid = connectorTo({ server, tool: 'pid' })
    const pids = await Promise.all(
      [pid, pid, connectorTo({ server, tool: 'pid' })].map(
        async (one) => (await askOnce(one, {})).answer.output,
      ),
    )
    expect(new Set(pids).size).toBe(1)
    const other = await askOnce(connectorTo({ server: testProgram(), tool: 'pid' }), {})
    expect(pids).not.toContain(other.answer.output)
  })

  it('[P2] gets a bare environment, and what is given', async () => {
    process.env['MCP_TEST_SECRET'] = 'x'
    onTestFinished(() => void delete process.env['MCP_TEST_SECRET'])
    const server = { ...testProgram(), env: { GIVEN: 'yes' } }
    const { answer } = await askOnce(connectorTo({ server, tool: 'environment' }), {})
    const names = String(answer.output).split(' ')
    expect(names).toContain('GIVEN')
    expect(names).toContain('PATH')
    expect(names).not.toContain('MCP_TEST_SECRET')
  })

  it('[M3][P4] that dies fails the call with its last words; [M1] the next call starts it anew', async () => {
    const server = testProgram()
    const crashing = askOnce(connectorTo({ server, tool: 'crash' }), {})
    await expect(crashing).rejects.toMatchObject({
      message: expect.stringMatching(/ended: it exited with code 3: out of luck$/),
      failureType: 'connection_lost',
      retryable: true,
    })
    const { answer } = await askOnce(connectorTo({ server, tool: 'echo' }), 'again')
    expect(answer.output).toBe('{"message":"again"}')
  })

  it('may write lines that are no messages', async () => {
    const { answer } = await askOnce(connectorTo({ server: testProgram(), tool: 'noise' }), {})
    expect(answer.output).toBe('after the noise')
  })

  it('that writes a message that is too long fails the call', async () => {
    const server = testProgram()
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
  ])('that cannot be a server is a failure that says why (%s)', async (command, args, message) => {
    const asking = askOnce(connectorTo({ server: { command, args } }), {})
    await expect(asking).rejects.toThrow(message)
  })

  it('that ends at the question for its era is started again, as one of before', async () => {
    const choosy = `
      const { spawn } = require('node:child_process')
      const child = spawn(process.execPath, [process.argv[1], 'stdio'], { stdio: ['pipe', 'inherit', 'ignore'] })
      process.stdin.on('data', (data) => {
        if (data.includes('server/discover')) process.exit(1)
        child.stdin.write(data)
      })
      process.stdin.on('end', () => child.stdin.end())`
    const server = { command: process.execPath, args: ['-e', choosy, EVERYTHING] }
    const { answer } = await askOnce(connectorTo({ server, tool: 'echo' }), 'hi')
    expect(answer.output).toBe('Echo: hi')
  })

  it('ends when the last way to it is closed, and what asks it then is told so', async () => {
    const server = testProgram()
    const first = mcpConnector({ server, tool: 'pid' })
    const second = mcpConnector({ server, tool: 'pid' })
    const pid = Number((await askOnce(first, {})).answer.output)
    await first.close?.()
    expect(Number((await askOnce(second, {})).answer.output)).toBe(pid)
    await second.close?.()
    expect(() => process.kill(pid, 0)).toThrow('ESRCH')
    await expect(askOnce(second, {})).rejects.toThrow(/is closed$/)
  })

  it('[P1] ends with all that it has started', async () => {
    const connector = mcpConnector({ server: testProgram(), tool: 'spawn' })
    const pid = Number((await askOnce(connector, {})).answer.output)
    await connector.close?.()
    while (isRunning(pid)) await new Promise((resolve) => setImmediate(resolve))
  })

  it('[M1] is given up when nobody waits for it any more, and ends', async () => {
    const silent = `
      require('node:net').connect(Number(process.argv[1]), '127.0.0.1').write(String(process.pid))
      setInterval(() => 0, 1000)`
    const { port, said } = await listener()
    const connector = connectorTo({
      server: { command: process.execPath, args: ['-e', silent, String(port)] },
    })
    const call = testCall()
    const connecting = connector.connect(call)
    const { ended } = await said
    call.abort(new Error('enough'))
    await expect(connecting).rejects.toThrow('enough')
    await ended
  })
})

describe.each([
  ['a program', async () => testProgram()],
  ['HTTP of today', () => startMcpServer('modern')],
  ['HTTP with sessions', () => startMcpServer('sessions')],
])('a server that is %s', (_, start) => {
  it('[P3][T3] does not keep the process alive when no call is under way', async () => {
    const path = fileURLToPath(new URL('mcp-idle.ts', import.meta.url))
    const server: McpServer = await start()
    const told = 'url' in server ? { url: server.url } : server
    const args = ['--conditions=@tutti/source', path, JSON.stringify(told)]
    const child = spawn(process.execPath, args)
    onTestFinished(() => void child.kill('SIGKILL'))
    let said = ''
    child.stdout.on('data', (piece: Buffer) => (said += piece.toString()))
    child.stderr.on('data', (piece: Buffer) => (said += piece.toString()))
    const [code] = (await once(child, 'exit')) as [number]
    expect({ code, said: said.trim() }).toEqual({ code: 0, said: '{"message":"hi"}' })
  })
})

describe('an HTTP server', () => {
  it('[M2] that has forgotten the session gets the call once more, in a new one', async () => {
    const server = await startMcpServer('sessions')
    const connector = connectorTo({ server, tool: 'echo' })
    await askOnce(connector, 'a')
    server.sessions.clear()
    expect((await askOnce(connector, 'b')).answer.output).toBe('{"message":"b"}')
    expect(server.state.calls.get('echo')).toBe(2)
    expect(server.requests.filter((name) => name === 'POST tools/call')).toHaveLength(3)
  })

  it('[M2] that has started anew gets the call in a new session', async () => {
    const port = await freePort()
    const first = await startEverything('streamableHttp', port)
    const connector = connectorTo({ server: { url: `http://127.0.0.1:${port}/mcp` }, tool: 'echo' })
    await askOnce(connector, 'a')
    await first.end()
    await expect(askOnce(connector, 'b')).rejects.toMatchObject({ retryable: true })
    await startEverything('streamableHttp', port)
    expect((await askOnce(connector, 'c')).answer.output).toBe('Echo: c')
  })

  it('is told when its session is over', async () => {
    const server = await startMcpServer('sessions')
    const connector = mcpConnector({ server, tool: 'echo' })
    await askOnce(connector, 'a')
    await connector.close?.()
    expect(server.requests.at(-1)).toBe('DELETE')
  })

  it('that is not there is unreachable, and a secret in its address is not told', async () => {
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

  it('gets the headers that are given', async () => {
    const { url, requests } = await raw((request, response) => {
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

describe('a client of the author', () => {
  it('is used, also for progress, and left open', async () => {
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

/** How a server misbehaves with a call that it was given. */
type Misdeed = (response: ServerResponse, id: unknown) => void

const MISDEEDS: readonly (readonly [string, Misdeed, object])[] = [
  [
    'fails for now, and says when to come back',
    (response) => response.writeHead(503, { 'retry-after': '7' }).end('down for a while'),
    {
      message: expect.stringMatching(/ returned error 503 Service Unavailable: down for a while$/),
      failureType: 'http_error',
      retryable: true,
      retryAfterMs: 7_000,
    },
  ],
  [
    'refuses',
    (response) => response.writeHead(400).end('no'),
    {
      message: expect.stringMatching(/ returned error 400 Bad Request: no$/),
      failureType: 'http_error',
    },
  ],
  [
    'answers with a page',
    (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
    { failureType: 'invalid_response', retryable: false },
  ],
  [
    'answers with half of a message',
    (response) => response.writeHead(200, JSON_TYPE).end('{"jsonrpc":"2.0",'),
    { failureType: 'invalid_response' },
  ],
  [
    'answers another request',
    (response) => response.writeHead(200, JSON_TYPE).end(answerTo('another', {})),
    { message: expect.stringMatching(/^The request got no response/), retryable: false },
  ],
  [
    'takes the request and does not answer',
    (response) => response.writeHead(202).end(),
    { message: expect.stringMatching(/^The request got no response/) },
  ],
  [
    'answers with what is no result of a tool',
    (response, id) => response.writeHead(200, JSON_TYPE).end(answerTo(id, { content: 5 })),
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
    'breaks off a stream before the answer',
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
    'sends an event without end',
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
    (response, id) => response.writeHead(200, JSON_TYPE).end(answerTo(id, 'x'.repeat(200_000))),
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

describe.each(['modern', 'old'])('a server of %s times that', (era) => {
  it.each(MISDEEDS)(
    '%s is a failure at once, which says what it is',
    async (_, misdeed, failure) => {
      const { url } = await raw(
        (request, response) => void misbehave({ request, response, era }, misdeed),
      )
      const connector = connectorTo({ server: { url }, tool: 'echo', maxMessageBytes: 100_000 })
      await expect(askOnce(connector, 'a')).rejects.toMatchObject(failure)
    },
  )

  it('[T1] tells of bytes that are no message, which keep a call alive', async () => {
    const { url } = await raw(
      (request, response) =>
        void misbehave({ request, response, era }, (answer, id) => {
          answer.writeHead(200, SSE_TYPE)
          answer.write(': still here\n\n')
          answer.end(`data: ${answerTo(id, { content: [], resultType: 'complete' })}\n\n`)
        }),
    )
    const call = testCall()
    await askOnce(connectorTo({ server: { url }, tool: 'echo' }), 'a', call)
    expect(call.arrivals).toBeGreaterThan(0)
  })
})

it('[M2] a server without sessions that does not find what is asked is asked once', async () => {
  let called = 0
  const { url } = await raw(
    (request, response) =>
      void misbehave({ request, response, era: 'old' }, (answer) => {
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

describe('a server that lets streams be taken up again', () => {
  it('[T1] is asked for the rest of one that broke', async () => {
    const { url } = await raw((request, response) => {
      if (request.method === 'GET' && request.headers['last-event-id'] === 'e1') {
        response.writeHead(200, SSE_TYPE)
        response.end(
          `id: e2\ndata: ${answerTo(called, { content: [{ type: 'text', text: 'late' }] })}\n\n`,
        )
        return
      }
      void misbehave({ request, response, era: 'old' }, (answer, id) => {
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

function answerTo(id: unknown, result: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', id, result })
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly era: string
}

/** Behaves until a tool is called. */
async function misbehave({ request, response, era }: Exchange, misdeed: Misdeed): Promise<void> {
  if (request.method !== 'POST') {
    response.writeHead(405).end()
    return
  }
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  const { id, method } = JSON.parse(Buffer.concat(pieces).toString()) as {
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
  if (method === 'tools/call') misdeed(response, id)
  else if (method === 'server/discover' && era === 'old') response.writeHead(404).end()
  else if (id === undefined) response.writeHead(202).end()
  else response.writeHead(200, JSON_TYPE).end(answerTo(id, results[method ?? '']))
}

/** Whether a process is there that has not ended, though nobody may have taken notice of its end yet. */
function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

/** Listens for one program that says something; `ended` resolves when the program is gone. */
async function listener(): Promise<{
  readonly port: number
  readonly said: Promise<{ readonly ended: Promise<unknown> }>
}> {
  const server = createTcpServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const said = once(server, 'connection').then(async ([socket]: Socket[]) => {
    if (socket === undefined) throw new Error('no connection')
    await once(socket, 'data')
    socket.on('error', () => undefined)
    return { ended: new Promise((resolve) => socket.once('close', resolve)) }
  })
  // NOTE: a server that listens on a port has an address of this kind.
  return { port: (server.address() as AddressInfo).port, said }
}

async function raw(
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
  // NOTE: a server that listens on a port has an address of this kind.
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/mcp`, requests }
}
