/** State of an unfinished run: its detail, the list, and model switches. */
import { decode, RunDetail, ROUTES } from '@tutti/protocol'
import { describe, expect, it } from 'vitest'

import { eventsOf, openServer, type TestServer } from './open-server.ts'

import type { LoggedRunEvent, RunList } from '@tutti/protocol'

/** Submits a run, and returns its id when its second task waits in its tool. */
async function submitWorkingRun(api: TestServer): Promise<string> {
  const runId = await api.submit()
  await waitForEvent(
    api,
    runId,
    (event) => event.type === 'metrics_snapshot' && event.taskName === 'play',
  )
  return runId
}

async function waitForEvent(
  api: TestServer,
  runId: string,
  is: (event: LoggedRunEvent) => boolean,
) {
  for await (const batch of api.runs.follow({ runId, from: 0 })) if (batch.some(is)) return
}

const list = async (api: TestServer, query = ''): Promise<RunList> => {
  const response = await api.get(`/api/runs${query}`)
  const body: unknown = await response.json()
  const decoded = decode(ROUTES.listRuns.response, body)
  if (!decoded.ok) throw new Error(JSON.stringify(body))
  return decoded.value
}

describe('an unfinished run', () => {
  it('An unfinished run shows its tasks, each with its status and usage', async () => {
    await using api = await openServer()
    const runId = await submitWorkingRun(api)
    const detail = await api.detail(runId)
    expect(decode(RunDetail, detail)).toMatchObject({ ok: true })
    expect(detail).toMatchObject({
      status: 'RUNNING',
      inputs: { composer: 'Bach', hall: 'A' },
      tasks: [
        { name: 'tune', description: 'Tune for Bach', status: 'COMPLETED', toolCallCount: 0 },
        { name: 'play', status: 'RUNNING', attempt: 1 },
      ],
      pendingReviews: [],
    })
    expect(detail).not.toHaveProperty('completedAt')
    const [tune, play] = detail.tasks
    expect(tune?.output).toBe('All instruments are in tune now')
    expect([tune?.tokenCount, play?.tokenCount].every((count = 0) => count > 0)).toBe(true)
    expect(detail.metrics.totalTokens).toBe((tune?.tokenCount ?? 0) + (play?.tokenCount ?? 0))
    api.play()
    await eventsOf(await api.get(`/api/runs/${runId}/events`))
    const ended = await api.detail(runId)
    expect(ended.tasks.map(({ status }) => status)).toEqual(['COMPLETED', 'COMPLETED'])
    expect(ended.metrics.totalTokens).toBeGreaterThan(detail.metrics.totalTokens)
    expect(ended.metrics.totalToolCalls).toBe(1)
  })

  it('An unfinished run that is queued has no tasks and no cost', async () => {
    await using api = await openServer({ limits: { maxConcurrentRuns: 1 } })
    await submitWorkingRun(api)
    const waiting = await api.detail(await api.submit())
    expect(waiting).toMatchObject({
      status: 'ACCEPTED',
      tasks: [],
      metrics: { totalTokens: 0, totalToolCalls: 0, costUsd: 0 },
    })
  })

  it('An unfinished run has no cost once a price is unknown', async () => {
    await using api = await openServer()
    const { metrics } = await api.detail(await submitWorkingRun(api))
    expect(metrics).not.toHaveProperty('costUsd')
  })

  it('An unfinished run shows its current task in the list, and none after its end', async () => {
    await using api = await openServer()
    const runId = await submitWorkingRun(api)
    const [run] = (await list(api)).runs
    expect(run).toMatchObject({
      runId,
      status: 'RUNNING',
      durationMs: null,
      taskCount: 2,
      completedTasks: 1,
      currentTask: { name: 'play', index: 1 },
    })
    await using socket = api.connect()
    await socket.next('hello')
    const filter = { status: 'RUNNING', limit: 1 }
    socket.send({ type: 'state_query', requestId: 'q', query: 'runs', filter })
    expect((await socket.next('state_response')).data).toEqual({ runs: [run], total: 1 })
    api.play()
    await eventsOf(await api.get(`/api/runs/${runId}/events`))
    const [ended] = (await list(api)).runs
    expect(ended).toMatchObject({ completedTasks: 2, durationMs: expect.any(Number) })
    expect(ended).not.toHaveProperty('currentTask')
  })
})

describe('a list of runs', () => {
  it('A list of runs is paged, newest first, with the total of matching runs', async () => {
    await using api = await openServer({ limits: { maxConcurrentRuns: 1 } })
    for (const [index, batch] of ['a', 'b', 'a', 'b', 'a'].entries()) {
      const body = {
        runId: `run-${index}`,
        inputs: { composer: 'Bach', hall: 'A' },
        tags: { batch, 'a:b': 'c' },
      }
      expect((await api.post('/api/runs', body)).status).toBe(202)
    }
    const ids = async (query: string) => {
      const { runs, total } = await list(api, query)
      return [...runs.map(({ runId }) => runId), total]
    }
    expect(await ids('?limit=2')).toEqual(['run-4', 'run-3', 5])
    expect(await ids('?limit=2&offset=4')).toEqual(['run-0', 5])
    expect(await ids('?offset=9')).toEqual([5])
    expect(await ids('?tag=batch:a')).toEqual(['run-4', 'run-2', 'run-0', 3])
    expect(await ids('?tag=batch:a&limit=1&offset=1')).toEqual(['run-2', 3])
    expect(await ids('?tag=batch')).toHaveLength(6)
    expect(await ids('?tag=none')).toEqual([0])
    expect(await ids('?status=accepted&limit=1')).toHaveLength(2)
    expect(await ids('?status=COMPLETED')).toEqual([0])
    expect(await ids('?status=COMPLETED,accepted&limit=1')).toHaveLength(2)
    expect(await ids('?ensemble=band&limit=1')).toEqual(['run-4', 5])
    expect(await ids('?ensemble=ban')).toEqual([0])
    expect(await ids('?q=RUN-3')).toEqual(['run-3', 1])
    expect(await ids('?q=bac&limit=1')).toEqual(['run-4', 5])
    expect(await ids('?q=%25')).toEqual([0])
    const first = await list(api, '?limit=2&tag=batch:a')
    const second = await list(api, `?limit=2&tag=batch:a&cursor=${first.nextCursor}`)
    expect([second.runs.map(({ runId }) => runId), second.total]).toEqual([['run-0'], 3])
    expect(second).not.toHaveProperty('nextCursor')
    expect(second).not.toHaveProperty('totalCapped')
    expect(await ids('?q=B&tag=batch:b&status=RUNNING,ACCEPTED')).toEqual(['run-3', 'run-1', 2])
  })

  it.each([
    'limit=0',
    'limit=1001',
    'limit=x',
    'offset=-1',
    'offset=10001',
    'cursor=',
    'cursor=-1',
    'cursor=run-1',
    'status=DONE',
    'status=RUNNING,DONE',
    'status=RUNNING,',
    'status=',
    'ensemble=',
    'q=',
    `q=${'x'.repeat(201)}`,
    'tag=',
    'limit=1&limit=2',
    'x=1',
  ])('A list of runs is refused for %s', async (query) => {
    await using api = await openServer()
    const response = await api.get(`/api/runs?${query}`)
    const path = `/${query.split('=')[0] ?? ''}`
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: 'BAD_REQUEST', problems: [{ path }] },
    ])
  })
})

describe('an unknown status', () => {
  it('An unknown status is refused with the list of known ones, over REST and WebSocket', async () => {
    await using api = await openServer()
    const refusal = {
      error: 'BAD_REQUEST',
      problems: [{ path: '/status', message: expect.stringContaining('"WAITING_REVIEW", ') }],
    }
    const response = await api.get('/api/runs?status=running,paused')
    expect([response.status, await response.json()]).toMatchObject([400, refusal])
    await using socket = api.connect()
    await socket.next('hello')
    const filter = { status: 'RUNNING,PAUSED' }
    socket.send({ type: 'state_query', requestId: 'q', query: 'runs', filter })
    expect(await socket.next('error')).toMatchObject({
      ...refusal,
      requestId: 'q',
      problems: [{ ...refusal.problems[0], path: '/filter/status' }],
    })
  })
})

describe('a model switch', () => {
  it('A model switch returns the previous model, also the first time, over REST and WebSocket', async () => {
    await using api = await openServer()
    const runId = await submitWorkingRun(api)
    const first = await api.post(`/api/runs/${runId}/model`, { model: 'small' })
    expect(await first.json()).toEqual({
      runId,
      model: 'small',
      previousModel: 'small',
      status: 'APPLIED',
    })
    await using socket = api.connect()
    await socket.next('hello')
    socket.send({
      type: 'run_control',
      runId,
      action: 'switch_model',
      model: 'small',
      taskName: 'play',
    })
    expect(await socket.next('run_control_ack')).toEqual({
      type: 'run_control_ack',
      runId,
      action: 'switch_model',
      status: 'APPLIED',
      model: 'small',
      previousModel: 'small',
    })
  })
})
