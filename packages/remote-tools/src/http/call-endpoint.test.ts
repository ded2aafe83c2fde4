import { createServer } from 'node:net'
import { gzipSync, brotliCompressSync, deflateSync } from 'node:zlib'

import { runTool, toolContext } from '@tutti/core'
import { fakeClock } from '@tutti/testing'
import { describe, expect, it, onTestFinished } from 'vitest'

import {
  localServer,
  type Answer,
  type LocalServer,
} from '../../../../tooling/test-kit/local-server.ts'
import { httpTool, type HttpTool } from './http-tool.ts'

import type { Clock, RunToolOptions, ToolCallOutcome } from '@tutti/core'
import type { AddressInfo } from 'node:net'
import type { HttpOptions } from './options.ts'

type Options = Partial<HttpOptions> & { readonly timeoutMs?: number }

const TYPE = 'content-type'

function toolFor({ origin }: Pick<LocalServer, 'origin'>, options: Options = {}): HttpTool<string> {
  const url = `${origin}/x?key=secret`
  const tool = httpTool({ name: 'x', description: 'X', url, method: 'GET', ...options })
  onTestFinished(() => tool.close())
  return tool
}

function call(tool: HttpTool<string>, options?: RunToolOptions): Promise<ToolCallOutcome> {
  return runTool(tool, { id: 'c', name: 'x', arguments: '{"input":"i"}' }, options)
}

async function answerOf(answer: Answer, options?: Options) {
  const server = await localServer(answer)
  const { result } = await call(toolFor(server, options))
  return result
}

describe('a response below 400', () => {
  it('A response below 400 is its body as text, with status and headers as the structured result', async () => {
    const result = await answerOf((response) => {
      response.writeHead(201, { [TYPE]: 'text/plain', 'x-id': '7', 'set-cookie': 'session=1' })
      response.end('made')
    })
    expect(result).toMatchObject({
      success: true,
      output: 'made',
      structured: { status: 201, headers: { 'x-id': '7', [TYPE]: 'text/plain' } },
    })
    expect(result.structured).not.toHaveProperty('headers.set-cookie')
    expect(result.structured).not.toHaveProperty('body')
  })

  it.each(['application/json', 'application/problem+json; charset=utf-8', 'text/json'])(
    'A response below 400 has its JSON value in the structured result when it is %s',
    async (type) => {
      const result = await answerOf((response) => {
        response.setHeader(TYPE, type).end('{ "a": [1] }')
      })
      expect(result.output).toBe('{ "a": [1] }')
      expect(result.structured).toMatchObject({ body: { a: [1] } })
    },
  )

  it('A response below 400 is text when its JSON is invalid', async () => {
    const result = await answerOf((response) => {
      response.setHeader(TYPE, 'application/json').end('{')
    })
    expect(result).toMatchObject({ success: true, output: '{' })
    expect(result.structured).not.toHaveProperty('body')
  })

  it('A response below 400 is empty text without a body', async () => {
    const result = await answerOf((response) => response.writeHead(204).end())
    expect(result).toMatchObject({ success: true, output: '', structured: { status: 204 } })
  })

  it('A response below 400 is returned when it is a redirect, which is not followed', async () => {
    const server = await localServer((response) => {
      response.writeHead(302, { location: '/y' }).end()
    })
    const { result } = await call(toolFor(server))
    expect(result).toMatchObject({ success: true, output: 'HTTP 302: redirects to /y' })
    expect(server.requests).toHaveLength(1)
  })

  it('A response below 400 may follow an informational response', async () => {
    const result = await answerOf((response) => {
      response.writeEarlyHints({ link: '</a>; rel=preload' })
      response.end('fine')
    })
    expect(result).toMatchObject({ output: 'fine', structured: { status: 200 } })
  })
})

describe('a response of 400 or above', () => {
  it.each([400, 404, 500, 503])(
    'A response of 400 or above is a failure that quotes its start: %i',
    async (status) => {
      const result = await answerOf((response) => {
        response.writeHead(status, { [TYPE]: 'text/plain' }).end(`${'e'.repeat(199)}😀 more`)
      })
      expect(result).toMatchObject({
        success: false,
        output: '',
        errorMessage: `HTTP ${status}: ${'e'.repeat(199)}`,
        structured: { status },
      })
    },
  )

  it('A response of 400 or above without a body is described by its status', async () => {
    const result = await answerOf((response) => response.writeHead(401).end())
    expect(result.errorMessage).toBe('HTTP 401')
  })

  it('A response of 400 or above has the value of a JSON body in the structured result', async () => {
    const result = await answerOf((response) => {
      response.writeHead(422, { [TYPE]: 'application/json' }).end('{"error":"no"}')
    })
    expect(result.errorMessage).toBe('HTTP 422: {"error":"no"}')
    expect(result.structured).toMatchObject({ body: { error: 'no' } })
  })
})

describe('the body of a response', () => {
  it.each([
    ['latin1', 'text/plain; charset=iso-8859-1', Buffer.from('gr\xfc\xdfe', 'latin1')],
    ['utf-16', 'text/plain; charset=utf-16le', Buffer.from('grüße', 'utf16le')],
    ['no charset', 'text/plain', Buffer.from('grüße')],
    ['no charset that is known', 'text/plain; charset=klingon', Buffer.from('grüße')],
  ])('The body of a response is decoded with its charset: %s', async (_, type, bytes) => {
    const result = await answerOf((response) => response.setHeader(TYPE, type).end(bytes))
    expect(result.output).toBe('grüße')
  })

  it('The body of a response has bytes that are invalid in its charset replaced', async () => {
    const result = await answerOf((response) => {
      response.setHeader(TYPE, 'text/plain; charset=utf-8').end(Buffer.from('a\xfcb', 'latin1'))
    })
    expect(result.output).toBe('a\ufffdb')
  })

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
  ])('The body of a response is decompressed: %s', async (coding, compress) => {
    const server = await localServer((response) => {
      response.setHeader('content-encoding', coding).end(compress('hello '.repeat(1000)))
    })
    const { result } = await call(toolFor(server))
    expect(result.output).toBe('hello '.repeat(1000))
    expect(server.requests[0]?.headers['accept-encoding']).toBe('gzip, br')
  })

  it('The body of a response is counted after decompression', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, 'a'))
    const result = await answerOf(
      (response) => response.setHeader('content-encoding', 'gzip').end(bomb),
      { maxResponseBytes: 100_000 },
    )
    expect(result.output).toBe(`${'a'.repeat(100_000)}\n[response truncated at 100000 bytes]`)
  })

  it('The body of a response is a failure in an unknown or broken coding', async () => {
    const unknown = await answerOf((response) => {
      response.setHeader('content-encoding', 'zip').end('x')
    })
    expect(unknown.errorMessage).toMatch(/^HTTP request failed: Unsupported content encoding "zip"/)
    const broken = await answerOf((response) => {
      response.setHeader('content-encoding', 'gzip').end('x'.repeat(50))
    })
    expect(broken.errorMessage).toMatch(/^HTTP request failed: incorrect header check/)
  })

  it('[NET-Q3] The body of a response is truncated at the limit, between characters, and its connection is closed', async () => {
    let ended: Promise<unknown> | undefined
    const server = await localServer((response) => {
      ended = new Promise((resolve) => response.on('close', resolve))
      const more = (): void => {
        while (response.write('ü'.repeat(50_000)));
        response.once('drain', more)
      }
      response.setHeader(TYPE, 'application/json')
      more()
    })
    const { result } = await call(toolFor(server, { maxResponseBytes: 1001 }))
    expect(result).toMatchObject({
      success: true,
      output: `${'ü'.repeat(500)}\n[response truncated at 1001 bytes]`,
    })
    await ended
    await server.allClosed()
  })

  it('The body of a response is complete at exactly the limit', async () => {
    const result = await answerOf((response) => response.end('abcd'), { maxResponseBytes: 4 })
    expect(result.output).toBe('abcd')
  })
})

describe('[REMOTE-C2] a request without a response', () => {
  it('A request without a response is a failure with its cause, without the query', async () => {
    const { origin } = await closedPort()
    const { result, end } = await call(toolFor({ origin }))
    expect(end).toBe('finished')
    expect(result.errorMessage).toBe(`HTTP request failed: the connection was refused (${origin})`)
  })

  it('A request without a response is a failure when the name does not exist', async () => {
    const { result } = await call(toolFor({ origin: 'http://nowhere.invalid' }))
    expect(result.errorMessage).toMatch(
      /^HTTP request failed: the host (was not found|could not be looked up) \(http:\/\/nowhere\.invalid\)$/,
    )
  })

  it.each([
    ['before the headers', ''],
    ['within the headers', 'HTTP/1.1 200 OK\r\ncontent-le'],
    ['within the body', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'],
  ])('A request without a response is a failure when the connection breaks %s', async (_, sent) => {
    const origin = await rawServer((socket) => socket.end(sent))
    const { result } = await call(toolFor({ origin }))
    expect(result.errorMessage).toBe(`HTTP request failed: the connection was closed (${origin})`)
  })

  it('A request without a response is a failure when the response is not HTTP', async () => {
    const origin = await rawServer((socket) => socket.end('SSH-2.0-OpenSSH\r\n\r\n'))
    const { result } = await call(toolFor({ origin }))
    expect(result.errorMessage).toBe(`HTTP request failed: the response is not HTTP (${origin})`)
  })
})

describe('[NET-Q2] the time limit of a call', () => {
  it('The time limit of a call covers headers that do not arrive', async () => {
    await expectTimeout(() => undefined)
  })

  it('The time limit of a call covers a body that arrives slowly', async () => {
    await expectTimeout((response) => {
      const drip = setInterval(() => response.write('.'), 5)
      response.on('close', () => {
        clearInterval(drip)
      })
    })
  })

  it('The time limit of a call covers a body that stops', async () => {
    await expectTimeout((response) => response.write('half'))
  })

  async function expectTimeout(answer: Answer): Promise<void> {
    const clock = fakeClock()
    const arrived = Promise.withResolvers<void>()
    const server = await localServer((response, request) => {
      arrived.resolve()
      return answer(response, request)
    })
    const calling = call(toolFor(server, { timeoutMs: 1234 }), { clock })
    await arrived.promise
    await clock.advance(1234)
    expect(await calling).toMatchObject({
      end: 'timed_out',
      result: { success: false, errorMessage: 'Tool "x" timed out after 1234 ms' },
    })
    await server.allClosed()
    expect(clock.pending).toBe(0)
  }

  it('The time limit of a call ends with the signal of the caller at every stage', async () => {
    for (const answer of [() => undefined, (response) => response.write('half')] as Answer[]) {
      const controller = new AbortController()
      const server = await localServer((response, request) => {
        setImmediate(() => {
          controller.abort()
        })
        return answer(response, request)
      })
      const { end } = await call(toolFor(server), { signal: controller.signal })
      expect(end).toBe('cancelled')
      await server.allClosed()
    }
  })

  it('A call that has already ended sends nothing', async () => {
    const server = await localServer((response) => response.end())
    const signal = AbortSignal.abort(new Error('over'))
    const result = await toolFor(server).call({ input: 'i' }, toolContext({ signal }))
    expect(result.errorMessage).toBe('HTTP request failed: over')
    expect(server.requests).toEqual([])
    expect(server.connections).toBe(0)
  })
})

describe('[REMOTE-T1] a request that failed', () => {
  const retries = { max: 2, firstDelayMs: 1000 }

  it('A request that failed is retried until it succeeds', async () => {
    const { result, server, waits } = await retried([503, 'broken', 200], { retries })
    expect(result.output).toBe('fine')
    expect(server.requests).toHaveLength(3)
    expect(waits[0]).toBeGreaterThanOrEqual(500)
    expect(waits[0]).toBeLessThanOrEqual(1000)
    expect(waits[1]).toBeGreaterThanOrEqual(1000)
    expect(waits[1]).toBeLessThanOrEqual(2000)
  })

  it('A request that failed is retried at most as often as allowed', async () => {
    const { result, server } = await retried([503, 503, 503, 200], { retries })
    expect(result.errorMessage).toBe('HTTP 503')
    expect(server.requests).toHaveLength(3)
  })

  it('A request that failed is not retried by default, or for other reasons', async () => {
    expect((await retried([503, 200], {})).server.requests).toHaveLength(1)
    expect((await retried([500, 200], { retries })).server.requests).toHaveLength(1)
    const only = { retries: { max: 1, on: [500] } } as const
    expect((await retried(['broken', 200], only)).server.requests).toHaveLength(1)
    expect((await retried([500, 200], only)).result.output).toBe('fine')
  })

  it('[REMOTE-T2] A request that failed waits as long as the server requires', async () => {
    const { waits, result } = await retried([429, 200], { retries }, '7')
    expect(waits).toEqual([7000])
    expect(result.output).toBe('fine')
    const at = await retried(
      [503, 200],
      { retries },
      new Date(Date.UTC(2026, 0, 1, 0, 0, 9)).toUTCString(),
    )
    expect(at.waits).toEqual([9000])
  })

  it('[REMOTE-T3] A request that failed fails when the server requires a longer delay than the call has left', async () => {
    const { waits, result } = await retried([429, 200], { retries, timeoutMs: 5000 }, '7')
    expect(waits).toEqual([])
    expect(result.errorMessage).toBe('HTTP 429')
  })

  it('[REMOTE-C3] A request that failed is not retried after an abort', async () => {
    const clock = fakeClock()
    const controller = new AbortController()
    const server = await localServer((response) => response.writeHead(503).end())
    const tool = toolFor(server, { retries, clock })
    const calling = call(tool, { signal: controller.signal })
    await waiting(clock)
    controller.abort()
    expect((await calling).end).toBe('cancelled')
    expect(clock.pending).toBe(0)
    expect(server.requests).toHaveLength(1)
  })

  async function retried(
    answers: readonly (number | 'broken')[],
    options: Options,
    retryAfter?: string,
  ) {
    const clock = fakeClock()
    const waits: number[] = []
    const recording: Clock = {
      ...clock,
      after(delayMs, callback) {
        waits.push(delayMs)
        return clock.after(delayMs, callback)
      },
    }
    let count = 0
    const server = await localServer((response) => {
      const answer = answers[count]
      count += 1
      if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter)
      if (answer === 'broken') response.destroy()
      else response.writeHead(answer ?? 500).end(answer === 200 ? 'fine' : '')
    })
    let over = false
    const calling = call(toolFor(server, { ...options, clock: recording })).finally(() => {
      over = true
    })
    for (;;) {
      await waiting(clock, () => over)
      if (over) break
      await clock.advance(waits.at(-1) ?? 0)
    }
    return { result: (await calling).result, server, waits }
  }

  async function waiting(clock: { readonly pending: number }, over = () => false): Promise<void> {
    while (clock.pending === 0 && !over()) {
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
})

async function rawServer(
  onConnection: (socket: import('node:net').Socket) => void,
): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => {
      onConnection(socket)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  // NOTE: the address of a TCP server has this type.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Returns a port without a listener. */
async function closedPort(): Promise<{ readonly origin: string }> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // NOTE: the address of a TCP server has this type.
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return { origin: `http://127.0.0.1:${port}` }
}
