/** `POST /api/runs/{runId}/fork`. */
import { apiKey } from '@tutti/control-api'
import { defineTool, TuttiError, Type } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { decode, ForkPreview, type RunAccepted } from '@tutti/protocol'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it, vi } from 'vitest'

import { eventsOf, openServer, type TestServer, type TestServerOptions } from './open-server.ts'

const KEY = 'ann-key-of-some-length'
const READER = 'rob-key-of-some-length'
const ANN = { authorization: `Bearer ${KEY}` }

/** Serves a team whose first task sends a letter, which must not happen twice. */
function openTeam(options: TestServerOptions = {}): Promise<TestServer> {
  const send = defineTool({
    name: 'send',
    description: 'Sends a letter',
    input: Type.Object({}),
    idempotent: false,
    execute: () => 'sent',
  })
  const model = scriptedModel(({ messages, tools }) => {
    if (tools.length === 0) return messages.map(({ content }) => content).join('\n')
    if (messages.at(-1)?.role === 'tool') return 'Done'
    return { toolCalls: [{ name: 'send', arguments: {} }] }
  })
  const team = ensemble({
    name: 'office',
    model,
    tasks: [
      task({ name: 'mail', description: 'Send a letter', tools: [send] }),
      task({ name: 'report', description: 'Report to {person}', context: ['mail'] }),
    ],
  })
  return openServer({ ensembles: [team], ...options })
}

async function runToEnd(api: TestServer, headers: Record<string, string> = {}): Promise<string> {
  const response = await api.post('/api/runs', { inputs: { person: 'Eve' } }, headers)
  const { runId } = (await response.json()) as RunAccepted
  await eventsOf(await api.get(`/api/runs/${runId}/events`, { headers }))
  return runId
}

describe('a fork over HTTP', () => {
  it('A fork over HTTP begins before a task with other inputs, and names its parent', async () => {
    await using api = await openTeam()
    const runId = await runToEnd(api)
    const body = { at: { task: 'report' }, inputs: { person: 'Max' } }
    const key = { 'idempotency-key': 'once' }
    const response = await api.post(`/api/runs/${runId}/fork`, body, key)
    const fork = (await response.json()) as RunAccepted
    expect([response.status, fork.status]).toEqual([202, 'ACCEPTED'])
    expect(response.headers.get('location')).toBe(`/api/runs/${fork.runId}`)
    await eventsOf(await api.get(`/api/runs/${fork.runId}/events`))
    const detail = await api.detail(fork.runId)
    expect(detail).toMatchObject({
      status: 'COMPLETED',
      inputs: { person: 'Max' },
      parent: { runId, at: expect.any(Number) },
      metrics: { totalToolCalls: 0 },
    })
    expect(detail.tasks[1]?.output).toContain('Report to Max')
    const again = await api.post(`/api/runs/${runId}/fork`, body, key)
    expect(await again.json()).toMatchObject({ runId: fork.runId })
    const changed = { ...body, inputs: { person: 'Ann' } }
    const other = await api.post(`/api/runs/${runId}/fork`, changed, key)
    expect([other.status, await other.json()]).toMatchObject([
      409,
      { error: 'IDEMPOTENCY_CONFLICT' },
    ])
  })

  it('A fork over HTTP is refused with every problem, and with SIDE_EFFECTS unless they are allowed', async () => {
    await using api = await openTeam()
    const runId = await runToEnd(api)
    const path = `/api/runs/${runId}/fork`
    const repeated = await api.post(path, { at: { task: 'mail' } })
    expect([repeated.status, await repeated.json()]).toMatchObject([
      409,
      { error: 'SIDE_EFFECTS', message: expect.stringContaining('send (task "mail")') },
    ])
    const allowed = await api.post(path, { at: { task: 'mail' }, allowSideEffects: true })
    expect(allowed.status).toBe(202)
    const unknown = await api.post('/api/runs/none/fork', { at: 0 })
    expect([unknown.status, await unknown.json()]).toMatchObject([404, { error: 'RUN_NOT_FOUND' }])
    for (const body of [{}, { at: 999 }, { at: { task: 'mali' } }, { at: 1, results: {} }]) {
      const refused = await api.post(path, body)
      expect([refused.status, await refused.json()]).toMatchObject([400, { error: 'BAD_REQUEST' }])
    }
    const webhook = await api.post(path, { at: 0, webhooks: ['crm'] })
    expect(await webhook.json()).toMatchObject({ error: 'INVALID_WEBHOOK' })
    const gone = new TuttiError('STEPS_NOT_RETAINED', 'The steps were deleted')
    vi.spyOn(api.runs.forks, 'create').mockRejectedValueOnce(gone)
    const old = await api.post(path, { at: 0 })
    vi.restoreAllMocks()
    expect([old.status, await old.json()]).toMatchObject([409, { error: 'STEPS_NOT_RETAINED' }])
  })

  it('A fork over HTTP has the results and directives of its request', async () => {
    await using api = await openTeam()
    const runId = await runToEnd(api)
    const path = `/api/runs/${runId}/fork`
    const results = { mail: 'Two letters' }
    const directives = [{ content: 'Be brief', target: 'report', ttl: 'PT1H', priority: 'HIGH' }]
    const response = await api.post(path, { at: 0, results, directives })
    const { runId: forkId } = (await response.json()) as RunAccepted
    const events = await eventsOf(await api.get(`/api/runs/${forkId}/events`))
    expect(events.find(({ type }) => type === 'directive_active')).toMatchObject({
      content: 'Be brief',
      to: 'report',
      priority: 'HIGH',
      expiresAt: expect.any(String),
    })
    const completed = events.filter(({ type }) => type === 'task_completed')
    expect(completed).toMatchObject([
      { taskName: 'mail', output: 'Two letters', outputGiven: true },
      { taskName: 'report', output: expect.stringMatching(/Two letters[^]*Be brief/) },
    ])
    const late = { at: { task: 'report' }, results: { mail: 'x', reprot: 'y' } }
    const refused = await api.post(path, { ...late, directives: [{ content: 'a', target: 'b' }] })
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      {
        error: 'BAD_REQUEST',
        problems: [
          { path: '/results/mail' },
          { path: '/results/reprot' },
          { path: '/directives/0' },
        ],
      },
    ])
    const endless = await api.post(path, { at: 0, directives: [{ content: 'a', ttl: 'P1Y' }] })
    expect(await endless.json()).toMatchObject({ problems: [{ path: '/directives/0/ttl' }] })
  })

  it('A fork over HTTP is previewed with 200, which creates no run', async () => {
    await using api = await openTeam({
      apiKeys: [
        apiKey(KEY, { name: 'ann', scopes: ['admin'], limits: { maxUnfinishedRuns: 1 } }),
        apiKey(READER, { name: 'rob', scopes: ['runs:read'] }),
      ],
    })
    const runId = await runToEnd(api, ANN)
    const path = `/api/runs/${runId}/fork`
    const body = { at: { task: 'mail' }, preview: true }
    const response = await api.post(path, body, ANN)
    const preview: unknown = await response.json()
    expect(response.status).toBe(200)
    expect(response.headers.has('location')).toBe(false)
    expect(decode(ForkPreview, preview)).toMatchObject({ ok: true })
    expect(preview).toMatchObject({
      parentRunId: runId,
      tasks: [
        { name: 'mail', action: 'EXECUTED', estimate: { modelCalls: 2, toolCalls: 1 } },
        { name: 'report', action: 'EXECUTED', estimate: { modelCalls: 1 } },
      ],
      repeatedCalls: [{ taskName: 'mail', attempt: 1, toolName: 'send' }],
      needsAllowSideEffects: true,
    })
    const list = await api.get('/api/runs', { headers: ANN })
    expect(await list.json()).toMatchObject({ total: 1 })
    const reader = await api.post(path, body, { authorization: `Bearer ${READER}` })
    expect(reader.status).toBe(403)
    const unknown = await api.post(path, { ...body, webhooks: ['crm'] }, ANN)
    expect(await unknown.json()).toMatchObject({ error: 'INVALID_WEBHOOK' })
    const taken = await api.post(path, { ...body, runId }, ANN)
    expect(await taken.json()).toMatchObject({ error: 'RUN_EXISTS' })
    const created = await api.post(path, { ...body, preview: false, allowSideEffects: true }, ANN)
    expect(created.status).toBe(202)
  })

  it('A fork over HTTP is recorded with its actor and its parent, needs runs:write, and counts for the quota', async () => {
    await using api = await openTeam({
      apiKeys: [
        apiKey(KEY, { name: 'ann', scopes: ['admin'], limits: { maxUnfinishedRuns: 1 } }),
        apiKey(READER, { name: 'rob', scopes: ['runs:read'] }),
      ],
    })
    const runId = await runToEnd(api, ANN)
    const path = `/api/runs/${runId}/fork`
    const refused = await api.post(path, { at: 0 }, { authorization: `Bearer ${READER}` })
    expect(refused.status).toBe(403)
    const held = { task: 'report' }
    const review = { taskOverrides: { report: { review: 'required' } } }
    const first = await api.post(path, { at: held, ...review }, ANN)
    expect(first.status).toBe(202)
    const { runId: forkId } = (await first.json()) as RunAccepted
    const second = await api.post(path, { at: held }, ANN)
    expect(await second.json()).toMatchObject({ error: 'CONCURRENCY_LIMIT' })
    const audit = async () => (await api.get('/api/audit?limit=50', { headers: ANN })).json()
    await expect.poll(audit).toMatchObject({
      entries: expect.arrayContaining([
        expect.objectContaining({
          actor: 'ann',
          action: 'forkRun',
          runId: forkId,
          target: runId,
          outcome: 'DONE',
        }),
      ]),
    })
    const detail = await api.get(`/api/runs/${forkId}`, { headers: ANN })
    expect(await detail.json()).toMatchObject({ submittedBy: 'ann' })
  })
})

describe('a fork after a decision', () => {
  const OWNER = 'owner-key-of-some-length'
  const LAWYER = 'lawyer-key-of-some-length'
  const HEADERS = { authorization: `Bearer ${OWNER}` }
  const DECIDER = { authorization: `Bearer ${LAWYER}` }

  /** Serves a team that pays after a review before its task, and one that pays after the approval of its call. */
  async function openPayers() {
    const paid: string[] = []
    const model = scriptedModel(({ messages }) => {
      const last = messages.at(-1)
      if (last?.role === 'tool') return 'Paid'
      const [, name = 'pay', to = ''] = /Call (\w+) for (.*)/.exec(last?.content ?? '') ?? []
      return { toolCalls: [{ name, arguments: { to } }] }
    })
    const tool = (name: string, requireApproval: boolean) =>
      defineTool({
        name,
        description: 'Pays',
        input: Type.Object({ to: Type.String() }),
        idempotent: false,
        requireApproval,
        execute({ to }) {
          paid.push(to)
          return 'paid'
        },
      })
    const tools = [tool('pay', false), tool('approved', true)]
    const team = (name: string, use: string, beforeReview: boolean) =>
      ensemble({
        name,
        model,
        tasks: [task({ name: 'work', description: `Call ${use} for {to}`, tools, beforeReview })],
      })
    const api = await openServer({
      ensembles: [team('before', 'pay', true), team('during', 'approved', false)],
      apiKeys: [
        apiKey(OWNER, { name: 'owner', scopes: ['runs:read', 'runs:write', 'runs:control'] }),
        apiKey(LAWYER, { name: 'lawyer', scopes: ['runs:read', 'reviews:decide'] }),
      ],
    })
    return { api, paid }
  }

  async function decideOpen(api: TestServer, runId: string): Promise<void> {
    const open = async (): Promise<string> => {
      const reviews = await api.runs.reviews.open({ runId })
      return reviews[0]?.reviewId ?? ''
    }
    await vi.waitFor(async () => {
      expect(await open()).not.toBe('')
    }, 15_000)
    const response = await api.post(
      `/api/reviews/${await open()}`,
      { decision: 'CONTINUE' },
      DECIDER,
    )
    expect(response.status).toBe(200)
  }

  it.each(['before', 'during'])(
    'A fork after a decision asks again about work %s the decision, and executes nothing without one',
    async (name) => {
      const { api, paid } = await openPayers()
      await using _ = api
      const body = { ensemble: name, inputs: { to: 'alice' } }
      const submitted = await api.post('/api/runs', body, HEADERS)
      const { runId } = (await submitted.json()) as RunAccepted
      await decideOpen(api, runId)
      const events = await eventsOf(
        await api.get(`/api/runs/${runId}/events`, { headers: HEADERS }),
      )
      expect(paid).toEqual(['alice'])
      const at = events.findIndex(({ type }) => type === 'review_decided')
      const changes = [
        { inputs: { to: 'mallory' } },
        { taskOverrides: { work: { description: 'Call pay for mallory' } } },
        {},
      ]
      for (const change of changes) {
        const fork = { at, allowSideEffects: true, ...change }
        const response = await api.post(`/api/runs/${runId}/fork`, fork, HEADERS)
        const { runId: forkId } = (await response.json()) as RunAccepted
        await vi.waitFor(async () => {
          const detail = await api.get(`/api/runs/${forkId}`, { headers: HEADERS })
          expect(await detail.json()).toMatchObject({ status: 'WAITING_REVIEW' })
        }, 15_000)
        expect(paid).toEqual(['alice'])
        await api.post(`/api/runs/${forkId}/cancel`, {}, HEADERS)
      }
    },
  )
})
