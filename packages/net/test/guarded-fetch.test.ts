import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { gzipSync } from 'node:zlib'

import { describe, expect, onTestFinished, test, vi } from 'vitest'

import {
  guardedFetch,
  networkGuard,
  readLimitedBody,
  watchBody,
  type GuardedFetch,
  type GuardedFetchOptions,
} from '../src/internal.ts'
import { rawServer, STREAM_HEAD, whole } from './raw-server.ts'

import type { ClientRequest } from 'node:http'
import type { Socket } from 'node:net'

const guard = networkGuard({ allow: ['127.0.0.1', 'localhost'] })

/** Creates a `guardedFetch` that is closed at the end of the test. */
function fetchFor(options: Partial<GuardedFetchOptions> = {}): GuardedFetch {
  const fetch = guardedFetch({ guard, ...options })
  onTestFinished(() => fetch.close())
  return fetch
}

/** Resolves with the error of a rejected promise. */
async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (problem) {
    return problem
  }
  throw new Error('It did not fail')
}

const POST = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }

describe('a request of guardedFetch', () => {
  test('A request of guardedFetch contains only the headers of the caller, accept, user-agent and those of HTTP', async () => {
    const server = await rawServer((socket) => socket.write(whole('ok')))
    await fetchFor()(`${server.origin}/a?b=c`, POST)
    const text = server.requests[0]?.text.replace(/(user-agent: tutti\/)\d.*/, '$1VERSION')
    expect(text?.split('\r\n').toSorted()).toEqual(
      [
        'POST /a?b=c HTTP/1.1',
        `Host: 127.0.0.1:${server.port}`,
        'Connection: keep-alive',
        'accept: */*',
        'user-agent: tutti/VERSION',
        'content-type: application/json',
        'content-length: 2',
        '',
        '{}',
      ].toSorted(),
    )
  })

  test('A request of guardedFetch is checked by the guard: its URL and the addresses of its name', async () => {
    const server = await rawServer((socket) => socket.write(whole('ok')))
    const resolve = async (): Promise<string[]> => ['127.0.0.1']
    const fetch = fetchFor({ guard: networkGuard({ resolve }) })
    for (const url of [server.origin, `http://inside.example:${server.port}/`]) {
      expect(await failureOf(fetch(url))).toMatchObject({
        code: 'TOOL_FAILED',
        message: expect.stringContaining('Refused to connect'),
      })
    }
    expect(server.connections).toBe(0)
  })

  test('A request of guardedFetch is completed by prepare, also after a redirect', async () => {
    const server = await rawServer((socket, { line }) => {
      const to = ['location: /b']
      socket.write(line === 'GET /a' ? whole('', { status: '302 Found', headers: to }) : whole(''))
    })
    const fetch = fetchFor({
      prepare: (hop) => ({
        ...hop,
        headers: { ...hop.headers, 'x-path': hop.url.pathname },
      }),
    })
    await fetch(`${server.origin}/a`)
    expect(server.requests.map(({ headers }) => headers['x-path'])).toEqual(['/a', '/b'])
  })

  test('A request of guardedFetch is not sent when prepare fails', async () => {
    const server = await rawServer(() => undefined)
    const fetch = fetchFor({ prepare: () => Promise.reject(new Error('no key')) })
    await expect(fetch(server.origin)).rejects.toThrow('no key')
    expect(server.requests).toEqual([])
  })

  test('A request of guardedFetch fails with the error of toError, also while its body is read', async () => {
    const server = await rawServer((socket) =>
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc'),
    )
    const toError = ({ message }: Error, { origin }: URL): Error =>
      new Error(`${origin}: ${message}`)
    const fetch = fetchFor({ toError })
    const answer = await fetch(server.origin)
    await expect(answer.text()).rejects.toThrow(`${server.origin}: the connection was closed`)
    await expect(fetch('http://10.0.0.1')).rejects.toThrow(/^http:..10.0.0.1: Refused to connect/)
  })
})

describe('a redirect', () => {
  const to = (location: string, status = '307 Temporary Redirect'): string =>
    whole('', { status, headers: [`location: ${location}`] })

  test('A redirect of guardedFetch repeats a POST with its body only for 307 and 308', async () => {
    const server = await rawServer((socket, { line }) => {
      if (line === 'POST /307') socket.write(to('/308?x=1'))
      else if (line === 'POST /308?x=1') socket.write(to('/end', '308 Permanent Redirect'))
      else if (line === 'POST /302') socket.write(to('/end', '302 Found'))
      else socket.write(whole('end'))
    })
    const fetch = fetchFor()
    const followed = await fetch(`${server.origin}/307`, POST)
    expect(await followed.text()).toBe('end')
    expect(followed.url).toBe(`${server.origin}/end`)
    expect(server.requests.map(({ body }) => body)).toEqual(['{}', '{}', '{}'])
    const kept = await fetch(`${server.origin}/302`, POST)
    expect([kept.status, server.requests.length]).toEqual([302, 4])
  })

  test('A redirect of guardedFetch is followed at most 5 times', async () => {
    const server = await rawServer((socket, { line }) => {
      const left = Number(line.split('/')[1])
      socket.write(left === 0 ? whole('end') : to(`/${left - 1}`, '302 Found'))
    })
    const fetch = fetchFor()
    expect(await (await fetch(`${server.origin}/5`)).text()).toBe('end')
    expect(await failureOf(fetch(`${server.origin}/6`))).toMatchObject({
      kind: 'invalid',
      message: `more than 5 redirects`,
    })
    expect((await fetch(`${server.origin}/1`, { redirect: 'manual' })).status).toBe(302)
    await failureOf(fetch(`${server.origin}/1`, { redirect: 'error' }))
  })

  test('A redirect of guardedFetch is refused to another port, host or scheme', async () => {
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
    const fetch = fetchFor()
    for (const [name, place] of Object.entries(places)) {
      for (const init of [POST, {}]) {
        expect(await failureOf(fetch(`${agent.origin}/${name}`, init))).toMatchObject({
          code: 'TOOL_FAILED',
          message:
            `Refused a redirect from ${agent.origin}/${name} to another origin ` +
            `(${new URL(place).origin}); if the server has moved, use its new address`,
        })
      }
    }
    expect(other.connections).toBe(0)
  })
})

describe('a response', () => {
  test('A response of guardedFetch has a decompressed body', async () => {
    const body = gzipSync('{"a":"ü"}')
    const server = await rawServer((socket) => {
      socket.write(
        `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${body.length}\r\n\r\n`,
      )
      socket.write(body)
    })
    const answer = await fetchFor()(server.origin)
    expect([...answer.headers.keys()]).toEqual([])
    expect(await answer.json()).toEqual({ a: 'ü' })
  })

  test('A response of guardedFetch has no body for a status without one', async () => {
    const server = await rawServer((socket) => socket.write('HTTP/1.1 204 No Content\r\n\r\n'))
    const answer = await fetchFor()(server.origin)
    expect([answer.status, answer.body]).toEqual([204, null])
  })

  test('A response of guardedFetch delivers pieces as they arrive, each of which watchBody reports', async () => {
    const server = await rawServer((socket) => socket.write(STREAM_HEAD))
    const answer = await fetchFor()(server.origin)
    const [socket] = server.open
    let count = 0
    const reader = watchBody(answer, () => (count += 1)).body?.getReader()
    for (const piece of ['a', '\n', 'bc']) {
      socket?.write(piece)
      const { value } = (await reader?.read()) ?? {}
      expect(Buffer.from(value ?? []).toString()).toBe(piece)
    }
    expect(count).toBe(3)
    await reader?.cancel()
    await server.allClosed()
  })

  test('A response of guardedFetch closes its connection when readLimitedBody truncates the body', async () => {
    const server = await rawServer((socket) => socket.write(`${STREAM_HEAD}0123456789`))
    const fetch = fetchFor()
    const cut = await readLimitedBody((await fetch(server.origin)).body, 9)
    expect([Buffer.from(cut.bytes).toString(), cut.truncated]).toEqual(['012345678', true])
    await server.allClosed()
    const full = await rawServer((socket) => socket.write(whole('0123456789')))
    const read = await readLimitedBody((await fetch(full.origin)).body, 10)
    expect([Buffer.from(read.bytes).toString(), read.truncated]).toEqual(['0123456789', false])
  })
})

describe('a silent server', () => {
  test('A silent server never ends a request', async () => {
    const started: ClientRequest[] = []
    const onStart = (message: unknown): void => {
      // NOTE: Node publishes messages of this type on this channel.
      started.push((message as { readonly request: ClientRequest }).request)
    }
    subscribe('http.client.request.start', onStart)
    onTestFinished(() => {
      unsubscribe('http.client.request.start', onStart)
    })
    const server = await rawServer(() => undefined)
    const answering = fetchFor()(server.origin)
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

  test('A silent server loses an idle connection', async () => {
    const server = await rawServer((socket) => socket.write(whole('ok')))
    const fetch = fetchFor()
    const sockets: Socket[] = []
    const onSocket = (message: unknown): void => {
      // NOTE: Node publishes messages of this type on this channel.
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

describe('the error of a failed fetch', () => {
  test('The error of a failed fetch is "unreachable" for a closed port', async () => {
    const fetch = fetchFor()
    expect(await failureOf(fetch('http://127.0.0.1:1/x?key=secret'))).toMatchObject({
      kind: 'unreachable',
      retryable: true,
      message: 'the connection was refused',
    })
  })

  test('The error of a failed fetch is "unreachable" for an unknown host', async () => {
    const nowhere = async (): Promise<never> => {
      throw Object.assign(new Error('no such host'), { code: 'ENOTFOUND' })
    }
    const fetch = fetchFor({ guard: networkGuard({ resolve: nowhere }) })
    expect(await failureOf(fetch('https://agent.example/'))).toMatchObject({
      kind: 'unreachable',
      message: 'the host was not found',
    })
  })

  test('The error of a failed fetch is "unreachable" for a server without TLS', async () => {
    const server = await rawServer(() => undefined)
    const accepting = server.port
    const url = `https://127.0.0.1:${accepting}/`
    const answering = failureOf(fetchFor()(url))
    await expect.poll(() => server.open.size).toBe(1)
    for (const socket of server.open) socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')
    expect(await answering).toMatchObject({ kind: 'unreachable', retryable: true })
  })

  test.each([
    ['before the answer', ''],
    ['in its head', 'HTTP/1.1 200 OK\r\nx:'],
  ])(
    'The error of a failed fetch is "lost" for a connection that ends %s',
    async (_when, bytes) => {
      const server = await rawServer((socket) => socket.end(bytes))
      expect(await failureOf(fetchFor()(server.origin))).toMatchObject({
        kind: 'lost',
        retryable: true,
      })
    },
  )

  test('The error of a failed fetch is "lost" for a reused connection that ends with its next request', async () => {
    const server = await rawServer((socket) => {
      if (server.requests.length === 1) socket.write(whole('ok'))
      else socket.destroy()
    })
    const fetch = fetchFor()
    await (await fetch(server.origin)).text()
    await new Promise(setImmediate)
    expect(await failureOf(fetch(server.origin))).toMatchObject({ kind: 'lost' })
    expect(server.connections).toBe(1)
  })

  test.each([
    ['a length', 'content-length: 9\r\n\r\nabc'],
    ['chunks', 'transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n'],
  ])(
    'The error of a failed fetch is "lost" for a body with %s that ends early',
    async (_kind, rest) => {
      const server = await rawServer((socket) => socket.end(`HTTP/1.1 200 OK\r\n${rest}`))
      const answer = await fetchFor()(server.origin)
      expect(await failureOf(answer.text())).toMatchObject({
        kind: 'lost',
        retryable: true,
      })
    },
  )

  test('The error of a failed fetch follows the bytes that arrived before a reset', async () => {
    const server = await rawServer((socket) => socket.write(`${STREAM_HEAD}abc`))
    const answer = await fetchFor()(server.origin)
    const reader = answer.body?.getReader()
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('abc')
    for (const socket of server.open) socket.resetAndDestroy()
    expect(await failureOf(Promise.resolve(reader?.read()))).toMatchObject({
      kind: 'lost',
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
  ])('The error of a failed fetch is "invalid" for %s', async (_what, bytes) => {
    const server = await rawServer((socket) => socket.end(bytes))
    expect(await failureOf(fetchFor()(server.origin))).toMatchObject({
      kind: 'invalid',
      retryable: false,
    })
  })

  test('The error of a failed fetch is "invalid" for an impossible status, also where a web server has replaced Response', async () => {
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
    expect(await failureOf(fetchFor()(server.origin))).toMatchObject({
      kind: 'invalid',
      message: expect.stringContaining('invalid status 600'),
    })
  })

  test('The error of a failed fetch is "invalid" for a body that is not compressed as declared', async () => {
    const head = 'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 5\r\n\r\n'
    const server = await rawServer((socket) => socket.write(`${head}plain`))
    const answer = await fetchFor()(server.origin)
    expect(await failureOf(answer.text())).toMatchObject({ kind: 'invalid' })
  })

  test('The error of a failed fetch is the reason of the signal at every stage', async () => {
    const reason = new Error('enough')
    const server = await rawServer((socket, { line }) => {
      if (line === 'GET /body') socket.write(`${STREAM_HEAD}abc`)
    })
    const fetch = fetchFor()
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

  test('An aborted fetch closes a connection that is being opened', async () => {
    const server = await rawServer(() => undefined)
    const url = `https://127.0.0.1:${server.port}/`
    const fetch = fetchFor()
    const waiting = new AbortController()
    const answer = failureOf(fetch(url, { signal: waiting.signal }))
    await expect.poll(() => server.open.size).toBe(1)
    waiting.abort(new Error('enough'))
    expect(await answer).toBe(waiting.signal.reason)
    await server.allClosed()
  })

  test('An aborted fetch opens another connection for a request that comes at that moment', async () => {
    const server = await rawServer((socket) => socket.write(whole('ok')))
    const url = `http://agent.internal:${server.port}/`
    const asked: string[] = []
    const resolve = (host: string): Promise<string[]> => {
      asked.push(host)
      return asked.length === 1 ? new Promise(() => undefined) : Promise.resolve(['127.0.0.1'])
    }
    const fetch = fetchFor({ guard: networkGuard({ allow: ['agent.internal'], resolve }) })
    const waiting = new AbortController()
    const first = failureOf(fetch(url, { signal: waiting.signal }))
    await expect.poll(() => asked.length).toBe(1)
    waiting.abort(new Error('enough'))
    const second = fetch(url)
    expect(await first).toBe(waiting.signal.reason)
    expect(await (await second).text()).toBe('ok')
  })
})
