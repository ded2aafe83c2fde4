/** The routes below `/api/schedules`. */
import { apiKey, type ApiKey } from '@tutti/control-api'
import { scheduleAuthorizer } from '@tutti/control-api/internal'
import { systemClock } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { openServer, type TestServer } from './open-server.ts'

const WRITER = 'writer-key-of-length'
const CONTROLLER = 'controller-key-of-length'
const READER = 'reader-key-of-length'
const apiKeys = [
  apiKey(WRITER, { name: 'wil', scopes: ['runs:read', 'runs:write'] }),
  apiKey(CONTROLLER, { name: 'con', scopes: ['runs:read', 'runs:control'] }),
  apiKey(READER, { name: 'rob', scopes: ['runs:read'] }),
]

const RUN = { inputs: { composer: 'Bach', hall: 'A' } }
const BODY = { name: 'nightly', cron: '0 3 * * *', timeZone: 'Europe/Berlin', run: RUN }

/** Starts a server whose schedules have the rights of its keys. */
async function openScheduled(keys: readonly ApiKey[] = []): Promise<TestServer> {
  const authorizeSchedule = scheduleAuthorizer({
    apiKeys: keys,
    clock: systemClock,
    runs: () => api.runs,
  })
  const api = await openServer({ apiKeys: keys, limits: { authorizeSchedule } })
  return api
}

function call(
  api: TestServer,
  method: string,
  path: string,
  { key, body }: { readonly key?: string; readonly body?: unknown } = {},
): Promise<Response> {
  return fetch(`${api.url}${path}`, {
    method,
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

describe('schedules', () => {
  it('A schedule is created, listed, replaced, paused, resumed and deleted', async () => {
    await using api = await openScheduled()
    const created = await api.post('/api/schedules', BODY)
    expect([created.status, created.headers.get('location')]).toEqual([
      201,
      '/api/schedules/nightly',
    ])
    expect(await created.json()).toMatchObject({
      name: 'nightly',
      catchUp: 'last',
      overlap: 'allow',
      paused: false,
      readOnly: false,
      run: RUN,
      next: Array.from({ length: 5 }, () => expect.stringMatching(/T0[12]:00:00.000Z$/)),
    })
    expect((await api.post('/api/schedules', BODY)).status).toBe(409)
    const list: unknown = await (await api.get('/api/schedules')).json()
    expect(list).toMatchObject({ schedules: [{ name: 'nightly', next: [expect.anything()] }] })
    const { name: _name, ...definition } = BODY
    const replaced = await api.post('/api/schedules/nightly', { ...definition, overlap: 'skip' })
    expect(await replaced.json()).toMatchObject({ overlap: 'skip', timeZone: 'Europe/Berlin' })
    const paused = await call(api, 'POST', '/api/schedules/nightly/pause')
    expect(await paused.json()).toMatchObject({ paused: true, next: [] })
    const resumed = await call(api, 'POST', '/api/schedules/nightly/resume')
    expect(await resumed.json()).toMatchObject({ paused: false })
    const three: unknown = await (await api.get('/api/schedules/nightly?next=3')).json()
    expect(three).toMatchObject({ next: { length: 3 } })
    expect((await call(api, 'DELETE', '/api/schedules/nightly')).status).toBe(204)
    expect((await api.get('/api/schedules/nightly')).status).toBe(404)
  })

  it('An invalid schedule returns 400 with every problem and its path', async () => {
    await using api = await openScheduled()
    const refused = await api.post('/api/schedules', {
      name: 'a b',
      cron: '61 * * * *',
      timeZone: 'Mars/Olympus',
      run: { inputs: { composer: 'Bach' } },
    })
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({
      error: 'BAD_REQUEST',
      problems: [
        { path: '/name' },
        { path: '/timeZone' },
        { path: '/cron' },
        { path: '/run/inputs/hall', message: expect.stringContaining('is required') },
      ],
    })
    const run = { inputs: { composer: 'Bach', hal: 'x' }, tags: { tick: 'mine', team: 'a' } }
    const long = await api.post('/api/schedules', {
      ...BODY,
      cron: `${'0,'.repeat(500)}0 9 * * *`,
      run,
    })
    const { problems } = await long.json()
    expect(problems.map(({ path }: { readonly path: string }) => path)).toEqual([
      '/cron',
      '/run/tags/tick',
      '/run/inputs/hal',
      '/run/inputs/hall',
    ])
    const webhook = await api.post('/api/schedules', { ...BODY, run: { ...RUN, webhooks: ['x'] } })
    expect([webhook.status, await webhook.json()]).toEqual([
      400,
      expect.objectContaining({ error: 'INVALID_WEBHOOK' }),
    ])
  })

  it('A schedule of an unknown thread is refused when it is saved', async () => {
    await using api = await openScheduled()
    const body = { ...BODY, run: { ...RUN, threadId: 'thread-1' } }
    const refused = await api.post('/api/schedules', body)
    expect([refused.status, await refused.json()]).toEqual([
      400,
      expect.objectContaining({
        problems: [{ path: '/run/threadId', message: 'No thread with ID thread-1' }],
      }),
    ])
    expect((await api.post('/api/threads', { threadId: 'thread-1' })).status).toBe(201)
    expect((await api.post('/api/schedules', body)).status).toBe(201)
    const { name: _name, ...definition } = { ...body, run: { ...RUN, threadId: 'thread-2' } }
    expect((await api.post('/api/schedules/nightly', definition)).status).toBe(400)
  })

  it('A run between the ticks belongs to the caller, and has the tag of the schedule', async () => {
    await using api = await openScheduled(apiKeys)
    await call(api, 'POST', '/api/schedules', { key: WRITER, body: { ...BODY, paused: true } })
    const run = await call(api, 'POST', '/api/schedules/nightly/run', { key: WRITER })
    expect(run.status).toBe(202)
    const { runId } = (await run.json()) as { readonly runId: string }
    const detail: unknown = await (
      await call(api, 'GET', `/api/runs/${runId}`, { key: READER })
    ).json()
    expect(detail).toMatchObject({ submittedBy: 'wil', tags: { schedule: 'nightly' } })
  })

  it('Each action requires its scope, and a schedule that is saved requires the right to submit runs', async () => {
    await using api = await openScheduled(apiKeys)
    const post = (path: string, key: string, body?: unknown) =>
      call(api, 'POST', `/api/schedules${path}`, { key, body })
    expect((await post('', READER, BODY)).status).toBe(403)
    const created = await post('', WRITER, BODY)
    expect(await created.json()).toMatchObject({ savedBy: 'wil' })
    expect((await post('/nightly/pause', WRITER)).status).toBe(403)
    expect((await post('/nightly/pause', CONTROLLER)).status).toBe(200)
    expect((await post('/nightly/run', CONTROLLER)).status).toBe(403)
    const { name: _name, ...definition } = BODY
    const taken = await post('/nightly', CONTROLLER, definition)
    expect([taken.status, await taken.json()]).toEqual([
      403,
      expect.objectContaining({ message: expect.stringContaining('runs:write') }),
    ])
    expect((await call(api, 'GET', '/api/schedules', { key: READER })).status).toBe(200)
  })

  it('[GW-A9] Without runs:read, a key acts only on schedules that it saved, because the answers show them', async () => {
    const own = 'own-key-of-length'
    const scopes = ['runs:write', 'runs:control'] as const
    await using api = await openScheduled([...apiKeys, apiKey(own, { name: 'oli', scopes })])
    const post = async (path: string, key: string, body?: unknown) => {
      const response = await call(api, 'POST', `/api/schedules${path}`, { key, body })
      return [response.status, ((await response.json()) as { message?: string }).message] as const
    }
    const { name: _name, ...definition } = BODY
    await post('', WRITER, BODY)
    await post('', own, { ...BODY, name: 'own' })
    const refused = expect.stringContaining('lacks the scope runs:read')
    for (const [action, body] of [['/pause'], ['/resume'], ['/run'], ['', definition]] as const) {
      expect([action, ...(await post(`/nightly${action}`, own, body))]).toEqual([
        action,
        403,
        refused,
      ])
      expect((await post(`/own${action}`, own, body))[1]).toBeUndefined()
      expect((await post(`/none${action}`, own, body))[0]).toBe(404)
    }
    const kept = await call(api, 'GET', '/api/schedules/nightly', { key: READER })
    expect(await kept.json()).toMatchObject({ savedBy: 'wil', paused: false })
    expect((await call(api, 'DELETE', '/api/schedules/nightly', { key: own })).status).toBe(204)
  })

  it('Actions on schedules are in the audit trail with the name of the schedule', async () => {
    await using api = await openScheduled()
    await api.post('/api/schedules', BODY)
    await call(api, 'POST', '/api/schedules/nightly/pause')
    await call(api, 'DELETE', '/api/schedules/nightly')
    await expect
      .poll(async () => (await api.get('/api/audit')).json())
      .toMatchObject({
        entries: ['deleteSchedule', 'pauseSchedule', 'createSchedule'].map((action) => ({
          action,
          target: 'nightly',
          outcome: 'DONE',
        })),
      })
  })
})
