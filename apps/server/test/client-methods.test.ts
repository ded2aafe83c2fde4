/** Every method of `@tutti/client` against a real control API. */
import { createClient, UnfinishedRunError } from '@tutti/client'
import { describe, expect, it } from 'vitest'

import { ADMIN, KEY, openClientServer, type ClientServer } from './client-server.ts'

const BACH = { inputs: { composer: 'Bach' } }

function clientOf(api: ClientServer) {
  return createClient({ baseUrl: api.url, apiKey: KEY, maxRepeats: 0 })
}

describe('runs', () => {
  it('are submitted at level 1, looked at, listed and deleted', async () => {
    await using api = await openClientServer()
    const { runs } = clientOf(api)
    api.play()
    const { runId } = await runs.submit({ ...BACH, tags: { by: 'test' }, runId: 'run-mine' })
    expect(runId).toBe('run-mine')
    const end = await runs.result(runId)
    expect(end).toMatchObject({ status: 'COMPLETED', tags: { by: 'test' } })
    expect(end.outputs.map(({ taskName }) => taskName)).toEqual(['tune', 'play'])
    expect(await runs.get(runId)).toMatchObject({ status: 'COMPLETED', lastSeq: end.lastSeq })
    expect(await runs.list({ tag: 'by:test' })).toMatchObject({ total: 1, runs: [{ runId }] })
    await runs.delete(runId)
    await expect(runs.get(runId)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND', status: 404 })
  })

  it('are submitted at level 2: overrides and options of the request', async () => {
    await using api = await openClientServer()
    const { runs } = clientOf(api)
    const end = await runs.run({
      ensemble: 'soloist',
      ...BACH,
      taskOverrides: { tune: { description: 'Tune twice for {composer}', model: 'large' } },
      options: { captureMode: 'FULL' },
    })
    expect(end.tasks).toMatchObject([{ description: 'Tune twice for Bach' }])
    expect(end.outputs).toMatchObject([{ output: 'All instruments are in tune, says large' }])
    expect(end.options).toMatchObject({ captureMode: 'FULL' })
    await expect(
      runs.submit({ ...BACH, taskOverrides: { sing: { model: 'large' } } }),
    ).rejects.toMatchObject({ code: 'INVALID_TASK_OVERRIDE' })
  })

  it('are submitted at level 3: tasks of the request', async () => {
    await using api = await openClientServer()
    const { runs } = clientOf(api)
    api.play()
    const end = await runs.run({
      tasks: [
        { name: 'a', description: 'Find a {thing}', model: 'large' },
        { name: 'b', description: 'Use it', tools: ['wait'], context: ['$a'], model: 'small' },
      ],
      inputs: { thing: 'key' },
    })
    expect(end.tasks.map(({ name, description }) => [name, description])).toEqual([
      ['a', 'Find a key'],
      ['b', 'Use it'],
    ])
    expect(end.outputs.map(({ output }) => output)).toEqual([
      'All instruments are in tune, says large',
      'It was played in full, says small',
    ])
  })

  it('are one run for one idempotency key, whoever repeats the submit', async () => {
    await using api = await openClientServer()
    const { runs } = clientOf(api)
    const key = { idempotencyKey: 'order-7' }
    const { runId } = await runs.submit(BACH, key)
    expect(await runs.submit(BACH, key)).toMatchObject({ runId })
    await expect(runs.submit({ inputs: { composer: 'Händel' } }, key)).rejects.toMatchObject({
      code: 'IDEMPOTENCY_CONFLICT',
    })
  })

  it('are the answer to a submit that waits for them, or else the acceptance is', async () => {
    await using api = await openClientServer()
    const { runs } = clientOf(api)
    const ended = await runs.submit({ ensemble: 'soloist', ...BACH }, { wait: 30 })
    expect(ended).toMatchObject({ status: 'COMPLETED', tasks: [{ name: 'tune' }] })
    const accepted = await runs.submit(BACH, { wait: 1 })
    expect(accepted).toMatchObject({ status: 'ACCEPTED', tasks: 2 })
  })

  it('that fail are a result, or an error with the run when that is asked for', async () => {
    await using api = await openClientServer()
    const { runs } = clientOf(api)
    const failed = await runs.run({ ensemble: 'stumbler' })
    expect(failed).toMatchObject({ status: 'FAILED', code: expect.any(String) })
    const error: unknown = await runs
      .result(failed.runId, { throwOnFailure: true })
      .catch((thrown: unknown) => thrown)
    if (!UnfinishedRunError.isInstance(error)) throw error
    expect(error).toMatchObject({ code: 'RUN_FAILED', run: failed })
    expect(error.message).toContain('ended with status FAILED')
  })

  it('are listed page by page, each once', async () => {
    await using api = await openClientServer()
    const { runs } = clientOf(api)
    const ids: string[] = []
    for (let n = 0; n < 5; n += 1) {
      ids.unshift((await runs.run({ ensemble: 'soloist', ...BACH })).runId)
    }
    const listed: string[] = []
    for await (const { runId } of runs.listAll({ limit: 2 })) {
      listed.push(runId)
      // Pushes everything to a later place while the list is read.
      if (listed.length === 2) await runs.run({ ensemble: 'soloist', ...BACH })
    }
    expect(listed).toEqual(ids)
  })

  it('are cancelled one by one and by tag', async () => {
    await using api = await openClientServer()
    const { runs } = clientOf(api)
    const one = await runs.submit(BACH)
    await api.untilWaiting()
    await runs.cancel(one.runId, { mode: 'abort' })
    const error: unknown = await runs
      .result(one.runId, { throwOnFailure: true })
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'RUN_CANCELLED' })
    const two = await runs.submit({ ...BACH, tags: { batch: '7' } })
    const cancelled = await runs.cancelAll({ tag: 'batch:7' })
    expect(cancelled).toMatchObject({ total: 1, runs: [{ runId: two.runId }] })
    expect(await runs.result(two.runId)).toMatchObject({ status: 'CANCELLED' })
    await expect(runs.cancel(two.runId)).rejects.toMatchObject({ code: 'RUN_COMPLETED' })
  })

  it('are steered while they execute', async () => {
    await using api = await openClientServer()
    const { runs } = clientOf(api)
    const { runId } = await runs.submit(BACH)
    await api.untilWaiting()
    expect(await runs.switchModel(runId, 'large', { taskName: 'play' })).toMatchObject({
      model: 'large',
      status: 'APPLIED',
    })
    expect(await runs.inject(runId, 'Louder', { priority: 'HIGH' })).toMatchObject({
      status: 'ACTIVE',
    })
    await expect(runs.switchModel(runId, 'huge')).rejects.toMatchObject({ code: 'INVALID_MODEL' })
    api.play()
    expect((await runs.result(runId)).outputs.at(-1)?.output).toContain('says large')
  })

  it('leave a trace', async () => {
    await using api = await openClientServer()
    const { runs } = clientOf(api)
    const { runId } = await runs.run({ ensemble: 'soloist', ...BACH })
    const trace = await runs.trace(runId)
    expect(trace.taskTraces).toMatchObject([{ taskDescription: 'Tune for Bach' }])
  })

  it('give their events once and in order, over connections that are cut', async () => {
    await using api = await openClientServer()
    const client = createClient({ baseUrl: api.url, reconnect: { baseDelayMs: 1 } })
    const { runId } = await client.runs.submit(BACH)
    const told: string[] = []
    const seqs: number[] = []
    const events = client.runs.events(runId, {
      onConnection({ status }) {
        told.push(status)
        if (told.length === 3) api.play()
      },
    })
    for await (const { seq } of events) {
      seqs.push(seq)
      if (seq === 2) api.cut()
    }
    expect(seqs).toEqual(seqs.map((_, index) => index))
    expect(told).toEqual(['open', 'reconnecting', 'open', 'closed'])
  })

  it('refuses what does not fit, naming every problem', async () => {
    await using api = await openClientServer()
    const { runs } = clientOf(api)
    const body = { inputs: { year: 2026 }, task: [] } as unknown as typeof BACH
    const error: unknown = await runs.submit(body).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'BAD_REQUEST', status: 400 })
    expect((error as { problems: { path: string }[] }).problems.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['/inputs/year', '/task']),
    )
  })
})

describe('reviews', () => {
  it('are listed and decided once', async () => {
    await using api = await openClientServer()
    const { runs, reviews } = clientOf(api)
    const { runId } = await runs.submit({ ensemble: 'panel', ...BACH })
    await expect.poll(async () => (await reviews.list({ runId })).total).toBe(1)
    const reviewId = (await reviews.list({ runId })).reviews[0]?.reviewId ?? ''
    const edit = { decision: 'EDIT', revisedOutput: 'Better' } as const
    expect(await reviews.decide(reviewId, edit)).toMatchObject({ status: 'APPLIED' })
    expect((await runs.result(runId)).outputs).toMatchObject([{ output: 'Better' }])
    await expect(reviews.decide(reviewId, edit)).rejects.toMatchObject({ code: 'REVIEW_RESOLVED' })
    await expect(reviews.decide('none', edit)).rejects.toMatchObject({ code: 'REVIEW_NOT_FOUND' })
  })
})

describe('tools', () => {
  it('are listed and called with what their schema asks for', async () => {
    await using api = await openClientServer()
    const { tools } = clientOf(api)
    expect((await tools.list()).map(({ name }) => name)).toEqual(['wait', 'add', 'fail'])
    expect(await tools.invoke('add', { a: 2, b: 3 })).toMatchObject({
      status: 'SUCCESS',
      output: '5',
    })
    const failed = await tools.invoke('fail', {})
    expect([failed.status, failed.errorMessage]).toEqual(['FAILED', expect.any(String)])
    await expect(tools.invoke('none', {})).rejects.toMatchObject({ code: 'TOOL_NOT_FOUND' })
  })
})

describe('the server', () => {
  it('tells how it is and what it offers', async () => {
    await using api = await openClientServer()
    const client = clientOf(api)
    expect(await client.status()).toMatchObject({ status: 'running' })
    expect((await client.capabilities()).ensembles.map(({ name }) => name)).toContain('panel')
    expect(await client.health.live()).toEqual({ status: 'UP' })
    expect(await client.health.ready()).toMatchObject({ status: 'READY' })
    expect(await client.openApi()).toMatchObject({ openapi: expect.stringMatching(/^3\.1/) })
    expect(await client.asyncApi()).toMatchObject({ asyncapi: expect.stringMatching(/^3\./) })
    expect(await client.drain()).toEqual({ status: 'DRAINING' })
    expect(api.drains).toBe(1)
  })

  it('shows the files of its workspace', async () => {
    await using api = await openClientServer()
    const { workspace } = clientOf(api)
    expect(await workspace.list()).toMatchObject([{ name: 'scores', type: 'directory' }])
    expect(await workspace.list('scores')).toMatchObject([{ name: 'fugue.txt', type: 'file' }])
    expect(await workspace.read('scores/fugue.txt')).toBe('Grüße, Bach')
    await expect(workspace.read('../data')).rejects.toMatchObject({
      status: expect.toSatisfy((status: number) => status >= 400 && status < 500),
    })
  })

  it('asks for a key, makes tickets, and knows who did what', async () => {
    await using api = await openClientServer({ apiKeys: [ADMIN] })
    const client = clientOf(api)
    const stranger = createClient({ baseUrl: api.url, maxRepeats: 0 })
    await expect(stranger.status()).rejects.toMatchObject({ code: 'UNAUTHORIZED', status: 401 })
    const { ticket, expiresAt } = await client.tickets.create()
    expect(ticket).not.toContain(KEY)
    expect(Date.parse(expiresAt)).toBeGreaterThan(Date.now() - 1_000)
    const { runId } = await client.runs.run({ ensemble: 'soloist', ...BACH })
    expect((await client.identity()).scopes).toContain('admin')
    const { entries } = await client.audit.list({ runId })
    expect(entries).toMatchObject([{ actor: 'conductor', action: 'submitRun', outcome: 'DONE' }])
  })

  it('says how long to wait when it is full', async () => {
    await using api = await openClientServer({ maxQueuedRuns: 0 })
    const { runs } = clientOf(api)
    await runs.submit(BACH)
    await expect(runs.submit(BACH)).rejects.toMatchObject({
      code: 'CONCURRENCY_LIMIT',
      status: 429,
      retryAfterMs: expect.any(Number),
      retryable: true,
    })
  })
})
