import { getEventListeners } from 'node:events'
import { createServer } from 'node:net'
import zlib from 'node:zlib'

import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'

import { fakeClock, type FakeClock } from '../../../../tooling/test-kit/clock.ts'
import { guardedRequest } from './guarded-request.ts'
import { networkGuard } from './network-guard.ts'
import { localServer } from '../../../../tooling/test-kit/local-server.ts'

import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { GuardedRequestOptions } from './options.ts'

/** Allows the servers of these tests in addition to the public internet. */
const guard = networkGuard({ allow: ['127.0.0.1', '127.0.0.2'] })

/** macOS has only one loopback address. */
const hasLoopbackBlock = process.platform !== 'darwin'

let clock: FakeClock

beforeEach(() => {
  clock = fakeClock()
})

afterEach(() => {
  if (clock.pending > 0) throw new Error(`${clock.pending} timers were left`)
})

describe('guardedRequest', () => {
  it('guardedRequest returns status, headers, URL and body for any status', async () => {
    const server = await localServer((response) => {
      response.writeHead(404, { 'X-Tag': ['a', 'b'], 'content-type': 'text/plain' }).end('nothing')
    })
    const answer = await request(`${server.origin}/a?b#c`)
    expect(answer).toMatchObject({
      status: 404,
      url: `${server.origin}/a?b#c`,
      truncated: false,
    })
    expect(Buffer.from(answer.body).toString()).toBe('nothing')
    expect(answer.headers.get('x-tag')).toBe('a, b')
    expect(server.requests).toMatchObject([{ method: 'GET', url: '/a?b' }])
  })

  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'GET'])(
    'guardedRequest sends a body with %s',
    async (method) => {
      const got: unknown[] = []
      const server = await localServer((response, incoming) => {
        const { method, headers, body } = incoming
        got.push({ method, headers, body })
        response.end()
      })
      await request(server.origin, {
        method: method.toLowerCase(),
        headers: { 'Content-Type': 'text/plain', 'X-Key': 'k' },
        body: 'größe',
      })
      expect(got).toEqual([
        {
          method,
          body: 'größe',
          headers: {
            'accept-encoding': 'gzip, br',
            'content-type': 'text/plain',
            'user-agent': expect.stringMatching(/^tutti\/\d/) as string,
            'x-key': 'k',
            'content-length': '7',
            host: `127.0.0.1:${server.port}`,
            connection: 'close',
          },
        },
      ])
    },
  )

  it('guardedRequest sends bytes unchanged, and keeps the accept-encoding of the caller', async () => {
    const got: IncomingHttpHeaders[] = []
    const server = await localServer((response, incoming) => {
      got.push(incoming.headers)
      response.end(incoming.bytes)
    })
    const bytes = Uint8Array.from([0, 255, 128])
    const { body } = await request(server.origin, {
      method: 'POST',
      body: bytes,
      headers: { 'Accept-Encoding': 'identity' },
    })
    expect(new Uint8Array(body)).toEqual(bytes)
    expect(got[0]?.['accept-encoding']).toBe('identity')
  })

  it('guardedRequest reads responses without a body, such as those to HEAD', async () => {
    const server = await localServer((response, incoming) => {
      response
        .writeHead(incoming.method === 'HEAD' ? 200 : 204, { 'content-encoding': 'gzip' })
        .end()
    })
    expect(await request(server.origin, { method: 'HEAD' })).toMatchObject({ status: 200 })
    const { status, body } = await request(server.origin)
    expect({ status, length: body.length }).toEqual({ status: 204, length: 0 })
  })

  it('[NET-Q4] guardedRequest leaves no connection open', async () => {
    const server = await localServer((response) => response.end('x'))
    await Promise.all([request(server.origin), request(server.origin), request(server.origin)])
    await server.allClosed()
    expect(server.connections).toBe(3)
  })
})

describe('the guard of a request', () => {
  it('[NET-Q1] The guard of a request checks the URL before a connection is opened', async () => {
    const server = await localServer((response) => response.end('x'))
    await expect(
      guardedRequest(server.origin, { guard: networkGuard(), clock }),
    ).rejects.toMatchObject({ code: 'TOOL_FAILED', retryable: false })
    expect(server.connections).toBe(0)
  })

  it('[NET-Q1] The guard of a request checks the addresses of a name', async () => {
    const server = await localServer((response) => response.end('x'))
    const strict = networkGuard({ resolve: () => Promise.resolve(['127.0.0.1']) })
    await expect(
      guardedRequest(`http://a.example:${server.port}`, { guard: strict, clock }),
    ).rejects.toThrow('"a.example": it resolves to 127.0.0.1, a loopback address')
    expect(server.connections).toBe(0)
  })

  it.runIf(hasLoopbackBlock)(
    '[NET-Q1] The guard of a request checks every connection, so a name that changes its address gains nothing',
    async () => {
      const inside = await localServer((response) => response.end('secret'))
      const outside = await localServer((response) => {
        response.writeHead(302, { location: `http://rebind.example:${inside.port}/` }).end()
      }, '127.0.0.2')
      const addresses = ['127.0.0.2', '127.0.0.1']
      const moving = networkGuard({
        allow: ['127.0.0.2'],
        resolve: () => Promise.resolve([addresses.shift() ?? '127.0.0.1']),
      })
      const url = `http://rebind.example:${outside.port}/`
      await expect(guardedRequest(url, { guard: moving, clock })).rejects.toThrow(
        'it resolves to 127.0.0.1, a loopback address',
      )
      expect(outside.requests).toMatchObject([{ method: 'GET', url: '/' }])
      expect(inside.connections).toBe(0)
      await outside.allClosed()
    },
  )

  it.each([
    ['http://169.254.169.254/latest/meta-data/', 'a cloud metadata address'],
    ['http://[::ffff:169.254.169.254]/', 'a cloud metadata address'],
    ['http://2852039166/', 'a cloud metadata address'],
    ['//0xa.0.0.1/', 'a private address'],
    ['http://[::1]:8080/', 'a loopback address'],
    ['http://user:pass@example.com/', 'a user name or password'],
    ['file:///etc/passwd', 'only http: and https: are allowed'],
    ['http://example.com:22/', 'a port of a protocol other than HTTP'],
  ])('[NET-Q1] The guard of a request refuses a redirect to %s', async (location, reason) => {
    const server = await localServer((response) => {
      response.writeHead(302, { location }).end()
    })
    await expect(request(server.origin)).rejects.toThrow(reason)
    await server.allClosed()
    expect(server.requests).toMatchObject([{ method: 'GET', url: '/' }])
  })
})

describe('redirects', () => {
  it('Redirects are followed to the final response', async () => {
    const server = await localServer((response, incoming) => {
      const n = Number(incoming.url?.slice(1))
      if (n === 3) response.end('there')
      else response.writeHead(301, { location: String(n + 1) }).end('not here')
    })
    const answer = await request(`${server.origin}/0`)
    expect(answer).toMatchObject({ status: 200, url: `${server.origin}/3` })
    expect(Buffer.from(answer.body).toString()).toBe('there')
    await server.allClosed()
  })

  it('Redirects drop secret headers when they lead to another origin', async () => {
    const got: IncomingHttpHeaders[] = []
    const other = await localServer((response, incoming) => {
      got.push(incoming.headers)
      response.end()
    })
    const server = await localServer((response) => {
      response.writeHead(307, { location: other.origin }).end()
    })
    const headers = { Authorization: 'Bearer x', Cookie: 'a=b', 'X-Api-Key': 'k', Accept: 'a/b' }
    await request(server.origin, { headers, method: 'POST', body: 'kept' })
    expect(got).toEqual([
      {
        accept: 'a/b',
        'accept-encoding': 'gzip, br',
        'user-agent': expect.stringMatching(/^tutti\/\d/) as string,
        'content-length': '4',
        host: `127.0.0.1:${other.port}`,
        connection: 'close',
      },
    ])
  })

  it('Redirects fail when there are too many', async () => {
    const server = await localServer((response) => {
      response.writeHead(302, { location: '/again?key=secret' }).end()
    })
    await expect(request(server.origin, { maxRedirects: 2 })).rejects.toMatchObject({
      code: 'TOOL_FAILED',
      message: `Request to ${server.origin} failed: more than 2 redirects`,
    })
    expect(server.requests).toHaveLength(3)
    await expect(request(server.origin)).rejects.toThrow('more than 10 redirects')
    await server.allClosed()
  })

  it('Redirects are returned with redirect "manual" or without a location', async () => {
    const server = await localServer((response, incoming) => {
      const location = incoming.url === '/nowhere' ? {} : { location: 'http://169.254.169.254/' }
      response.writeHead(302, location).end('moved')
    })
    const manual = await request(server.origin, { redirect: 'manual' })
    expect(manual.status).toBe(302)
    expect(manual.headers.get('location')).toBe('http://169.254.169.254/')
    expect(await request(`${server.origin}/nowhere`)).toMatchObject({ status: 302 })
  })

  it('[NET-Q4] Redirects close the connection of a redirect response whose body has not ended', async () => {
    const closed = latch()
    const server = await localServer((response, incoming) => {
      if (incoming.url === '/there') void closed.opened.then(() => response.end('there'))
      else response.writeHead(302, { location: '/there' }).write('and it goes on')
      if (incoming.url === '/') response.on('close', closed.open)
    })
    expect(await request(server.origin)).toMatchObject({ status: 200 })
    await server.allClosed()
  })
})

describe('the body of a response', () => {
  it.each([
    [9, true],
    [10, false],
    [11, false],
    [0, true],
  ])(
    '[NET-Q3] The body of a response with 10 bytes is truncated at %i: %s',
    async (maxBytes, truncated) => {
      const server = await localServer((response) => response.end('0123456789'))
      const answer = await request(server.origin, { maxBytes })
      expect(answer.truncated).toBe(truncated)
      expect(Buffer.from(answer.body).toString()).toBe('0123456789'.slice(0, maxBytes))
      await server.allClosed()
    },
  )

  it('[NET-Q3] [NET-Q4] The body of a response is read up to the limit when it never ends, and the connection is closed', async () => {
    const server = await localServer((response) => {
      const more = (): void => {
        while (response.write('x'.repeat(10_000)));
      }
      response.on('drain', more)
      more()
    })
    const answer = await request(server.origin, { maxBytes: 100_000 })
    expect(answer).toMatchObject({ truncated: true })
    expect(answer.body).toHaveLength(100_000)
    await server.allClosed()
  })

  it.each([
    ['gzip', zlib.gzipSync(Buffer.alloc(50_000_000))],
    [
      'br',
      zlib.brotliCompressSync(Buffer.alloc(50_000_000), {
        params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 },
      }),
    ],
    ['gzip, gzip', zlib.gzipSync(zlib.gzipSync(Buffer.alloc(50_000_000)))],
  ])(
    '[NET-Q3] The body of a response is counted after decompression, so a %s bomb is truncated',
    async (coding, bomb) => {
      const server = await localServer((response) => {
        response.writeHead(200, { 'content-encoding': coding }).end(bomb)
      })
      const before = process.memoryUsage().arrayBuffers
      const answer = await request(server.origin, { maxBytes: 1000 })
      expect(answer).toMatchObject({ truncated: true })
      expect(answer.body).toHaveLength(1000)
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20_000_000)
      await server.allClosed()
    },
  )

  it('The body of a response is decompressed', async () => {
    const server = await localServer((response) => {
      response.writeHead(200, { 'content-encoding': 'br' }).end(zlib.brotliCompressSync('plain'))
    })
    const { body } = await request(server.origin)
    expect(Buffer.from(body).toString()).toBe('plain')
  })

  it('The body of a response fails the request when it is not compressed as declared', async () => {
    const server = await localServer((response, incoming) => {
      response.writeHead(200, { 'content-encoding': incoming.url?.slice(1) }).end('plain text')
    })
    await expect(request(`${server.origin}/gzip`)).rejects.toThrow('incorrect header check')
    await expect(request(`${server.origin}/zstd`)).rejects.toMatchObject({
      message: `Request to ${server.origin} failed: Unsupported content encoding "zstd": expected gzip, deflate or br`,
      retryable: false,
    })
    await server.allClosed()
  })

  it('The body of a response fails the request when the connection breaks before its end', async () => {
    const server = await localServer((response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('half', () => response.destroy())
    })
    await expect(request(server.origin)).rejects.toMatchObject({
      code: 'TOOL_FAILED',
      message: `Request to ${server.origin} failed: the connection was closed`,
      retryable: true,
    })
  })
})

describe('the time limit', () => {
  it('[NET-Q2] The time limit covers resolving the name', async () => {
    const stuck = networkGuard({ resolve: () => new Promise(() => undefined) })
    const url = 'http://a.example/?key=secret'
    const answer = rejection(guardedRequest(url, { guard: stuck, clock }))
    await clock.advance(15_000)
    expect(await answer).toMatchObject({
      code: 'TOOL_TIMEOUT',
      message: 'Request to http://a.example timed out after 15000 ms',
      retryable: true,
    })
  })

  it('[NET-Q2] [NET-Q4] The time limit covers the wait for the headers', async () => {
    const asked = latch()
    const server = await localServer(() => {
      asked.open()
    })
    const answer = rejection(request(server.origin, { timeoutMs: 100 }))
    await asked.opened
    await clock.advance(99)
    expect(server.requests).toHaveLength(1)
    await clock.advance(1)
    expect(await answer).toMatchObject({ code: 'TOOL_TIMEOUT' })
    await server.allClosed()
  })

  it('[NET-Q2] [NET-Q4] The time limit covers a body that arrives slowly', async () => {
    const responses: ServerResponse[] = []
    const begun = latch()
    const server = await localServer((response) => {
      response.write('drop')
      responses.push(response)
      begun.open()
    })
    const answer = rejection(request(server.origin, { timeoutMs: 1000 }))
    await begun.opened
    for (let ms = 0; ms < 1000; ms += 100) {
      responses[0]?.write('drop')
      await clock.advance(100)
    }
    expect(await answer).toMatchObject({ code: 'TOOL_TIMEOUT' })
    await server.allClosed()
  })

  it('[NET-Q2] The time limit covers all redirects together', async () => {
    const server = await localServer((response) => {
      void clock.advance(40).then(() => response.writeHead(302, { location: '/' }).end())
    })
    expect(await rejection(request(server.origin, { timeoutMs: 100 }))).toMatchObject({
      code: 'TOOL_TIMEOUT',
    })
    expect(server.requests.length).toBeLessThanOrEqual(3)
    await server.allClosed()
  })

  it('The time limit can be shorter for the connection', async () => {
    const stuck = networkGuard({ resolve: () => new Promise(() => undefined) })
    const options = { guard: stuck, clock, connectTimeoutMs: 10 }
    const answer = rejection(guardedRequest('http://a.example/x', options))
    await clock.advance(10)
    expect(await answer).toMatchObject({
      code: 'TOOL_TIMEOUT',
      message: 'Cannot connect to http://a.example within 10 ms',
      retryable: true,
    })
  })

  it('The time limit no longer applies to the connection once it is open', async () => {
    const asked = latch()
    const responses: ServerResponse[] = []
    const server = await localServer((response) => {
      responses.push(response)
      asked.open()
    })
    const answer = request(server.origin, { connectTimeoutMs: 10, timeoutMs: Infinity })
    await asked.opened
    await clock.advance(1_000_000)
    responses[0]?.end('late')
    expect(await answer).toMatchObject({ status: 200 })
  })
})

describe('the signal of the caller', () => {
  it('[NET-Q2] The signal of the caller prevents the request when it has already aborted', async () => {
    const server = await localServer((response) => response.end())
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(request(server.origin, { signal })).rejects.toThrow('enough')
  })

  it('[NET-Q2] [NET-Q4] The signal of the caller ends the wait for the headers with its reason', async () => {
    const asked = latch()
    const server = await localServer(() => {
      asked.open()
    })
    const caller = new AbortController()
    const answer = rejection(request(server.origin, { signal: caller.signal }))
    await asked.opened
    const reason = new Error('enough')
    caller.abort(reason)
    expect(await answer).toBe(reason)
    await server.allClosed()
  })

  it.each(['identity', 'gzip'])(
    '[NET-Q2] [NET-Q4] The signal of the caller ends the reading of a body: %s',
    async (coding) => {
      const begun = latch()
      const server = await localServer((response) => {
        response.writeHead(200, { 'content-encoding': coding })
        response.write(coding === 'gzip' ? zlib.gzipSync('x').subarray(0, 15) : 'x')
        begun.open()
      })
      const caller = new AbortController()
      const answer = rejection(request(server.origin, { signal: caller.signal }))
      await begun.opened
      caller.abort()
      expect(await answer).toMatchObject({ name: 'AbortError' })
      await server.allClosed()
    },
  )

  it('The signal of the caller has no listeners after the request', async () => {
    const server = await localServer((response, incoming) => {
      if (incoming.url === '/') response.end()
      else response.destroy()
    })
    const { signal } = new AbortController()
    await request(server.origin, { signal })
    await rejection(request(`${server.origin}/broken`, { signal }))
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })
})

describe('the error of a failed request', () => {
  it.each([
    ['ENOTFOUND', 'the host was not found'],
    ['EAI_AGAIN', 'the host name could not be resolved'],
    ['EOTHER', 'as the resolver says'],
  ])(
    'The error of a failed request explains failures of name resolution: %s',
    async (code, meaning) => {
      const failing = networkGuard({
        resolve: () => Promise.reject(Object.assign(new Error('as the resolver says'), { code })),
      })
      const answer = guardedRequest('http://gone.example/?key=secret', { guard: failing, clock })
      await expect(answer).rejects.toMatchObject({
        code: 'TOOL_FAILED',
        message: `Request to http://gone.example failed: ${meaning}`,
        retryable: true,
      })
    },
  )

  it('The error of a failed request explains a failed connection', async () => {
    const port = await freePort()
    await expect(request(`http://127.0.0.1:${port}/?key=secret`)).rejects.toMatchObject({
      code: 'TOOL_FAILED',
      message: `Request to http://127.0.0.1:${port} failed: the connection was refused`,
      retryable: true,
    })
  })

  it.runIf(hasLoopbackBlock)(
    'The error of a failed request explains a failed connection to a name with several addresses',
    async () => {
      const port = await freePort()
      const several = networkGuard({
        allow: ['a.example'],
        resolve: () => Promise.resolve(['127.0.0.1', '127.0.0.2']),
      })
      await expect(
        guardedRequest(`http://a.example:${port}/`, { guard: several, clock }),
      ).rejects.toThrow(`Request to http://a.example:${port} failed: the connection was refused`)
    },
  )

  it.each([
    ['an answer that is no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['headers without end', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}`],
    ['an answer that ends at once', ''],
    [
      'a switch of protocols',
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
    ],
  ])('The error of a failed request explains violations of the protocol: %s', async (_, bytes) => {
    const port = await rawServer(bytes)
    await expect(request(`http://127.0.0.1:${port}`)).rejects.toMatchObject({
      code: 'TOOL_FAILED',
      message: expect.stringContaining(`Request to http://127.0.0.1:${port} failed: `),
    })
  })

  it.each([
    [
      { headers: { 'x-a': 'line\nbreak' } },
      'the value of the header "x-a" must be text without line breaks',
    ],
    [{ headers: { 'x a': 'b' } }, '"x a" is not a valid header name'],
    [{ method: 'GET /' }, 'Method must be a valid HTTP token'],
  ])('The error of a failed request explains invalid requests: %j', async (options, meaning) => {
    const server = await localServer((response) => response.end())
    await expect(request(server.origin, options)).rejects.toMatchObject({
      code: 'TOOL_FAILED',
      message: expect.stringContaining(meaning),
      retryable: false,
    })
    expect(server.requests).toEqual([])
  })
})

describe('the options of a request', () => {
  it.each(['Host', 'content-length', 'Transfer-Encoding', 'connection', 'Expect', 'upgrade', 'TE'])(
    'The options of a request do not accept the header %s',
    async (name) => {
      await expect(request('http://127.0.0.1', { headers: { [name]: 'x' } })).rejects.toThrow(
        `the header "${name}" cannot be set: it is derived from the URL and the body`,
      )
    },
  )

  it.each(['CONNECT', 'trace', 'TRACK'])(
    'The options of a request do not accept the method %s',
    async (method) => {
      await expect(request('http://127.0.0.1', { method })).rejects.toThrow(
        `The method "${method.toUpperCase()}" is not allowed`,
      )
    },
  )

  it('The options of a request are rejected with every problem at once', async () => {
    const options = { maxBytes: 1.5, maxRedirects: -1, timeoutMs: 0, connectTimeoutMs: Number.NaN }
    const error = await rejection(request('http://127.0.0.1', options))
    expect(error).toBeInstanceOf(RangeError)
    expect(error).toMatchObject({
      message:
        'Cannot make a request: maxRedirects must be an integer >= 0, got -1; maxBytes must be an integer >= 0, got 1.5; timeoutMs must be > 0, got 0; connectTimeoutMs must be > 0, got NaN',
    })
  })
})

function request(
  url: string,
  options: Partial<GuardedRequestOptions> = {},
): ReturnType<typeof guardedRequest> {
  return guardedRequest(url, { guard, clock, ...options })
}

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => {
      throw new Error('It did not fail')
    },
    (error: unknown) => error,
  )
}

interface Gate {
  readonly opened: Promise<void>
  open(): void
}

function latch(): Gate {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { opened: promise, open: resolve }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const port = portOf(server.address())
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Starts a server that sends `bytes` on each connection and closes it; returns its port. */
async function rawServer(bytes: string): Promise<number> {
  const server = createServer((socket) => {
    socket
      .on('error', () => undefined)
      .resume()
      .end(bytes)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => new Promise((resolve) => server.close(() => resolve())))
  return portOf(server.address())
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('It does not listen')
  return address.port
}
