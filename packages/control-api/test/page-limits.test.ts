/** Pages, traces and snapshots at their limits in bytes, without gaps or duplicates between pages. */
import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'
import { eventSize } from '@tutti/runs/internal'

import { agentEnsemble } from '../../compat-agentensemble/src/index.ts'
import { apiKey } from '../src/index.ts'
import { a2aAgent, type Untyped } from './a2a-agent.ts'
import { eventsOf, openServer, type TestServer } from './open-server.ts'

import type { LoggedRunEvent, RunList } from '@tutti/protocol'
import type { AuditList } from '@tutti/protocol/internal'

const PAGE_BYTES = 1_000_000
const MAX_TAG_BYTES = 16_384

/** Ensemble of one task with an output of `length` characters. */
function speakingEnsemble(length: number) {
  const model = scriptedModel(() => 'x'.repeat(length))
  return ensemble({
    name: 'speaker',
    tasks: [task({ name: 'speak', description: 'Speak' })],
    model,
  })
}

async function waitForEnd(api: TestServer, runId: string): Promise<readonly LoggedRunEvent[]> {
  return eventsOf(await api.get(`/api/runs/${runId}/events`))
}

/** Submits runs in sequence, each after the end of the previous one. */
async function submitRuns(api: TestServer, count: number): Promise<readonly string[]> {
  const runIds = Array.from({ length: count }, (_, index) => `run-${index}`)
  for (const runId of runIds) {
    await api.runs.submit({ runId })
    await waitForEnd(api, runId)
  }
  return runIds
}

describe('a page of runs', () => {
  it('A page of runs ends at its limit in bytes, and the next one continues without a gap or a repeat', async () => {
    await using api = await openServer({ ensembles: [speakingEnsemble(10)] })
    const runIds = Array.from({ length: 150 }, (_, index) => `run-${index}`)
    const tags = { note: 'n'.repeat(MAX_TAG_BYTES - 4) }
    for (const runId of runIds) await api.runs.submit({ runId, tags })
    const seen: string[] = []
    const sizes: number[] = []
    while (seen.length < runIds.length) {
      const text = await (await api.get(`/api/runs?limit=1000&offset=${seen.length}`)).text()
      const page: RunList = JSON.parse(text)
      expect(page.total).toBe(runIds.length)
      seen.push(...page.runs.map(({ runId }) => runId))
      sizes.push(text.length)
    }
    expect(seen).toEqual(runIds.toReversed())
    expect(sizes.length).toBe(3)
    for (const size of sizes.slice(0, -1)) expect(size).toBeGreaterThan(PAGE_BYTES * 0.95)
    for (const size of sizes) expect(size).toBeLessThan(PAGE_BYTES + 2 * MAX_TAG_BYTES)
  })
})

describe('a page of audit entries', () => {
  it('A page of audit entries ends at its limit in bytes, and the next one continues without a gap or a repeat', async () => {
    await using api = await openServer()
    const target = '\u{1f3bb}'.repeat(500)
    const actions = Array.from({ length: 900 }, (_, index) => `action-${index}`)
    const shared = {
      at: '2026-01-01T00:00:00.000Z',
      actor: 'ci',
      via: 'http',
      outcome: 'DONE',
    } as const
    await api.runs.stores.audit.append(actions.map((action) => ({ ...shared, action, target })))
    const pages: AuditList['entries'][] = []
    for (let before = 999_999; pages.at(-1)?.length !== 0;) {
      const page: AuditList = await (await api.get(`/api/audit?limit=1000&before=${before}`)).json()
      expect(JSON.stringify(page).length).toBeLessThan(PAGE_BYTES)
      pages.push(page.entries)
      before = page.entries.at(-1)?.id ?? 0
    }
    expect(pages.flat().map(({ action }) => action)).toEqual(actions.toReversed())
    expect(pages.length).toBe(3)
  })
})

describe('a page of A2A tasks', () => {
  it('A page of A2A tasks ends at its limit in bytes, and the next one continues without a gap or a repeat', async () => {
    const length = 300_000
    await using api = await a2aAgent({ ensembles: [speakingEnsemble(length)] })
    const runIds = await submitRuns(api, 9)
    const seen: string[] = []
    const sizes: number[] = []
    let pageToken = ''
    do {
      const query = { pageSize: 100, pageToken, includeArtifacts: true }
      const { result } = await api.call('ListTasks', query)
      expect(result.totalSize).toBe(runIds.length)
      seen.push(...result.tasks.map(({ id }: Untyped) => id))
      sizes.push(JSON.stringify(result).length)
      pageToken = result.nextPageToken
    } while (pageToken !== '')
    expect(seen).toEqual(runIds.toReversed())
    expect(sizes.length).toBeGreaterThan(2)
    for (const size of sizes) expect(size).toBeLessThan(PAGE_BYTES + 3 * length)
  })
})

describe('hello', () => {
  it('[AE-V4] The message `hello` has the newest runs up to its limit in bytes, each from its start', async () => {
    const length = 300_000
    await using api = await openServer({ ensembles: [speakingEnsemble(length)] })
    const runIds = await submitRuns(api, 10)
    await using socket = api.connect()
    const { snapshotTrace = [] } = await socket.next('hello')
    const shown = new Set(snapshotTrace.flatMap((one) => ('runId' in one ? [one.runId] : [])))
    expect([...shown]).toEqual(runIds.slice(-shown.size))
    expect(shown.size).toBeGreaterThan(1)
    expect(shown.size).toBeLessThan(10)
    const newest = snapshotTrace.filter((one) => 'runId' in one && one.runId === 'run-9')
    expect(newest.at(0)).toMatchObject({ type: 'ensemble_started' })
    expect(newest.at(-1)).toMatchObject({ type: 'run_result' })
    // Reading ends with the event that reaches the limit, twice per run.
    expect(JSON.stringify(snapshotTrace).length).toBeLessThan(2_000_000 + 2 * length)
  })
})

describe('the trace and the task graph of a run', () => {
  it('The trace and the task graph of a run are returned at the limit in bytes, and refused beyond it', async () => {
    const submit = async (maxTraceBytes?: number) => {
      const api = await openServer({
        ensembles: [speakingEnsemble(50_000)],
        extensions: [agentEnsemble({ maxTraceBytes })],
      })
      await api.runs.submit({ runId: 'run-1' })
      return { api, events: await waitForEnd(api, 'run-1') }
    }
    const first = await submit()
    await first.api[Symbol.asyncDispose]()
    const counted = first.events.filter(({ type }) => type !== 'token')
    const size = counted.reduce((sum, event) => sum + eventSize(event), 0)
    for (const [limit, status] of [
      [size, 200],
      [size - 1, 413],
    ] as const) {
      const { api } = await submit(limit)
      await using _ = api
      for (const kind of ['trace', 'dag']) {
        const response = await api.get(`/api/runs/run-1/${kind}`)
        expect([kind, limit - size, response.status]).toEqual([kind, limit - size, status])
        const body = await response.json()
        if (status === 413) {
          expect(body).toMatchObject({
            error: 'PAYLOAD_TOO_LARGE',
            message: expect.stringContaining(`exceed ${limit} bytes`),
          })
        }
      }
    }
  })
})

describe('the tags of a run', () => {
  const fitting = { name: 'é'.repeat((MAX_TAG_BYTES - 4) / 2) }

  it('The tags of a run are accepted at the limit in bytes', async () => {
    await using api = await openServer({ ensembles: [speakingEnsemble(10)] })
    const response = await api.post('/api/runs', { tags: fitting })
    expect(response.status).toBe(202)
  })

  it.each([
    ['a value', { name: `${fitting.name}x` }],
    ['a name', { ...fitting, x: '' }],
    ['a number', { name: fitting.name.slice(1), x: 12 }],
  ])('The tags of a run are refused with 400 beyond it, for one byte of %s', async (_, tags) => {
    await using api = await openServer({ ensembles: [speakingEnsemble(10)] })
    const response = await api.post('/api/runs', { tags })
    const message = `must have at most ${MAX_TAG_BYTES} bytes, names and values together, got ${MAX_TAG_BYTES + 1}`
    expect([response.status, await response.json()]).toEqual([
      400,
      {
        error: 'BAD_REQUEST',
        message: `Invalid request body: /tags ${message}`,
        problems: [{ path: '/tags', message }],
      },
    ])
    await using socket = api.connect('/ws?snapshot=none')
    await socket.next('hello')
    socket.send({ type: 'run_request', requestId: '1', tags })
    expect(await socket.next('run_ack')).toMatchObject({ status: 'REJECTED' })
    expect((await api.runs.list({ limit: 1, offset: 0 })).total).toBe(0)
  })
})

describe('a page of the audit trail', () => {
  it('A page of the audit trail stays small when callers send long names', async () => {
    const key = 'admin-key-of-length'
    await using api = await openServer({
      apiKeys: [apiKey(key, { name: 'ann', scopes: ['admin'] })],
    })
    const authorization = `Bearer ${key}`
    for (let count = 0; count < 20; count += 1) {
      await api.post('/api/runs/cancel', { tag: 't'.repeat(100_000) }, { authorization })
      await api.post(`/api/runs/${'r'.repeat(10_000)}/cancel`, {}, { authorization })
    }
    const response = await api.get('/api/audit?limit=1000', { headers: { authorization } })
    const text = await response.text()
    const { entries } = JSON.parse(text)
    expect(entries).toHaveLength(40)
    expect(entries[1].target).toBe(`${'t'.repeat(999)}…`)
    expect(entries[0].runId).toBe(`${'r'.repeat(999)}…`)
    expect(text.length).toBeLessThan(40 * 1_500)
  })
})
