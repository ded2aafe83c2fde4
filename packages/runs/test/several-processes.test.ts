import { cancel, inject, switchModel } from './commands.ts'
import { postgresRunStorage } from '@tutti/runs/postgres'
import { createRunService, type RunService, type RunServiceOptions } from '@tutti/runs'
import { storeDispatcher } from '@tutti/runs/adapter'
import { fakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { until } from '../../../tooling/test-kit/wait.ts'
import { connectClient } from '../../../tooling/postgres/connect-client.ts'
import { testDatabase, testServer } from '../../../tooling/postgres/test-database.ts'
import { allEvents, waitingEnsemble, type WaitingEnsemble } from './waiting-ensemble.ts'
import { reviewedEnsemble } from './reviewed-ensemble.ts'
import { storageOver } from './storage-over.ts'
import { turns } from './turns.ts'

import type { LoggedRunEvent } from '@tutti/protocol'
import type { StoreNotification, RunStorage } from '@tutti/runs/adapter'

const INPUTS = { topic: 'Bach' }
const CLOSE = { drainTimeoutMs: 5_000 }

/** Short leases, because tests wait for them in real time. */
const QUICK = { leaseMs: 1_000, pollMs: 100 } as const

function open(url: string): Promise<RunStorage> {
  return postgresRunStorage({ connectionString: url, maxConnections: 4 })
}

/** Starts a process that executes a band, or only accepts runs. */
async function startProcess(
  url: string,
  { ensemble }: Pick<WaitingEnsemble, 'ensemble'>,
  options: RunServiceOptions = {},
): Promise<RunService> {
  const service = createRunService(await open(url), [ensemble], { ...QUICK, ...options })
  await service.start()
  return service
}

const api = { executes: false } as const

/** Starts a process that can be cut off from the store, like a paused or partitioned one. */
async function mutedProcess(url: string, { ensemble }: WaitingEnsemble) {
  const storage = await open(url)
  const back = Promise.withResolvers<void>()
  let isMuted = false
  const muted = storageOver(storage, {
    async commit(writes) {
      if (isMuted) await back.promise
      return storage.runs.commit(writes)
    },
  })
  const queue: RunStorage['queue'] = {
    claimOffered: (offers, request) => storage.queue.claimOffered(offers, request),
    claim: (runId, leaseOwner) => storage.queue.claim(runId, leaseOwner),
    async renew(leaseOwner) {
      if (isMuted) await back.promise
      return storage.queue.renew(leaseOwner)
    },
    markWaiting: (held, waitsFor) => storage.queue.markWaiting(held, waitsFor),
    release: (held, how) => storage.queue.release(held, how),
    excuse: (lost) => storage.queue.excuse(lost),
    hasLease: (owner) => storage.queue.hasLease(owner),
    reclaimAll: () => storage.queue.reclaimAll(),
    findExpired: (limit) => storage.queue.findExpired(limit),
    load: () => storage.queue.load(),
    metrics: () => storage.queue.metrics(),
    get fleet() {
      return storage.queue.fleet
    },
    get hasStranded() {
      return storage.queue.hasStranded
    },
  }
  const dispatcher = storeDispatcher(async (request) => {
    if (isMuted) await back.promise
    return (await storage.dispatcher.take(request)) ?? []
  })
  const service = createRunService({ ...muted, queue, dispatcher }, [ensemble], QUICK)
  await service.start()
  return {
    service,
    mute: () => {
      isMuted = true
    },
    unmute: () => {
      isMuted = false
      back.resolve()
    },
  }
}

async function connectTo(connectionString: string) {
  const client = await connectClient(connectionString)
  return { client, [Symbol.asyncDispose]: () => client.end() }
}

function isGapless(events: readonly LoggedRunEvent[]): boolean {
  return events.every(({ seq }, index) => seq === index)
}

describe('several processes on one store', () => {
  it('[RUNS-S1] A run that one process accepts executes in another, and all see the same live events', async () => {
    await using database = await testDatabase()
    const { ensemble, play, waiting } = waitingEnsemble()
    const taker = await startProcess(database.url, { ensemble }, api)
    const worker = await startProcess(database.url, { ensemble })
    const onlooker = await startProcess(database.url, { ensemble }, api)
    const all: LoggedRunEvent[] = []
    onlooker.listeners.add((events) => all.push(...events))
    await onlooker.listeners.connect()
    const { runId } = await taker.submit({ inputs: INPUTS })
    const readers = [taker, worker, onlooker].map((service) => allEvents(service, runId))
    await waiting(1)
    const late = allEvents(onlooker, runId)
    play()
    const [first, ...others] = await Promise.all([...readers, late])
    expect(first?.at(-1)).toMatchObject({ status: 'COMPLETED' })
    for (const events of others) expect(events).toEqual(first)
    await until('the listener to all is told of the end', () => all.length === first?.length)
    expect(all).toEqual(first)
    expect(isGapless(all)).toBe(true)
    for (const service of [taker, worker, onlooker]) await service.close(CLOSE)
  })

  it('[RUNS-F6] Readers of a process without notifications for a while miss no events', async () => {
    await using database = await testDatabase()
    const { ensemble, play, waiting } = waitingEnsemble()
    const storage = await open(database.url)
    let isDeaf = false
    const listeners = new Set<(notification: StoreNotification) => void>()
    const deaf = storageOver(storage, {})
    deaf.listen = (listener) => {
      listeners.add(listener)
      return storage.listen((notification) => {
        if (!isDeaf) listener(notification)
      })
    }
    const onlooker = createRunService(deaf, [ensemble], { ...QUICK, ...api })
    await onlooker.start()
    const worker = await startProcess(database.url, { ensemble })
    const all: LoggedRunEvent[] = []
    onlooker.listeners.add((events) => all.push(...events))
    await onlooker.listeners.connect()
    const { runId } = await worker.submit({ inputs: INPUTS })
    const reader = allEvents(onlooker, runId)
    await waiting(1)
    await until('the onlooker is told of the task', () =>
      all.some((event) => event.type === 'task_started' && event.taskName === 'play'),
    )
    isDeaf = true
    play()
    const expected = await allEvents(worker, runId)
    expect(all.length).toBeLessThan(expected.length)
    for (const listener of listeners) listener({ kind: 'missed' })
    expect(await reader).toEqual(expected)
    await until('the listener to all is told of the end', () => all.length >= expected.length)
    expect(all).toEqual(expected)
    for (const service of [onlooker, worker]) await service.close(CLOSE)
  })

  it('[RUNS-F6] [RUNS-N6] Readers in a large fleet are not notified of events, and poll five times a second', async () => {
    await using database = await testDatabase()
    const { ensemble, play, waiting } = waitingEnsemble()
    const storage = await open(database.url)
    await using client = await connectTo(database.url)
    await client.client.query(
      `INSERT INTO tutti.leases SELECT 'other-' || n, clock_timestamp() + interval '1 hour'
       FROM generate_series(1, 50) AS n`,
    )
    const received: string[] = []
    storage.listen(({ kind }) => received.push(kind))
    const polls: Promise<unknown>[] = []
    const counted = storageOver(storage, {})
    counted.events = {
      read: (query) => storage.events.read(query),
      follow: (query) => {
        const heads = storage.events.follow(query)
        polls.push(heads)
        return heads
      },
    }
    const clock = fakeClock()
    const onlooker = createRunService(counted, [ensemble], { ...QUICK, ...api, clock })
    await onlooker.start()
    const worker = await startProcess(database.url, { ensemble })
    const { runId } = await worker.submit({ inputs: INPUTS })
    await waiting(1)
    await clock.advance(1_000)
    await until('the onlooker knows the fleet', () => storage.queue.fleet.processes > 50)
    const reader = allEvents(onlooker, runId)
    await clock.advance(1_000)
    let elapsedMs = 0
    const pollTimes = async (count: number): Promise<void> => {
      for (const before = polls.length; polls.length < before + count; elapsedMs += 50) {
        await clock.advance(50)
        // The next one is due some time after the end of this one.
        await polls.at(-1)
        await turns(20)
      }
    }
    // The first may have been planned before the fleet was known.
    await pollTimes(1)
    elapsedMs = 0
    await pollTimes(5)
    expect(elapsedMs).toBeLessThanOrEqual(2_000)
    play()
    const expected = await allEvents(worker, runId)
    await pollTimes(1)
    expect(await reader).toEqual(expected)
    expect(received).not.toContain('events')
    for (const service of [onlooker, worker]) await service.close(CLOSE)
  })

  it('[RUNS-F8] A reader learns that the log has lost events that it has received', async () => {
    await using database = await testDatabase()
    const { ensemble, waiting } = waitingEnsemble()
    const worker = await startProcess(database.url, { ensemble })
    const { runId } = await worker.submit({ inputs: INPUTS })
    await waiting(1)
    await worker.close({ drainTimeoutMs: 0 })
    const onlooker = await startProcess(database.url, { ensemble }, api)
    const received: LoggedRunEvent[] = []
    const reading = (async () => {
      for await (const events of onlooker.follow({ runId, from: 0 })) received.push(...events)
    })()
    await until('the reader has caught up', () => received.length > 2)
    await using client = await connectTo(database.url)
    await client.client.query('DELETE FROM tutti.events WHERE seq > 1')
    await client.client.query('UPDATE tutti.runs SET last_seq = 1')
    await expect(reading).rejects.toMatchObject({
      code: 'CURSOR_PAST_END',
      details: { lastSeq: 1 },
    })
    await onlooker.close(CLOSE)
  })

  it('[RUNS-S2] [RUNS-Q1] Several processes on one store execute and accept runs within the limits together', async () => {
    await using database = await testDatabase()
    const { ensemble, play } = waitingEnsemble()
    const limits = { maxConcurrentRuns: 3, maxQueuedRuns: 5 }
    const workers = await Promise.all(
      [1, 2, 3].map(() => startProcess(database.url, { ensemble }, limits)),
    )
    const submits = workers.flatMap((worker) =>
      Array.from({ length: 7 }, () => worker.submit({ inputs: INPUTS })),
    )
    const outcomes = await Promise.allSettled(submits)
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(8)
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected')
        expect(outcome.reason).toMatchObject({ code: 'CONCURRENCY_LIMIT' })
    }
    // The store knows of a claim before the process that made it.
    const running = () => workers.reduce((sum, worker) => sum + worker.status.running, 0)
    await until('as many run as may', () => running() >= 3)
    expect(running()).toBe(3)
    expect(await workers[1]?.status.load()).toEqual({
      running: 3,
      queued: 5,
      waiting: 0,
      parked: 0,
    })
    play()
    await until('all have ended', async () => {
      const page = await workers[2]?.list({ statuses: ['COMPLETED'], limit: 1, offset: 0 })
      return page?.total === 8
    })
    for (const worker of workers) await worker.close(CLOSE)
  })

  it('[RUNS-P15] A process executes the runs that it accepts while it has free slots', async () => {
    await using database = await testDatabase()
    const { ensemble, play } = waitingEnsemble()
    const limits = { maxConcurrentRuns: 5, maxRunsPerProcess: 3 }
    const first = await startProcess(database.url, { ensemble }, limits)
    const second = await startProcess(database.url, { ensemble }, limits)
    for (let n = 0; n < 3; n += 1) await first.submit({ inputs: INPUTS })
    expect([first.status.running, second.status.running]).toEqual([3, 0])
    await first.submit({ inputs: INPUTS })
    await until('the second process takes the fourth run', () => second.status.running === 1)
    play()
    for (const process of [first, second]) await process.close(CLOSE)
  })

  it('[RUNS-Q7] A process leaves runs of unknown ensembles to other processes', async () => {
    await using database = await testDatabase()
    const choir = waitingEnsemble({ name: 'choir' })
    choir.play()
    const stranger = await startProcess(database.url, waitingEnsemble())
    const taker = await startProcess(database.url, choir, api)
    const { runId } = await taker.submit({ inputs: INPUTS })
    await until('the stranger has looked', async () => {
      await new Promise((resolve) => setTimeout(resolve, 2 * QUICK.pollMs))
      return (await stranger.status.load()).queued === 1
    })
    const worker = await startProcess(database.url, choir)
    expect((await allEvents(taker, runId)).at(-1)).toMatchObject({ status: 'COMPLETED' })
    for (const process of [stranger, taker, worker]) await process.close(CLOSE)
  })

  it('[RUNS-S6] A repeated submission to any process is one run', async () => {
    await using database = await testDatabase()
    const { ensemble } = waitingEnsemble()
    const [one, two] = [
      await startProcess(database.url, { ensemble }, api),
      await startProcess(database.url, { ensemble }, api),
    ]
    const request = { inputs: INPUTS, tags: { by: 'ci' }, idempotencyKey: 'key-1' }
    const runs = await Promise.all(
      Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? one : two).submit(request)),
    )
    expect(new Set(runs.map(({ runId }) => runId)).size).toBe(1)
    expect((await one.list({ limit: 9, offset: 0 })).total).toBe(1)
    await expect(two.submit({ ...request, inputs: { topic: 'Brahms' } })).rejects.toMatchObject({
      code: 'IDEMPOTENCY_CONFLICT',
    })
    for (const service of [one, two]) await service.close(CLOSE)
  })

  it('[RUNS-S4] [RUNS-W5] [RUNS-W6] A command reaches the run from any process', async () => {
    await using database = await testDatabase()
    const { ensemble, models, other } = reviewedEnsemble({ review: false })
    const gate = waitingEnsemble({ encore: true })
    const both = async (options: RunServiceOptions = {}): Promise<RunService> => {
      const storage = await open(database.url)
      const service = createRunService(storage, [gate.ensemble, ensemble], {
        ...QUICK,
        models,
        ...options,
      })
      await service.start()
      return service
    }
    const [taker, worker] = [await both(api), await both()]
    const { runId } = await taker.submit({ inputs: INPUTS })
    await gate.waiting(1)
    await expect(switchModel(taker, runId, 'none')).rejects.toMatchObject({ code: 'INVALID_MODEL' })
    expect(await switchModel(taker, runId, 'other', { taskName: 'again' })).toEqual({
      model: 'other',
      previousModel: expect.any(String),
    })
    const louder = { id: 'louder', content: 'Louder', to: 'again' }
    expect(await inject(taker, runId, louder)).toMatchObject({ id: 'louder' })
    expect(await cancel(taker, runId, { mode: 'boundary' })).toBe('CANCELLING')
    expect((await taker.get(runId))?.run.status).toBe('CANCELLING')
    gate.play()
    const events = await allEvents(taker, runId)
    const recorded = ['model_switched', 'directive_active', 'run_cancelling']
    expect(events.map(({ type }) => type).filter((type) => recorded.includes(type))).toEqual(
      recorded,
    )
    expect(events.at(-1)).toMatchObject({ status: 'CANCELLED' })
    expect(other.requests).toEqual([])
    await expect(inject(taker, runId, 'Too late')).rejects.toMatchObject({
      code: 'RUN_COMPLETED',
      message: `Run ${runId} already completed with status CANCELLED`,
    })
    for (const service of [taker, worker]) await service.close(CLOSE)
  })

  it('[RUNS-X3] [RUNS-Q5] A run whose process stops renewing continues elsewhere, and that process writes nothing more', async () => {
    await using database = await testDatabase()
    const silent = waitingEnsemble()
    const { service, mute, unmute } = await mutedProcess(database.url, silent)
    const { runId } = await service.submit({ inputs: INPUTS })
    await silent.waiting(1)
    const second = waitingEnsemble()
    const worker = await startProcess(database.url, second)
    expect(worker.status.running).toBe(0)
    mute()
    await second.waiting(1)
    silent.play()
    unmute()
    await until('the silent process has stopped', () => service.status.running === 0)
    second.play()
    const events = await allEvents(worker, runId)
    expect(isGapless(events)).toBe(true)
    expect(events.filter(({ type }) => type === 'run_resumed')).toMatchObject([{ epoch: 2 }])
    expect(events.filter(({ type }) => type === 'run_result')).toMatchObject([
      { status: 'COMPLETED' },
    ])
    expect(events.filter(({ type }) => type === 'tool_called')).toHaveLength(1)
    // No work of the completed task was repeated.
    expect(second.model.requests.map(({ messages }) => messages.at(-1)?.role)).toEqual(['tool'])
    for (const process of [service, worker]) await process.close(CLOSE)
  })

  it('[RUNS-S5] [RUNS-X6] A process that stops hands its run over when no call is in flight', async () => {
    await using database = await testDatabase()
    const first = waitingEnsemble({ encore: true })
    const stopping = await startProcess(database.url, first)
    const { runId } = await stopping.submit({ inputs: INPUTS })
    await first.waiting(1)
    const second = waitingEnsemble({ encore: true })
    const next = await startProcess(database.url, second)
    const closed = stopping.close(CLOSE)
    first.play()
    await closed
    const events = await allEvents(next, runId)
    expect(isGapless(events)).toBe(true)
    expect(events.filter(({ type }) => type === 'tool_called')).toHaveLength(1)
    expect(events.filter(({ type }) => type === 'run_resumed')).toHaveLength(1)
    expect(events.at(-1)).toMatchObject({ status: 'COMPLETED' })
    await second.waiting(0)
    const roles = second.model.requests.map(({ messages }) => messages.at(-1)?.role)
    expect(roles).toEqual(['tool', 'user'])
    await next.close(CLOSE)
  })

  it('[RUNS-S7] [RUNS-G5] A run in flight continues when the store is back, and submits are refused until then', async () => {
    await using server = await testServer()
    const { ensemble, play, waiting, model } = waitingEnsemble()
    const service = await startProcess(server.url, { ensemble }, { leaseMs: 60_000 })
    const { runId } = await service.submit({ inputs: INPUTS })
    await waiting(1)
    await server.stop()
    await until('the loss is noticed', () => service.status.state === 'STORE_UNAVAILABLE')
    await expect(service.submit({ inputs: INPUTS })).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      details: { retryAfterMs: 5000 },
    })
    play()
    await server.start()
    await until('the store is back', () => service.status.state === 'READY')
    const events = await allEvents(service, runId)
    expect(isGapless(events)).toBe(true)
    expect(events.at(-1)).toMatchObject({ status: 'COMPLETED' })
    expect(events.map(({ type }) => type)).not.toContain('run_resumed')
    expect(model.requests).toHaveLength(3)
    await service.close(CLOSE)
  })

  it('[RUNS-S5] A process closes within its timeout when the store is unavailable', async () => {
    await using server = await testServer()
    const { ensemble, waiting } = waitingEnsemble()
    const service = await startProcess(server.url, { ensemble })
    await service.submit({ inputs: INPUTS })
    await waiting(1)
    await server.stop()
    await expect(service.close({ drainTimeoutMs: 500 })).resolves.toBeUndefined()
  })
})
