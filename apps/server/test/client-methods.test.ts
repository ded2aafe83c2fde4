/** Tests every method of `@tutti/client` against a real control API. */
import { createClient, UnfinishedRunError } from '@tutti/client'
import { describe, expect, it } from 'vitest'

import { ADMIN, KEY, openClientServer, type ClientServer } from './client-server.ts'

const BACH = { inputs: { composer: 'Bach' } }

function createTestClient(api: ClientServer) {
  return createClient({ baseUrl: api.url, apiKey: KEY, maxRepeats: 0 })
}

describe('client.runs', () => {
  it('client.runs submits, reads, lists and deletes a run', async () => {
    await using api = await openClientServer()
    const { runs } = createTestClient(api)
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

  it('client.runs forks a run, once under an idempotency key', async () => {
    await using api = await openClientServer()
    const { runs } = createTestClient(api)
    api.play()
    const { runId } = await runs.run(BACH)
    const body = { at: { task: 'play' }, inputs: { composer: 'Brahms' }, allowSideEffects: true }
    const fork = await runs.fork(runId, body, { idempotencyKey: 'fork-1' })
    const end = await runs.result(fork.runId)
    expect(end).toMatchObject({ status: 'COMPLETED', parent: { runId } })
    expect(end.inputs).toMatchObject({ composer: 'Brahms' })
    const again = await runs.fork(runId, body, { idempotencyKey: 'fork-1' })
    expect(again.runId).toBe(fork.runId)
    await expect(runs.fork(runId, { at: 999 })).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  })

  it('client.runs replays a run, once under an idempotency key', async () => {
    await using api = await openClientServer()
    const { runs } = createTestClient(api)
    api.play()
    const { runId, outputs } = await runs.run(BACH)
    const replay = await runs.replay(runId, { mode: 'frozen' }, { idempotencyKey: 'replay-1' })
    const end = await runs.result(replay.runId)
    expect(end).toMatchObject({ status: 'COMPLETED', parent: { runId, replay: 'frozen' } })
    expect(end.outputs.map(({ output }) => output)).toEqual(outputs.map(({ output }) => output))
    const again = await runs.replay(runId, { mode: 'frozen' }, { idempotencyKey: 'replay-1' })
    expect(again.runId).toBe(replay.runId)
  })

  it('client.runs compares two runs', async () => {
    await using api = await openClientServer()
    const { runs } = createTestClient(api)
    api.play()
    const { runId } = await runs.run(BACH)
    const replay = await runs.replay(runId, { mode: 'frozen' })
    await runs.result(replay.runId)
    const comparison = await runs.compare(runId, replay.runId)
    expect(comparison).toMatchObject({
      a: { runId },
      b: { runId: replay.runId },
      relation: 'PARENT',
    })
    expect(comparison.tasks.map(({ name, sameOutput }) => [name, sameOutput])).toEqual([
      ['tune', true],
      ['play', true],
    ])
    await expect(runs.compare(runId, 'none')).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
  })

  it('client.runs submits a run with overrides and options', async () => {
    await using api = await openClientServer()
    const { runs } = createTestClient(api)
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

  it('client.runs submits a run with its own tasks', async () => {
    await using api = await openClientServer()
    const { runs } = createTestClient(api)
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

  it('client.runs returns the same run for a repeated idempotency key', async () => {
    await using api = await openClientServer()
    const { runs } = createTestClient(api)
    const key = { idempotencyKey: 'order-7' }
    const { runId } = await runs.submit(BACH, key)
    expect(await runs.submit(BACH, key)).toMatchObject({ runId })
    await expect(runs.submit({ inputs: { composer: 'Händel' } }, key)).rejects.toMatchObject({
      code: 'IDEMPOTENCY_CONFLICT',
    })
  })

  it('client.runs returns the ended run of a submit with wait, or the acceptance if it takes longer', async () => {
    await using api = await openClientServer()
    const { runs } = createTestClient(api)
    const ended = await runs.submit({ ensemble: 'soloist', ...BACH }, { wait: 30 })
    expect(ended).toMatchObject({ status: 'COMPLETED', tasks: [{ name: 'tune' }] })
    const accepted = await runs.submit(BACH, { wait: 1 })
    expect(accepted).toMatchObject({ status: 'ACCEPTED', tasks: 2 })
  })

  it('client.runs returns a failed run, or throws an error with it if requested', async () => {
    await using api = await openClientServer()
    const { runs } = createTestClient(api)
    const failed = await runs.run({ ensemble: 'stumbler' })
    expect(failed).toMatchObject({ status: 'FAILED', code: expect.any(String) })
    const error: unknown = await runs
      .result(failed.runId, { throwOnFailure: true })
      .catch((thrown: unknown) => thrown)
    if (!UnfinishedRunError.isInstance(error)) throw error
    expect(error).toMatchObject({ code: 'RUN_FAILED', run: failed })
    expect(error.message).toContain('ended with status FAILED')
  })

  it('client.runs lists each run once, page by page', async () => {
    await using api = await openClientServer()
    const { runs } = createTestClient(api)
    const ids: string[] = []
    for (let n = 0; n < 5; n += 1) {
      ids.unshift((await runs.run({ ensemble: 'soloist', ...BACH })).runId)
    }
    const listed: string[] = []
    for await (const { runId } of runs.listAll({ limit: 2 })) {
      listed.push(runId)
      // Shifts the list while it is read.
      if (listed.length === 2) await runs.run({ ensemble: 'soloist', ...BACH })
    }
    expect(listed).toEqual(ids)
  })

  it('client.runs cancels runs by id and by tag', async () => {
    await using api = await openClientServer()
    const { runs } = createTestClient(api)
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

  it('client.runs steers running runs', async () => {
    await using api = await openClientServer()
    const { runs } = createTestClient(api)
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

  it('client.runs returns the trace of a run', async () => {
    await using api = await openClientServer()
    const { runs } = createTestClient(api)
    const { runId } = await runs.run({ ensemble: 'soloist', ...BACH })
    const trace = await runs.trace(runId)
    expect(trace.taskTraces).toMatchObject([{ taskDescription: 'Tune for Bach' }])
  })

  it('client.runs returns each event once and in order over cut connections', async () => {
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

  it('client.runs rejects invalid requests with every problem', async () => {
    await using api = await openClientServer()
    const { runs } = createTestClient(api)
    const body = { inputs: { year: 2026 }, task: [] } as unknown as typeof BACH
    const error: unknown = await runs.submit(body).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'BAD_REQUEST', status: 400 })
    expect((error as { problems: { path: string }[] }).problems.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['/inputs/year', '/task']),
    )
  })
})

describe('client.threads', () => {
  it('client.threads creates a thread once, continues it with runs, reads it, and deletes it', async () => {
    await using api = await openClientServer()
    const { runs, threads } = createTestClient(api)
    api.play()
    const thread = await threads.create({ threadId: 'mine', title: 'Music' })
    expect(await threads.create({ threadId: 'mine', title: 'Music' })).toEqual(thread)
    const run = { ...BACH, ensemble: 'soloist', threadId: 'mine' }
    const ends = [await runs.run(run), await runs.run(run)]
    expect(ends.map(({ threadId }) => threadId)).toEqual(['mine', 'mine'])
    const page = await threads.runs('mine', { limit: 1 })
    expect(page.runs).toMatchObject([
      { runId: ends[1]?.runId, userMessage: 'Bach', assistantMessage: expect.any(String) },
    ])
    const rest = await threads.runs('mine', { cursor: page.nextCursor ?? '' })
    expect(rest.runs.map(({ runId }) => runId)).toEqual([ends[0]?.runId])
    expect((await runs.list({ threadId: 'mine' })).total).toBe(2)
    expect((await threads.list()).threads).toMatchObject([{ threadId: 'mine', runCount: 2 }])
    await threads.delete('mine')
    await expect(threads.get('mine')).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND' })
    await expect(runs.submit(run)).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND', status: 404 })
  })
})

describe('client.reviews', () => {
  it('client.reviews lists reviews, and decides each once', async () => {
    await using api = await openClientServer()
    const { runs, reviews } = createTestClient(api)
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

describe('client.tools', () => {
  it('client.tools lists tools, and calls them with valid input', async () => {
    await using api = await openClientServer()
    const { tools } = createTestClient(api)
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

describe('the other methods of the client', () => {
  it('The client returns the health and the capabilities of the server', async () => {
    await using api = await openClientServer()
    const client = createTestClient(api)
    expect(await client.status()).toMatchObject({ status: 'running' })
    expect((await client.capabilities()).ensembles.map(({ name }) => name)).toContain('panel')
    expect(await client.health.live()).toEqual({ status: 'UP' })
    expect(await client.health.ready()).toMatchObject({ status: 'READY' })
    expect(await client.openApi()).toMatchObject({ openapi: expect.stringMatching(/^3\.1/) })
    expect(await client.asyncApi()).toMatchObject({ asyncapi: expect.stringMatching(/^3\./) })
    expect(await client.drain()).toEqual({ status: 'DRAINING' })
    expect(api.drains).toBe(1)
  })

  it('The client lists the files of the workspace', async () => {
    await using api = await openClientServer()
    const { workspace } = createTestClient(api)
    expect(await workspace.list()).toMatchObject([{ name: 'scores', type: 'directory' }])
    expect(await workspace.list('scores')).toMatchObject([{ name: 'fugue.txt', type: 'file' }])
    expect(await workspace.read('scores/fugue.txt')).toBe('Grüße, Bach')
    await expect(workspace.read('../data')).rejects.toMatchObject({
      status: expect.toSatisfy((status: number) => status >= 400 && status < 500),
    })
  })

  it('The client requires a key, creates tickets, and reads the audit trail', async () => {
    await using api = await openClientServer({ apiKeys: [ADMIN] })
    const client = createTestClient(api)
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

  it('The client reports how long to wait when the server is full', async () => {
    await using api = await openClientServer({ maxQueuedRuns: 0 })
    const { runs } = createTestClient(api)
    await runs.submit(BACH)
    await expect(runs.submit(BACH)).rejects.toMatchObject({
      code: 'CONCURRENCY_LIMIT',
      status: 429,
      retryAfterMs: expect.any(Number),
      retryable: true,
    })
  })
})
