import { readFileSync } from 'node:fs'

import type { Logger } from '@tutti/core'
import { silentLogger } from '@tutti/core/internal'
import { AgentError } from '@tutti/agent-call/internal'
import { fakeClock } from '@tutti/testing'
import { describe, expect, onTestFinished, test, vi } from 'vitest'

import { tasksConnector, type TasksConnectorOptions } from '../src/connector/index.ts'
import {
  rawServer,
  STREAM_HEAD,
  whole,
  type RawAnswer,
  type RawServer,
} from '../../net/test/raw-server.ts'
import { askOnce, sendTurn, testCall, type TestTurn } from '../../agent-tool/test/test-call.ts'

import type { AgentCall, AgentConnector, AgentUpdate } from '@tutti/agent-call/internal'

/** Creates a connector that is closed with the test. */
function createConnector(
  { origin }: Pick<RawServer, 'origin'>,
  options: Partial<TasksConnectorOptions> = {},
): AgentConnector {
  const connector = tasksConnector({ url: origin, ...options })
  onTestFinished(() => connector.close?.())
  return connector
}

/** Starts a server that answers each request with the next body and repeats the last one. */
async function startAnswering(...bodies: readonly unknown[]): Promise<RawServer> {
  let next = 0
  return rawServer((socket) => {
    const body = bodies[Math.min(next, bodies.length - 1)]
    next += 1
    socket.write(whole(typeof body === 'string' ? body : JSON.stringify(body)))
  })
}

/** Returns a handler that streams `pieces` and closes the connection. */
const streaming =
  (...pieces: readonly (string | Uint8Array)[]): RawAnswer =>
  (socket) => {
    socket.write(STREAM_HEAD)
    for (const piece of pieces) socket.write(piece)
    socket.end()
  }

async function askStreaming(
  pieces: readonly (string | Uint8Array)[],
  { call = {}, ...options }: Partial<TasksConnectorOptions> & { call?: Partial<AgentCall> } = {},
): Promise<TestTurn> {
  const server = await rawServer(streaming(...pieces))
  const connector = createConnector(server, options)
  return askOnce(connector, 'x', testCall({ mode: 'streaming', ...call }))
}

/** Reads updates up to a failure and returns both. */
async function untilFailure(
  updates: AsyncIterable<AgentUpdate>,
): Promise<{ readonly seen: readonly AgentUpdate[]; readonly problem: AgentError }> {
  const seen: AgentUpdate[] = []
  try {
    for await (const update of updates) seen.push(update)
  } catch (problem) {
    expect(problem).toBeInstanceOf(AgentError)
    // NOTE: the line above checks the type.
    return { seen, problem: problem as AgentError }
  }
  throw new Error('Expected a failure')
}

async function askFailing(connector: AgentConnector, settings: Partial<AgentCall> = {}) {
  const session = await connector.connect(testCall(settings))
  return untilFailure(session.send({ input: 'x', index: 0 }))
}

const MANIFEST = new URL('../package.json', import.meta.url)
const { version }: { readonly version: string } = JSON.parse(readFileSync(MANIFEST, 'utf8'))

/** The header that every request of a tool or an agent has. */
const USER_AGENT = `user-agent: tutti/${version}`

describe('[JAM-T1] requests', () => {
  test.each([
    ['sync', '/tasks/send', 'tasks/send'],
    ['conversational', '/tasks/send', 'tasks/send'],
    ['streaming', '/tasks/sendSubscribe', 'tasks/sendSubscribe'],
  ] as const)(
    'The tasks connector in mode %s sends the same bytes as JamJet, except for the User-Agent',
    async (mode, path, method) => {
      const server = await startAnswering({ ok: true })
      await askOnce(createConnector(server), { topic: 'ü', depth: 2 }, testCall({ mode }))
      const body = String.raw`{"jsonrpc":"2.0","method":"${method}","params":{"message":{"parts":[{"text":"{\"depth\":2,\"topic\":\"ü\"}"}]}}}`
      expect(server.requests.map(({ text }) => text)).toEqual([
        [
          `POST ${path} HTTP/1.1`,
          USER_AGENT,
          'accept: */*',
          'content-type: application/json',
          `content-length: ${Buffer.byteLength(body)}`,
          `Host: 127.0.0.1:${server.port}`,
          'Connection: keep-alive',
          '',
          body,
        ].join('\r\n'),
      ])
    },
  )

  test.each([
    ['', '/tasks/send'],
    ['/', '/tasks/send'],
    ['/agents/one//', '/agents/one/tasks/send'],
    ['/one?key=a%20b', '/one/tasks/send?key=a%20b'],
  ])('The tasks connector appends its path to the address %j', async (address, path) => {
    const server = await startAnswering({ ok: true })
    await askOnce(createConnector(server, { url: `${server.origin}${address}` }), 'x')
    expect(server.requests[0]?.line).toBe(`POST ${path}`)
  })

  test('The tasks connector adds the trace, the headers and the remaining budget', async () => {
    const server = await startAnswering({ ok: true })
    const connector = createConnector(server, { headers: { authorization: 'Bearer key' } })
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const remaining = () => ({ timeMs: 5_000, costUsd: 0.5, tokens: 100 })
    await askOnce(connector, 'x', testCall({ traceparent, remaining }))
    const [request] = server.requests
    expect(request?.headers).toMatchObject({ traceparent, authorization: 'Bearer key' })
    expect(JSON.parse(request?.body ?? '').params.metadata).toEqual({
      'https://tutti.dev/a2a/usage/v1': { max_cost_usd: 0.5, max_tokens: 100, deadline_ms: 5_000 },
    })
  })

  test('The tasks connector sends each turn as a request and answers a question under the id of its task', async () => {
    const server = await startAnswering(
      { id: 'run-1', status: 'working', output: 'a' },
      { id: 'run-2', status: 'input-required', output: 'Which?' },
      { id: 'run-2', status: 'completed', output: 'b' },
      { id: 'run-3', status: 'completed', output: 'c' },
    )
    const session = await createConnector(server).connect(testCall({ mode: 'conversational' }))
    const states: unknown[] = []
    for (let index = 0; index < 4; index += 1) {
      states.push((await sendTurn(session, index, index)).answer.state)
    }
    expect(states).toEqual(['open', 'input_required', 'completed', 'completed'])
    expect(server.requests.map(({ body }) => JSON.parse(body).params)).toEqual([
      { message: { parts: [{ text: '0' }] } },
      { message: { parts: [{ text: '1' }] } },
      { id: 'run-2', message: { parts: [{ text: '2' }] } },
      { message: { parts: [{ text: '3' }] } },
    ])
    expect(server.connections).toBe(1)
  })

  test('The tasks connector rejects input that is not JSON', async () => {
    const server = await startAnswering({})
    const session = await createConnector(server).connect(testCall())
    const { problem } = await untilFailure(session.send({ input: () => 1, index: 0 }))
    expect([problem.failureType, server.connections]).toEqual(['configuration', 0])
  })
})

describe('[JAM-T2] answers', () => {
  test.each([
    [{ answer: 42 }, 'completed'],
    [{ status: 'completed', output: 'x' }, 'completed'],
    ['"text"', 'completed'],
    ['null', 'completed'],
    ['[1, 2]', 'completed'],
    [' \r\n{"a": 1}\n ', 'completed'],
    ['\uFEFF{"a":1}', 'completed'],
  ])('The tasks connector reads the body %j as the whole answer', async (body, state) => {
    const server = await startAnswering(body)
    const { updates, answer } = await askOnce(createConnector(server), 'x')
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    expect(updates).toHaveLength(1)
    expect(answer).toMatchObject({ state, output: JSON.parse(text.replace('\uFEFF', '')) })
  })

  test('The tasks connector unwraps the result of a JSON-RPC envelope', async () => {
    const server = await startAnswering({ jsonrpc: '2.0', id: 1, result: { output: 'x' } })
    const { answer } = await askOnce(createConnector(server), 'x')
    expect(answer).toEqual({ kind: 'end', state: 'completed', output: { output: 'x' }, text: 'x' })
  })

  test('The tasks connector reports a JSON-RPC error in a 200 response as a failure', async () => {
    const body = { jsonrpc: '2.0', id: 1, error: { code: -32_000, message: 'Busy' } }
    const { seen, problem } = await askFailing(createConnector(await startAnswering(body)))
    expect(seen).toEqual([])
    expect(problem).toMatchObject({
      failureType: 'agent_failed',
      retryable: false,
      message: 'The agent responded with an error: Busy (-32000)',
      partial: body,
    })
  })

  test('[JAM-T5] The tasks connector reports a failed task as a failure with its partial output and its cost', async () => {
    const body = { status: 'failed', output: 'half', cost_usd: 0.5, retryable: true }
    const { seen, problem } = await askFailing(createConnector(await startAnswering(body)))
    expect(seen).toEqual([{ kind: 'usage', usage: { costUsd: 0.5 } }])
    expect(problem).toMatchObject({ failureType: 'agent_failed', retryable: true, partial: body })
  })

  test('The tasks connector returns the question of a task', async () => {
    const server = await startAnswering({ id: 'a', status: 'input-required', output: 'Which?' })
    const { answer } = await askOnce(createConnector(server), 'x')
    expect(answer).toMatchObject({ state: 'input_required', question: 'Which?' })
  })

  test('The tasks connector reports the usage of each task once', async () => {
    const server = await startAnswering(
      { total_cost_usd: 0.5, cost_usd: 0.5, total_tokens: 10 },
      { total_cost_usd: 0.25, total_tokens: 4 },
    )
    const session = await createConnector(server).connect(testCall({ mode: 'conversational' }))
    const turns = [await sendTurn(session, 'a', 0), await sendTurn(session, 'b', 1)]
    expect(turns.map(({ updates: [first] }) => first)).toEqual([
      { kind: 'usage', usage: { costUsd: 0.5, outputTokens: 10 } },
      { kind: 'usage', usage: { costUsd: 0.25, outputTokens: 4 } },
    ])
  })

  test('The tasks connector ignores the content type of an answer', async () => {
    const server = await rawServer((socket) =>
      socket.write(whole('{"a":1}', { headers: ['content-type: text/html'] })),
    )
    const { answer } = await askOnce(createConnector(server), 'x')
    expect(answer.output).toEqual({ a: 1 })
  })

  test.each([
    ['<html>', 'The agent sent a response that is not JSON: "<html>"'],
    ['', 'The agent sent a response that is not JSON: nothing'],
    ['{"a":1}{"a":2}', /not JSON/],
    [`{"a":"${'x'.repeat(500)}`, new RegExp(`is not JSON: "\\{\\\\"a\\\\":\\\\"x{194}"$`)],
  ])('The tasks connector rejects the body %j, which is not JSON', async (body, message) => {
    const { problem } = await askFailing(createConnector(await startAnswering(body)))
    expect(problem).toMatchObject({ failureType: 'invalid_response', retryable: false })
    expect(problem.message).toMatch(message)
  })

  test('The tasks connector rejects a body that is not UTF-8', async () => {
    const server = await rawServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n')
      socket.write(Buffer.from([0x22, 0xff, 0x22]))
    })
    const { problem } = await askFailing(createConnector(server))
    expect(problem.failureType).toBe('invalid_response')
  })

  test('The tasks connector accepts a body of maximum length and rejects a longer one', async () => {
    const server = await startAnswering('"12345"')
    const whole = await askOnce(createConnector(server, { maxBodyBytes: 7 }), 'x')
    expect(whole.answer.output).toBe('12345')
    const { problem } = await askFailing(createConnector(server, { maxBodyBytes: 6 }))
    expect(problem).toMatchObject({
      failureType: 'invalid_response',
      message: 'The agent sent a response of more than 6 bytes',
    })
  })

  test.each([
    [`[${'0,'.repeat(60_000)}0]`, 'it must have at most 50000 fields and items, got 60001'],
    ['['.repeat(2_000), 'it must be nested at most 1000 deep, got 2000'],
  ])(
    'The tasks connector rejects a body of too many values before it is parsed',
    async (body, excess) => {
      const server = await startAnswering(body)
      const { problem } = await askFailing(createConnector(server))
      expect(problem).toMatchObject({
        failureType: 'invalid_response',
        message: `The agent sent a response that cannot be used: ${excess}`,
      })
    },
  )

  test('The tasks connector stops reading an endless body and closes the connection', async () => {
    const server = await rawServer((socket) => {
      socket.write(`${STREAM_HEAD}"`)
      const writeMore = (): void => {
        if (socket.writable) socket.write('x'.repeat(65_536), writeMore)
      }
      writeMore()
    })
    const { problem } = await askFailing(createConnector(server, { maxBodyBytes: 1_000_000 }))
    expect(problem.message).toBe('The agent sent a response of more than 1000000 bytes')
    await server.allClosed()
  })

  test.each(['sync', 'streaming'] as const)(
    'The tasks connector in mode %s fails for a status other than 2xx',
    async (mode) => {
      const server = await rawServer((socket) =>
        socket.write(
          whole('{"status":"failed"}', {
            status: '503 Service Unavailable',
            headers: ['retry-after: 3'],
          }),
        ),
      )
      const { seen, problem } = await askFailing(createConnector(server), { mode })
      expect(seen).toEqual([])
      expect(problem).toMatchObject({
        failureType: 'http_error',
        retryable: true,
        retryAfterMs: 3_000,
        message: 'Agent returned error 503 Service Unavailable: {"status":"failed"}',
      })
    },
  )

  test('The tasks connector computes the delay of Retry-After with the clock of the call', async () => {
    const head = ['retry-after: Sat, 01 Nov 2036 00:00:10 GMT']
    const server = await rawServer((socket) =>
      socket.write(whole('', { status: '429 Too Many Requests', headers: head })),
    )
    const clock = fakeClock(Date.UTC(2036, 10, 1))
    const { problem } = await askFailing(createConnector(server), { clock })
    expect(problem.retryAfterMs).toBe(10_000)
  })

  test('The tasks connector prefers the failure in the body to the HTTP status', async () => {
    const body = { id: 'a', status: 'failed', message: 'No model', retryable: true, artifacts: [1] }
    for (const answer of [body, { jsonrpc: '2.0', id: 1, result: body }]) {
      const server = await rawServer((socket) =>
        socket.write(whole(JSON.stringify(answer), { status: '422 Unprocessable Content' })),
      )
      const { problem } = await askFailing(createConnector(server))
      expect(problem).toMatchObject({
        failureType: 'agent_failed',
        retryable: true,
        message: 'The agent failed: No model',
        partial: body,
      })
    }
  })

  test('The tasks connector reports the HTTP status when the body is empty or truncated', async () => {
    for (const rest of ['content-length: 0\r\n\r\n', 'content-length: 9\r\n\r\nabc']) {
      const server = await rawServer((socket) => socket.end(`HTTP/1.1 404 Not Found\r\n${rest}`))
      const { problem } = await askFailing(createConnector(server))
      expect(problem).toMatchObject({
        failureType: 'http_error',
        retryable: false,
        message: 'Agent returned error 404 Not Found',
      })
    }
  })
})

describe('[JAM-T3] streams', () => {
  test('The tasks connector yields each value when it arrives', async () => {
    const server = await rawServer((socket) => socket.write(STREAM_HEAD))
    const call = testCall({ mode: 'streaming' })
    const session = await createConnector(server).connect(call)
    const updates = session.send({ input: 'x', index: 0 })[Symbol.asyncIterator]()
    const first = updates.next()
    await server.request(0)
    const [socket] = server.open
    socket?.write('{"n":1}\n')
    expect((await first).value).toEqual({ kind: 'chunk', chunk: { n: 1 } })
    for (const n of [2, 3]) {
      const next = updates.next()
      socket?.write(`{"n":${n}}\n`)
      expect((await next).value).toEqual({ kind: 'chunk', chunk: { n } })
    }
    const end = updates.next()
    socket?.end()
    expect((await end).value).toEqual({ kind: 'end', state: 'completed', output: { n: 3 } })
  })

  test('The tasks connector reports the arrival of every byte', async () => {
    const server = await rawServer((socket) => socket.write(STREAM_HEAD))
    const call = testCall({ mode: 'streaming' })
    const session = await createConnector(server).connect(call)
    const updates = session.send({ input: 'x', index: 0 })[Symbol.asyncIterator]()
    const first = updates.next()
    await expect.poll(() => call.arrivals).toBe(1)
    const [socket] = server.open
    for (const [index, piece] of [' ', '\n', '{', '}'].entries()) {
      socket?.write(piece)
      await expect.poll(() => call.arrivals).toBe(index + 2)
    }
    socket?.end()
    expect((await first).value).toEqual({ kind: 'chunk', chunk: {} })
  })

  test.each([
    ['one value per line', ['{"a":1}\n{"a":2}\n'], [{ a: 1 }, { a: 2 }]],
    ['CR before LF', ['{"a":1}\r\n{"a":2}\r\n'], [{ a: 1 }, { a: 2 }]],
    ['no LF at the end', ['{"a":1}\n{"a":2}'], [{ a: 1 }, { a: 2 }]],
    ['blank lines', ['\n \t\r\n{"a":1}\n\n\n'], [{ a: 1 }]],
    ['values of any kind', ['1\n"x"\nnull\n[1]\ntrue\n-0.5\n'], [1, 'x', null, [1], true, -0.5]],
    ['lines that are not JSON', ['{"a":\n oops \n'], [{ raw: '{"a":' }, { raw: 'oops' }]],
    [
      'SSE without its content type',
      ['data: {"a":1}\n: ping\n'],
      [{ raw: 'data: {"a":1}' }, { raw: ': ping' }],
    ],
    ['an empty body', [], []],
    ['blank lines only', ['\n \n'], []],
    ['JSON in an envelope', ['{"jsonrpc":"2.0","id":1,"result":{"a":1}}\n'], [{ a: 1 }]],
  ])('The tasks connector reads a stream with %s', async (_title, pieces, chunks) => {
    const turn = await askStreaming(pieces)
    expect(turn.chunks).toEqual(chunks)
    expect(turn.answer).toMatchObject({ state: 'completed', output: chunks.at(-1) ?? null })
  })

  test('[JAM-SV1] The tasks connector decodes a character that is split over several pieces', async () => {
    const server = await rawServer((socket) => socket.write(STREAM_HEAD))
    const call = testCall({ mode: 'streaming' })
    const answer = askOnce(createConnector(server), 'x', call)
    await expect.poll(() => call.arrivals).toBe(1)
    const [socket] = server.open
    const bytes = Buffer.from('{"a":"ü😀"}')
    for (const [index, byte] of bytes.entries()) {
      socket?.write(Uint8Array.of(byte))
      await expect.poll(() => call.arrivals).toBe(index + 2)
    }
    socket?.end()
    expect((await answer).chunks).toEqual([{ a: 'ü😀' }])
  })

  test('[JAM-SV2] The tasks connector skips a line that is not UTF-8 and logs a warning', async () => {
    const warn = vi.fn<Logger['warn']>()
    const bad = Buffer.from([0x22, 0xff, 0x22])
    const { chunks, answer } = await askStreaming(['1\n', bad, '\n2\n', bad], {
      call: { logger: { ...silentLogger, warn } },
    })
    expect(chunks).toEqual([1, 2])
    expect(answer.output).toBe(2)
    expect(warn).toHaveBeenCalledTimes(2)
    expect(warn).toHaveBeenLastCalledWith('Skipped a line of an agent that is not UTF-8', {
      agent: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/$/),
      bytes: 3,
    })
  })

  test('The tasks connector reports usage with each value, including the last', async () => {
    const { updates } = await askStreaming([
      '{"cost_usd":0.25}\n{"cost_usd":"1"}\n{"cost_usd":0.5}',
    ])
    expect(updates.map((update) => update.usage)).toEqual([
      { costUsd: 0.25 },
      undefined,
      { costUsd: 0.5 },
      undefined,
    ])
  })

  test('The tasks connector uses only the status of the last value', async () => {
    const turn = await askStreaming([
      '{"status":"failed"}\n{"status":"input-required","output":"Which?"}\n',
    ])
    expect(turn.answer).toMatchObject({ state: 'input_required', question: 'Which?' })
    const server = await rawServer(streaming('{"a":1}\n{"status":"failed","error":"No"}'))
    const { seen, problem } = await askFailing(createConnector(server), { mode: 'streaming' })
    expect(seen).toHaveLength(2)
    expect(problem).toMatchObject({
      failureType: 'agent_failed',
      message: 'The agent failed: No',
      partial: undefined,
    })
  })

  test('The tasks connector yields a line with a JSON-RPC error and then fails', async () => {
    const line = { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'Broken' } }
    const server = await rawServer((socket) => {
      socket.write(`${STREAM_HEAD}1\n${JSON.stringify(line)}\n2\n`)
    })
    const { seen, problem } = await askFailing(createConnector(server), { mode: 'streaming' })
    expect(seen).toEqual([
      { kind: 'chunk', chunk: 1 },
      { kind: 'chunk', chunk: line },
    ])
    expect(problem).toMatchObject({
      failureType: 'agent_failed',
      message: 'The agent responded with an error: Broken (1)',
      partial: undefined,
    })
    await server.allClosed()
  })

  test('[JAM-SV3] The tasks connector reads the data of server-sent events as lines', async () => {
    const head = STREAM_HEAD.replace('application/x-ndjson', 'Text/Event-Stream; charset=utf-8')
    const events = ': ping\r\n\r\nevent: x\r\ndata: {"a":\r\ndata: 1}\r\n\r\ndata: oops\n\ndata: 2'
    const server = await rawServer((socket) => socket.end(`${head}${events}`))
    const { chunks } = await askOnce(createConnector(server), 'x', testCall({ mode: 'streaming' }))
    expect(chunks).toEqual([{ a: 1 }, { raw: 'oops' }, 2])
  })

  test.each([
    ['reset', 'resetAndDestroy', STREAM_HEAD, '1\n2\n3'],
    [
      'reset in a body with a length',
      'resetAndDestroy',
      'HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n',
      '1\n2\n3',
    ],
    [
      'ended in the middle of a chunked body',
      'end',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n',
      '5\r\n1\n2\n3\r\n',
    ],
  ] as const)(
    'The tasks connector yields what has arrived and fails when the connection is %s',
    async (_title, end, head, bytes) => {
      const server = await rawServer((socket) => socket.write(`${head}${bytes}`))
      const session = await createConnector(server).connect(testCall({ mode: 'streaming' }))
      const updates = session.send({ input: 'x', index: 0 })[Symbol.asyncIterator]()
      expect((await updates.next()).value).toMatchObject({ chunk: 1 })
      for (const socket of server.open) socket[end]()
      await server.allClosed()
      const { seen, problem } = await untilFailure({ [Symbol.asyncIterator]: () => updates })
      expect(seen).toEqual([{ kind: 'chunk', chunk: 2 }])
      expect(problem).toMatchObject({ failureType: 'connection_lost', retryable: true })
    },
  )

  test('[JAM-SV4] The tasks connector rejects a line of too many values before it is parsed', async () => {
    const server = await rawServer((socket) => {
      socket.end(`${STREAM_HEAD}{"id":"run-1"}\n[${'0,'.repeat(60_000)}0]\n`)
    })
    const { problem } = await askFailing(createConnector(server), { mode: 'streaming' })
    expect(problem).toMatchObject({
      failureType: 'invalid_response',
      message: expect.stringContaining('at most 50000 fields and items, got 60001'),
    })
  })

  test('The tasks connector stops reading an endless line at the maximum length', async () => {
    const server = await rawServer((socket) => {
      socket.write(`${STREAM_HEAD}{"id":"run-1"}\n`)
      const writeMore = (): void => {
        if (socket.writable) socket.write('x'.repeat(65_536), writeMore)
      }
      writeMore()
    })
    const connector = createConnector(server, { maxLineBytes: 1_000_000 })
    const { seen, problem } = await askFailing(connector, { mode: 'streaming' })
    expect(seen).toEqual([{ kind: 'chunk', chunk: { id: 'run-1' } }])
    expect(problem).toMatchObject({
      failureType: 'invalid_response',
      message: 'The agent sent a line of more than 1000000 bytes',
    })
    await server.allClosed()
  })

  test('The tasks connector closes the connection when the reader stops', async () => {
    const server = await rawServer((socket) => socket.write(`${STREAM_HEAD}1\n2\n`))
    const session = await createConnector(server).connect(testCall({ mode: 'streaming' }))
    for await (const update of session.send({ input: 'x', index: 0 })) {
      expect(update).toEqual({ kind: 'chunk', chunk: 1 })
      break
    }
    await server.allClosed()
  })

  test('The tasks connector rejects at once and closes the connection on abort', async () => {
    const server = await rawServer((socket) => socket.write(`${STREAM_HEAD}1\n`))
    const call = testCall({ mode: 'streaming' })
    const session = await createConnector(server).connect(call)
    const updates = session.send({ input: 'x', index: 0 })[Symbol.asyncIterator]()
    await updates.next()
    const next = updates.next()
    const reason = new Error('enough')
    call.abort(reason)
    await expect(next).rejects.toBe(reason)
    await server.allClosed()
  })
})

describe('[JAM-T4] cancel()', () => {
  test.each([
    ['an id in the first value', '{"id":"run-1"}\n', 'run-1'],
    ['the first of several ids', '1\n{"id":7}\n{"id":"run-1"}\n{"id":"run-2"}\n', 'run-1'],
    ['an id in a result', '{"jsonrpc":"2.0","id":"rpc","result":{"id":"run-1"}}\n', 'run-1'],
  ])('cancel() sends %s while the stream is open', async (_title, lines, id) => {
    const server = await rawServer((socket, { line }) => {
      if (line === 'POST /agent/tasks/cancel') socket.write(whole('ignored', { status: '500 Oh' }))
      else socket.write(`${STREAM_HEAD}${lines}`)
    })
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const connector = createConnector(server, {
      url: `${server.origin}/agent/`,
      headers: { 'x-key': 'secret' },
    })
    const session = await connector.connect(testCall({ mode: 'streaming', traceparent }))
    const updates = session.send({ input: 'x', index: 0 })[Symbol.asyncIterator]()
    for (let i = 1; i < lines.split('\n').length; i += 1) await updates.next()
    await session.cancel(new AbortController().signal)
    const [, cancel] = server.requests
    expect(cancel?.body).toBe(`{"id":"${id}"}`)
    expect(cancel?.headers).toMatchObject({
      'content-type': 'application/json',
      'x-key': 'secret',
      traceparent,
    })
    expect(server.open.size).toBeGreaterThan(0)
  })

  test('cancel() sends nothing without an id', async () => {
    const server = await rawServer((socket) => socket.write(`${STREAM_HEAD}{"id":7}\n`))
    const session = await createConnector(server).connect(testCall({ mode: 'streaming' }))
    await session.cancel(new AbortController().signal)
    const updates = session.send({ input: 'x', index: 0 })[Symbol.asyncIterator]()
    await updates.next()
    await session.cancel(new AbortController().signal)
    expect(server.requests).toHaveLength(1)
  })

  test('cancel() does not cancel the task of an earlier turn', async () => {
    const server = await rawServer((socket) => {
      if (server.requests.length === 1) socket.write(whole('{"id":"run-1"}'))
    })
    const session = await createConnector(server).connect(testCall({ mode: 'conversational' }))
    await sendTurn(session, 'a', 0)
    const updates = session.send({ input: 'b', index: 1 })[Symbol.asyncIterator]()
    const next = updates.next().catch(() => undefined)
    await server.request(1)
    await session.cancel(new AbortController().signal)
    expect(server.requests).toHaveLength(2)
    void next
  })

  test('cancel() does not read the response to a cancel', async () => {
    const server = await rawServer((socket, { line }) => {
      socket.write(`${STREAM_HEAD}${line.endsWith('cancel') ? 'and so on' : '{"id":"run-1"}\n'}`)
    })
    const session = await createConnector(server).connect(testCall({ mode: 'streaming' }))
    await session.send({ input: 'x', index: 0 })[Symbol.asyncIterator]().next()
    await session.cancel(new AbortController().signal)
    await expect.poll(() => server.open.size).toBe(1)
  })

  test('cancel() stops waiting for the response when its signal aborts', async () => {
    const server = await rawServer((socket, { line }) => {
      if (!line.endsWith('cancel')) socket.write(`${STREAM_HEAD}{"id":"run-1"}\n`)
    })
    const session = await createConnector(server).connect(testCall({ mode: 'streaming' }))
    await session.send({ input: 'x', index: 0 })[Symbol.asyncIterator]().next()
    const bound = new AbortController()
    const cancel = session.cancel(bound.signal)
    await server.request(1)
    bound.abort(new Error('enough'))
    await expect(cancel).rejects.toBe(bound.signal.reason)
  })
})

describe('options', () => {
  test('The tasks connector omits secrets from the shown URI', () => {
    const { uri, protocol } = tasksConnector({ url: 'https://u:p@agent.example/a?key=secret#x' })
    expect([uri, protocol]).toEqual(['https://agent.example/a', 'tasks'])
  })

  test.each([
    [{ url: 'http://agent.example' }, /http: is only for this machine/],
    [
      { url: 'https://agent.example', maxLineBytes: 0 },
      'Cannot ask an agent: maxLineBytes must be >= 1, got 0',
    ],
    [
      { url: 'https://agent.example', maxBodyBytes: Number.NaN },
      'maxBodyBytes must be >= 1, got NaN',
    ],
    [{ url: 'https://agent.example', headers: { 'a b': 'x' } }, /"a b" is not a valid header name/],
  ])('The tasks connector rejects the options %j', (options, message) => {
    expect(() => tasksConnector(options)).toThrow(message)
  })
})
