/** Forks, replays, comparisons and builds over a WebSocket, compared with the answers of REST. */
import { apiKey } from '@tutti/control-api'
import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { eventsOf, openServer, type TestServer, type TestServerOptions } from './open-server.ts'

import type { ForkRunBody, RunAccepted } from '@tutti/protocol'

const ADMIN = 'admin-key-of-some-length'
const READER = 'reader-key-of-some-length'

function openTeam(options: TestServerOptions = {}): Promise<TestServer> {
  const team = ensemble({
    name: 'office',
    model: scriptedModel(({ messages }) => messages.map(({ content }) => content).join('\n')),
    tasks: [
      task({ name: 'find', description: 'Find {word}' }),
      task({ name: 'write', description: 'Write about {word}', context: ['find'] }),
    ],
  })
  return openServer({ ensembles: [team], ...options })
}

async function submit(api: TestServer, headers: Record<string, string> = {}): Promise<string> {
  const response = await api.post('/api/runs', { inputs: { word: 'tea' } }, headers)
  const { runId } = (await response.json()) as RunAccepted
  await eventsOf(await api.get(`/api/runs/${runId}/events`, { headers }))
  return runId
}

const FORK: ForkRunBody = {
  at: { task: 'write' },
  taskOverrides: { write: { description: 'Sing about {word}' } },
  directives: [{ content: 'Be brief', target: 'write' }],
}

describe('a WebSocket connection', () => {
  it('A WebSocket connection forks a run like REST, gets the result of the fork, and repeats a submission once', async () => {
    await using api = await openTeam()
    const parentRunId = await submit(api)
    await using socket = api.connect('/ws?snapshot=none')
    await socket.next('hello')
    const sent = { type: 'run_fork', requestId: 'f-1', parentRunId, ...FORK, idempotencyKey: 'k' }
    socket.send(sent)
    const ack = await socket.next('run_ack')
    expect(ack).toMatchObject({ requestId: 'f-1', status: 'ACCEPTED', tasks: 2 })
    expect(await socket.next('run_result')).toMatchObject({ runId: ack.runId, status: 'COMPLETED' })
    const key = { 'idempotency-key': 'k' }
    const repeated = await api.post(`/api/runs/${parentRunId}/fork`, FORK, key)
    expect(await repeated.json()).toMatchObject({ runId: ack.runId })
    const detail = await api.detail(ack.runId ?? '')
    expect(detail.parent).toMatchObject({ runId: parentRunId })
    expect(detail.tasks[1]?.output).toContain('Sing about tea')
    expect(detail.tasks[1]?.output).toContain('Be brief')
  })

  it('A WebSocket connection previews a fork like REST, and creates nothing', async () => {
    await using api = await openTeam()
    const parentRunId = await submit(api)
    const rest = await api.post(`/api/runs/${parentRunId}/fork`, { ...FORK, preview: true })
    await using socket = api.connect('/ws?snapshot=none')
    await socket.next('hello')
    socket.send({ type: 'run_fork', requestId: 'f', parentRunId, ...FORK, preview: true })
    expect(await socket.next('fork_previewed')).toEqual({
      type: 'fork_previewed',
      requestId: 'f',
      preview: await rest.json(),
    })
    const list = (await (await api.get('/api/runs')).json()) as { total: number }
    expect(list.total).toBe(1)
  })

  it('A WebSocket connection replays a run like REST', async () => {
    await using api = await openTeam()
    const parentRunId = await submit(api)
    await using socket = api.connect('/ws?snapshot=none')
    await socket.next('hello')
    socket.send({ type: 'run_replay', requestId: 'r', parentRunId, mode: 'frozen' })
    const { runId } = await socket.next('run_ack')
    expect(await socket.next('run_result')).toMatchObject({ runId, status: 'COMPLETED' })
    expect(await api.detail(runId ?? '')).toMatchObject({
      parent: { runId: parentRunId, replay: 'frozen' },
    })
  })

  it('A WebSocket connection compares runs and lists builds with the bodies of REST', async () => {
    await using api = await openTeam()
    const [a, b] = [await submit(api), await submit(api)]
    await using socket = api.connect('/ws?snapshot=none')
    await socket.next('hello')
    const query = { type: 'state_query', requestId: 'q' }
    socket.send({ ...query, query: 'comparison', compare: { a, b } })
    const comparison = await (await api.get(`/api/runs/compare?a=${a}&b=${b}`)).json()
    expect(await socket.next('state_response')).toEqual({
      type: 'state_response',
      requestId: 'q',
      data: comparison,
    })
    await using second = api.connect('/ws?snapshot=none')
    await second.next('hello')
    second.send({ ...query, query: 'builds' })
    const builds = await (await api.get('/api/builds')).json()
    expect(await second.next('state_response')).toMatchObject({ data: builds })
    second.send({ ...query, query: 'comparison', compare: { a, b: 'none' } })
    expect(await second.next('error')).toMatchObject({ error: 'RUN_NOT_FOUND', requestId: 'q' })
  })

  it('A WebSocket connection migrates like REST, and refuses with the codes of REST', async () => {
    await using api = await openTeam()
    const runId = await submit(api)
    const body = { to: 'v2', preview: true }
    const rest = (await (await api.post(`/api/runs/${runId}/migrate`, body)).json()) as object
    await using socket = api.connect('/ws?snapshot=none')
    await socket.next('hello')
    socket.send({ type: 'run_migrate', requestId: 'm', runId, ...body })
    expect(await socket.next('error')).toMatchObject({ ...rest, requestId: 'm' })
    socket.send({ type: 'run_fork', requestId: 'f', parentRunId: 'none', at: 0 })
    expect(await socket.next('run_ack')).toMatchObject({
      requestId: 'f',
      status: 'REJECTED',
      error: 'RUN_NOT_FOUND',
    })
    await using invalid = api.connect('/ws?snapshot=none')
    await invalid.next('hello')
    invalid.send({ type: 'run_replay', requestId: 'r', parentRunId: runId })
    expect(await invalid.next('run_ack')).toMatchObject({
      requestId: 'r',
      status: 'REJECTED',
      error: 'BAD_REQUEST',
      problems: [{ path: '/mode' }],
    })
  })

  it('A WebSocket connection needs the scopes of REST, and is audited like it', async () => {
    await using api = await openTeam({
      apiKeys: [
        apiKey(ADMIN, { name: 'ann', scopes: ['admin'] }),
        apiKey(READER, { name: 'rob', scopes: ['runs:read'] }),
      ],
    })
    const ann = { authorization: `Bearer ${ADMIN}` }
    const parentRunId = await submit(api, ann)
    await using reader = api.connect('/ws?snapshot=none', { authorization: `Bearer ${READER}` })
    await reader.next('hello')
    for (const message of [
      { type: 'run_fork', parentRunId, at: 0 },
      { type: 'run_fork', parentRunId, at: 0, preview: true },
      { type: 'run_replay', parentRunId, mode: 'frozen' },
      { type: 'run_migrate', runId: parentRunId, to: 'v2' },
    ]) {
      const before = reader.received.length
      reader.send(message)
      await expect.poll(() => reader.received.slice(before)).toMatchObject([{ error: 'FORBIDDEN' }])
    }
    await using writer = api.connect('/ws?snapshot=none', ann)
    await writer.next('hello')
    writer.send({ type: 'run_fork', parentRunId, ...FORK })
    const { runId } = await writer.next('run_ack')
    const audit = async () => (await api.get('/api/audit?limit=50', { headers: ann })).json()
    await expect.poll(audit).toMatchObject({
      entries: expect.arrayContaining([
        expect.objectContaining({
          actor: 'ann',
          action: 'run_fork',
          via: 'websocket',
          runId,
          target: parentRunId,
          outcome: 'DONE',
        }),
        expect.objectContaining({
          actor: 'rob',
          action: 'run_migrate',
          runId: parentRunId,
          outcome: 'REFUSED',
        }),
      ]),
    })
  })
})
