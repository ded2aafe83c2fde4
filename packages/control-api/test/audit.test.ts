import { apiKey } from '@tutti/control-api'
import { describe, expect, it, vi } from 'vitest'

import { reviewedTask } from './reviewed-ensembles.ts'
import { openServer, type TestServer } from './open-server.ts'

import type { AuditEntry } from '@tutti/protocol'
import type { AuditList } from '@tutti/protocol/internal'

const ADMIN = 'admin-key-of-length'
const READER = 'reader-key-of-length'
const apiKeys = [
  apiKey(ADMIN, { name: 'ann', scopes: ['admin'] }),
  apiKey(READER, { name: 'rob', scopes: ['runs:read'] }),
]
const INPUTS = { composer: 'Bach', hall: 'A' }

describe('the audit trail', () => {
  it('The audit trail records every action over REST with actor, action, target and outcome', async () => {
    await using api = await openServer({ apiKeys })
    await post(api, '/api/runs', { runId: 'one', inputs: INPUTS })
    await post(api, '/api/runs', { runId: 'one', inputs: { composer: 'Brahms', hall: 'B' } })
    await post(api, '/api/runs/one/inject', { content: 'Louder' })
    await post(api, '/api/runs/one/model', { model: 'large' })
    await post(api, '/api/runs/none/cancel', {})
    await post(api, '/api/reviews/none', { decision: 'CONTINUE' })
    await post(api, '/api/tools/none/invoke', { input: {} })
    await post(api, '/api/runs/cancel', { tag: 'env:none' }, ADMIN)
    await post(api, '/api/runs/one/cancel', {}, READER)
    const entries = (await auditOf(api)).toReversed()
    expect(entries.map(({ id: _id, at: _at, remoteAddress: _address, ...entry }) => entry)).toEqual(
      [
        { actor: 'ann', action: 'submitRun', via: 'http', runId: 'one', outcome: 'DONE' },
        { actor: 'ann', action: 'submitRun', via: 'http', outcome: 'REFUSED', error: 'RUN_EXISTS' },
        expect.objectContaining({ action: 'injectDirective', runId: 'one' }),
        expect.objectContaining({
          action: 'switchModel',
          outcome: 'REFUSED',
          error: 'INVALID_MODEL',
        }),
        expect.objectContaining({ action: 'cancelRun', runId: 'none', error: 'RUN_NOT_FOUND' }),
        expect.objectContaining({
          action: 'decideReview',
          target: 'none',
          error: 'REVIEW_NOT_FOUND',
        }),
        expect.objectContaining({ action: 'invokeTool', target: 'none', error: 'TOOL_NOT_FOUND' }),
        expect.objectContaining({ action: 'cancelRuns', target: 'env:none', outcome: 'DONE' }),
        {
          actor: 'rob',
          action: 'cancelRun',
          via: 'http',
          runId: 'one',
          outcome: 'REFUSED',
          error: 'FORBIDDEN',
        },
      ],
    )
    expect(entries.every(({ remoteAddress }) => remoteAddress?.includes('127.0.0.1'))).toBe(true)
    expect(entries.map(({ at }) => at)).toEqual(entries.map(({ at }) => new Date(at).toISOString()))
  })

  it('The audit trail records every message that changes something, and none that only reads', async () => {
    await using api = await openServer({ apiKeys })
    await using socket = api.connect('/ws', { authorization: `Bearer ${ADMIN}` })
    await socket.next('hello')
    socket.send({ type: 'state_query', requestId: '1', query: 'runs' })
    socket.send({ type: 'run_request', runId: 'two', inputs: INPUTS })
    await socket.next('run_ack')
    socket.send({ type: 'run_control', runId: 'two', action: 'cancel' })
    await socket.next('run_control_ack')
    socket.send({ type: 'directive', runId: 'none', content: 'x', to: 'play' })
    await socket.next('directive_ack')
    const entries = await auditOf(api)
    expect(entries.toReversed()).toEqual([
      expect.objectContaining({
        action: 'run_request',
        via: 'websocket',
        runId: 'two',
        outcome: 'DONE',
      }),
      expect.objectContaining({ action: 'run_control', runId: 'two', outcome: 'DONE' }),
      expect.objectContaining({
        action: 'directive',
        runId: 'none',
        target: 'play',
        outcome: 'REFUSED',
      }),
    ])
  })

  it('The audit trail finds the decision of a review by its run, over REST and WebSocket alike', async () => {
    await using api = await openServer({ apiKeys, ensembles: [reviewedTask()] })
    await post(api, '/api/runs', { runId: 'sung', inputs: { song: 'x' } })
    await expect.poll(() => openReview(api)).toBeDefined()
    const reviewId = (await openReview(api)) ?? ''
    await post(api, `/api/reviews/${reviewId}`, { decision: 'CONTINUE' })
    await using socket = api.connect('/ws', { authorization: `Bearer ${ADMIN}` })
    await socket.next('hello')
    socket.send({ type: 'review_decision', reviewId, decision: 'CONTINUE' })
    await socket.next('error')
    const entries = await auditOf(api, '?runId=sung')
    expect(entries.map(({ action, target, outcome }) => [action, target, outcome])).toEqual([
      ['review_decision', reviewId, 'REFUSED'],
      ['decideReview', reviewId, 'DONE'],
      ['submitRun', undefined, 'DONE'],
    ])
  })

  it('The audit trail can be queried by run, actor and action, in pages, and only by admins', async () => {
    await using api = await openServer({ apiKeys })
    for (const runId of ['a', 'b', 'c']) await post(api, '/api/runs', { runId, inputs: INPUTS })
    await post(api, '/api/runs/a/cancel', {}, READER)
    expect((await auditOf(api, '?runId=a')).map(({ action }) => action)).toEqual([
      'cancelRun',
      'submitRun',
    ])
    expect(await auditOf(api, '?actor=rob')).toHaveLength(1)
    const first = await auditOf(api, '?action=submitRun&limit=2')
    expect(first.map(({ runId }) => runId)).toEqual(['c', 'b'])
    const second = await auditOf(api, `?action=submitRun&limit=2&before=${first[1]?.id}`)
    expect(second.map(({ runId }) => runId)).toEqual(['a'])
    const bad = await get(api, '/api/audit?limit=0&runId=&x=1')
    expect(bad.status).toBe(400)
    expect((await get(api, '/api/audit', READER)).status).toBe(403)
    expect((await api.get('/api/audit')).status).toBe(401)
  })

  it('The audit trail has no actor on a server without keys, and no requests with an invalid key', async () => {
    await using open = await openServer()
    await open.submit()
    const { entries } = (await (await open.get('/api/audit')).json()) as AuditList
    expect(entries.map(({ actor, action }) => [actor, action])).toEqual([
      ['anonymous', 'submitRun'],
    ])
    await using closed = await openServer({ apiKeys })
    await closed.post('/api/runs', { inputs: INPUTS })
    expect(await auditOf(closed)).toEqual([])
  })

  it('The audit trail records internal errors of requests', async () => {
    await using api = await openServer({ apiKeys })
    const broken = vi.spyOn(api.runs, 'send').mockRejectedValue(new Error('Boom'))
    const failed = await post(api, '/api/runs/x/cancel', {})
    broken.mockRestore()
    expect(failed.status).toBe(500)
    expect((await auditOf(api, '?action=cancelRun'))[0]).toMatchObject({
      outcome: 'FAILED',
      error: 'INTERNAL',
    })
  })

  it('The audit trail stores the last actions before the server stops', async () => {
    const api = await openServer({ apiKeys })
    await api.runs.stores.audit.append([])
    const append = vi.spyOn(api.runs.stores.audit, 'append')
    await post(api, '/api/runs', { runId: 'last', inputs: INPUTS })
    await api[Symbol.asyncDispose]()
    expect(append.mock.calls.flat(2).map(({ runId }) => runId)).toEqual(['last'])
    append.mockRestore()
  })

  it('The audit trail retains the configured number of entries', async () => {
    await using api = await openServer({ apiKeys, maxAuditEntries: 2 })
    await api.runs.stores.audit.append(
      ['a', 'b', 'c', 'd'].map((action) => ({
        at: new Date().toISOString(),
        actor: 'x',
        action,
        via: 'http' as const,
        outcome: 'DONE' as const,
      })),
    )
    await post(api, '/api/runs', { runId: 'new', inputs: INPUTS })
    const kept = () => api.runs.stores.audit.list({ limit: 9 })
    await expect
      .poll(async () => (await kept()).map(({ action }) => action))
      .toEqual(['submitRun', 'd'])
  })
})

/** Returns the trail, newest first, without the requests that read it. */
async function auditOf(api: TestServer, query = ''): Promise<readonly AuditEntry[]> {
  const { entries } = (await (await get(api, `/api/audit${query}`)).json()) as AuditList
  return entries.filter(({ action }) => action !== 'listAudit')
}

function get(api: TestServer, path: string, key = ADMIN): Promise<Response> {
  return api.get(path, { headers: { authorization: `Bearer ${key}` } })
}

function post(api: TestServer, path: string, body: unknown, key = ADMIN): Promise<Response> {
  return api.post(path, body, { authorization: `Bearer ${key}` })
}

async function openReview(api: TestServer): Promise<string | undefined> {
  return (await api.runs.reviews.open())[0]?.reviewId
}
