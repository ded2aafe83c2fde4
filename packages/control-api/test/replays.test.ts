/** `POST /api/runs/{runId}/replay`. */
import { apiKey } from '@tutti/control-api'
import { TuttiError } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it, vi } from 'vitest'

import { eventsOf, openServer, type TestServer, type TestServerOptions } from './open-server.ts'

import type { RunAccepted } from '@tutti/protocol'

const KEY = 'ann-key-of-some-length'
const READER = 'rob-key-of-some-length'
const ANN = { authorization: `Bearer ${KEY}` }

function openTeam(options: TestServerOptions = {}): Promise<TestServer> {
  const team = ensemble({
    name: 'office',
    model: scriptedModel(() => 'Done'),
    tasks: [task({ name: 'report', description: 'Report to {person}' })],
  })
  return openServer({ ensembles: [team], ...options })
}

async function runToEnd(api: TestServer, headers: Record<string, string> = {}): Promise<string> {
  const response = await api.post('/api/runs', { inputs: { person: 'Eve' } }, headers)
  const { runId } = (await response.json()) as RunAccepted
  await eventsOf(await api.get(`/api/runs/${runId}/events`, { headers }))
  return runId
}

describe('a replay over HTTP', () => {
  it('A replay over HTTP ends like its parent at no cost, and names it', async () => {
    await using api = await openTeam()
    const runId = await runToEnd(api)
    const key = { 'idempotency-key': 'once' }
    const response = await api.post(`/api/runs/${runId}/replay`, { mode: 'frozen' }, key)
    const replay = (await response.json()) as RunAccepted
    expect([response.status, replay.status]).toEqual([202, 'ACCEPTED'])
    expect(response.headers.get('location')).toBe(`/api/runs/${replay.runId}`)
    await eventsOf(await api.get(`/api/runs/${replay.runId}/events`))
    expect(await api.detail(replay.runId)).toMatchObject({
      status: 'COMPLETED',
      parent: { runId, at: 0, replay: 'frozen' },
      metrics: { totalTokens: 0 },
      tasks: [{ output: 'Done' }],
    })
    const again = await api.post(`/api/runs/${runId}/replay`, { mode: 'frozen' }, key)
    expect(await again.json()).toMatchObject({ runId: replay.runId })
    const nested = await api.post(`/api/runs/${replay.runId}/replay`, { mode: 'frozen' })
    expect([nested.status, await nested.json()]).toMatchObject([
      409,
      { error: 'RUN_NOT_REPLAYABLE' },
    ])
  })

  it('A replay over HTTP is refused with every problem, and without the steps of its parent', async () => {
    await using api = await openTeam()
    const runId = await runToEnd(api)
    const path = `/api/runs/${runId}/replay`
    for (const body of [{}, { mode: 'live' }, { mode: 'frozen', inputs: {} }]) {
      const refused = await api.post(path, body)
      expect([refused.status, await refused.json()]).toMatchObject([400, { error: 'BAD_REQUEST' }])
    }
    const unknown = await api.post('/api/runs/none/replay', { mode: 'frozen' })
    expect([unknown.status, await unknown.json()]).toMatchObject([404, { error: 'RUN_NOT_FOUND' }])
    const gone = new TuttiError('STEPS_NOT_RETAINED', 'The steps were deleted')
    vi.spyOn(api.runs.forks, 'replay').mockRejectedValueOnce(gone)
    const old = await api.post(path, { mode: 'frozen' })
    vi.restoreAllMocks()
    expect([old.status, await old.json()]).toMatchObject([409, { error: 'STEPS_NOT_RETAINED' }])
  })

  it('A replay over HTTP is recorded with its actor and its parent, and needs runs:write', async () => {
    await using api = await openTeam({
      apiKeys: [
        apiKey(KEY, { name: 'ann', scopes: ['admin'] }),
        apiKey(READER, { name: 'rob', scopes: ['runs:read'] }),
      ],
    })
    const runId = await runToEnd(api, ANN)
    const path = `/api/runs/${runId}/replay`
    const body = { mode: 'models' }
    const refused = await api.post(path, body, { authorization: `Bearer ${READER}` })
    expect(refused.status).toBe(403)
    const response = await api.post(path, body, ANN)
    const { runId: replayId } = (await response.json()) as RunAccepted
    const audit = async () => (await api.get('/api/audit?limit=50', { headers: ANN })).json()
    await expect.poll(audit).toMatchObject({
      entries: expect.arrayContaining([
        expect.objectContaining({
          actor: 'ann',
          action: 'replayRun',
          runId: replayId,
          target: runId,
          outcome: 'DONE',
        }),
      ]),
    })
  })
})
