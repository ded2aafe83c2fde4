/** Repeated submissions: with a key over REST and WebSocket, per caller. */
import { createHash } from 'node:crypto'

import { describe, expect, it } from 'vitest'

import { openServer, type TestServer, type TestServerOptions } from './open-server.ts'

const BODY = { inputs: { composer: 'Bach', hall: 'A' } }
const KEYS = ['alice', 'bob']

const withKeys: TestServerOptions = {
  apiKeys: KEYS.map((name) => ({
    name,
    sha256: createHash('sha256').update(`key-of-${name}`).digest('hex'),
  })),
}

const as = (name: string) => ({ authorization: `Bearer key-of-${name}` })

async function overRest(api: TestServer, body: object, headers: Record<string, string> = {}) {
  const response = await api.post('/api/runs', body, { 'idempotency-key': 'k', ...headers })
  return (await response.json()) as { runId?: string; error?: string; message?: string }
}

async function overWebSocket(api: TestServer, body: object, headers: Record<string, string> = {}) {
  await using socket = api.connect('/ws', headers)
  await socket.next('hello')
  socket.send({ type: 'run_request', idempotencyKey: 'k', ...body })
  return await socket.next('run_ack')
}

describe('an idempotency key', () => {
  it('An idempotency key identifies the same run over REST and WebSocket', async () => {
    await using api = await openServer()
    const { runId } = await overRest(api, BODY)
    expect(await overWebSocket(api, BODY)).toMatchObject({ status: 'ACCEPTED', runId })
    expect(await overRest(api, BODY)).toMatchObject({ runId })
    const conflict = { error: 'IDEMPOTENCY_CONFLICT', message: expect.stringContaining('"k"') }
    const other = { ...BODY, tags: { a: 'b' } }
    expect(await overWebSocket(api, other)).toMatchObject({ status: 'REJECTED', ...conflict })
    expect(await overRest(api, other)).toMatchObject(conflict)
    expect((await api.runs.list({ limit: 1, offset: 0 })).total).toBe(1)
  })

  it('An idempotency key of a finished run returns its result over a WebSocket, also without a subscription', async () => {
    await using api = await openServer()
    api.play()
    const { runId = '' } = await overRest(api, BODY)
    for await (const _ of api.runs.follow({ runId, from: 0 })) continue
    await using socket = api.connect()
    await socket.next('hello')
    socket.send({ type: 'subscribe', events: ['task_started'] })
    await socket.next('subscribe_ack')
    socket.send({ type: 'run_request', idempotencyKey: 'k', ...BODY })
    expect(await socket.next('run_result')).toMatchObject({ runId, status: 'COMPLETED' })
  })

  it.each([
    ['tasks', { tasks: [{ name: 'a', description: 'A' }] }],
    ['overrides', { taskOverrides: { tune: { maxIterations: 3 } } }],
    ['options', { options: { workflow: 'SEQUENTIAL' } }],
    ['a run id', { runId: 'mine' }],
  ])('An idempotency key distinguishes submissions by their %s', async (_, more) => {
    await using api = await openServer()
    await overRest(api, BODY)
    expect(await overRest(api, { ...BODY, ...more })).toMatchObject({
      error: 'IDEMPOTENCY_CONFLICT',
    })
  })

  it('An idempotency key finds the same run for a task graph with another order of fields', async () => {
    await using api = await openServer()
    const schema = { type: 'object', required: ['a'] }
    const task = { name: 'a', description: 'A', outputSchema: schema }
    const turned = {
      outputSchema: { required: ['a'], type: 'object' },
      description: 'A',
      name: 'a',
    }
    const { runId } = await overRest(api, { tasks: [task] })
    expect(await overRest(api, { tasks: [turned] })).toMatchObject({ runId })
  })

  it('An idempotency key belongs to the key of its caller, whose name is in the run', async () => {
    await using api = await openServer(withKeys)
    const [alices, bobs] = [
      await overRest(api, BODY, as('alice')),
      await overRest(api, BODY, as('bob')),
    ]
    expect(alices.runId).not.toBe(bobs.runId)
    expect(await overWebSocket(api, BODY, as('alice'))).toMatchObject({ runId: alices.runId })
    const detail = await api.get(`/api/runs/${alices.runId}`, { headers: as('bob') })
    expect(await detail.json()).toMatchObject({ submittedBy: 'alice' })
  })

  it('An idempotency key creates one run when many requests use it at the same time', async () => {
    await using api = await openServer()
    const answers = await Promise.all(Array.from({ length: 20 }, () => overRest(api, BODY)))
    expect(new Set(answers.map(({ runId }) => runId)).size).toBe(1)
    expect((await api.runs.list({ limit: 1, offset: 0 })).total).toBe(1)
  })
})

describe('a run id chosen by the client', () => {
  it('A run id chosen by the client is accepted once, also by simultaneous requests, over REST and WebSocket', async () => {
    await using api = await openServer()
    const mine = { ...BODY, runId: 'mine' }
    const answers = await Promise.all(
      Array.from({ length: 10 }, async () => (await api.post('/api/runs', mine)).status),
    )
    expect(answers.toSorted((a, b) => a - b)).toEqual([
      202,
      ...Array.from({ length: 9 }, () => 409),
    ])
    await using socket = api.connect()
    await socket.next('hello')
    socket.send({ type: 'run_request', ...mine })
    expect(await socket.next('run_ack')).toMatchObject({
      status: 'REJECTED',
      error: 'RUN_EXISTS',
      message: expect.stringContaining('mine'),
    })
  })
})
