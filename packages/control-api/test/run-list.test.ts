/** Fields of runs in the list, and its load on the store. */
import { decode, ROUTES, type RunList } from '@tutti/protocol'
import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { expect, it } from 'vitest'

import { apiKey } from '../src/index.ts'
import { redactor } from '../src/internal.ts'
import { listRuns } from '../src/runs/list-runs.ts'
import { toRunSummary } from '../src/runs/to-wire.ts'
import { eventsOf, openServer, type TestServer } from './open-server.ts'
import { openRecordedServer } from './recorded-server.ts'

import type { ListedRun } from '@tutti/runs'

const waitForEnd = async (api: TestServer, runId: string): Promise<void> => {
  await eventsOf(await api.get(`/api/runs/${runId}/events`))
}

const list = async (api: TestServer, query = '', init: RequestInit = {}): Promise<RunList> => {
  const body: unknown = await (await api.get(`/api/runs${query}`, init)).json()
  const decoded = decode(ROUTES.listRuns.response, body)
  if (!decoded.ok) throw new Error(JSON.stringify(body))
  return decoded.value
}

it('The list of runs shows usage and cost of a run so far and at its end, like its detail', async () => {
  await using api = await openRecordedServer()
  const { runId } = (await (await api.post('/api/runs', { inputs: { topic: 'AI' } })).json()) as {
    runId: string
  }
  await waitForEnd(api, runId)
  const { metrics, completedAt } = await api.detail(runId)
  const [run] = (await list(api)).runs
  expect(run).toMatchObject({
    totalTokens: metrics.totalTokens,
    totalToolCalls: metrics.totalToolCalls,
    costUsd: expect.closeTo(metrics.costUsd ?? NaN, 12),
    openReviews: 0,
    completedAt,
  })
  expect([metrics.totalTokens > 0, metrics.totalToolCalls, (metrics.costUsd ?? 0) > 0]).toEqual([
    true,
    1,
    true,
  ])
  expect(run).not.toHaveProperty('error')
  expect(run).not.toHaveProperty('submittedBy')
})

it('The list of runs shows no cost without a price, and no end time before the end', async () => {
  await using api = await openServer()
  const runId = await api.submit()
  for await (const batch of api.runs.follow({ runId, from: 0 })) {
    // Its tool waits from here on.
    if (batch.some((one) => one.type === 'metrics_snapshot' && one.taskName === 'play')) break
  }
  const [run] = (await list(api)).runs
  const { metrics } = await api.detail(runId)
  expect(run?.totalTokens).toBe(metrics.totalTokens)
  expect(run?.totalTokens).toBeGreaterThan(0)
  expect(run).not.toHaveProperty('costUsd')
  expect(run).not.toHaveProperty('completedAt')
})

it('The list of runs shows the number of open reviews of each run', async () => {
  const model = scriptedModel(() => 'A draft')
  const draft = task({ name: 'draft', description: 'Draft it', review: true })
  await using api = await openServer({
    ensembles: [ensemble({ name: 'desk', tasks: [draft], model })],
  })
  const submit = async (): Promise<string> => (await api.runs.submit({})).runId
  const runIds = [await submit(), await submit()]
  await expect.poll(async () => (await api.runs.reviews.open()).length).toBe(2)
  const shown = async () => (await list(api)).runs.map(({ openReviews }) => openReviews)
  expect(await shown()).toEqual([1, 1])
  const [review] = await api.runs.reviews.open({ runId: runIds[1] ?? '' })
  await api.post(`/api/reviews/${review?.reviewId}`, { decision: 'CONTINUE' })
  await waitForEnd(api, runIds[1] ?? '')
  expect(await shown()).toEqual([0, 1])
})

it('The list of runs shows the key that submitted a run', async () => {
  const key = { authorization: 'Bearer secret-of-ci-0123456789abcdef' }
  const scopes = ['runs:read', 'runs:write'] as const
  const apiKeys = [apiKey('secret-of-ci-0123456789abcdef', { name: 'ci', scopes: [...scopes] })]
  await using api = await openServer({ apiKeys })
  await api.post('/api/runs', { inputs: { composer: 'Bach', hall: 'A' } }, key)
  expect((await list(api, '', { headers: key })).runs).toMatchObject([{ submittedBy: 'ci' }])
})

it('The list of runs shows the start of an error', async () => {
  const handler = async (): Promise<string> => {
    throw new Error('x'.repeat(1000))
  }
  const breaks = task({ name: 'breaks', description: 'Break', handler })
  await using api = await openServer({ ensembles: [ensemble({ name: 'frail', tasks: [breaks] })] })
  const { runId } = await api.runs.submit({})
  await waitForEnd(api, runId)
  const { error = '' } = await api.detail(runId)
  expect(error.length).toBeGreaterThan(999)
  expect((await list(api)).runs).toMatchObject([{ error: error.slice(0, 300) }])
})

it.each([
  ['x'.repeat(300), 'x'.repeat(300)],
  [`${'x'.repeat(299)}🎻 and more`, 'x'.repeat(299)],
  [`${'x'.repeat(298)}🎻 and more`, `${'x'.repeat(298)}🎻`],
  ['', ''],
])('The list of runs does not split a character of an error', (error, shown) => {
  expect(toRunSummary({ ...BARE, error }).error).toBe(shown)
})

const BARE: ListedRun = {
  place: 1,
  runId: 'run-1',
  ensemble: 'band',
  workflow: 'SEQUENTIAL',
  status: 'FAILED',
  tags: {},
  taskCount: 1,
  completedTasks: 0,
  skippedTasks: 0,
  createdAt: 0,
  epoch: 0,
  lastSeq: 0,
  totalTokens: 0,
  totalToolCalls: 0,
  openReviews: 0,
}

it('The list of runs reads a page of any length with one query to the store', async () => {
  await using api = await openServer({ limits: { maxConcurrentRuns: 1, maxQueuedRuns: 100 } })
  for (let count = 0; count < 20; count += 1) await api.submit()
  const calls: string[] = []
  const seen = new Proxy(api.runs, {
    get(runs, name) {
      calls.push(String(name))
      const value: unknown = Reflect.get(runs, name, runs)
      return typeof value === 'function' ? value.bind(runs) : value
    },
  })
  expect((await listRuns({ runs: seen, redactor: redactor([]) }, {})).runs).toHaveLength(20)
  expect(calls).toEqual(['list'])
})

it('The list of runs accepts tags of any JSON scalar over REST and WebSocket, shows them unchanged, and finds them by their text', async () => {
  await using api = await openServer()
  const inputs = { composer: 'Bach', hall: 'A' }
  const tags = { pr: 7, ratio: 0.5, nightly: true, draft: false, by: 'ci' }
  expect((await api.post('/api/runs', { inputs, tags })).status).toBe(202)
  await using socket = api.connect()
  await socket.next('hello')
  socket.send({ type: 'run_request', requestId: 'r', inputs, tags: { pr: '7' } })
  const { runId = '' } = await socket.next('run_ack')
  const [typed] = (await list(api, '?tag=nightly:true')).runs
  expect(typed?.tags).toEqual(tags)
  expect((await api.detail(typed?.runId ?? '')).tags).toEqual(tags)
  const [queued] = await api.runs.readEvents({ runId: typed?.runId ?? '', from: 0, limit: 1 })
  expect(queued).toMatchObject({ type: 'run_queued', tags })
  const found = async (query: string) => (await list(api, query)).runs.map((run) => run.runId)
  expect(await found('?tag=pr:7')).toEqual([runId, typed?.runId])
  expect(await found('?tag=ratio:0.5')).toEqual([typed?.runId])
  expect(await found('?tag=draft:true')).toEqual([])
  expect(await found('?q=0.5')).toEqual([typed?.runId])
  const refused = await api.post('/api/runs', { inputs, tags: { a: null, b: {}, c: [] } })
  expect([refused.status, await refused.json()]).toMatchObject([
    400,
    { problems: [{ path: '/tags/a' }, { path: '/tags/b' }, { path: '/tags/c' }] },
  ])
})
