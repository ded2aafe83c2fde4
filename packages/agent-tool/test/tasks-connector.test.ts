import { silentLogger, type Logger } from '@tutti/core'
import { AgentError } from '@tutti/agent-call'
import { fakeClock } from '@tutti/testing'
import { describe, expect, onTestFinished, test, vi } from 'vitest'

import { tasksConnector, type TasksConnectorOptions } from '../src/tasks/tasks-connector.ts'
import {
  rawServer,
  STREAM_HEAD,
  whole,
  type RawAnswer,
  type RawServer,
} from '../../net/test/raw-server.ts'
import { askOnce, sendTurn, testCall, type TestTurn } from './test-call.ts'

import type { AgentCall, AgentConnector, AgentUpdate } from '@tutti/agent-call'

/** A connector that ends with its test. */
function connectorFor(
  { origin }: Pick<RawServer, 'origin'>,
  options: Partial<TasksConnectorOptions> = {},
): AgentConnector {
  const connector = tasksConnector({ url: origin, ...options })
  onTestFinished(() => connector.close?.())
  return connector
}

/** A server that answers each request with the next body, and repeats the last one. */
async function answering(...bodies: readonly unknown[]): Promise<RawServer> {
  let next = 0
  return rawServer((socket) => {
    const body = bodies[Math.min(next, bodies.length - 1)]
    next += 1
    socket.write(whole(typeof body === 'string' ? body : JSON.stringify(body)))
  })
}

/** A server that streams, and leaves it open or ends it by `end`. */
const streaming =
  (...pieces: readonly (string | Uint8Array)[]): RawAnswer =>
  (socket) => {
    socket.write(STREAM_HEAD)
    for (const piece of pieces) socket.write(piece)
    socket.end()
  }

async function streamed(
  pieces: readonly (string | Uint8Array)[],
  { call = {}, ...options }: Partial<TasksConnectorOptions> & { call?: Partial<AgentCall> } = {},
): Promise<TestTurn> {
  const server = await rawServer(streaming(...pieces))
  const connector = connectorFor(server, options)
  return askOnce(connector, 'x', testCall({ mode: 'streaming', ...call }))
}

/** The updates before a failure, and the failure. */
async function untilFailure(
  updates: AsyncIterable<AgentUpdate>,
): Promise<{ readonly seen: readonly AgentUpdate[]; readonly problem: AgentError }> {
  const seen: AgentUpdate[] = []
  try {
    for await (const update of updates) seen.push(update)
  } catch (problem) {
    expect(problem).toBeInstanceOf(AgentError)
    // NOTE: the line above looked.
    return { seen, problem: problem as AgentError }
  }
  throw new Error('It did not fail')
}

async function failure(connector: AgentConnector, facts: Partial<AgentCall> = {}) {
  const session = await connector.connect(testCall(facts))
  return untilFailure(session.send({ input: 'x', index: 0 }))
}

describe('[T1] requests', () => {
  test.each([
    ['sync', '/tasks/send', 'tasks/send'],
    ['conversational', '/tasks/send', 'tasks/send'],
    ['streaming', '/tasks/sendSubscribe', 'tasks/sendSubscribe'],
  ] as const)('%s: every byte is the one of JamJet', async (mode, path, method) => {
    const server = await answering({ ok: true })
    await askOnce(connectorFor(server), { topic: 'ü', depth: 2 }, testCall({ mode }))
    const body = String.raw`{"jsonrpc":"2.0","method":"${method}","params":{"message":{"parts":[{"text":"{\"depth\":2,\"topic\":\"ü\"}"}]}}}`
    expect(server.requests.map(({ text }) => text)).toEqual([
      [
        `POST ${path} HTTP/1.1`,
        'accept: */*',
        'content-type: application/json',
        `content-length: ${Buffer.byteLength(body)}`,
        `Host: 127.0.0.1:${server.port}`,
        'Connection: keep-alive',
        '',
        body,
      ].join('\r\n'),
    ])
  })

  test.each([
    ['', '/tasks/send'],
    ['/', '/tasks/send'],
    ['/agents/one//', '/agents/one/tasks/send'],
    ['/one?key=a%20b', '/one/tasks/send?key=a%20b'],
  ])('below the address %j', async (address, path) => {
    const server = await answering({ ok: true })
    await askOnce(connectorFor(server, { url: `${server.origin}${address}` }), 'x')
    expect(server.requests[0]?.line).toBe(`POST ${path}`)
  })

  test('trace, headers and what is left of a budget are added', async () => {
    const server = await answering({ ok: true })
    const connector = connectorFor(server, { headers: { authorization: 'Bearer key' } })
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const remaining = () => ({ timeMs: 5_000, costUsd: 0.5, tokens: 100 })
    await askOnce(connector, 'x', testCall({ traceparent, remaining }))
    const [request] = server.requests
    expect(request?.headers).toMatchObject({ traceparent, authorization: 'Bearer key' })
    expect(JSON.parse(request?.body ?? '').params.metadata).toEqual({
      'https://tutti.dev/a2a/usage/v1': { max_cost_usd: 0.5, max_tokens: 100, deadline_ms: 5_000 },
    })
  })

  test('turns are requests of their own, and a question is answered under its task', async () => {
    const server = await answering(
      { id: 'run-1', status: 'working', output: 'a' },
      { id: 'run-2', status: 'input-required', output: 'Which?' },
      { id: 'run-2', status: 'completed', output: 'b' },
      { id: 'run-3', status: 'completed', output: 'c' },
    )
    const session = await connectorFor(server).connect(testCall({ mode: 'conversational' }))
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

  test('an input that is no JSON is not sent', async () => {
    const server = await answering({})
    const session = await connectorFor(server).connect(testCall())
    const { problem } = await untilFailure(session.send({ input: 1n, index: 0 }))
    expect([problem.failureType, server.connections]).toEqual(['configuration', 0])
  })
})

describe('[T2] answers', () => {
  test.each([
    [{ answer: 42 }, 'completed'],
    [{ status: 'completed', output: 'x' }, 'completed'],
    ['"text"', 'completed'],
    ['null', 'completed'],
    ['[1, 2]', 'completed'],
    [' \r\n{"a": 1}\n ', 'completed'],
    ['\uFEFF{"a":1}', 'completed'],
  ])('the body %j is the whole answer', async (body, state) => {
    const server = await answering(body)
    const { updates, answer } = await askOnce(connectorFor(server), 'x')
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    expect(updates).toHaveLength(1)
    expect(answer).toMatchObject({ state, output: JSON.parse(text.replace('\uFEFF', '')) })
  })

  test('in an envelope of JSON-RPC the result is the answer', async () => {
    const server = await answering({ jsonrpc: '2.0', id: 1, result: { output: 'x' } })
    const { answer } = await askOnce(connectorFor(server), 'x')
    expect(answer).toEqual({ kind: 'end', state: 'completed', output: { output: 'x' }, text: 'x' })
  })

  test('an error of JSON-RPC in a 200 is a failure', async () => {
    const body = { jsonrpc: '2.0', id: 1, error: { code: -32_000, message: 'Busy' } }
    const { seen, problem } = await failure(connectorFor(await answering(body)))
    expect(seen).toEqual([])
    expect(problem).toMatchObject({
      failureType: 'agent_failed',
      retryable: false,
      message: 'The agent responded with an error: Busy (-32000)',
      partial: body,
    })
  })

  test('a task that failed is a failure with what it brought, and what it cost is told', async () => {
    const body = { status: 'failed', output: 'half', cost_usd: 0.5, retryable: true }
    const { seen, problem } = await failure(connectorFor(await answering(body)))
    expect(seen).toEqual([{ kind: 'usage', usage: { costUsd: 0.5 } }])
    expect(problem).toMatchObject({ failureType: 'agent_failed', retryable: true, partial: body })
  })

  test('a question is told', async () => {
    const server = await answering({ id: 'a', status: 'input-required', output: 'Which?' })
    const { answer } = await askOnce(connectorFor(server), 'x')
    expect(answer).toMatchObject({ state: 'input_required', question: 'Which?' })
  })

  test('what is used is told once, and per task', async () => {
    const server = await answering(
      { total_cost_usd: 0.5, cost_usd: 0.5, total_tokens: 10 },
      { total_cost_usd: 0.25, total_tokens: 4 },
    )
    const session = await connectorFor(server).connect(testCall({ mode: 'conversational' }))
    const turns = [await sendTurn(session, 'a', 0), await sendTurn(session, 'b', 1)]
    expect(turns.map(({ updates: [first] }) => first)).toEqual([
      { kind: 'usage', usage: { costUsd: 0.5, outputTokens: 10 } },
      { kind: 'usage', usage: { costUsd: 0.25, outputTokens: 4 } },
    ])
  })

  test('the content type does not count', async () => {
    const server = await rawServer((socket) =>
      socket.write(whole('{"a":1}', { headers: ['content-type: text/html'] })),
    )
    const { answer } = await askOnce(connectorFor(server), 'x')
    expect(answer.output).toEqual({ a: 1 })
  })

  test.each([
    ['<html>', 'The agent sent a response that is not JSON: "<html>"'],
    ['', 'The agent sent a response that is not JSON: nothing'],
    ['{"a":1}{"a":2}', /not JSON/],
    [`{"a":"${'x'.repeat(500)}`, new RegExp(`is not JSON: "\\{\\\\"a\\\\":\\\\"x{194}"$`)],
  ])('%s is not JSON', async (body, message) => {
    const { problem } = await failure(connectorFor(await answering(body)))
    expect(problem).toMatchObject({ failureType: 'invalid_response', retryable: false })
    expect(problem.message).toMatch(message)
  })

  test('a body that is not UTF-8 is not JSON', async () => {
    const server = await rawServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n')
      socket.write(Buffer.from([0x22, 0xff, 0x22]))
    })
    const { problem } = await failure(connectorFor(server))
    expect(problem.failureType).toBe('invalid_response')
  })

  test('a body of the greatest length is read, a longer one is not', async () => {
    const server = await answering('"12345"')
    const whole = await askOnce(connectorFor(server, { maxBodyBytes: 7 }), 'x')
    expect(whole.answer.output).toBe('12345')
    const { problem } = await failure(connectorFor(server, { maxBodyBytes: 6 }))
    expect(problem).toMatchObject({
      failureType: 'invalid_response',
      message: 'The agent sent a response of more than 6 bytes',
    })
  })

  test('a body without an end is left', async () => {
    const server = await rawServer((socket) => {
      socket.write(`${STREAM_HEAD}"`)
      const pour = (): void => {
        if (socket.writable) socket.write('x'.repeat(65_536), pour)
      }
      pour()
    })
    const { problem } = await failure(connectorFor(server, { maxBodyBytes: 1_000_000 }))
    expect(problem.message).toBe('The agent sent a response of more than 1000000 bytes')
    await server.allClosed()
  })

  test.each(['sync', 'streaming'] as const)(
    '%s: another status than 2xx is a failure',
    async (mode) => {
      const server = await rawServer((socket) =>
        socket.write(
          whole('{"status":"failed"}', {
            status: '503 Service Unavailable',
            headers: ['retry-after: 3'],
          }),
        ),
      )
      const { seen, problem } = await failure(connectorFor(server), { mode })
      expect(seen).toEqual([])
      expect(problem).toMatchObject({
        failureType: 'http_error',
        retryable: true,
        retryAfterMs: 3_000,
        message: 'Agent returned error 503 Service Unavailable: {"status":"failed"}',
      })
    },
  )

  test('when to come back is told by the clock of the call', async () => {
    const head = ['retry-after: Sat, 01 Nov 2036 00:00:10 GMT']
    const server = await rawServer((socket) =>
      socket.write(whole('', { status: '429 Too Many Requests', headers: head })),
    )
    const clock = fakeClock(Date.UTC(2036, 10, 1))
    const { problem } = await failure(connectorFor(server), { clock })
    expect(problem.retryAfterMs).toBe(10_000)
  })

  test('a task that failed says more than the status of its answer', async () => {
    const body = { id: 'a', status: 'failed', message: 'No model', retryable: true, artifacts: [1] }
    for (const answer of [body, { jsonrpc: '2.0', id: 1, result: body }]) {
      const server = await rawServer((socket) =>
        socket.write(whole(JSON.stringify(answer), { status: '422 Unprocessable Content' })),
      )
      const { problem } = await failure(connectorFor(server))
      expect(problem).toMatchObject({
        failureType: 'agent_failed',
        retryable: true,
        message: 'The agent failed: No model',
        partial: body,
      })
    }
  })

  test('a refusal without a body, or with a body that is lost, has its status', async () => {
    for (const rest of ['content-length: 0\r\n\r\n', 'content-length: 9\r\n\r\nabc']) {
      const server = await rawServer((socket) => socket.end(`HTTP/1.1 404 Not Found\r\n${rest}`))
      const { problem } = await failure(connectorFor(server))
      expect(problem).toMatchObject({
        failureType: 'http_error',
        retryable: false,
        message: 'Agent returned error 404 Not Found',
      })
    }
  })
})

describe('[T3] streams', () => {
  test('each value is told when it has arrived', async () => {
    const server = await rawServer((socket) => socket.write(STREAM_HEAD))
    const call = testCall({ mode: 'streaming' })
    const session = await connectorFor(server).connect(call)
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

  test('every byte of the answer is told, whatever it is', async () => {
    const server = await rawServer((socket) => socket.write(STREAM_HEAD))
    const call = testCall({ mode: 'streaming' })
    const session = await connectorFor(server).connect(call)
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
    ['one a line', ['{"a":1}\n{"a":2}\n'], [{ a: 1 }, { a: 2 }]],
    ['CR before LF', ['{"a":1}\r\n{"a":2}\r\n'], [{ a: 1 }, { a: 2 }]],
    ['no LF at the end', ['{"a":1}\n{"a":2}'], [{ a: 1 }, { a: 2 }]],
    ['blank lines', ['\n \t\r\n{"a":1}\n\n\n'], [{ a: 1 }]],
    ['values of any kind', ['1\n"x"\nnull\n[1]\ntrue\n-0.5\n'], [1, 'x', null, [1], true, -0.5]],
    ['no JSON', ['{"a":\n oops \n'], [{ raw: '{"a":' }, { raw: 'oops' }]],
    [
      'SSE that is not said to be',
      ['data: {"a":1}\n: ping\n'],
      [{ raw: 'data: {"a":1}' }, { raw: ': ping' }],
    ],
    ['nothing', [], []],
    ['nothing but blanks', ['\n \n'], []],
    ['a JSON in an envelope', ['{"jsonrpc":"2.0","id":1,"result":{"a":1}}\n'], [{ a: 1 }]],
  ])('%s', async (_what, pieces, chunks) => {
    const turn = await streamed(pieces)
    expect(turn.chunks).toEqual(chunks)
    expect(turn.answer).toMatchObject({ state: 'completed', output: chunks.at(-1) ?? null })
  })

  test('a character that is split over pieces is whole', async () => {
    const server = await rawServer((socket) => socket.write(STREAM_HEAD))
    const call = testCall({ mode: 'streaming' })
    const answer = askOnce(connectorFor(server), 'x', call)
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

  test('a line that is not UTF-8 is left out, and told of', async () => {
    const warn = vi.fn<Logger['warn']>()
    const bad = Buffer.from([0x22, 0xff, 0x22])
    const { chunks, answer } = await streamed(['1\n', bad, '\n2\n', bad], {
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

  test('what is used is told with each value, the last one too', async () => {
    const { updates } = await streamed(['{"cost_usd":0.25}\n{"cost_usd":"1"}\n{"cost_usd":0.5}'])
    expect(updates.map((update) => update.usage)).toEqual([
      { costUsd: 0.25 },
      undefined,
      { costUsd: 0.5 },
      undefined,
    ])
  })

  test('the status of the last value counts, and of no other', async () => {
    const asked = await streamed([
      '{"status":"failed"}\n{"status":"input-required","output":"Which?"}\n',
    ])
    expect(asked.answer).toMatchObject({ state: 'input_required', question: 'Which?' })
    const server = await rawServer(streaming('{"a":1}\n{"status":"failed","error":"No"}'))
    const { seen, problem } = await failure(connectorFor(server), { mode: 'streaming' })
    expect(seen).toHaveLength(2)
    expect(problem).toMatchObject({
      failureType: 'agent_failed',
      message: 'The agent failed: No',
      partial: undefined,
    })
  })

  test('a line with an error of JSON-RPC ends the stream, and is told before it does', async () => {
    const line = { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'Broken' } }
    const server = await rawServer((socket) => {
      socket.write(`${STREAM_HEAD}1\n${JSON.stringify(line)}\n2\n`)
    })
    const { seen, problem } = await failure(connectorFor(server), { mode: 'streaming' })
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

  test('of Server-Sent Events the data is the line', async () => {
    const head = STREAM_HEAD.replace('application/x-ndjson', 'Text/Event-Stream; charset=utf-8')
    const events = ': ping\r\n\r\nevent: x\r\ndata: {"a":\r\ndata: 1}\r\n\r\ndata: oops\n\ndata: 2'
    const server = await rawServer((socket) => socket.end(`${head}${events}`))
    const { chunks } = await askOnce(connectorFor(server), 'x', testCall({ mode: 'streaming' }))
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
      'ended in the middle of chunks',
      'end',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n',
      '5\r\n1\n2\n3\r\n',
    ],
  ] as const)(
    'a connection that is %s is a failure after what arrived',
    async (_how, end, head, bytes) => {
      const server = await rawServer((socket) => socket.write(`${head}${bytes}`))
      const session = await connectorFor(server).connect(testCall({ mode: 'streaming' }))
      const updates = session.send({ input: 'x', index: 0 })[Symbol.asyncIterator]()
      expect((await updates.next()).value).toMatchObject({ chunk: 1 })
      for (const socket of server.open) socket[end]()
      await server.allClosed()
      const { seen, problem } = await untilFailure({ [Symbol.asyncIterator]: () => updates })
      expect(seen).toEqual([{ kind: 'chunk', chunk: 2 }])
      expect(problem).toMatchObject({ failureType: 'connection_lost', retryable: true })
    },
  )

  test('a line without an end is left when it is too long', async () => {
    const server = await rawServer((socket) => {
      socket.write(`${STREAM_HEAD}{"id":"run-1"}\n`)
      const pour = (): void => {
        if (socket.writable) socket.write('x'.repeat(65_536), pour)
      }
      pour()
    })
    const connector = connectorFor(server, { maxLineBytes: 1_000_000 })
    const { seen, problem } = await failure(connector, { mode: 'streaming' })
    expect(seen).toEqual([{ kind: 'chunk', chunk: { id: 'run-1' } }])
    expect(problem).toMatchObject({
      failureType: 'invalid_response',
      message: 'The agent sent a line of more than 1000000 bytes',
    })
    await server.allClosed()
  })

  test('who stops reading closes the connection', async () => {
    const server = await rawServer((socket) => socket.write(`${STREAM_HEAD}1\n2\n`))
    const session = await connectorFor(server).connect(testCall({ mode: 'streaming' }))
    for await (const update of session.send({ input: 'x', index: 0 })) {
      expect(update).toEqual({ kind: 'chunk', chunk: 1 })
      break
    }
    await server.allClosed()
  })

  test('an abort ends everything at once', async () => {
    const server = await rawServer((socket) => socket.write(`${STREAM_HEAD}1\n`))
    const call = testCall({ mode: 'streaming' })
    const session = await connectorFor(server).connect(call)
    const updates = session.send({ input: 'x', index: 0 })[Symbol.asyncIterator]()
    await updates.next()
    const next = updates.next()
    const reason = new Error('enough')
    call.abort(reason)
    await expect(next).rejects.toBe(reason)
    await server.allClosed()
  })
})

describe('[T4] cancel', () => {
  test.each([
    ['an id in the first value', '{"id":"run-1"}\n', 'run-1'],
    ['the first of several', '1\n{"id":7}\n{"id":"run-1"}\n{"id":"run-2"}\n', 'run-1'],
    ['an id in a result', '{"jsonrpc":"2.0","id":"rpc","result":{"id":"run-1"}}\n', 'run-1'],
  ])('%s is sent, while the stream is open', async (_what, lines, id) => {
    const server = await rawServer((socket, { line }) => {
      if (line === 'POST /agent/tasks/cancel') socket.write(whole('ignored', { status: '500 Oh' }))
      else socket.write(`${STREAM_HEAD}${lines}`)
    })
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const connector = connectorFor(server, {
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

  test('without an id nothing is sent', async () => {
    const server = await rawServer((socket) => socket.write(`${STREAM_HEAD}{"id":7}\n`))
    const session = await connectorFor(server).connect(testCall({ mode: 'streaming' }))
    await session.cancel(new AbortController().signal)
    const updates = session.send({ input: 'x', index: 0 })[Symbol.asyncIterator]()
    await updates.next()
    await session.cancel(new AbortController().signal)
    expect(server.requests).toHaveLength(1)
  })

  test('the task of an answered turn is not meant in the next one', async () => {
    const server = await rawServer((socket) => {
      if (server.requests.length === 1) socket.write(whole('{"id":"run-1"}'))
    })
    const session = await connectorFor(server).connect(testCall({ mode: 'conversational' }))
    await sendTurn(session, 'a', 0)
    const updates = session.send({ input: 'b', index: 1 })[Symbol.asyncIterator]()
    const next = updates.next().catch(() => undefined)
    await server.request(1)
    await session.cancel(new AbortController().signal)
    expect(server.requests).toHaveLength(2)
    void next
  })

  test('the answer of a cancel is not read', async () => {
    const server = await rawServer((socket, { line }) => {
      socket.write(`${STREAM_HEAD}${line.endsWith('cancel') ? 'and so on' : '{"id":"run-1"}\n'}`)
    })
    const session = await connectorFor(server).connect(testCall({ mode: 'streaming' }))
    await session.send({ input: 'x', index: 0 })[Symbol.asyncIterator]().next()
    await session.cancel(new AbortController().signal)
    await expect.poll(() => server.open.size).toBe(1)
  })

  test('a cancel that nobody answers ends with its signal', async () => {
    const server = await rawServer((socket, { line }) => {
      if (!line.endsWith('cancel')) socket.write(`${STREAM_HEAD}{"id":"run-1"}\n`)
    })
    const session = await connectorFor(server).connect(testCall({ mode: 'streaming' }))
    await session.send({ input: 'x', index: 0 })[Symbol.asyncIterator]().next()
    const bound = new AbortController()
    const cancel = session.cancel(bound.signal)
    await server.request(1)
    bound.abort(new Error('enough'))
    await expect(cancel).rejects.toBe(bound.signal.reason)
  })
})

describe('options', () => {
  test('the address is shown without what may be secret', () => {
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
  ])('%j is refused', (options, message) => {
    expect(() => tasksConnector(options)).toThrow(message)
  })
})
