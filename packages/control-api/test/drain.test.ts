import { apiKey } from '@tutti/control-api'
import { describe, expect, it } from 'vitest'
import { anyone } from '@tutti/gateway/internal'

import { lifecycleRoutes } from '../src/routes/lifecycle.ts'
import { eventsOf, openServer, type TestServer } from './open-server.ts'

import type { ServerStatus } from '@tutti/protocol'

const ADMIN = { name: 'admin', scopes: ['admin'] } as const

const BODY = { inputs: { composer: 'Bach', hall: 'A' } }

/** Serves a control API whose drain refuses new runs but still responds. */
async function serveDrainable() {
  const begun = Promise.withResolvers<void>()
  let drained: Promise<void> | undefined
  const api: TestServer = await openServer({
    drain: () => {
      drained = api.runs.close({ drainTimeoutMs: 60_000 })
      begun.resolve()
    },
  })
  return { api, begun: begun.promise, drained: () => drained }
}

async function readAnswer(response: Response): Promise<[number, unknown]> {
  return [response.status, await response.json()]
}

describe('the phase of a server', () => {
  it('The phase of a server is STARTING and not ready until its runs are, and STOPPED after they have stopped', async () => {
    const held = Promise.withResolvers<void>()
    await using api = await openServer({ beforeStart: held.promise })
    expect(await readAnswer(await api.get('/api/status'))).toMatchObject([
      200,
      { lifecycleState: 'STARTING', activeTasks: 0 },
    ])
    expect(await readAnswer(await api.get('/api/health/ready'))).toEqual([
      503,
      { status: 'NOT_READY', lifecycleState: 'STARTING' },
    ])
    held.resolve()
    await expect.poll(async () => (await api.get('/api/health/ready')).status).toBe(200)
    await api.runs.close({ drainTimeoutMs: 1_000 })
    expect(await readAnswer(await api.get('/api/health/ready'))).toEqual([
      503,
      { status: 'NOT_READY', lifecycleState: 'STOPPED' },
    ])
  })

  it('The phase of a server is reported with the number of running tasks', async () => {
    await using api = await openServer()
    await api.submit()
    await api.submit()
    const activeTasks = async () => {
      const { activeTasks: count } = (await (await api.get('/api/status')).json()) as ServerStatus
      return count
    }
    await expect.poll(activeTasks).toBe(2)
    api.play()
    await expect.poll(activeTasks).toBe(0)
  })
})

describe('POST /api/lifecycle/drain', () => {
  it('POST /api/lifecycle/drain responds, then drains: refuses new runs, readiness is 503, and running ones may end', async () => {
    const { api, begun, drained } = await serveDrainable()
    await using _ = api
    const runId = await api.submit()
    const events = api.get(`/api/runs/${runId}/events`)
    const response = await api.post('/api/lifecycle/drain', '')
    expect(await readAnswer(response)).toEqual([200, { status: 'DRAINING' }])
    expect(response.headers.get('content-type')).toBe('application/json')
    await begun
    expect(await readAnswer(await api.post('/api/runs', BODY))).toEqual([
      503,
      {
        error: 'DRAINING',
        message: 'This server is shutting down and does not accept new runs',
        retryAfterMs: expect.any(Number),
      },
    ])
    expect(await readAnswer(await api.get('/api/health/ready'))).toEqual([
      503,
      { status: 'NOT_READY', lifecycleState: 'DRAINING' },
    ])
    expect(await readAnswer(await api.get('/api/health/live'))).toEqual([200, { status: 'UP' }])
    expect(await readAnswer(await api.get('/api/status'))).toMatchObject([
      200,
      { lifecycleState: 'DRAINING' },
    ])
    api.play()
    expect((await eventsOf(await events)).at(-1)).toMatchObject({ status: 'COMPLETED' })
    await drained()
  })

  it('POST /api/lifecycle/drain returns the same when repeated, and drains once', async () => {
    let drains = 0
    const first = Promise.withResolvers<void>()
    await using api = await openServer({
      drain: () => {
        drains += 1
        first.resolve()
      },
    })
    for (let asked = 0; asked < 3; asked += 1) {
      expect(await readAnswer(await api.post('/api/lifecycle/drain', ''))).toEqual([
        200,
        { status: 'DRAINING' },
      ])
    }
    await first.promise
    await api.get('/api/status')
    expect(drains).toBe(1)
  })

  it('POST /api/lifecycle/drain sends its whole response before a server that stops at once is gone', async () => {
    let stopped: PromiseLike<void> | undefined
    const api: TestServer = await openServer({
      drain: () => {
        stopped = api[Symbol.asyncDispose]()
      },
    })
    await using socket = api.connect()
    await socket.next('hello')
    const closed = socket.closed()
    expect(await readAnswer(await api.post('/api/lifecycle/drain', ''))).toEqual([
      200,
      { status: 'DRAINING' },
    ])
    // WebSockets are closed with "going away".
    expect(await closed).toEqual([1001, 'The server is shutting down'])
    await stopped
  })

  it('POST /api/lifecycle/drain returns 501 for a server that does not support draining by request', async () => {
    await using api = await openServer()
    expect(await readAnswer(await api.post('/api/lifecycle/drain', ''))).toMatchObject([
      503,
      { error: 'NOT_CONFIGURED' },
    ])
    expect((await api.get('/api/health/ready')).status).toBe(200)
  })

  it('POST /api/lifecycle/drain requires the scope admin if keys are configured', async () => {
    let drains = 0
    const drained = Promise.withResolvers<void>()
    await using api = await openServer({
      apiKeys: [apiKey('key-of-a-user', { name: 'user' }), apiKey('key-of-admin', ADMIN)],
      drain: () => {
        drains += 1
        drained.resolve()
      },
    })
    const ask = (headers: Record<string, string>) => api.post('/api/lifecycle/drain', '', headers)
    expect((await ask({})).status).toBe(401)
    expect(await readAnswer(await ask({ authorization: 'Bearer key-of-a-user' }))).toMatchObject([
      403,
      { error: 'FORBIDDEN' },
    ])
    expect(drains).toBe(0)
    expect((await ask({ authorization: 'Bearer key-of-admin' })).status).toBe(200)
    await drained.promise
  })

  it.each([
    ['127.0.0.1', true],
    ['127.1.2.3', true],
    ['::1', true],
    ['::ffff:127.0.0.1', true],
    ['192.168.1.7', false],
    ['10.127.0.1', false],
    ['::ffff:192.168.1.7', false],
    ['2001:db8::1', false],
    ['127.0.0.1.example.com', false],
    [undefined, false],
  ])(
    'POST /api/lifecycle/drain without keys responds to a caller from %s: %s',
    async (remoteAddress, isLocal) => {
      const [route] = lifecycleRoutes({ drain: () => undefined })
      const request = new Request('http://localhost/api/lifecycle/drain', { method: 'POST' })
      const call = {
        request,
        parameters: {},
        caller: anyone(remoteAddress),
        addSubject: () => undefined,
      }
      const answer = async () => route?.handle(call)
      if (isLocal) expect(await bodyOf(await answer())).toEqual({ status: 'DRAINING' })
      else await expect(answer()).rejects.toMatchObject({ code: 'FORBIDDEN' })
    },
  )

  it('POST /api/lifecycle/drain with a key responds to callers from any address', async () => {
    const [route] = lifecycleRoutes({ drain: () => undefined })
    const request = new Request('http://localhost/api/lifecycle/drain', { method: 'POST' })
    const caller = { ...anyone('192.168.1.7'), name: 'admin' }
    const response = await route?.handle({
      request,
      parameters: {},
      caller,
      addSubject: () => undefined,
    })
    expect(await bodyOf(response)).toEqual({ status: 'DRAINING' })
  })
})

async function bodyOf(answer: unknown): Promise<unknown> {
  if (answer instanceof Response) return answer.json()
  throw new TypeError('The route did not answer with a response')
}
