/** Priorities and fairness keys of submissions: over REST, WebSocket and schedules, and the limit of a key. */
import { apiKey } from '@tutti/control-api'
import { scheduleAuthorizer } from '@tutti/control-api/internal'
import { systemClock } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { openServer, type TestServer } from './open-server.ts'

const INPUTS = { composer: 'Bach', hall: 'A' }
const CI = 'key-of-the-ci-system'
const BULK = 'key-of-bulk-imports-'

const apiKeys = [
  apiKey(CI, { name: 'ci', limits: { maxPriority: 'normal' } }),
  apiKey(BULK, { name: 'bulk', limits: { maxPriority: 'low' } }),
]

const as = (key: string) => ({ authorization: `Bearer ${key}` })

async function submit(api: TestServer, body: object, headers: Record<string, string> = {}) {
  const response = await api.post('/api/runs', { inputs: INPUTS, ...body }, headers)
  return { ...((await response.json()) as { runId: string }), status: response.status }
}

async function readJson(api: TestServer, path: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${api.url}${path}`, { headers })
  return (await response.json()) as Record<string, unknown>
}

describe('the priority of a submission', () => {
  it('The priority and the fairness key of a submission are in the run and in the list', async () => {
    await using api = await openServer()
    const order = { priority: 'high', fairnessKey: 'customer-7' }
    const { runId } = await submit(api, order)
    expect(await readJson(api, `/api/runs/${runId}`)).toMatchObject(order)
    expect(await readJson(api, '/api/runs')).toMatchObject({ runs: [{ runId, ...order }] })
    await using socket = api.connect('/ws')
    await socket.next('hello')
    socket.send({ type: 'run_request', inputs: INPUTS, runId: 'run-ws', priority: 'low' })
    expect(await socket.next('run_ack')).toMatchObject({ status: 'ACCEPTED' })
    const detail = await readJson(api, '/api/runs/run-ws')
    expect(detail).toMatchObject({ priority: 'low' })
    expect(detail).not.toHaveProperty('fairnessKey')
  })

  it('A normal priority is absent from the run', async () => {
    await using api = await openServer()
    const { runId } = await submit(api, { priority: 'normal' })
    expect(await readJson(api, `/api/runs/${runId}`)).not.toHaveProperty('priority')
  })

  it('A submission with another priority under the same idempotency key is another request', async () => {
    await using api = await openServer()
    await submit(api, {}, { 'idempotency-key': 'k' })
    expect(await submit(api, { priority: 'high' }, { 'idempotency-key': 'k' })).toMatchObject({
      status: 409,
      error: 'IDEMPOTENCY_CONFLICT',
    })
  })
})

describe('the maxPriority of a key', () => {
  it('The maxPriority of a key refuses runs above it, and is the default when it is lower than normal', async () => {
    await using api = await openServer({ apiKeys })
    expect(await submit(api, { priority: 'high' }, as(CI))).toMatchObject({
      status: 403,
      error: 'FORBIDDEN',
      message: 'Key "ci" may not submit runs of the priority "high"; its maxPriority is "normal"',
    })
    expect(await submit(api, { priority: 'normal' }, as(CI))).toMatchObject({ status: 202 })
    const { runId } = await submit(api, {}, as(BULK))
    expect(await readJson(api, `/api/runs/${runId}`, as(BULK))).toMatchObject({ priority: 'low' })
  })

  it('The maxPriority of a key refuses schedules of runs above it', async () => {
    const authorizeSchedule = scheduleAuthorizer({
      apiKeys,
      clock: systemClock,
      runs: () => api.runs,
    })
    const api: TestServer = await openServer({ apiKeys, limits: { authorizeSchedule } })
    await using _ = api
    const save = (name: string, priority: string) =>
      api.post(
        '/api/schedules',
        { name, cron: '0 3 * * *', run: { inputs: INPUTS, priority, fairnessKey: 'nightly' } },
        as(CI),
      )
    const refused = await save('urgent', 'high')
    expect([refused.status, await refused.json()]).toMatchObject([
      403,
      { message: expect.stringContaining('its maxPriority is "normal"') },
    ])
    expect((await save('nightly', 'low')).status).toBe(201)
    expect(await readJson(api, '/api/schedules/nightly', as(CI))).toMatchObject({
      run: { priority: 'low', fairnessKey: 'nightly' },
    })
  })

  it('A key with an unknown maxPriority is refused at the start', async () => {
    // NOTE: a cast, as a config without types has any text.
    const limits = { maxPriority: 'urgent' as 'high' }
    await expect(openServer({ apiKeys: [apiKey(CI, { name: 'ci', limits })] })).rejects.toThrow(
      'maxPriority of key 1 ("ci") must be one of low, normal, high, got "urgent"',
    )
  })
})
