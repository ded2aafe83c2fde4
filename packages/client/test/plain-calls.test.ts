/** Plain calls: their requests, their answers, and the error of each failure. */
import { getEventListeners } from 'node:events'

import { describe, expect, it, vi } from 'vitest'

import { createClient, TuttiClientError } from '../src/index.ts'
import type { Fetch } from '../src/internal.ts'
import { recordingClock, START } from './recording-clock.ts'
import { wireServer } from './wire-server.ts'

import type { RunAccepted, RunDetail, RunList, ServerStatus } from '@tutti/protocol'

const ACCEPTED: RunAccepted = {
  runId: 'run-1',
  status: 'ACCEPTED',
  tasks: 2,
  workflow: 'SEQUENTIAL',
}

const STATUS: ServerStatus = { status: 'running', clients: 0, port: 7329 }

const DETAIL: RunDetail = {
  runId: 'run-1',
  status: 'RUNNING',
  startedAt: '2026-01-01T00:00:00.000Z',
  workflow: 'SEQUENTIAL',
  inputs: {},
  tags: {},
  tasks: [],
  metrics: { totalTokens: 0, totalToolCalls: 0 },
  pendingReviews: [],
  ensemble: 'sample',
  lastSeq: 0,
}

const LIST: RunList = { runs: [], total: 0 }

/** The error that a promise rejects with. */
async function failure(promise: Promise<unknown>): Promise<TuttiClientError> {
  try {
    await promise
  } catch (error) {
    if (TuttiClientError.isInstance(error)) return error
    throw error
  }
  throw new Error('The call must fail')
}

describe('the client', () => {
  it('The client sends the idempotency key of a submit as a header, and no header without a key', async () => {
    await using server = await wireServer((exchange) => {
      exchange.json(202, ACCEPTED)
    })
    const client = createClient({ baseUrl: server.url, headers: { 'X-Team': 'a' } })
    await client.runs.submit({ inputs: {} }, { idempotencyKey: 'order-7' })
    await client.runs.submit({ inputs: {} })
    const [keyed, plain] = server.exchanges.map(({ headers }) => headers)
    expect(keyed).toMatchObject({ 'idempotency-key': 'order-7', 'x-team': 'a' })
    expect(plain).not.toHaveProperty('idempotency-key')
  })

  it('The client switches models, guides agents, and lists and decides reviews with the given values', async () => {
    const answers: Readonly<Record<string, unknown>> = {
      '/api/runs/run%2F1/model': {
        runId: 'run/1',
        model: 'small',
        previousModel: 'large',
        status: 'APPLIED',
      },
      '/api/runs/run-1/inject': { directiveId: 'd-1', status: 'ACTIVE' },
      '/api/reviews?runId=run-1': { reviews: [], total: 0 },
      '/api/reviews': { reviews: [], total: 0 },
      '/api/reviews/review%3A1': { reviewId: 'review:1', decision: 'REJECT', status: 'APPLIED' },
    }
    await using server = await wireServer((exchange) => {
      exchange.json(200, answers[exchange.url])
    })
    const { runs, reviews } = createClient({ baseUrl: server.url })
    const given = [
      await runs.switchModel('run/1', 'small'),
      await runs.switchModel('run/1', 'small', { taskName: 'write' }),
      await runs.switchModel('run/1', { tier: 'fallback' }),
      await runs.inject('run-1', 'Faster'),
      await runs.inject('run-1', { action: 'APPLY_PROFILE', value: 'night' }, { target: 'write' }),
      await runs.inject('run-1', 'Now', { target: 'write', priority: 'HIGH', ttl: 'PT5S' }),
      await reviews.list({ runId: 'run-1' }),
      await reviews.list(),
      await reviews.decide('review:1', { decision: 'REJECT', feedback: 'Shorter' }),
    ]
    expect(given).toEqual(server.exchanges.map(({ url }) => answers[url]))
    expect(server.exchanges.map(({ method, body }) => [method, body && JSON.parse(body)])).toEqual([
      ['POST', { model: 'small' }],
      ['POST', { model: 'small', taskName: 'write' }],
      ['POST', { tier: 'fallback' }],
      ['POST', { content: 'Faster' }],
      ['POST', { action: 'APPLY_PROFILE', value: 'night', target: 'write' }],
      ['POST', { content: 'Now', target: 'write', priority: 'HIGH', ttl: 'PT5S' }],
      ['GET', ''],
      ['GET', ''],
      ['POST', { decision: 'REJECT', feedback: 'Shorter' }],
    ])
  })

  it('The client submits a run as JSON, with the key and the headers of the client', async () => {
    await using server = await wireServer((exchange) => {
      exchange.json(202, ACCEPTED)
    })
    const client = createClient({ baseUrl: server.url, apiKey: 'k-1', headers: { 'X-Team': 'a' } })
    const body = { inputs: { topic: 'Tee & Kaffee' }, runId: 'run-1' }

    await expect(client.runs.submit(body)).resolves.toEqual(ACCEPTED)
    const { method, url, headers, body: sent } = await server.exchange(0)
    expect([method, url, JSON.parse(sent)]).toEqual(['POST', '/api/runs', body])
    expect(headers).toMatchObject({
      authorization: 'Bearer k-1',
      'x-team': 'a',
      'content-type': 'application/json',
      accept: 'application/json',
    })
  })

  it('The client uses GET without a body to read', async () => {
    await using server = await wireServer((exchange) => {
      exchange.json(200, exchange.url === '/api/runs/run-1' ? DETAIL : STATUS)
    })
    const client = createClient({ baseUrl: server.url })

    await expect(client.runs.get('run-1')).resolves.toEqual(DETAIL)
    await expect(client.status()).resolves.toEqual(STATUS)
    expect(server.exchanges.map(({ method, url, body }) => [method, url, body])).toEqual([
      ['GET', '/api/runs/run-1', ''],
      ['GET', '/api/status', ''],
    ])
    expect(server.exchanges[0]?.headers).not.toHaveProperty('authorization')
    expect(server.exchanges[0]?.headers).not.toHaveProperty('content-type')
  })

  it('The client encodes the path and the query', async () => {
    await using server = await wireServer((exchange) => {
      exchange.json(200, exchange.url.startsWith('/api/runs?') ? LIST : DETAIL)
    })
    const client = createClient({ baseUrl: server.url })

    await client.runs.list({ tag: 'team:a&b=c #1+', status: 'RUNNING', limit: 5, offset: 0 })
    await client.runs.get('a/b?c')
    await client.runs.list({ status: 'RUNNING,FAILED', ensemble: 'a & b', q: '100%_ä' })
    const [list, get, several] = server.exchanges
    expect(Object.fromEntries(list?.query ?? [])).toEqual({
      tag: 'team:a&b=c #1+',
      status: 'RUNNING',
      limit: '5',
      offset: '0',
    })
    expect(get?.url).toBe('/api/runs/a%2Fb%3Fc')
    expect(Object.fromEntries(several?.query ?? [])).toEqual({
      status: 'RUNNING,FAILED',
      ensemble: 'a & b',
      q: '100%_ä',
    })
  })

  it('The client omits an empty query', async () => {
    await using server = await wireServer((exchange) => {
      exchange.json(200, LIST)
    })
    const client = createClient({ baseUrl: server.url })
    await client.runs.list()
    await client.runs.list({})
    expect(server.exchanges.map(({ url }) => url)).toEqual(['/api/runs', '/api/runs'])
  })

  it('The client sends a body with a cancel only if there is a mode', async () => {
    await using server = await wireServer((exchange) => {
      exchange.json(200, { runId: 'run-1', status: 'CANCELLING' })
    })
    const client = createClient({ baseUrl: server.url })
    await client.runs.cancel('run-1')
    await client.runs.cancel('run-1', { mode: 'abort' })
    await client.runs.cancel('run-1', { mode: 'boundary' })
    expect(server.exchanges.map(({ url, body }) => [url, body])).toEqual([
      ['/api/runs/run-1/cancel', ''],
      ['/api/runs/run-1/cancel', '{"mode":"abort"}'],
      ['/api/runs/run-1/cancel', '{"mode":"boundary"}'],
    ])
  })

  it('The client prepends the path of the base address to every route', async () => {
    await using server = await wireServer((exchange) => {
      exchange.json(200, STATUS)
    })
    await createClient({ baseUrl: `${server.url}/tutti/` }).status()
    expect(server.exchanges[0]?.url).toBe('/tutti/api/status')
  })

  it('The client sends requests with the given fetch', async () => {
    const urls: string[] = []
    const client = createClient({
      baseUrl: 'http://tutti.example',
      fetch: (url) => {
        urls.push(url)
        return Promise.resolve(Response.json(STATUS))
      },
    })
    await client.status()
    expect(urls).toEqual(['http://tutti.example/api/status'])
  })

  it('The client rejects an empty run id before a request is sent', async () => {
    const client = createClient({ baseUrl: 'http://127.0.0.1:1' })
    await expect(client.runs.get('')).rejects.toThrow(TypeError)
    await expect(client.runs.cancel('..')).rejects.toThrow(TypeError)
    await expect(client.runs.result('')).rejects.toThrow(TypeError)
    expect(() => client.runs.events('')).toThrow(TypeError)
  })
})

describe('refusals', () => {
  it('Refusals contain the code, message and problems of the server', async () => {
    const problems = [{ path: '/inputs/topic', message: 'is required', expected: 'string' }]
    const message = 'Invalid request body: /inputs/topic is required'
    await using server = await wireServer((exchange) => {
      exchange.json(400, { error: 'BAD_REQUEST', message, problems })
    })
    const error = await failure(createClient({ baseUrl: server.url }).runs.submit({}))
    expect(error).toMatchObject({ code: 'BAD_REQUEST', status: 400, problems, retryable: false })
    expect(error.message).toBe(`POST /api/runs returned 400 BAD_REQUEST: ${message}`)
  })

  it('Refusals contain the delay before a retry, from the body rather than the header', async () => {
    await using server = await wireServer((exchange, index) => {
      const body = { error: 'CONCURRENCY_LIMIT', message: 'Full' }
      const headers = { 'retry-after': '7' }
      exchange.json(429, index === 0 ? body : { ...body, retryAfterMs: 6_500 }, headers)
    })
    const { runs } = createClient({ baseUrl: server.url })
    const first = await failure(runs.submit({}))
    expect(first).toMatchObject({ code: 'CONCURRENCY_LIMIT', retryAfterMs: 7_000, retryable: true })
    expect(await failure(runs.submit({}))).toMatchObject({ retryAfterMs: 6_500 })
  })

  it('Refusals resolve the date of a Retry-After against the clock of the client', async () => {
    await using server = await wireServer((exchange) => {
      const headers = { 'retry-after': new Date(START + 90_000).toUTCString() }
      exchange.json(503, { error: 'DRAINING', message: 'Bye' }, headers)
    })
    const client = createClient({ baseUrl: server.url, clock: recordingClock() })
    expect(await failure(client.runs.submit({}))).toMatchObject({ retryAfterMs: 90_000 })
  })

  it('Refusals contain the request id of a fault', async () => {
    await using server = await wireServer((exchange) => {
      exchange.json(500, { error: 'INTERNAL', message: 'Oops', requestId: 'r-9' })
    })
    const error = await failure(createClient({ baseUrl: server.url }).status())
    expect(error).toMatchObject({ code: 'INTERNAL', requestId: 'r-9', retryable: true })
  })

  it.each([
    [502, '<html>Bad Gateway</html>', true],
    [503, '', true],
    [404, '{"detail":"Not Found"}', false],
    [418, '{"error":"TEAPOT","message":"short and stout"}', false],
  ])(
    'Refusals with %i and %j become a BAD_RESPONSE that quotes the body',
    async (status, body, retryable) => {
      await using server = await wireServer((exchange) => {
        exchange.answer(status, body)
      })
      const error = await failure(createClient({ baseUrl: server.url }).status())
      expect(error).toMatchObject({ code: 'BAD_RESPONSE', status, retryable })
      const quoted = body === '' ? 'an empty text' : JSON.stringify(body)
      expect(error.message).toBe(`GET /api/status returned ${status}: ${quoted}`)
    },
  )
})

describe('invalid answers', () => {
  it.each(['<!doctype html>', '', '{"status":'])(
    'Invalid answers fail with %j, which is not JSON',
    async (text) => {
      await using server = await wireServer((exchange) => {
        exchange.answer(200, text)
      })
      const error = await failure(createClient({ baseUrl: server.url }).status())
      expect(error).toMatchObject({ code: 'BAD_RESPONSE', status: 200, retryable: false })
      expect(error.message).toContain('Cannot read the response to GET /api/status: must be JSON')
    },
  )

  it('Invalid answers fail with every problem if JSON has the wrong shape', async () => {
    await using server = await wireServer((exchange) => {
      exchange.json(200, { ...STATUS, clients: 'two', port: -1 })
    })
    const error = await failure(createClient({ baseUrl: server.url }).status())
    expect(error.code).toBe('BAD_RESPONSE')
    expect(error.problems?.map(({ path }) => path)).toEqual(['/clients', '/port'])
    expect(error.message).toContain('/clients must be')
  })

  it('Invalid answers may contain unknown fields', async () => {
    await using server = await wireServer((exchange) => {
      exchange.json(200, { ...STATUS, mood: 'good' })
    })
    await expect(createClient({ baseUrl: server.url }).status()).resolves.toMatchObject(STATUS)
  })
})

describe('network failures', () => {
  it('Network failures report a refused connection', async () => {
    const server = await wireServer(() => undefined)
    await server[Symbol.asyncDispose]()
    const error = await failure(createClient({ baseUrl: server.url }).status())
    expect(error).toMatchObject({ code: 'CONNECTION_FAILED', retryable: true, status: undefined })
    expect(error.message).toMatch(/^GET \/api\/status failed: .*ECONNREFUSED/)
    expect(error.cause).toBeInstanceOf(Error)
  })

  it('Network failures report a connection that broke during the answer', async () => {
    await using server = await wireServer(async (exchange) => {
      exchange.open()
      await exchange.write('{"status":')
      exchange.drop()
    })
    const error = await failure(createClient({ baseUrl: server.url }).status())
    expect(error.code).toBe('CONNECTION_FAILED')
  })

  it.each(['headers', 'body'])('Network failures include %s that take too long', async (part) => {
    const clock = recordingClock()
    await using server = await wireServer((exchange) => {
      if (part === 'body') exchange.open()
    })
    const client = createClient({ baseUrl: server.url, clock, timeoutMs: 2_000 })
    const failed = failure(client.status())
    const { closed } = await server.exchange(0)
    await clock.pass(2_000)
    const error = await failed
    expect(error).toMatchObject({ code: 'TIMED_OUT', retryable: true })
    expect(error.message).toBe('GET /api/status took longer than 2000 ms')
    await closed
  })

  it('Network failures leave no timer after an answer', async () => {
    const clock = recordingClock()
    await using server = await wireServer((exchange) => {
      exchange.json(200, STATUS)
    })
    await createClient({ baseUrl: server.url, clock }).status()
    expect(clock.delays).toEqual([30_000])
    expect(clock.waiting).toEqual([])
  })

  it('Network failures end the call even if fetch ignores the signal', async () => {
    const clock = recordingClock()
    const fetch = (): Promise<Response> => new Promise(() => undefined)
    const failed = failure(createClient({ baseUrl: 'http://x', clock, fetch }).status())
    await clock.pass(30_000)
    expect(await failed).toMatchObject({ code: 'TIMED_OUT' })
  })

  it('Network failures include a fetch that throws', async () => {
    const fetch = (): never => {
      throw new Error('no network here')
    }
    const error = await failure(createClient({ baseUrl: 'http://x', fetch }).status())
    expect(error).toMatchObject({ code: 'CONNECTION_FAILED' })
    expect(error.message).toContain('no network here')
  })
})

describe('aborts', () => {
  it('An aborted call sends no request if the signal has already aborted', async () => {
    const fetch = vi.fn<Fetch>()
    const client = createClient({ baseUrl: 'http://tutti.example', fetch })
    const error = await failure(client.runs.get('run-1', { signal: AbortSignal.abort('late') }))
    expect(error).toMatchObject({ code: 'ABORTED', cause: 'late', retryable: false })
    expect(fetch).not.toHaveBeenCalled()
  })

  it('An abort leaves no listener on the signal after the call', async () => {
    await using server = await wireServer((exchange) => {
      exchange.json(200, STATUS)
    })
    const { signal } = new AbortController()
    await createClient({ baseUrl: server.url }).status({ signal })
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  it('An abort closes the connection of the call', async () => {
    await using server = await wireServer(() => undefined)
    const client = createClient({ baseUrl: server.url, clock: recordingClock() })
    const caller = new AbortController()
    const failed = failure(client.runs.submit({}, { signal: caller.signal }))
    const { closed } = await server.exchange(0)
    caller.abort()
    expect(await failed).toMatchObject({ code: 'ABORTED' })
    await closed
  })
})
