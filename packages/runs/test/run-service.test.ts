import { cancel } from './commands.ts'
import { decodeLoggedRunEvent } from '@tutti/protocol'
import { createRunService, sqliteRunStorage } from '@tutti/runs'
import type { RunStorage } from '@tutti/runs/adapter'
import { fakeClock } from '@tutti/testing'
import { describe, expect, it, vi } from 'vitest'

import {
  allEvents,
  waitingEnsemble,
  openRuns,
  startRuns,
  temporaryDirectory,
} from './waiting-ensemble.ts'
import { storageOver } from './storage-over.ts'

const INPUTS = { topic: 'Bach' }

describe('a submitted run', () => {
  it('[RUNS-S1] A submitted run is durable when submit resolves, executes, and ends with one terminal event', async () => {
    using directory = temporaryDirectory()
    const { ensemble, play } = waitingEnsemble()
    play()
    const service = await openRuns(directory.path, [ensemble])
    const { runId, status, lastSeq } = await service.submit({ inputs: INPUTS, tags: { by: 'me' } })
    expect([status, lastSeq]).toEqual(['ACCEPTED', 0])
    expect((await service.get(runId))?.run).toMatchObject({ ensemble: 'band', tags: { by: 'me' } })
    const events = await allEvents(service, runId)
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index))
    expect(events.filter(({ type }) => type === 'run_result')).toHaveLength(1)
    expect(events.at(-1)).toMatchObject({ type: 'run_result', status: 'COMPLETED' })
    for (const event of events) expect(decodeLoggedRunEvent(event)).toMatchObject({ ok: true })
    const ended = await service.get(runId)
    expect(ended?.run).toMatchObject({ status: 'COMPLETED', completedTasks: 2, epoch: 1 })
    expect(ended?.tasks.map(({ output }) => output)).toEqual(['tuned for Bach', 'played: done'])
    await service.close({ drainTimeoutMs: 0 })
  })

  it('[RUNS-P15] A submitted run starts in the transaction that creates it, and queues when every slot is taken', async () => {
    using directory = temporaryDirectory()
    const { ensemble, play } = waitingEnsemble()
    const storage = await sqliteRunStorage(directory.path)
    const activities: string[] = []
    const service = createRunService(storage, [ensemble], {
      maxRunsPerProcess: 2,
      onActivity: [({ kind }) => activities.push(kind)],
    })
    await service.start()
    const loads = []
    for (let n = 0; n < 3; n += 1) {
      await service.submit({ inputs: INPUTS })
      loads.push(await storage.queue.load())
    }
    expect(loads).toMatchObject([
      { running: 1, queued: 0 },
      { running: 2, queued: 0 },
      { running: 2, queued: 1 },
    ])
    expect(activities).toEqual(['accepted', 'claimed', 'accepted', 'claimed', 'accepted'])
    play()
    await expect.poll(() => service.status.load()).toMatchObject({ running: 0, queued: 0 })
    await service.close({ drainTimeoutMs: 0 })
  })

  it('A submitted run is handed over when the service closes while it is created', async () => {
    using directory = temporaryDirectory()
    const { ensemble } = waitingEnsemble()
    const service = await openRuns(directory.path, [ensemble])
    const submitted = service.submit({ inputs: INPUTS })
    const closed = service.close({ drainTimeoutMs: 0 })
    const { runId } = await submitted
    await closed
    await using storage = await sqliteRunStorage(directory.path)
    expect(await storage.queue.load()).toMatchObject({ running: 0, queued: 1 })
    expect(
      (await storage.queue.claim(runId, { owner: 'next', leaseMs: Infinity }))?.lostOwners,
    ).toBe(0)
  })

  it('A submitted run is followed from its first event without a read of the log', async () => {
    using directory = temporaryDirectory()
    const { ensemble, play } = waitingEnsemble()
    play()
    const storage = await sqliteRunStorage(directory.path)
    let reads = 0
    const events: RunStorage['events'] = {
      read(query) {
        reads += 1
        return storage.events.read(query)
      },
      follow: (query) => storage.events.follow(query),
    }
    const service = createRunService({ ...storageOver(storage, {}), events }, [ensemble])
    await service.start()
    const followed = await service.submitAndFollow({ inputs: INPUTS })
    const seen = []
    for await (const batch of followed.events ?? []) seen.push(...batch)
    expect(reads).toBe(0)
    expect(seen).toEqual(await allEvents(service, followed.run.runId))
    await service.close({ drainTimeoutMs: 0 })
  })

  it('A submitted run under a repeated key is not followed, and leaves no reader', async () => {
    using directory = temporaryDirectory()
    const { ensemble, play } = waitingEnsemble()
    const service = await openRuns(directory.path, [ensemble])
    const request = { inputs: INPUTS, idempotencyKey: 'k' }
    const first = await service.submit(request)
    const again = await service.submitAndFollow(request)
    expect([again.run.runId, again.events]).toEqual([first.runId, undefined])
    await expect(
      service.submitAndFollow({ inputs: INPUTS, runId: first.runId }),
    ).rejects.toMatchObject({ code: 'RUN_EXISTS' })
    play()
    await allEvents(service, first.runId)
    await service.close({ drainTimeoutMs: 0 })
  })

  it('A submitted run is refused with all missing inputs, and is not stored', async () => {
    using directory = temporaryDirectory()
    const { ensemble, model } = waitingEnsemble()
    const service = await openRuns(directory.path, [ensemble])
    await expect(service.submit({ inputs: {} })).rejects.toMatchObject({
      code: 'INPUT_MISSING',
      details: { missing: ['topic'] },
    })
    expect((await service.list({ limit: 9, offset: 0 })).total).toBe(0)
    expect(model.requests).toEqual([])
    await service.close({ drainTimeoutMs: 0 })
  })

  it('A submitted run selects its ensemble by name, and reports the known names for an unknown one', async () => {
    using directory = temporaryDirectory()
    const [first, second] = [waitingEnsemble(), waitingEnsemble({ name: 'choir' })]
    second.play()
    const service = await openRuns(directory.path, [first.ensemble, second.ensemble])
    const { runId } = await service.submit({ ensemble: 'choir', inputs: INPUTS })
    await allEvents(service, runId)
    expect((await service.get(runId))?.run.ensemble).toBe('choir')
    await expect(service.submit({ ensemble: 'duo', inputs: INPUTS })).rejects.toMatchObject({
      code: 'INVALID_ENSEMBLE',
      message: "Unknown ensemble 'duo'. Available: [band, choir]",
    })
    await expect(service.submit({ ensemble: 'chior' })).rejects.toThrow("Did you mean 'choir'?")
    await service.close({ drainTimeoutMs: 0 })
  })

  it('A submitted run has the id that its client chose, once', async () => {
    using directory = temporaryDirectory()
    const { ensemble, play } = waitingEnsemble()
    play()
    const service = await openRuns(directory.path, [ensemble])
    await service.submit({ runId: 'mine', inputs: INPUTS })
    await expect(service.submit({ runId: 'mine', inputs: INPUTS })).rejects.toMatchObject({
      code: 'RUN_EXISTS',
    })
    expect(await allEvents(service, 'mine')).not.toEqual([])
    await service.close({ drainTimeoutMs: 0 })
  })

  it('A submitted run is not affected by a reader that throws', async () => {
    using directory = temporaryDirectory()
    const { ensemble, play } = waitingEnsemble()
    play()
    const service = await openRuns(directory.path, [ensemble])
    service.listeners.add(() => {
      throw new Error('bad reader')
    })
    const { runId } = await service.submit({ inputs: INPUTS })
    expect((await allEvents(service, runId)).at(-1)).toMatchObject({ status: 'COMPLETED' })
    await service.close({ drainTimeoutMs: 0 })
  })
})

describe('the queue', () => {
  it('[RUNS-S2] [RUNS-Q1] The run queue executes and queues runs up to the limits, in order, and refuses more', async () => {
    using directory = temporaryDirectory()
    const { ensemble, play, waiting } = waitingEnsemble()
    const limits = { maxConcurrentRuns: 2, maxQueuedRuns: 1 }
    const service = await openRuns(directory.path, [ensemble], limits)
    const ids = ['r-1', 'r-2', 'r-3']
    for (const runId of ids) await service.submit({ runId, inputs: INPUTS })
    await waiting(2)
    expect(await service.status.load()).toEqual({ running: 2, queued: 1, waiting: 0, parked: 0 })
    await expect(service.submit({ runId: 'r-4', inputs: INPUTS })).rejects.toMatchObject({
      code: 'CONCURRENCY_LIMIT',
      retryable: true,
      details: { retryAfterMs: 5000 },
    })
    expect(await service.get('r-4')).toBeUndefined()
    expect((await service.get('r-3'))?.run.status).toBe('ACCEPTED')
    play()
    for (const runId of ids) await allEvents(service, runId)
    await service.submit({ runId: 'r-4', inputs: INPUTS })
    expect((await allEvents(service, 'r-4')).at(-1)).toMatchObject({ status: 'COMPLETED' })
    await service.close({ drainTimeoutMs: 0 })
  })

  it('The run queue enforces its limit for concurrent submits', async () => {
    using directory = temporaryDirectory()
    const { ensemble, play } = waitingEnsemble()
    const limits = { maxConcurrentRuns: 1, maxQueuedRuns: 2 }
    const service = await openRuns(directory.path, [ensemble], limits)
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, () => service.submit({ inputs: INPUTS })),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
    play()
    await service.close({ drainTimeoutMs: 10_000 })
  })
})

describe('cancel', () => {
  it('[RUNS-S4] [RUNS-Q2] A cancel of a run ends a running run when its work has stopped, and retains completed tasks', async () => {
    using directory = temporaryDirectory()
    const { ensemble, waiting } = waitingEnsemble()
    const service = await openRuns(directory.path, [ensemble])
    const { runId } = await service.submit({ inputs: INPUTS })
    await waiting(1)
    expect(await cancel(service, runId)).toBe('CANCELLING')
    const events = await allEvents(service, runId)
    expect(events.map(({ type }) => type)).toContain('run_cancelling')
    expect(events.at(-1)).toMatchObject({
      status: 'CANCELLED',
      outputs: [{ taskName: 'tune', output: 'tuned for Bach' }],
    })
    const ended = await service.get(runId)
    expect(ended?.run.status).toBe('CANCELLED')
    expect(ended?.tasks.map(({ status }) => status)).toEqual(['COMPLETED', 'CANCELLED'])
    await service.close({ drainTimeoutMs: 0 })
  })

  it('[RUNS-S4] A cancelled run is CANCELLING while a tool ignores its signal', async () => {
    using directory = temporaryDirectory()
    const { ensemble, waiting } = waitingEnsemble({ obedient: false })
    const clock = fakeClock()
    const service = await openRuns(directory.path, [ensemble], { clock })
    const { runId } = await service.submit({ inputs: INPUTS })
    await waiting(1)
    await cancel(service, runId)
    expect((await service.get(runId))?.run.status).toBe('CANCELLING')
    expect(await cancel(service, runId)).toBe('CANCELLING')
    await clock.advance(4_999)
    expect((await service.get(runId))?.run.status).toBe('CANCELLING')
    await clock.advance(1)
    const events = await allEvents(service, runId)
    expect(events.at(-1)).toMatchObject({ status: 'CANCELLED' })
    expect(events.find(({ type }) => type === 'tool_called')).toMatchObject({
      toolResult: expect.stringContaining('was abandoned'),
    })
    await service.close({ drainTimeoutMs: 0 })
  })

  it('[RUNS-S4] A cancel of a run at a boundary lets the running task finish and starts no other', async () => {
    using directory = temporaryDirectory()
    const { ensemble, play, waiting } = waitingEnsemble({ encore: true })
    const service = await openRuns(directory.path, [ensemble])
    const { runId } = await service.submit({ inputs: INPUTS })
    await waiting(1)
    expect(await cancel(service, runId, { mode: 'boundary' })).toBe('CANCELLING')
    expect((await service.get(runId))?.run.status).toBe('CANCELLING')
    expect(await cancel(service, runId, { mode: 'boundary' })).toBe('CANCELLING')
    play()
    const events = await allEvents(service, runId)
    expect(
      events.flatMap((event) => (event.type === 'run_cancelling' ? [event.mode] : [])),
    ).toEqual(['boundary'])
    expect(events.at(-1)).toMatchObject({
      status: 'CANCELLED',
      outputs: [{ taskName: 'tune' }, { taskName: 'play', output: 'played: done' }],
    })
    const tasks = (await service.get(runId))?.tasks ?? []
    expect(tasks.map(({ status }) => status)).toEqual(['COMPLETED', 'COMPLETED', 'SKIPPED'])
    await service.close({ drainTimeoutMs: 0 })
  })

  it('[RUNS-S4] A cancelled run at a boundary is COMPLETED when no task was left to start', async () => {
    using directory = temporaryDirectory()
    const { ensemble, play, waiting } = waitingEnsemble()
    const service = await openRuns(directory.path, [ensemble])
    const { runId } = await service.submit({ inputs: INPUTS })
    await waiting(1)
    await cancel(service, runId, { mode: 'boundary' })
    play()
    expect((await allEvents(service, runId)).at(-1)).toMatchObject({ status: 'COMPLETED' })
    await service.close({ drainTimeoutMs: 0 })
  })

  it('A cancel in mode abort stops a run that a boundary cancel lets finish', async () => {
    using directory = temporaryDirectory()
    const { ensemble, waiting } = waitingEnsemble({ encore: true })
    const service = await openRuns(directory.path, [ensemble])
    const { runId } = await service.submit({ inputs: INPUTS })
    await waiting(1)
    await cancel(service, runId, { mode: 'boundary' })
    expect(await cancel(service, runId)).toBe('CANCELLING')
    const events = await allEvents(service, runId)
    expect(
      events.flatMap((event) => (event.type === 'run_cancelling' ? [event.mode] : [])),
    ).toEqual(['boundary', 'abort'])
    expect(events.at(-1)).toMatchObject({ status: 'CANCELLED', outputs: [{ taskName: 'tune' }] })
    await service.close({ drainTimeoutMs: 0 })
  })

  it('A cancel of a run is durable when it resolves', async () => {
    using directory = temporaryDirectory()
    const { ensemble, waiting } = waitingEnsemble({ obedient: false })
    const storage = await sqliteRunStorage(directory.path)
    const clock = fakeClock()
    const service = await startRuns(storage, [ensemble], { clock })
    const { runId } = await service.submit({ inputs: INPUTS })
    await waiting(1)
    await cancel(service, runId)
    expect((await storage.runs.steps(runId)).at(-1)).toMatchObject({
      kind: 'cancel_asked',
      mode: 'abort',
      cause: 'SERVER',
    })
    const closed = service.close({ drainTimeoutMs: 0 })
    await clock.advance(10_000)
    await closed
  })

  it('A cancel of a run ends the run at any time after its submit', async () => {
    using directory = temporaryDirectory()
    const { ensemble } = waitingEnsemble()
    const service = await openRuns(directory.path, [ensemble])
    const { runId } = await service.submit({ inputs: INPUTS })
    await cancel(service, runId)
    expect((await allEvents(service, runId)).at(-1)).toMatchObject({ status: 'CANCELLED' })
    await service.close({ drainTimeoutMs: 0 })
  })

  it('A cancel of a run is refused with the final status while the end of the run is being written', async () => {
    using directory = temporaryDirectory()
    const { ensemble, play } = waitingEnsemble()
    play()
    const { storage, writing, goOn } = heldAtTheEnd(await sqliteRunStorage(directory.path))
    const service = await startRuns(storage, [ensemble])
    const { runId } = await service.submit({ inputs: INPUTS })
    await writing
    const refused = expect(cancel(service, runId)).rejects.toMatchObject({
      code: 'RUN_COMPLETED',
      message: `Run ${runId} already completed with status COMPLETED`,
    })
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    goOn()
    await refused
    expect((await allEvents(service, runId)).map(({ type }) => type)).not.toContain(
      'run_cancelling',
    )
    await service.close({ drainTimeoutMs: 0 })
  })

  it('[RUNS-Q2] A cancel of a run ends a waiting run at once, and never starts it', async () => {
    using directory = temporaryDirectory()
    const { ensemble, play, waiting, model } = waitingEnsemble()
    const service = await openRuns(directory.path, [ensemble], { maxConcurrentRuns: 1 })
    const first = await service.submit({ inputs: INPUTS })
    const { runId } = await service.submit({ inputs: INPUTS })
    await waiting(1)
    const before = model.requests.length
    expect(await cancel(service, runId)).toBe('CANCELLED')
    const events = await allEvents(service, runId)
    expect(events.map(({ type }) => type)).toEqual([
      'run_queued',
      'run_cancelling',
      'ensemble_started',
      'task_skipped',
      'task_skipped',
      'ensemble_completed',
      'run_result',
    ])
    expect(model.requests.length).toBe(before)
    play()
    await allEvents(service, first.runId)
    await service.close({ drainTimeoutMs: 0 })
  })

  it('A cancel of a run refuses runs that have ended or are unknown', async () => {
    using directory = temporaryDirectory()
    const { ensemble, play } = waitingEnsemble()
    play()
    const service = await openRuns(directory.path, [ensemble])
    const { runId } = await service.submit({ inputs: INPUTS })
    await allEvents(service, runId)
    await expect(cancel(service, runId)).rejects.toMatchObject({
      code: 'RUN_COMPLETED',
      message: `Run ${runId} already completed with status COMPLETED`,
    })
    await expect(cancel(service, 'run-none')).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
    await service.close({ drainTimeoutMs: 0 })
  })
})

describe('an interrupted run', () => {
  it('[RUNS-S3] [RUNS-S5] [RUNS-X1] An interrupted run continues after its last completed step, under a new epoch', async () => {
    using directory = temporaryDirectory()
    const before = waitingEnsemble()
    const first = await openRuns(directory.path, [before.ensemble])
    const { runId } = await first.submit({ inputs: INPUTS })
    await before.waiting(1)
    await first.close({ drainTimeoutMs: 0 })

    const after = waitingEnsemble()
    after.play()
    const second = createRunService(await sqliteRunStorage(directory.path), [after.ensemble])
    expect(await second.start()).toEqual([runId])
    const events = await allEvents(second, runId)
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index))
    expect(events.find(({ type }) => type === 'run_resumed')).toMatchObject({
      epoch: 2,
      completedTasks: ['tune'],
    })
    expect(events.filter(({ type }) => type === 'ensemble_started')).toHaveLength(1)
    expect(
      events.flatMap((event) =>
        event.type === 'task_started' ? [[event.taskName, event.attempt]] : [],
      ),
    ).toEqual([
      ['tune', 1],
      ['play', 1],
    ])
    expect(after.model.requests.map(({ messages }) => messages.at(-1)?.role)).toEqual(['tool'])
    expect(events.at(-1)).toMatchObject({
      status: 'COMPLETED',
      outputs: [
        { taskName: 'tune', output: 'tuned for Bach' },
        { taskName: 'play', output: 'played: done' },
      ],
    })
    await second.close({ drainTimeoutMs: 0 })
  })

  it('[RUNS-S3] An interrupted run is followed by the runs that waited, the oldest first', async () => {
    using directory = temporaryDirectory()
    const before = waitingEnsemble()
    const first = await openRuns(directory.path, [before.ensemble], { maxConcurrentRuns: 1 })
    for (const runId of ['r-1', 'r-2']) await first.submit({ runId, inputs: INPUTS })
    await before.waiting(1)
    await first.close({ drainTimeoutMs: 0 })
    const after = waitingEnsemble()
    after.play()
    const storage = await sqliteRunStorage(directory.path)
    const second = createRunService(storage, [after.ensemble], { maxConcurrentRuns: 1 })
    expect(await second.start()).toEqual(['r-1', 'r-2'])
    for (const runId of ['r-1', 'r-2']) {
      expect((await allEvents(second, runId)).at(-1)).toMatchObject({ status: 'COMPLETED' })
    }
    await second.close({ drainTimeoutMs: 0 })
  })

  it('[RUNS-X2] An interrupted run ends FAILED with the reason when its ensemble is no longer registered', async () => {
    using directory = temporaryDirectory()
    const before = waitingEnsemble()
    const first = await openRuns(directory.path, [before.ensemble])
    const { runId } = await first.submit({ inputs: INPUTS })
    await before.waiting(1)
    await first.close({ drainTimeoutMs: 0 })
    const second = await openRuns(directory.path, [waitingEnsemble({ name: 'choir' }).ensemble])
    expect((await allEvents(second, runId)).at(-1)).toMatchObject({
      status: 'FAILED',
      error: 'Ensemble "band" is no longer registered',
    })
    await second.close({ drainTimeoutMs: 0 })
  })

  it('[RUNS-Q3] An interrupted run is cancelled when it was being cancelled', async () => {
    using directory = temporaryDirectory()
    const before = waitingEnsemble({ obedient: false })
    const clock = fakeClock()
    const first = await openRuns(directory.path, [before.ensemble], { clock })
    const { runId } = await first.submit({ inputs: INPUTS })
    await before.waiting(1)
    await cancel(first, runId)
    const closed = first.close({ drainTimeoutMs: 0 })
    await clock.advance(5_000)
    await clock.advance(5_000)
    await closed

    const after = waitingEnsemble()
    const second = await openRuns(directory.path, [after.ensemble])
    expect((await allEvents(second, runId)).at(-1)).toMatchObject({
      status: 'CANCELLED',
      outputs: [{ taskName: 'tune' }],
    })
    expect(after.model.requests).toEqual([])
    await second.close({ drainTimeoutMs: 0 })
  })

  it('[RUNS-Q3] An interrupted run only finishes its running tasks after a boundary cancel', async () => {
    using directory = temporaryDirectory()
    const before = waitingEnsemble({ encore: true })
    const first = await openRuns(directory.path, [before.ensemble])
    const { runId } = await first.submit({ inputs: INPUTS })
    await before.waiting(1)
    await cancel(first, runId, { mode: 'boundary' })
    await first.close({ drainTimeoutMs: 0 })
    const after = waitingEnsemble({ encore: true })
    const second = await openRuns(directory.path, [after.ensemble])
    for await (const batch of second.follow({ runId, from: 0 })) {
      if (batch.some(({ type }) => type === 'run_resumed')) break
    }
    expect((await second.get(runId))?.run.status).toBe('CANCELLING')
    after.play()
    const events = await allEvents(second, runId)
    expect(events.filter(({ type }) => type === 'run_cancelling')).toMatchObject([
      { mode: 'boundary' },
    ])
    expect(
      events.flatMap((event) => (event.type === 'task_started' ? [event.taskName] : [])),
    ).toEqual(['tune', 'play'])
    expect(events.at(-1)).toMatchObject({
      status: 'CANCELLED',
      outputs: [{ taskName: 'tune' }, { taskName: 'play', output: 'played: done' }],
    })
    await second.close({ drainTimeoutMs: 0 })
  })

  it('[RUNS-Q2] An interrupted run is cancelled at once while it waits for its turn again, and retains its outputs', async () => {
    using directory = temporaryDirectory()
    const before = waitingEnsemble({ encore: true })
    const first = await openRuns(directory.path, [before.ensemble], { maxConcurrentRuns: 2 })
    for (const runId of ['r-1', 'r-2']) await first.submit({ runId, inputs: INPUTS })
    await before.waiting(2)
    await first.close({ drainTimeoutMs: 0 })
    const after = waitingEnsemble({ encore: true })
    const second = await openRuns(directory.path, [after.ensemble], { maxConcurrentRuns: 1 })
    await after.waiting(1)
    expect(await cancel(second, 'r-2')).toBe('CANCELLED')
    const events = await allEvents(second, 'r-2')
    expect(events.slice(-6).map(({ type }) => type)).toEqual([
      'run_cancelling',
      'run_resumed',
      'task_failed',
      'task_skipped',
      'ensemble_completed',
      'run_result',
    ])
    expect(events.at(-1)).toMatchObject({ status: 'CANCELLED', outputs: [{ taskName: 'tune' }] })
    expect(after.model.requests).toEqual([])
    after.play()
    expect((await allEvents(second, 'r-1')).at(-1)).toMatchObject({ status: 'COMPLETED' })
    await second.close({ drainTimeoutMs: 0 })
  })

  it('[RUNS-Q2] An interrupted run stays cancelled if its process dies before the end', async () => {
    using directory = temporaryDirectory()
    const before = waitingEnsemble()
    const first = await openRuns(directory.path, [before.ensemble])
    const { runId } = await first.submit({ inputs: INPUTS })
    await before.waiting(1)
    await first.close({ drainTimeoutMs: 0 })
    const { storage, writing, goOn } = heldAtTheEnd(await sqliteRunStorage(directory.path))
    const second = createRunService(storage, [waitingEnsemble().ensemble])
    const cancelled = cancel(second, runId)
    await writing
    expect((await storage.runs.get(runId))?.status).toBe('CANCELLING')
    expect((await storage.runs.steps(runId)).at(-1)).toMatchObject({ kind: 'cancel_asked' })
    goOn()
    expect(await cancelled).toBe('CANCELLED')
    await second.close({ drainTimeoutMs: 0 })
  })

  it('[RUNS-Q4] An interrupted run is not changed by a shutdown: no cancel, no end, no interrupted call', async () => {
    using directory = temporaryDirectory()
    const { ensemble, waiting } = waitingEnsemble()
    const service = await openRuns(directory.path, [ensemble])
    const { runId } = await service.submit({ inputs: INPUTS })
    await waiting(1)
    await service.close({ drainTimeoutMs: 0 })
    await using storage = await sqliteRunStorage(directory.path)
    expect(await storage.runs.get(runId)).toMatchObject({ status: 'RUNNING', completedTasks: 1 })
    const { events } = await storage.events.read({ runId, from: 0, limit: 1_000 })
    expect(events.map(({ type }) => type)).not.toContain('run_cancelling')
    expect(events.at(-1)).toMatchObject({ type: 'metrics_snapshot', taskName: 'play' })
    const steps = await storage.runs.steps(runId)
    expect(steps.map(({ kind }) => kind)).toEqual([
      'run_begun',
      'task_begun',
      'notes_read',
      'model_turn',
      'task_completed',
      'task_begun',
      'notes_read',
      'model_turn',
    ])
  })

  it('[RUNS-Q4] An interrupted run retains the events emitted during the shutdown', async () => {
    using directory = temporaryDirectory()
    const before = waitingEnsemble()
    const first = await openRuns(directory.path, [before.ensemble])
    const { runId } = await first.submit({ inputs: INPUTS })
    await before.waiting(1)
    const closed = first.close({ drainTimeoutMs: 0 })
    before.play()
    await closed
    const after = waitingEnsemble()
    const second = await openRuns(directory.path, [after.ensemble])
    const events = await allEvents(second, runId)
    expect(events.filter(({ type }) => type === 'tool_called')).toHaveLength(1)
    expect(events.filter(({ type }) => type === 'run_result')).toMatchObject([
      { status: 'COMPLETED' },
    ])
    await second.close({ drainTimeoutMs: 0 })
  })

  it('[RUNS-X2] [RUNS-X4] An interrupted run retains completed tasks and the reason when it cannot continue', async () => {
    using directory = temporaryDirectory()
    const before = waitingEnsemble()
    const first = await openRuns(directory.path, [before.ensemble], { maxConcurrentRuns: 2 })
    for (const runId of ['r-1', 'r-2']) await first.submit({ runId, inputs: INPUTS })
    await before.waiting(2)
    await cancel(first, 'r-2', { mode: 'boundary' })
    await first.close({ drainTimeoutMs: 0 })
    const second = await openRuns(directory.path, [waitingEnsemble({ name: 'choir' }).ensemble])
    const outputs = [{ taskName: 'tune', output: 'tuned for Bach' }]
    const failed = (await allEvents(second, 'r-1')).at(-1)
    expect(failed).toMatchObject({ status: 'FAILED', code: 'CONFIG_INVALID', outputs })
    expect(failed).toMatchObject({ metrics: { totalTokens: expect.any(Number) } })
    const cancelled = (await allEvents(second, 'r-2')).at(-1)
    expect(cancelled).toMatchObject({ status: 'CANCELLED', outputs })
    expect(cancelled).not.toHaveProperty('error')
    await second.close({ drainTimeoutMs: 0 })
  })

  it('[RUNS-X3] An interrupted run stops its earlier owner, which writes nothing more', async () => {
    using directory = temporaryDirectory()
    const { ensemble, play, waiting } = waitingEnsemble()
    const storage = await sqliteRunStorage(directory.path)
    const service = await startRuns(storage, [ensemble], { maxConcurrentRuns: 1 })
    const { runId } = await service.submit({ inputs: INPUTS })
    await waiting(1)
    await storage.queue.reclaimAll()
    const taken = await storage.queue.claim(runId, { owner: 'other', leaseMs: Infinity })
    expect(taken?.run.epoch).toBe(2)
    const { lastSeq } = (await storage.runs.get(runId)) ?? {}
    play()
    await service.close({ drainTimeoutMs: 10_000 })
    await using reopened = await sqliteRunStorage(directory.path)
    expect(await reopened.runs.get(runId)).toMatchObject({ status: 'RUNNING', lastSeq })
  })
})

describe('close', () => {
  it('[RUNS-S5] close() lets running runs end within the drain timeout, and accepts and starts no others', async () => {
    using directory = temporaryDirectory()
    const { ensemble, play, waiting } = waitingEnsemble()
    const service = await openRuns(directory.path, [ensemble], { maxConcurrentRuns: 1 })
    await service.submit({ runId: 'r-1', inputs: INPUTS })
    await service.submit({ runId: 'r-2', inputs: INPUTS })
    await waiting(1)
    const closed = service.close({ drainTimeoutMs: 60_000 })
    await expect(service.submit({ inputs: INPUTS })).rejects.toMatchObject({ code: 'DRAINING' })
    play()
    await closed
    await using storage = await sqliteRunStorage(directory.path)
    expect((await storage.runs.get('r-1'))?.status).toBe('COMPLETED')
    expect((await storage.runs.get('r-2'))?.status).toBe('ACCEPTED')
  })
})

describe('retention', () => {
  it('[RUNS-S8] Retention deletes the oldest ended runs with their events, and no others', async () => {
    using directory = temporaryDirectory()
    const { ensemble, play, waiting } = waitingEnsemble()
    const clock = fakeClock()
    const quick = waitingEnsemble({ name: 'quick' })
    quick.play()
    const service = await openRuns(directory.path, [ensemble, quick.ensemble], {
      clock,
      maxRetainedRuns: 2,
    })
    await clock.advance(50_000)
    await service.submit({ runId: 'works', inputs: INPUTS })
    await waiting(1)
    for (const runId of ['old', 'new', 'newest']) {
      await service.submit({ runId, ensemble: 'quick', inputs: INPUTS })
      await allEvents(service, runId)
      await clock.advance(1_000)
    }
    await clock.advance(10_000)
    const ids = (await service.list({ limit: 9, offset: 0 })).runs.map(({ runId }) => runId)
    expect(ids).toEqual(['newest', 'new', 'works'])
    expect(await service.readEvents({ runId: 'old', from: 0, limit: 9 })).toEqual([])
    expect(await service.get('old')).toBeUndefined()
    play()
    await allEvents(service, 'works')
    await service.close({ drainTimeoutMs: 0 })
  })

  it.each([
    ['of the embedded store keeps the newest 1,000,000 ended runs by default', {}, [1_000_000]],
    ['deletes no runs without a limit', { maxRetainedRuns: Infinity }, []],
  ])('[RUNS-S8] Retention %s', async (_, limits, kept) => {
    using directory = temporaryDirectory()
    const { ensemble, play } = waitingEnsemble()
    play()
    const clock = fakeClock()
    const storage = await sqliteRunStorage(directory.path, { clock })
    const deleteEnded = vi.spyOn(storage.runs, 'deleteEnded')
    const service = await startRuns(storage, [ensemble], { clock, ...limits })
    await service.submit({ runId: 'old', inputs: INPUTS })
    await allEvents(service, 'old')
    await clock.advance(600_000)
    expect([...new Set(deleteEnded.mock.calls.map(([{ keep }]) => keep))]).toEqual(kept)
    expect((await service.get('old'))?.run.status).toBe('COMPLETED')
    await service.close({ drainTimeoutMs: 0 })
  })

  it('[RUNS-S8] Retention deletes runs that ended too long ago', async () => {
    using directory = temporaryDirectory()
    const { ensemble, play } = waitingEnsemble()
    play()
    const clock = fakeClock()
    const service = await openRuns(directory.path, [ensemble], { clock, maxRetainedAgeMs: 90_000 })
    await service.submit({ runId: 'old', inputs: INPUTS })
    await allEvents(service, 'old')
    await clock.advance(60_000)
    expect(await service.get('old')).toBeDefined()
    await clock.advance(60_000)
    expect(await service.get('old')).toBeUndefined()
    await service.close({ drainTimeoutMs: 0 })
  })
})

describe('options', () => {
  it('RunService names every option that is out of range', async () => {
    using directory = temporaryDirectory()
    const storage = await sqliteRunStorage(directory.path)
    expect(() =>
      createRunService(storage, [waitingEnsemble().ensemble], {
        maxConcurrentRuns: 0,
        maxQueuedRuns: -1,
      }),
    ).toThrow(
      /maxConcurrentRuns must be an integer >= 1 and <= \d+, got 0; maxQueuedRuns .* got -1/,
    )
    expect(() =>
      createRunService(storage, [waitingEnsemble().ensemble, waitingEnsemble().ensemble]),
    ).toThrow('two ensembles')
    expect(() => createRunService(storage, [])).toThrow('without an ensemble')
    void storage[Symbol.asyncDispose]()
  })
})

/** A storage that delays the end of a run until the test continues it. */
function heldAtTheEnd(storage: RunStorage): {
  readonly storage: RunStorage
  readonly writing: Promise<void>
  readonly goOn: () => void
} {
  const writing = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const held = storageOver(storage, {
    async commit(writes) {
      const isEnd = writes.some(({ events }) => events.some(({ type }) => type === 'run_result'))
      if (isEnd) {
        writing.resolve()
        await gate.promise
      }
      return storage.runs.commit(writes)
    },
  })
  return { storage: held, writing: writing.promise, goOn: gate.resolve }
}
