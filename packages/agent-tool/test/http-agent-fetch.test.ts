import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { createServer } from 'node:net'
import { gzipSync } from 'node:zlib'
import { AgentError } from '@tutti/agent-call'
import { describe, expect, onTestFinished, test, vi } from 'vitest'

import { agentFetch, type AgentFetch, type AgentHttpOptions } from '../src/http/agent-fetch.ts'
import { httpError } from '../src/http/http-error.ts'
import { readBody } from '../src/http/read-body.ts'
import { watchBytes } from '../src/http/watch-bytes.ts'
import { rawServer, STREAM_HEAD, whole } from './http-raw-server.ts'

import type { ClientRequest } from 'node:http'
import type { Socket } from 'node:net'

/** `agentFetch` that ends with its test. */
function fetchFor(url: string, options?: AgentHttpOptions): AgentFetch {
  const fetch = agentFetch(url, options)
  onTestFinished(() => fetch.close())
  return fetch
}

/** What a promise rejects with. */
async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (problem) {
    return problem
  }
  throw new Error('It did not fail')
}

async function agentErrorOf(promise: Promise<unknown>): Promise<AgentError> {
  const problem = await failureOf(promise)
  expect(problem).toBeInstanceOf(AgentError)
  // NOTE: the line above looked.
  return problem as AgentError
}

const POST = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }

describe('what is sent', () => {
  test('[F5] nothing but what the caller says, accept and what HTTP needs', async () => {
    const server = await rawServer((socket) => socket.write(whole('ok')))
    await fetchFor(server.origin)(`${server.origin}/a?b=c`, POST)
    expect(server.requests[0]?.text.split('\r\n').toSorted()).toEqual(
      [
        'POST /a?b=c HTTP/1.1',
        `Host: 127.0.0.1:${server.port}`,
        'Connection: keep-alive',
        'accept: */*',
        'content-type: application/json',
        'content-length: 2',
        '',
        '{}',
      ].toSorted(),
    )
  })

  test('connections are kept for the next request, and closed by close', async () => {
    const server = await rawServer((socket) => socket.write(whole('ok')))
    const fetch = fetchFor(server.origin)
    for (let i = 0; i < 3; i += 1) expect(await (await fetch(server.origin)).text()).toBe('ok')
    expect(server.connections).toBe(1)
    await fetch.close()
    await server.allClosed()
    expect(await (await fetch(server.origin)).text()).toBe('ok')
  })

  test('close ends a request that is under way, and a later one is made', async () => {
    const server = await rawServer((socket) => {
      if (server.requests.length > 1) socket.write(whole('ok'))
    })
    const fetch = fetchFor(server.origin)
    const answer = agentErrorOf(fetch(server.origin))
    await server.request(0)
    await fetch.close()
    expect((await answer).failureType).toBe('connection_lost')
    expect(await (await fetch(server.origin)).text()).toBe('ok')
  })

  test('an answer that comes before all of the request was read counts', async () => {
    const body = new Uint8Array(8_000_000)
    const server = await rawServer(
      () => undefined,
      (onSocket) =>
        createServer((socket) => {
          onSocket(socket)
          socket.once('data', () => {
            socket.write(whole('too large', { status: '413 Content Too Large' }))
          })
        }),
    )
    const answer = await fetchFor(server.origin)(server.origin, { method: 'POST', body })
    for (const socket of server.open) socket.resetAndDestroy()
    await server.allClosed()
    await new Promise(setImmediate)
    expect([answer.status, await answer.text()]).toEqual([413, 'too large'])
  })

  test('[F2] headers are given anew for each request, and a login of the URL is one of them', async () => {
    const server = await rawServer((socket) => socket.write(whole('ok')))
    let calls = 0
    const url = `http://us%40er:pa%3Ass@127.0.0.1:${server.port}/`
    const fetch = fetchFor(url, { headers: async () => ({ 'X-Key': `key ${(calls += 1)}` }) })
    await fetch(url)
    await fetch(`${server.origin}/other`, { headers: { 'x-key': 'of the request' } })
    const login = `Basic ${Buffer.from('us@er:pa:ss').toString('base64')}`
    expect(
      server.requests.map(({ headers }) => [headers['x-key'], headers['authorization']]),
    ).toEqual([
      ['key 1', login],
      ['of the request', login],
    ])
  })

  test('[F2] headers go to the origin of the agent alone', async () => {
    const agent = await rawServer((socket) => socket.write(whole('ok')))
    const other = await rawServer((socket) => socket.write(whole('ok')))
    const url = `http://user:password@127.0.0.1:${agent.port}`
    await fetchFor(url, { headers: { 'x-key': 'secret' } })(`${other.origin}/card`)
    expect(other.requests[0]?.headers).toEqual({
      host: `127.0.0.1:${other.port}`,
      connection: 'keep-alive',
      accept: '*/*',
    })
  })

  test('headers that cannot be sent are refused without showing their values', async () => {
    const bad = { 'x key': 'secret', 'X-Key': 'sec\nret', Host: 'secret' }
    expect(() => agentFetch('https://agent.example/', { headers: bad })).toThrow(
      new TypeError(
        'Cannot ask the agent at "https://agent.example/": "x key" is no name of a header; ' +
          'the value of "X-Key" has characters that no header can have; ' +
          '"Host" follows from the request',
      ),
    )
    const server = await rawServer((socket) => socket.write(whole('ok')))
    const later = fetchFor(server.origin, { headers: () => ({ 'x-key': 'sec\r\nret' }) })
    const problem = await agentErrorOf(later(server.origin))
    expect(problem.failureType).toBe('configuration')
    expect(problem.message).not.toContain('sec')
    expect(server.requests).toEqual([])
  })

  test('a function of headers that fails fails the request, and one that never ends is left', async () => {
    const failing = agentFetch('http://127.0.0.1:1', {
      headers: () => Promise.reject(new Error('no token')),
    })
    expect(await agentErrorOf(failing('http://127.0.0.1:1'))).toMatchObject({
      failureType: 'configuration',
      retryable: false,
      message: 'Cannot get the headers for the agent: no token',
    })
    const gone = new AbortController()
    const asked = Promise.withResolvers<void>()
    const hanging = agentFetch('http://127.0.0.1:1', {
      headers: () => {
        asked.resolve()
        return new Promise(() => undefined)
      },
    })
    const answer = failureOf(hanging('http://127.0.0.1:1', { signal: gone.signal }))
    await asked.promise
    gone.abort(new Error('enough'))
    expect(await answer).toBe(gone.signal.reason)
  })
})

describe('where it is sent', () => {
  test.each([
    [
      'ftp://agent.example/x?key=1',
      'Cannot ask the agent at "ftp://agent.example/x": must be an https: URL',
    ],
    ['user:secret@agent', 'Cannot ask the agent at "agent": must be an https: URL'],
    ['//secret@agent?x', 'Cannot ask the agent at "agent": must be an https: URL'],
    [
      'http://u:p@agent.example/x?key=1',
      'Cannot ask the agent at "http://agent.example/x": http: is only for this machine, use https: or set allowHttp: true',
    ],
    ['http://128.0.0.1/', /http: is only for this machine/],
    ['http://localhost.example/', /http: is only for this machine/],
    ['http://notlocalhost/', /http: is only for this machine/],
    ['http://127.0.0.1.example/', /http: is only for this machine/],
  ])('[F3] %s is refused', (url, message) => {
    expect(() => agentFetch(url)).toThrow(TypeError)
    expect(() => agentFetch(url)).toThrow(message)
  })

  test.each([
    'http://localhost',
    'http://a.localhost:8',
    'http://127.1',
    'http://[::1]:80',
    'https://x',
  ])('[F3] %s is allowed', (url) => {
    expect(() => agentFetch(url)).not.toThrow()
  })

  test('[F3] the host of the agent is allowed by its name, wherever that leads', async () => {
    const server = await rawServer((socket) => socket.write(whole('ok')))
    const url = `http://agent.internal:${server.port}/`
    const asked: string[] = []
    const resolve = async (host: string): Promise<string[]> => {
      asked.push(host)
      return ['127.0.0.1']
    }
    const answer = await fetchFor(url, { allowHttp: true, resolve })(url)
    expect(await answer.text()).toBe('ok')
    expect(asked).toEqual(['agent.internal'])
  })

  test('[F3] another host is reached through the guard, and only over https', async () => {
    const fetch = fetchFor('https://agent.example', { resolve: async () => ['10.0.0.7'] })
    expect(await agentErrorOf(fetch('https://inside.example/x?key=secret'))).toMatchObject({
      failureType: 'configuration',
      retryable: false,
      message: expect.stringMatching(
        /"inside.example": it leads to 10.0.0.7.*allow: \['inside.example'\]/,
      ),
    })
    expect(await agentErrorOf(fetch('https://169.254.169.254/'))).toMatchObject({
      failureType: 'configuration',
    })
    expect(await agentErrorOf(fetch('http://public.example/x?key=secret'))).toMatchObject({
      failureType: 'configuration',
      message:
        'Cannot ask the agent at "http://public.example/x": http: is only for this machine, use https: or set allowHttp: true',
    })
    expect(await agentErrorOf(fetch('https://u:secret@public.example/'))).toMatchObject({
      failureType: 'configuration',
      message: expect.not.stringContaining('secret'),
    })
  })

  test('[F3] what allow names is reached', async () => {
    const server = await rawServer((socket) => socket.write(whole('ok')))
    const inside = fetchFor('https://agent.example', { allow: ['127.0.0.1'] })
    expect(await (await inside(server.origin)).text()).toBe('ok')
    expect(() => agentFetch('https://agent.example', { allow: ['a b'] })).toThrow(/"a b"/)
  })
})

describe('redirects', () => {
  const to = (location: string, status = '307 Temporary Redirect'): string =>
    whole('', { status, headers: [`location: ${location}`] })

  test('[F4] a POST is followed with its body by 307 and 308, and by no other', async () => {
    const server = await rawServer((socket, { line }) => {
      if (line === 'POST /307') socket.write(to('/308?x=1'))
      else if (line === 'POST /308?x=1') socket.write(to('/end', '308 Permanent Redirect'))
      else if (line === 'POST /302') socket.write(to('/end', '302 Found'))
      else socket.write(whole('end'))
    })
    const fetch = fetchFor(server.origin)
    const followed = await fetch(`${server.origin}/307`, POST)
    expect(await followed.text()).toBe('end')
    expect(followed.url).toBe(`${server.origin}/end`)
    expect(server.requests.map(({ body }) => body)).toEqual(['{}', '{}', '{}'])
    const kept = await fetch(`${server.origin}/302`, POST)
    expect([kept.status, server.requests.length]).toEqual([302, 4])
  })

  test('[F4] at most 5 are followed', async () => {
    const server = await rawServer((socket, { line }) => {
      const left = Number(line.split('/')[1])
      socket.write(left === 0 ? whole('end') : to(`/${left - 1}`, '302 Found'))
    })
    const fetch = fetchFor(server.origin)
    expect(await (await fetch(`${server.origin}/5`)).text()).toBe('end')
    expect(await agentErrorOf(fetch(`${server.origin}/6`))).toMatchObject({
      failureType: 'invalid_response',
      message: `The agent at ${server.origin} redirects more than 5 times`,
    })
    expect((await fetch(`${server.origin}/1`, { redirect: 'manual' })).status).toBe(302)
    await agentErrorOf(fetch(`${server.origin}/1`, { redirect: 'error' }))
  })

  test('[F4] none is followed to another port of the same host, to another host or to another scheme', async () => {
    const other = await rawServer((socket) => socket.write(whole('end')))
    const places: Readonly<Record<string, string>> = {
      port: `${other.origin}/end`,
      host: other.origin.replace('127.0.0.1', 'localhost'),
      scheme: other.origin.replace('http:', 'https:'),
      address: 'https://10.0.0.1/',
    }
    const agent = await rawServer((socket, { line }) => {
      socket.write(to(places[line.split('/')[1] ?? ''] ?? ''))
    })
    const url = `http://u:p@127.0.0.1:${agent.port}`
    const fetch = fetchFor(url, {
      headers: { 'x-key': 'secret' },
      allow: ['localhost', '10.0.0.1'],
    })
    for (const [name, place] of Object.entries(places)) {
      for (const init of [POST, {}]) {
        expect(await agentErrorOf(fetch(`${agent.origin}/${name}`, init))).toMatchObject({
          failureType: 'configuration',
          message:
            `Refused a redirect of the agent at ${agent.origin}/${name}: ` +
            `it leads to another origin (${new URL(place).origin}); if the agent has moved, use its new address`,
        })
      }
    }
    expect(other.connections).toBe(0)
  })
})

describe('what comes back', () => {
  test('a body that is compressed is read as it was', async () => {
    const body = gzipSync('{"a":"ü"}')
    const server = await rawServer((socket) => {
      socket.write(
        `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${body.length}\r\n\r\n`,
      )
      socket.write(body)
    })
    const answer = await fetchFor(server.origin)(server.origin)
    expect([...answer.headers.keys()]).toEqual([])
    expect(await answer.json()).toEqual({ a: 'ü' })
  })

  test('an answer without a body has none', async () => {
    const server = await rawServer((socket) => socket.write('HTTP/1.1 204 No Content\r\n\r\n'))
    const answer = await fetchFor(server.origin)(server.origin)
    expect([answer.status, answer.body]).toEqual([204, null])
  })

  test('pieces are there as they arrive, and each is told', async () => {
    const server = await rawServer((socket) => socket.write(STREAM_HEAD))
    const answer = await fetchFor(server.origin)(server.origin)
    const [socket] = server.open
    let told = 0
    const reader = watchBytes(answer, () => (told += 1)).body?.getReader()
    for (const piece of ['a', '\n', 'bc']) {
      socket?.write(piece)
      const { value } = (await reader?.read()) ?? {}
      expect(Buffer.from(value ?? []).toString()).toBe(piece)
    }
    expect(told).toBe(3)
    await reader?.cancel()
    await server.allClosed()
  })

  test('readBody reads at most so many bytes, and closes the connection of a longer body', async () => {
    const server = await rawServer((socket) => socket.write(`${STREAM_HEAD}0123456789`))
    const fetch = fetchFor(server.origin)
    const cut = await readBody(await fetch(server.origin), 9)
    expect([Buffer.from(cut.bytes).toString(), cut.truncated]).toEqual(['012345678', true])
    await server.allClosed()
    const full = await rawServer((socket) => socket.write(whole('0123456789')))
    const read = await readBody(await fetch(full.origin), 10)
    expect([Buffer.from(read.bytes).toString(), read.truncated]).toEqual(['0123456789', false])
  })
})

describe('silence', () => {
  test('[C1] no silence ends a request, before its answer or in the middle of it', async () => {
    const started: ClientRequest[] = []
    const onStart = (message: unknown): void => {
      // NOTE: this is what Node tells on this channel.
      started.push((message as { readonly request: ClientRequest }).request)
    }
    subscribe('http.client.request.start', onStart)
    onTestFinished(() => {
      unsubscribe('http.client.request.start', onStart)
    })
    const server = await rawServer(() => undefined)
    const answering = fetchFor(server.origin)(server.origin)
    await server.request(0)
    const [request] = started
    const [socket] = server.open
    expect(request?.socket?.timeout).toBeGreaterThan(0)
    request?.socket?.emit('timeout')
    socket?.write(`${STREAM_HEAD}abc`)
    const { body } = await answering
    request?.socket?.emit('timeout')
    socket?.end('def')
    expect(await new Response(body).text()).toBe('abcdef')
  })

  test('[C1] a connection that nothing uses is ended', async () => {
    const server = await rawServer((socket) => socket.write(whole('ok')))
    const fetch = fetchFor(server.origin)
    const sockets: Socket[] = []
    const onSocket = (message: unknown): void => {
      // NOTE: this is what Node tells on this channel.
      sockets.push((message as { readonly socket: Socket }).socket)
    }
    subscribe('net.client.socket', onSocket)
    onTestFinished(() => {
      unsubscribe('net.client.socket', onSocket)
    })
    expect(await (await fetch(server.origin)).text()).toBe('ok')
    await expect.poll(() => sockets.length).toBe(1)
    await new Promise(setImmediate)
    sockets[0]?.emit('timeout')
    await server.allClosed()
  })
})

describe('failures', () => {
  test('[F6] a port where nobody listens is unreachable', async () => {
    const server = await rawServer(() => undefined)
    const free = server.port
    const fetch = fetchFor(`http://127.0.0.1:1`)
    expect(free).toBeGreaterThan(0)
    expect(await agentErrorOf(fetch('http://127.0.0.1:1/x?key=secret'))).toMatchObject({
      failureType: 'unreachable',
      retryable: true,
      message: 'Cannot reach the agent at http://127.0.0.1:1: the connection was refused',
    })
  })

  test('[F6] a name that leads nowhere is unreachable', async () => {
    const nowhere = async (): Promise<never> => {
      throw Object.assign(new Error('no such host'), { code: 'ENOTFOUND' })
    }
    const fetch = fetchFor('https://agent.example', { resolve: nowhere })
    expect(await agentErrorOf(fetch('https://agent.example/'))).toMatchObject({
      failureType: 'unreachable',
      message: 'Cannot reach the agent at https://agent.example: the host was not found',
    })
  })

  test('[F6] a server that does not speak TLS is unreachable', async () => {
    const server = await rawServer(() => undefined)
    const accepting = server.port
    const url = `https://127.0.0.1:${accepting}/`
    const answering = agentErrorOf(fetchFor(url)(url))
    await expect.poll(() => server.open.size).toBe(1)
    for (const socket of server.open) socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')
    expect(await answering).toMatchObject({ failureType: 'unreachable', retryable: true })
  })

  test.each([
    ['before the answer', ''],
    ['in its head', 'HTTP/1.1 200 OK\r\nx:'],
  ])('[F6] a connection that ends %s is lost', async (_when, bytes) => {
    const server = await rawServer((socket) => socket.end(bytes))
    expect(await agentErrorOf(fetchFor(server.origin)(server.origin))).toMatchObject({
      failureType: 'connection_lost',
      retryable: true,
    })
  })

  test('[F6] a connection that was kept, and ends with the next request, is lost', async () => {
    const server = await rawServer((socket) => {
      if (server.requests.length === 1) socket.write(whole('ok'))
      else socket.destroy()
    })
    const fetch = fetchFor(server.origin)
    await (await fetch(server.origin)).text()
    await new Promise(setImmediate)
    const problem = await agentErrorOf(fetch(server.origin))
    expect([problem.failureType, server.connections]).toEqual(['connection_lost', 1])
  })

  test.each([
    ['a length', 'content-length: 9\r\n\r\nabc'],
    ['chunks', 'transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n'],
  ])('[F6] a body with %s that ends early is lost when it is read', async (_kind, rest) => {
    const server = await rawServer((socket) => socket.end(`HTTP/1.1 200 OK\r\n${rest}`))
    const answer = await fetchFor(server.origin)(server.origin)
    expect(await agentErrorOf(answer.text())).toMatchObject({
      failureType: 'connection_lost',
      retryable: true,
    })
  })

  test('[F6] a reset in the middle of a body is told after what came before it', async () => {
    const server = await rawServer((socket) => socket.write(`${STREAM_HEAD}abc`))
    const answer = await fetchFor(server.origin)(server.origin)
    const reader = answer.body?.getReader()
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('abc')
    for (const socket of server.open) socket.resetAndDestroy()
    expect(await failureOf(Promise.resolve(reader?.read()))).toMatchObject({
      failureType: 'connection_lost',
    })
  })

  test.each([
    ['no HTTP', 'SSH-2.0-OpenSSH\r\n\r\n'],
    ['a status that does not exist', 'HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n'],
    [
      'an unknown encoding',
      'HTTP/1.1 200 OK\r\ncontent-encoding: odd\r\ncontent-length: 0\r\n\r\n',
    ],
    ['too large a head', `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(70_000)}\r\n\r\n`],
  ])('[F6] %s is an invalid answer', async (_what, bytes) => {
    const server = await rawServer((socket) => socket.end(bytes))
    expect(await agentErrorOf(fetchFor(server.origin)(server.origin))).toMatchObject({
      failureType: 'invalid_response',
      retryable: false,
    })
  })

  test('[F6] so is a status that does not exist where a web server has its own Response', async () => {
    class AnyStatus extends Response {
      constructor(body: BodyInit | null, init?: ResponseInit) {
        super(body, { ...init, status: 200 })
      }
    }
    vi.stubGlobal('Response', AnyStatus)
    onTestFinished(() => {
      vi.unstubAllGlobals()
    })
    const server = await rawServer((socket) => socket.end('HTTP/1.1 600 Odd\r\n\r\n'))
    expect(await agentErrorOf(fetchFor(server.origin)(server.origin))).toMatchObject({
      failureType: 'invalid_response',
      message: expect.stringContaining('600 is no status'),
    })
  })

  test('[F6] a body that is not compressed as it says is an invalid answer', async () => {
    const head = 'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 5\r\n\r\n'
    const server = await rawServer((socket) => socket.write(`${head}plain`))
    const answer = await fetchFor(server.origin)(server.origin)
    expect(await agentErrorOf(answer.text())).toMatchObject({ failureType: 'invalid_response' })
  })

  test('[F6] an abort is the reason of the signal, at every moment', async () => {
    const reason = new Error('enough')
    const server = await rawServer((socket, { line }) => {
      if (line === 'GET /body') socket.write(`${STREAM_HEAD}abc`)
    })
    const fetch = fetchFor(server.origin)
    expect(await failureOf(fetch(server.origin, { signal: AbortSignal.abort(reason) }))).toBe(
      reason,
    )
    expect(server.connections).toBe(0)
    const waiting = new AbortController()
    const answer = failureOf(fetch(server.origin, { signal: waiting.signal }))
    await server.request(0)
    waiting.abort(reason)
    expect(await answer).toBe(reason)
    const reading = new AbortController()
    const { body } = await fetch(`${server.origin}/body`, { signal: reading.signal })
    const reader = body?.getReader()
    await reader?.read()
    const next = failureOf(Promise.resolve(reader?.read()))
    reading.abort(reason)
    expect(await next).toBe(reason)
    await server.allClosed()
  })

  test('[C2] a connection that is being made ends when nobody waits for it any more', async () => {
    const server = await rawServer(() => undefined)
    const url = `https://127.0.0.1:${server.port}/`
    const fetch = fetchFor(url)
    const waiting = new AbortController()
    const answer = failureOf(fetch(url, { signal: waiting.signal }))
    await expect.poll(() => server.open.size).toBe(1)
    waiting.abort(new Error('enough'))
    expect(await answer).toBe(waiting.signal.reason)
    await server.allClosed()
  })

  test('[C2] a request that comes just then gets a connection of its own', async () => {
    const server = await rawServer((socket) => socket.write(whole('ok')))
    const url = `http://agent.internal:${server.port}/`
    const asked: string[] = []
    const resolve = (host: string): Promise<string[]> => {
      asked.push(host)
      return asked.length === 1 ? new Promise(() => undefined) : Promise.resolve(['127.0.0.1'])
    }
    const fetch = fetchFor(url, { allowHttp: true, resolve })
    const waiting = new AbortController()
    const first = failureOf(fetch(url, { signal: waiting.signal }))
    await expect.poll(() => asked.length).toBe(1)
    waiting.abort(new Error('enough'))
    const second = fetch(url)
    expect(await first).toBe(waiting.signal.reason)
    expect(await (await second).text()).toBe('ok')
  })
})

describe('answers that say they failed', () => {
  const answer = (status: string, { headers = [] as string[], body = 'why' } = {}): string =>
    whole(body, { status, headers })

  test.each([
    ['503 Service Unavailable', true],
    ['429 Too Many Requests', true],
    ['408 Request Timeout', true],
    ['425 Too Early', true],
    ['500 Internal Server Error', true],
    ['502 Bad Gateway', true],
    ['504 Gateway Timeout', true],
    ['400 Bad Request', false],
    ['401 Unauthorized', false],
    ['404 Not Found', false],
    ['422 Unprocessable', false],
    ['501 Not Implemented', false],
    ['302 Found', false],
  ])('%s: retryable is %s', async (status, retryable) => {
    const server = await rawServer((socket) => socket.write(answer(status)))
    const response = await fetchFor(server.origin)(server.origin, POST)
    expect(await httpError(response)).toMatchObject({
      message: `Agent returned error ${status}: why`,
      failureType: 'http_error',
      retryable,
      retryAfterMs: undefined,
    })
  })

  test.each([
    ['7', 7_000],
    ['Sat, 01 Nov 2036 00:00:10 GMT', 10_000],
    ['Sat, 01 Nov 2026 00:00:10 GMT', 0],
    ['soon', undefined],
    ['-1', undefined],
  ])('Retry-After: %s is %s ms', async (value, expected) => {
    const now = Date.UTC(2036, 10, 1)
    const response = new Response('', { status: 503, headers: { 'retry-after': value } })
    expect((await httpError(response, now)).retryAfterMs).toBe(expected)
  })

  test('the start of a long body is quoted, and of none nothing', async () => {
    const long = await httpError(new Response('x'.repeat(5_000), { status: 400 }))
    expect(long.message).toBe(`Agent returned error 400: ${'x'.repeat(2_000)}…`)
    expect((await httpError(new Response(' \n', { status: 400 }))).message).toBe(
      'Agent returned error 400',
    )
  })

  test('a body that is lost does not hide the status', async () => {
    const server = await rawServer((socket) =>
      socket.end('HTTP/1.1 500 Oh\r\ncontent-length: 9\r\n\r\nabc'),
    )
    const response = await fetchFor(server.origin)(server.origin)
    expect((await httpError(response)).message).toBe('Agent returned error 500 Oh')
  })
})
