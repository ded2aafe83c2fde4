/** Threads over REST and WebSocket. */
import { apiKey } from '@tutti/control-api'
import { describe, expect, it } from 'vitest'

import { openServer, type TestServer } from './open-server.ts'

import type { Thread } from '@tutti/protocol'
import type { ThreadRunList } from '@tutti/protocol/internal'

const INPUTS = { composer: 'Bach', hall: 'A' }
const BODY = { inputs: INPUTS, threadId: 'thread-a' }

async function readJson<T>(answer: Response | Promise<Response>): Promise<T> {
  // NOTE: the test server has checked the body against its schema.
  return (await (await answer).json()) as T
}

async function runToEnd(api: TestServer, body: object = BODY): Promise<string> {
  const { runId } = await readJson<{ runId: string }>(api.post('/api/runs', body))
  for await (const _ of api.runs.follow({ runId, from: 0 })) continue
  return runId
}

describe('/api/threads', () => {
  it('/api/threads creates a thread once, lists it, and deletes it with its runs', async () => {
    await using api = await openServer()
    api.play()
    const wanted = { threadId: 'thread-a', title: 'Music', tags: { by: 'ann' } }
    const created = await api.post('/api/threads', wanted)
    expect([created.status, created.headers.get('location')]).toEqual([
      201,
      '/api/threads/thread-a',
    ])
    expect((await api.post('/api/threads', wanted)).status).toBe(200)
    const { threadId } = await readJson<Thread>(api.post('/api/threads', {}))
    expect(threadId).toMatch(/^thread-[0-9a-z]{16}$/)
    const runId = await runToEnd(api)
    const list = await readJson<{ threads: Thread[] }>(api.get('/api/threads'))
    expect(list.threads).toMatchObject([
      { ...wanted, runCount: 1, newestRun: { runId, status: 'COMPLETED' } },
      { threadId, runCount: 0, tags: {} },
    ])
    const first = await readJson<{ nextCursor: string }>(api.get('/api/threads?limit=1'))
    const rest = await api.get(`/api/threads?limit=1&cursor=${first.nextCursor}`)
    expect(await rest.json()).toMatchObject({ threads: [{ threadId }] })
    expect(await readJson(api.get('/api/threads?tag=by:ann'))).toMatchObject({
      threads: [{ threadId: 'thread-a' }],
    })
    expect((await api.get('/api/threads/thread-a', { method: 'DELETE' })).status).toBe(204)
    expect((await api.get('/api/threads/thread-a')).status).toBe(404)
    expect((await api.get(`/api/runs/${runId}`)).status).toBe(404)
    expect((await api.get('/api/threads/thread-a', { method: 'DELETE' })).status).toBe(404)
  })

  it('/api/threads shows the runs of a thread as messages, and the thread of a run', async () => {
    await using api = await openServer()
    api.play()
    await api.post('/api/threads', { threadId: 'thread-a' })
    expect(await readJson(api.get('/api/threads/thread-a/runs'))).toEqual({ runs: [] })
    const first = await runToEnd(api)
    const second = await runToEnd(api)
    await runToEnd(api, { inputs: INPUTS })
    const page = await readJson<ThreadRunList>(api.get('/api/threads/thread-a/runs?limit=1'))
    expect(page.runs).toMatchObject([
      {
        runId: second,
        status: 'COMPLETED',
        userMessage: JSON.stringify(INPUTS),
        assistantMessage: 'It was played in full',
      },
    ])
    const rest = await api.get(`/api/threads/thread-a/runs?cursor=${page.nextCursor}`)
    const { runs, nextCursor } = await readJson<ThreadRunList>(rest)
    expect([runs.map(({ runId }) => runId), nextCursor]).toEqual([[first], undefined])
    expect((await api.detail(first)).threadId).toBe('thread-a')
    expect(await readJson(api.get('/api/runs?threadId=thread-a'))).toMatchObject({
      total: 2,
      runs: [{ threadId: 'thread-a' }, { threadId: 'thread-a' }],
    })
    expect((await api.get('/api/threads/thread-z/runs')).status).toBe(404)
  })

  it('/api/threads refuses a run of a thread whose newest run has not ended, and cancels that run to delete it', async () => {
    await using api = await openServer()
    await api.post('/api/threads', { threadId: 'thread-a' })
    await using socket = api.connect()
    await socket.next('hello')
    socket.send({ type: 'run_request', ...BODY })
    const { runId = '' } = await socket.next('run_ack')
    const message =
      'The newest run of thread thread-a has not ended. Wait until it ends, or cancel it.'
    const refused = await api.post('/api/runs', BODY)
    expect(refused.status).toBe(409)
    expect(await refused.json()).toMatchObject({ error: 'THREAD_BUSY', message })
    await using other = api.connect()
    await other.next('hello')
    other.send({ type: 'run_request', ...BODY })
    expect(await other.next('run_ack')).toMatchObject({ status: 'REJECTED', error: 'THREAD_BUSY' })
    expect((await api.get('/api/threads/thread-a', { method: 'DELETE' })).status).toBe(204)
    expect((await api.get(`/api/runs/${runId}`)).status).toBe(404)
  })

  it('[GW-A5] /api/threads hides the runs of other keys from the key that created their thread', async () => {
    await using api = await openServer({
      apiKeys: [apiKey('writer-key-of-some-length', { name: 'writer', scopes: ['runs:write'] })],
    })
    const as = { authorization: 'Bearer writer-key-of-some-length' }
    const inputs = { composer: 'Bach', hall: 'A' }
    const threadId = 'thread-a'
    api.play()
    expect((await api.post('/api/threads', { threadId }, as)).status).toBe(201)
    expect((await api.post('/api/threads', { threadId }, as)).status).toBe(200)
    expect((await api.post('/api/runs?wait=20', { inputs, threadId }, as)).status).toBe(200)
    const { runId } = await api.runs.submit({ inputs, threadId, actor: 'other' })
    await expect.poll(async () => (await api.runs.record(runId))?.status).toBe('COMPLETED')
    expect((await api.post('/api/runs', { inputs, threadId }, as)).status).toBe(403)
    expect((await api.post('/api/threads', { threadId }, as)).status).toBe(403)
  })

  it('/api/threads requires the scopes of runs, and records changes in the audit trail', async () => {
    await using api = await openServer({
      apiKeys: [
        apiKey('reader-key-of-some-length', { name: 'reader', scopes: ['runs:read'] }),
        apiKey('writer-key-of-some-length', {
          name: 'writer',
          scopes: ['runs:read', 'runs:write', 'runs:control', 'admin'],
        }),
      ],
    })
    const as = (name: string) => ({ authorization: `Bearer ${name}-key-of-some-length` })
    const body = { threadId: 'thread-a' }
    expect((await api.post('/api/threads', body, as('reader'))).status).toBe(403)
    const made = await readJson<Thread>(api.post('/api/threads', body, as('writer')))
    expect(made.createdBy).toBe('writer')
    const ofReader = { headers: as('reader') }
    expect((await api.get('/api/threads/thread-a', ofReader)).status).toBe(200)
    expect((await api.get('/api/threads/thread-a/runs', ofReader)).status).toBe(200)
    const remove = (name: string) =>
      api.get('/api/threads/thread-a', { method: 'DELETE', headers: as(name) })
    expect((await remove('reader')).status).toBe(403)
    expect((await remove('writer')).status).toBe(204)
    const { entries } = await readJson<{ entries: object[] }>(
      api.get('/api/audit', { headers: as('writer') }),
    )
    const target = 'thread-a'
    expect(entries).toMatchObject([
      { action: 'deleteThread', actor: 'writer', target, outcome: 'DONE' },
      { action: 'deleteThread', actor: 'reader', outcome: 'REFUSED' },
      { action: 'createThread', actor: 'writer', target, outcome: 'DONE' },
      { action: 'createThread', actor: 'reader', outcome: 'REFUSED' },
    ])
  })
})
