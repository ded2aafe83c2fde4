import { TuttiError, type Logger } from '@tutti/core'
import { ensemble, modelCatalog, priceList, task, type Ensemble } from '@tutti/ensemble'
import type { ChatModel } from '@tutti/ensemble/adapter'
import type { RunStep } from '@tutti/ensemble/internal'
import { fakeClock, scriptedModel, type FakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { claimed } from '../../test/claimed.ts'
import { FakeCommits, UNAVAILABLE } from '../../test/fake-commits.ts'
import { FakeEngine } from '../../test/fake-engine.ts'
import { turns } from '../../test/turns.ts'
import { Execution, type ExecutionOptions } from './execution.ts'
import { GroupCommit } from '../commit/group-commit.ts'
import { token } from '../testing/index.ts'

import type { ExecutionEnd } from '../settings/activity.ts'
import type { ClaimedRun, Release, RunQueue, WaitsFor } from '../ports/run-queue.ts'
import type { TaskRecord } from '../domain/run-record.ts'
import type { RunCommand } from '@tutti/protocol'
import type { PendingCommand } from '../ports/command-queue.ts'

const RUN = 'run-a'

const PARK_AFTER_MS = 1_000

const STOP = new TuttiError('INTERRUPTED', 'stop')

const BEGUN: RunStep = { kind: 'run_begun', startedAt: 0, runMs: 0, tasks: [] }

const CANCEL_ASKED: RunStep = { kind: 'cancel_asked', mode: 'abort', cause: 'SERVER', runMs: 0 }

const DONE: RunStep = {
  kind: 'task_completed',
  taskName: 'tune',
  attempt: 1,
  taskMs: 5,
  runMs: 5,
  output: 'tuned',
  durationMs: 5,
  used: { inputTokens: 3, outputTokens: 4, toolCallCount: 2 },
}

const BROKEN: RunStep = {
  kind: 'task_failed',
  taskName: 'tune',
  attempt: 1,
  taskMs: 1,
  runMs: 1,
  error: { code: 'TASK_FAILED', message: 'it broke', retryable: false },
  used: { inputTokens: 10, outputTokens: 20, toolCallCount: 1 },
  willRetry: true,
}

/** The record of a completed task. */
const TUNED: TaskRecord = {
  taskIndex: 1,
  name: 'tune',
  description: 'Tune',
  agentRole: 'Tuner',
  status: 'COMPLETED',
  attempt: 1,
  output: 'tuned',
  inputTokens: 3,
  outputTokens: 4,
  toolCallCount: 0,
}

const CANCEL: RunCommand = { kind: 'cancel', mode: 'abort' }

const SWITCH: RunCommand = { kind: 'switch_model', model: 'fast' }

describe('Execution, from its claim to its end', () => {
  it('[RUNS-X1] An Execution starts a run without steps', async () => {
    const { engine, over, clock } = await setUp()
    expect(engine.run.inputs).toEqual({ topic: 'Bach' })
    expect(engine.run.options).toMatchObject({ runId: RUN, clock })
    for (const absent of ['resume', 'models', 'prices']) {
      expect(engine.run.options).not.toHaveProperty(absent)
    }
    engine.run.complete()
    expect(await over).toBe('ended')
  })

  it('[RUNS-X1] An Execution resumes from the steps of earlier owners', async () => {
    const models = modelCatalog({})
    const prices = priceList({})
    const claim = claimed(RUN, { run: { epoch: 4 } })
    const { engine } = await setUp({ claim, steps: [BEGUN, DONE], options: { models, prices } })
    expect(engine.run.options).toMatchObject({ resume: { steps: [BEGUN, DONE], epoch: 4 } })
    expect(engine.run.options.models).toBe(models)
    expect(engine.run.options.prices).toBe(prices)
  })

  it('[RUNS-X1] An Execution passes the trace of the request to the engine', async () => {
    const trace = {
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      tracestate: 'vendor=1',
    }
    const { engine } = await setUp({ claim: claimed(RUN, { run: { request: trace } }) })
    expect(engine.run.options).toMatchObject(trace)
  })

  it('An Execution is over only when its end is durable', async () => {
    const { engine, store, end } = await setUp()
    const gate = Promise.withResolvers<void>()
    store.before = () => gate.promise
    engine.run.complete()
    await turns()
    expect(end()).toBeUndefined()
    gate.resolve()
    await turns()
    expect(end()).toBe('ended')
  })

  it('An Execution waits for an unavailable store before its end', async () => {
    const { engine, store, end, commits } = await setUp()
    store.reply = () => UNAVAILABLE
    engine.run.complete()
    await turns()
    expect(end()).toBeUndefined()
    store.reply = undefined
    commits.retry()
    await turns()
    expect(end()).toBe('ended')
  })

  it('[RUNS-X2] An Execution ends FAILED when its ensemble is no longer registered', async () => {
    const { store, over, releases } = await setUp({ options: { ensemble: missing } })
    expect(await over).toBe('ended')
    expect(store.stored).toMatchObject([
      { type: 'ensemble_completed', exitReason: 'ERROR' },
      {
        type: 'run_result',
        status: 'FAILED',
        outputs: [],
        error: 'Ensemble "band" is no longer registered',
        code: 'CONFIG_INVALID',
      },
    ])
    expect(releases).toEqual([])
  })

  it('[RUNS-X2] An Execution ends FAILED when its ensemble refuses it, and retains completed tasks', async () => {
    const refusal = new TuttiError('INPUT_MISSING', 'Missing input topic')
    const claim = claimed(RUN, {
      run: { startedAt: Date.UTC(2025, 11, 31) },
    })
    const { store, over } = await setUp({ claim, steps: [BEGUN, BROKEN, DONE], refusal })
    expect(await over).toBe('ended')
    expect(store.stored.at(-1)).toMatchObject({
      status: 'FAILED',
      code: 'INPUT_MISSING',
      error: 'Missing input topic',
      outputs: [{ taskName: 'tune', output: 'tuned', durationMs: 5 }],
      metrics: { totalTokens: 37, totalToolCalls: 3 },
      durationMs: 24 * 60 * 60 * 1000,
    })
  })

  it.each([
    ['a start', { startedAt: 0 }, [DONE]],
    ['a completed task', { startedAt: 0, completedTasks: 1 }, [BEGUN, BROKEN]],
    ['a second completed task', { startedAt: 0, completedTasks: 2 }, [BEGUN, DONE]],
    ['everything', { startedAt: 0, completedTasks: 1 }, []],
  ])(
    '[RUNS-E8] An Execution ends FAILED without repeating anything when its steps lack %s',
    async (_, run, steps) => {
      const claim = claimed(RUN, { run: { epoch: 2, lastSeq: 9, ...run } })
      const { engine, store, over } = await setUp({ claim, steps })
      expect(await over).toBe('ended')
      expect(engine.runs).toEqual([])
      expect(store.stored.at(-1)).toMatchObject({ status: 'FAILED', code: 'RUN_UNREADABLE' })
    },
  )

  it('[RUNS-X2] An Execution ends FAILED when the engine throws', async () => {
    const { engine, store, over, logged } = await setUp()
    engine.run.fail(new Error('no such thing'))
    expect(await over).toBe('ended')
    expect(store.stored.at(-1)).toMatchObject({ code: 'ENGINE_FAILED', error: 'no such thing' })
    expect(logged).toEqual(['error Run cannot continue'])
  })

  it('[RUNS-X2] An Execution ends FAILED when it lost too many owners without progress', async () => {
    let reads = 0
    const steps = () => {
      reads += 1
      return Promise.resolve([])
    }
    const claim = claimed(RUN, { lostOwners: 4 })
    const { engine, store, over } = await setUp({ claim, options: { steps } })
    expect(await over).toBe('ended')
    expect([engine.runs, reads]).toEqual([[], 0])
    expect(store.stored.at(-1)).toMatchObject({
      status: 'FAILED',
      code: 'PROCESS_LOST',
      error: 'The process that executed the run died, or lost its lease, 4 times in a row',
    })
  })

  it('[RUNS-X2] An Execution ends FAILED with the stored outputs when its steps cannot be read', async () => {
    const unreadable = new TuttiError('RUN_UNREADABLE', 'Cannot read the steps of run run-a')
    const tasks = () => Promise.resolve([TUNED])
    const steps = () => Promise.reject(unreadable)
    const { engine, store, over } = await setUp({ options: { steps, tasks } })
    expect(await over).toBe('ended')
    expect(engine.runs).toEqual([])
    expect(store.stored.at(-1)).toMatchObject({
      status: 'FAILED',
      code: 'RUN_UNREADABLE',
      outputs: [{ taskName: 'tune', output: 'tuned' }],
    })
  })

  it('[RUNS-X2] An Execution is CANCELLED when it was being cancelled and its steps cannot be read', async () => {
    const claim = claimed(RUN, { run: { status: 'CANCELLING' } })
    const steps = () => Promise.reject(new TuttiError('RUN_UNREADABLE', 'unreadable'))
    const { store, over } = await setUp({ claim, options: { steps } })
    expect(await over).toBe('ended')
    expect(store.stored.at(-1)).toMatchObject({ type: 'run_result', status: 'CANCELLED' })
  })

  it('[RUNS-X7] An Execution applies a command that arrived during the read of the steps after the engine has started', async () => {
    const read = Promise.withResolvers<readonly RunStep[]>()
    const { execution, engine } = await setUp({ options: { steps: () => read.promise } })
    const answer = execution.take(pending(CANCEL))
    await turns(2)
    expect(engine.runs).toEqual([])
    read.resolve([])
    expect(await answer).toMatchObject({ ok: true })
    expect(engine.run.commands).toEqual([CANCEL])
  })

  it('[RUNS-X6] An Execution is handed over after its steps are read', async () => {
    const read = Promise.withResolvers<readonly RunStep[]>()
    const { execution, over, releases } = await setUp({ options: { steps: () => read.promise } })
    const handedOver = execution.handOver()
    await turns(2)
    expect(releases).toEqual([])
    read.resolve([])
    await handedOver
    expect([await over, releases]).toEqual(['ready', [{ kind: 'ready' }]])
  })

  it('[RUNS-X3] An Execution does not start when it loses its claim while its steps are read', async () => {
    const read = Promise.withResolvers<readonly RunStep[]>()
    const { execution, engine, over } = await setUp({ options: { steps: () => read.promise } })
    execution.lose(STOP)
    read.resolve([])
    expect(await over).toBe('lost')
    await turns(2)
    expect(engine.runs).toEqual([])
  })

  it('[RUNS-X2] An Execution is executed up to the limit of lost owners', async () => {
    const { engine } = await setUp({ claim: claimed(RUN, { lostOwners: 3 }) })
    expect(engine.runs).toHaveLength(1)
  })

  it('[RUNS-X4] An Execution is CANCELLED when it was cancelled and cannot continue', async () => {
    const steps = [BEGUN, DONE, CANCEL_ASKED]
    const { store, over } = await setUp({ steps, options: { ensemble: missing } })
    expect(await over).toBe('ended')
    expect(store.stored).toMatchObject([
      { type: 'ensemble_completed', exitReason: 'CANCELLED' },
      { type: 'run_result', status: 'CANCELLED', outputs: [{ output: 'tuned' }] },
    ])
    expect(store.stored.at(-1)).not.toHaveProperty('error')
    expect(store.stored.at(-1)).not.toHaveProperty('code')
  })

  it('[RUNS-X11] An Execution is released and logs an error when not even a short end can be stored', async () => {
    const { store, engine, end, logged, releases } = await setUp()
    store.reply = () => ({ kind: 'failed', error: new Error('out of range') })
    engine.run.fail(new Error('no such thing'))
    await turns(12)
    expect(logged.filter((line) => line === 'error Failed to store the end of a run')).toHaveLength(
      2,
    )
    expect(releases).toEqual([{ kind: 'lost' }])
    expect(end()).toBe('lost')
  })
})

describe('Execution that loses its claim', () => {
  it('[RUNS-X11] An Execution that loses its claim ends the run once, with the reason of the store, when the store refuses a write', async () => {
    const { engine, store, over, releases, logged } = await setUp()
    store.reply = ({ events }, keep) =>
      events.some(({ type }) => type === 'token')
        ? { kind: 'failed', error: new Error('a value that no store can hold') }
        : keep()
    engine.run.emit({ ...token('a'), attempt: 2 })
    engine.run.complete()
    expect(await over).toBe('ended')
    expect(engine.run.isStopped).toBe(true)
    expect(releases).toEqual([])
    expect(store.stored).toMatchObject([
      { type: 'ensemble_completed', exitReason: 'ERROR' },
      {
        type: 'run_result',
        status: 'FAILED',
        code: 'STORE_REFUSED',
        error: expect.stringContaining('a value that no store can hold'),
      },
    ])
    expect(logged).toContain('error Run cannot continue')
  })

  it('[RUNS-X11] An Execution that loses its claim ends a run whose write is refused while it is handed over', async () => {
    const { engine, store, execution, over, releases } = await setUp()
    store.reply = ({ events }, keep) =>
      events.some(({ type }) => type === 'token')
        ? { kind: 'failed', error: new Error('a value that no store can hold') }
        : keep()
    const handedOver = execution.handOver()
    engine.run.emit({ ...token('a'), attempt: 2 })
    await handedOver
    expect(await over).toBe('ended')
    expect(releases).toEqual([])
    expect(store.stored.at(-1)).toMatchObject({ type: 'run_result', code: 'STORE_REFUSED' })
  })

  it('[RUNS-X8] An Execution that loses its claim releases the run as lost when its steps cannot be read because the store is unavailable', async () => {
    const unavailable = new TuttiError('STORE_UNAVAILABLE', 'gone', { retryable: true })
    const steps = () => Promise.reject(unavailable)
    const { store, over, releases } = await setUp({ options: { steps } })
    expect(await over).toBe('lost')
    expect(releases).toEqual([{ kind: 'lost' }])
    expect(store.writes).toEqual([])
  })

  it('[RUNS-X3] An Execution that loses its claim stops its work and writes nothing more when a write is fenced', async () => {
    const { engine, store, over, releases } = await setUp()
    store.reply = () => ({ kind: 'fenced' })
    engine.run.emit(token('a'))
    engine.run.emit({ ...token('b'), attempt: 2 })
    engine.run.complete()
    expect(await over).toBe('lost')
    expect(engine.run.isStopped).toBe(true)
    expect(store.batches).toHaveLength(1)
    expect(releases).toEqual([])
  })

  it('[RUNS-X3] An Execution that loses its claim stops its work and writes nothing more when it loses its claim', async () => {
    const { engine, store, execution, over, releases, clock } = await setUp()
    engine.run.wait(Infinity)
    engine.run.emit(token('a'))
    execution.lose(STOP)
    expect(await over).toBe('lost')
    engine.run.emit(token('b'))
    await turns()
    expect([store.batches, releases, clock.pending]).toEqual([[], [], 1])
    expect(engine.run.options.signal?.reason).toBe(STOP)
  })
})

describe('Execution of a run that waits for a person', () => {
  it('[RUNS-X5] An Execution of a run that waits for a person is parked after a while, until its first review expires', async () => {
    const { engine, clock, over, releases, store } = await setUp()
    engine.run.emit({ ...token('a') })
    engine.run.wait(90_000, 60_000, Infinity)
    await clock.advance(PARK_AFTER_MS - 1)
    expect(releases).toEqual([])
    await clock.advance(1)
    await turns(8)
    expect(releases).toEqual([{ kind: 'parked', lastWriteNo: 1, wakeInMs: 60_000 }])
    expect(await over).toBe('parked')
    expect(engine.run.isStopped).toBe(true)
    expect(store.stored.map(({ type }) => type)).toEqual(['token'])
    expect(clock.pending).toBe(0)
  })

  it('[RUNS-X5] An Execution of a run that waits for a person is parked without a time limit when its reviews have none', async () => {
    const { engine, clock, over, releases } = await setUp()
    engine.run.wait(Infinity)
    await clock.advance(PARK_AFTER_MS)
    expect(await over).toBe('parked')
    expect(releases).toEqual([{ kind: 'parked', lastWriteNo: 0 }])
  })

  it.each([PARK_AFTER_MS, 1, 0])(
    '[RUNS-X5] An Execution of a run that waits for a person is not parked when there are only %i ms left',
    async (leftMs) => {
      const { engine, clock, end, releases } = await setUp()
      engine.run.wait(Infinity, leftMs)
      await clock.advance(10 * PARK_AFTER_MS)
      await turns(8)
      expect([end(), releases, engine.run.isStopped]).toEqual([undefined, [], false])
    },
  )

  it('[RUNS-X5] An Execution of a run that waits for a person is not parked when it continues', async () => {
    const { engine, clock, end, releases } = await setUp()
    engine.run.wait(Infinity)
    await clock.advance(PARK_AFTER_MS - 1)
    engine.run.work()
    await clock.advance(10 * PARK_AFTER_MS)
    expect([end(), releases]).toEqual([undefined, []])
  })

  it('[RUNS-X5] An Execution of a run that waits for a person restarts the delay when it waits again', async () => {
    const { engine, clock, over, releases } = await setUp()
    engine.run.wait(Infinity)
    await clock.advance(PARK_AFTER_MS - 1)
    engine.run.work()
    engine.run.wait(Infinity)
    await clock.advance(PARK_AFTER_MS - 1)
    expect(releases).toEqual([])
    await clock.advance(1)
    expect(await over).toBe('parked')
  })

  it('[RUNS-X5] An Execution of a run that waits for a person becomes ready instead of parked when a decision arrives at that moment', async () => {
    const { engine, clock, store, over, releases } = await setUp()
    const gate = Promise.withResolvers<void>()
    store.before = () => gate.promise
    engine.run.wait(Infinity)
    engine.run.emit({ ...token('a'), attempt: 2 })
    await clock.advance(PARK_AFTER_MS)
    await turns()
    expect(releases).toEqual([])
    engine.run.work()
    gate.resolve()
    expect(await over).toBe('ready')
    expect(releases).toEqual([{ kind: 'ready' }])
  })

  it('[RUNS-X5] An Execution of a run that waits for a person writes all effects of its last write before it is parked', async () => {
    const { engine, clock, store, over } = await setUp()
    engine.run.wait(Infinity)
    store.before = async (batch) => {
      if (batch < 5) engine.run.emit({ ...token('b'), attempt: 2 })
      await turns(2)
    }
    engine.run.emit(token('a'))
    await clock.advance(PARK_AFTER_MS)
    expect(await over).toBe('parked')
    expect(store.stored).toHaveLength(5)
  })

  it('[RUNS-X5] An Execution of a run that waits for a person is not parked when it ends at that moment', async () => {
    const { engine, clock, over, releases } = await setUp()
    engine.run.wait(Infinity)
    engine.run.isBusy = true
    await clock.advance(PARK_AFTER_MS)
    engine.run.complete()
    expect(await over).toBe('ended')
    await turns(8)
    expect(releases).toEqual([])
  })

  it('[RUNS-X5] An Execution of a run that waits for a person leaves no timer when it ends', async () => {
    const { engine, clock, over } = await setUp()
    engine.run.wait(Infinity)
    engine.run.complete()
    await over
    expect(clock.pending).toBe(0)
  })

  it('[RUNS-X3] An Execution of a run that waits for a person is lost when another process owns it while it is being parked', async () => {
    const { engine, clock, over } = await setUp({ release: () => Promise.resolve('fenced') })
    engine.run.wait(Infinity)
    await clock.advance(PARK_AFTER_MS)
    expect(await over).toBe('lost')
  })

  it('[RUNS-X5] An Execution of a run that waits for a person becomes ready when the store has a pending command', async () => {
    const { engine, clock, over } = await setUp({ release: () => Promise.resolve('ready') })
    engine.run.wait(Infinity)
    await clock.advance(PARK_AFTER_MS)
    expect(await over).toBe('ready')
  })
})

describe('Execution that is released', () => {
  it('[RUNS-X6] An Execution is handed over when it has no call in flight and everything is durable', async () => {
    const { engine, execution, store, over, releases } = await setUp()
    engine.run.isBusy = true
    const handedOver = execution.handOver()
    await turns(8)
    expect([releases, engine.run.isStopped]).toEqual([[], false])
    engine.run.emit(token('the reply that was in flight'))
    engine.run.rest()
    await handedOver
    expect(await over).toBe('ready')
    expect(releases).toEqual([{ kind: 'ready' }])
    expect(store.stored).toHaveLength(1)
    expect(engine.run.isStopped).toBe(true)
  })

  it('[RUNS-X6] An Execution writes nothing more once other processes may claim it', async () => {
    const { engine, execution, store } = await setUp({
      release: () => {
        engine.run.emit(token('too late'))
        return Promise.resolve('ready')
      },
    })
    await execution.handOver()
    await turns()
    expect(store.batches).toEqual([])
  })

  it('[RUNS-X6] An Execution is handed over once, even if it is requested repeatedly', async () => {
    const { execution, releases } = await setUp()
    await Promise.all([execution.handOver(), execution.handOver()])
    await execution.handOver()
    expect(releases).toEqual([{ kind: 'ready' }])
  })

  it('[RUNS-X6] An Execution is not parked while it is being handed over', async () => {
    const { engine, clock, execution, over, releases } = await setUp()
    engine.run.isBusy = true
    engine.run.wait(Infinity)
    void execution.handOver()
    await clock.advance(PARK_AFTER_MS)
    engine.run.rest()
    expect(await over).toBe('ready')
    await turns(8)
    expect(releases).toEqual([{ kind: 'ready' }])
  })

  it('[RUNS-X6] An Execution is not handed over when it ends', async () => {
    const { engine, execution, over, releases, store } = await setUp()
    engine.run.isBusy = true
    const handedOver = execution.handOver()
    engine.run.complete()
    await handedOver
    expect(await over).toBe('ended')
    expect([releases, store.stored.map(({ type }) => type)]).toEqual([[], ['run_result']])
  })

  it('[RUNS-X6] An Execution waits for an unavailable store before the handover', async () => {
    const { commits, engine, execution, store, over, releases } = await setUp()
    store.reply = () => UNAVAILABLE
    engine.run.emit({ ...token('a') })
    void execution.handOver()
    await turns(8)
    expect(releases).toEqual([])
    store.reply = undefined
    commits.retry()
    expect(await over).toBe('ready')
    expect(store.stored).toHaveLength(1)
  })

  it('[RUNS-X3] An Execution is lost when its last write is fenced', async () => {
    const { engine, execution, store, over, releases } = await setUp()
    store.reply = () => ({ kind: 'fenced' })
    engine.run.emit(token('a'))
    await execution.handOver()
    expect(await over).toBe('lost')
    expect(releases).toEqual([])
  })

  it('An Execution is lost and logs a warning when the release fails', async () => {
    const release = () => Promise.reject(new Error('no connection'))
    const { execution, over, logged } = await setUp({ release })
    await execution.handOver()
    expect(await over).toBe('lost')
    expect(logged).toEqual(['warn Failed to release run'])
  })

  it('[RUNS-X10] An Execution is released when the store is available again', async () => {
    const answers: (() => Promise<'parked'>)[] = [unavailable, unavailable]
    const { engine, clock, over, end, releases, logged } = await setUp({
      release: () => answers.shift()?.() ?? Promise.resolve('parked'),
    })
    engine.run.wait(Infinity)
    await clock.advance(PARK_AFTER_MS)
    await clock.advance(1_000)
    expect([releases.length, end()]).toEqual([2, undefined])
    await clock.advance(1_000)
    expect(await over).toBe('parked')
    expect(releases).toEqual(Array.from({ length: 3 }, () => ({ kind: 'parked', lastWriteNo: 0 })))
    expect(logged).toEqual(['warn Failed to release run'])
  })

  it('[RUNS-X10] An Execution that is released does not wait for an unavailable store when the process shuts down', async () => {
    const { engine, execution, clock, over, releases } = await setUp({ release: unavailable })
    engine.run.wait(Infinity)
    await clock.advance(PARK_AFTER_MS)
    await turns(8)
    await execution.release(STOP)
    expect(await over).toBe('lost')
    expect(releases.map(({ kind }) => kind)).toEqual(['parked', 'ready'])
    expect(clock.pending).toBe(0)
  })

  it('[RUNS-X6] An Execution stops with work in flight when it is released, and retains its history', async () => {
    const { engine, execution, store, over, releases } = await setUp()
    engine.run.isBusy = true
    engine.run.emit(token('a'))
    await execution.release(STOP)
    expect(engine.run.options.signal?.reason).toBe(STOP)
    engine.run.emit(token('b'))
    await turns()
    expect(releases).toEqual([{ kind: 'ready' }])
    expect(store.stored).toMatchObject([{ token: 'a' }])
    expect(await over).toBe('ready')
  })

  it('An Execution leaves no timer when it is released', async () => {
    const { engine, execution, clock } = await setUp()
    engine.run.wait(Infinity)
    await execution.release(STOP)
    expect(clock.pending).toBe(0)
  })

  it('An Execution does not wait long for an unavailable store when it is released', async () => {
    const { engine, execution, store, clock, releases } = await setUp()
    store.reply = () => UNAVAILABLE
    engine.run.emit(token('a'))
    const releasing = execution.release(STOP)
    await clock.advance(999)
    expect(releases).toEqual([])
    await clock.advance(1)
    await releasing
    expect(releases).toEqual([{ kind: 'ready' }])
  })

  it('An Execution stops at once when it is released during a handover', async () => {
    const { engine, execution, over, releases } = await setUp()
    engine.run.isBusy = true
    void execution.handOver()
    await execution.release(STOP)
    await over
    await turns(8)
    expect(releases).toEqual([{ kind: 'ready' }])
    expect(engine.run.isStopped).toBe(true)
  })

  it('An Execution ends a run that cannot start before the handover', async () => {
    const { execution, over, store } = await setUp({ options: { ensemble: missing } })
    await execution.handOver()
    expect(await over).toBe('ended')
    expect(store.stored.at(-1)).toMatchObject({ status: 'FAILED' })
  })
})

describe('Execution that receives commands', () => {
  it('[RUNS-X7] An Execution that receives commands passes a command to the run unchanged, and answers when the effect is durable', async () => {
    const { engine, execution, store } = await setUp()
    engine.run.onCommand = () => ({ model: 'fast' })
    const command: RunCommand = { ...SWITCH, taskName: 'tune' }
    const answer = await execution.take(pending(command))
    expect(engine.run.commands).toEqual([command])
    expect(answer).toEqual({ commandId: 'command-1', ok: true, value: { model: 'fast' } })
    expect(store.writes.flatMap(({ answers }) => answers ?? [])).toEqual([answer])
  })

  it('[RUNS-X7] An Execution that receives commands writes the answer together with the effect', async () => {
    const { engine, execution, store } = await setUp()
    engine.run.onCommand = () => {
      engine.run.emit(token('what it did'))
      return { model: 'fast' }
    }
    await execution.take(pending(SWITCH))
    expect(store.writes).toMatchObject([
      { events: [{ token: 'what it did' }], answers: [{ commandId: 'command-1' }] },
    ])
  })

  it('[RUNS-X7] An Execution that receives commands applies a repeated command once, and returns the same answer', async () => {
    const { engine, execution, store } = await setUp({
      claim: claimed(RUN, { commands: [pending(SWITCH)] }),
    })
    const answers = await Promise.all([
      execution.take(pending(SWITCH)),
      execution.take(pending(SWITCH)),
    ])
    expect(answers[1]).toBe(answers[0])
    expect(await execution.take(pending(SWITCH))).toBe(answers[0])
    expect(engine.run.commands).toHaveLength(1)
    expect(store.writes).toHaveLength(1)
  })

  it('[RUNS-X7] An Execution that receives commands applies commands from before its claim in order', async () => {
    const commands = [pending(SWITCH, 'one'), pending(CANCEL, 'two')]
    const { engine, store } = await setUp({ claim: claimed(RUN, { commands }) })
    await turns()
    expect(engine.run.commands).toEqual([SWITCH, CANCEL])
    const answered = store.writes.flatMap(({ answers = [] }) => answers)
    expect(answered.map(({ commandId }) => commandId)).toEqual(['one', 'two'])
  })

  it('[RUNS-X7] An Execution that receives commands answers with the stored reason of a refusal', async () => {
    const { engine, execution, store } = await setUp()
    const details = { known: ['slow'] }
    engine.run.onCommand = () => {
      throw new TuttiError('INVALID_MODEL', 'No model "fast"', { retryable: true, details })
    }
    const answer = await execution.take(pending(SWITCH))
    const error = { code: 'INVALID_MODEL', message: 'No model "fast"', retryable: true, details }
    expect(answer).toEqual({ commandId: 'command-1', ok: false, error })
    expect(store.writes[0]?.answers).toEqual([answer])
    expect(engine.run.isStopped).toBe(false)
  })

  it('[RUNS-X7] An Execution that receives commands answers a decision that is refused later at that time', async () => {
    const { engine, execution } = await setUp()
    engine.run.onCommand = () => Promise.reject(new TuttiError('REVIEW_RESOLVED', 'closed'))
    const decide = { kind: 'decide', reviewId: 'r', decision: { action: 'CONTINUE' } } as const
    expect(await execution.take(pending(decide))).toMatchObject({
      error: { code: 'REVIEW_RESOLVED' },
    })
  })

  it('[RUNS-X7] An Execution that receives commands leaves the answer to a cancel of an ended run to the store', async () => {
    const { engine, execution, store, over } = await setUp()
    engine.run.complete()
    expect(await execution.take(pending(CANCEL))).toBeUndefined()
    await over
    expect(store.writes.map(({ answers }) => answers)).toEqual([undefined])
  })

  it('[RUNS-X7] An Execution that receives commands leaves the answer to other commands for an ended run to the store', async () => {
    const { engine, execution, store, over } = await setUp()
    engine.run.onCommand = () => {
      throw new TuttiError('RUN_COMPLETED', 'Run is over')
    }
    engine.run.complete()
    await over
    await execution.take(pending(SWITCH))
    expect(store.writes.map(({ answers }) => answers)).toEqual([undefined])
  })

  it('[RUNS-X7] An Execution that receives commands gives no answer for a run that never started', async () => {
    const commands = [pending(CANCEL)]
    const { execution, store, over } = await setUp({
      claim: claimed(RUN, { commands }),
      options: { ensemble: missing },
    })
    expect(await execution.take(pending(CANCEL))).toBeUndefined()
    await over
    expect(store.writes.map(({ answers }) => answers)).toEqual([undefined])
  })

  it.each([
    ['let go', (execution: Execution) => execution.release(STOP)],
    ['lost', async (execution: Execution) => execution.lose(STOP)],
  ])(
    '[RUNS-X7] An Execution that receives commands leaves the answer to the next owner when it was %s before',
    async (_, stop) => {
      const { engine, execution, store } = await setUp()
      const gate = Promise.withResolvers<void>()
      engine.run.onCommand = () => gate.promise
      const decide = { kind: 'decide', reviewId: 'r', decision: { action: 'CONTINUE' } } as const
      const answer = execution.take(pending(decide))
      await stop(execution)
      gate.resolve()
      expect(await answer).toBeUndefined()
      expect(store.batches).toEqual([])
    },
  )

  it('[RUNS-X7] An Execution that receives commands gives no answer that could not be stored', async () => {
    const { execution, store } = await setUp()
    store.reply = () => ({ kind: 'fenced' })
    expect(await execution.take(pending(SWITCH))).toBeUndefined()
  })
})

describe('Execution of a run of the engine', () => {
  it('[RUNS-X6] An Execution of a run of the engine is handed over when the model call in flight has ended and is stored', async () => {
    const reply = Promise.withResolvers<void>()
    const tuned = handSettledModel('tuned', reply.promise)
    const played = scriptedModel(['played'])
    const tasks = [
      task({ name: 'tune', description: 'Tune', model: tuned }),
      task({ name: 'play', description: 'Play', model: played }),
    ]
    const band = ensemble({ name: 'band', tasks })
    const first = await setUp({ options: { ensemble: () => band } })
    await turns()
    const handedOver = first.execution.handOver()
    await turns(8)
    expect([first.releases, tuned.requests.length]).toEqual([[], 1])
    reply.resolve()
    await handedOver
    expect(await first.over).toBe('ready')
    expect(played.requests).toEqual([])
    const steps = first.store.writes.flatMap((write) => write.steps)
    const kinds = steps.map(({ kind }) => kind)
    expect(kinds).toContain('model_turn')
    expect(kinds).not.toContain('task_failed')
    const claim = claimed(RUN, { run: { epoch: 2 } })
    const second = await setUp({ claim, steps, options: { ensemble: () => band } })
    expect(await second.over).toBe('ended')
    expect([tuned.requests.length, played.requests.length]).toEqual([1, 1])
    expect(second.store.stored.at(-1)).toMatchObject({
      status: 'COMPLETED',
      outputs: [{ output: 'tuned' }, { output: 'played' }],
    })
  })

  it('[RUNS-X9] An Execution of a run of the engine takes no slot while a tool waits in a call that must not be repeated, and is not parked', async () => {
    let left = 0
    const { engine, execution, clock, marks, end } = await setUp({
      options: { onSlotFreed: () => (left += 1) },
    })
    expect(execution.takesSlot).toBe(true)
    engine.run.waitInTool()
    await turns(8)
    expect([marks, execution.takesSlot, left]).toEqual([['reviews'], false, 1])
    await clock.advance(10 * PARK_AFTER_MS)
    expect(end()).toBeUndefined()
    engine.run.work()
    await turns(8)
    expect([marks, execution.takesSlot, left]).toEqual([['reviews', 'nothing'], true, 1])
  })

  it('[RUNS-X9] An Execution of a run of the engine is marked as waiting only when its review is durable', async () => {
    const { engine, store, marks } = await setUp()
    const gate = Promise.withResolvers<void>()
    store.before = () => gate.promise
    engine.run.emit(token('asks'))
    engine.run.waitInTool()
    await turns(8)
    expect(marks).toEqual([])
    gate.resolve()
    await turns(8)
    expect(marks).toEqual(['reviews'])
  })

  it('[RUNS-X9] An Execution of a run of the engine repeats a failed mark until it is stored', async () => {
    let failures = 2
    const { engine, clock, marks, logged } = await setUp({
      mark: async () => {
        failures -= 1
        if (failures >= 0) throw new TuttiError('STORE_UNAVAILABLE', 'gone')
        return true
      },
    })
    engine.run.waitInTool()
    await turns(8)
    await clock.advance(1_000)
    await clock.advance(1_000)
    expect(marks).toEqual(['reviews', 'reviews', 'reviews'])
    expect(logged).toEqual(Array(2).fill('warn Failed to mark a run as waiting'))
  })

  it('[RUNS-X5] An Execution of a run of the engine is parked while it waits for a reviewer, and continues after the decision', async () => {
    const model = scriptedModel(['tuned'])
    const review = { timeoutMs: 60_000 }
    const tune = task({ name: 'tune', description: 'Tune', review })
    const band = ensemble({ name: 'band', tasks: [tune], model })
    const first = await setUp({ options: { ensemble: () => band } })
    await turns(8)
    await first.clock.advance(PARK_AFTER_MS)
    expect(await first.over).toBe('parked')
    const wakeInMs = 60_000 - PARK_AFTER_MS
    expect(first.releases).toMatchObject([{ kind: 'parked', wakeInMs }])
    const asked = first.store.stored.find(({ type }) => type === 'review_requested')
    const reviewId = asked !== undefined && 'reviewId' in asked ? asked.reviewId : ''
    const decide = { kind: 'decide', reviewId, decision: { action: 'CONTINUE' } } as const
    const claim = claimed(RUN, { run: { epoch: 2 }, commands: [pending(decide)] })
    const steps = first.store.writes.flatMap((write) => write.steps)
    const second = await setUp({ claim, steps, options: { ensemble: () => band } })
    expect(await second.over).toBe('ended')
    expect(model.requests).toHaveLength(1)
    expect(second.store.stored.at(-1)).toMatchObject({ status: 'COMPLETED' })
    expect(second.store.writes.flatMap(({ answers = [] }) => answers)).toEqual([
      { commandId: 'command-1', ok: true, value: {} },
    ])
  })
})

interface SetUp {
  readonly execution: Execution
  readonly engine: FakeEngine
  readonly store: FakeCommits
  readonly commits: GroupCommit
  readonly clock: FakeClock
  readonly over: Promise<ExecutionEnd>
  /** Its end; undefined before. */
  end(): ExecutionEnd | undefined
  readonly releases: readonly Release[]
  /** Written values of the waiting mark. */
  readonly marks: readonly WaitsFor[]
  /** Logged levels and messages. */
  readonly logged: readonly string[]
}

interface Given {
  readonly claim?: ClaimedRun
  /** Steps of earlier owners. */
  readonly steps?: readonly RunStep[]
  readonly options?: Partial<ExecutionOptions>
  readonly refusal?: Error
  readonly release?: () => ReturnType<RunQueue['release']>
  readonly mark?: () => ReturnType<RunQueue['markWaiting']>
}

async function setUp({
  claim = claimed(RUN),
  steps = [],
  options = {},
  refusal,
  release,
  mark,
}: Given = {}): Promise<SetUp> {
  const clock = fakeClock()
  const store = new FakeCommits()
  const engine = new FakeEngine()
  engine.refusal = refusal
  const commits = new GroupCommit({ store, clock, onWritten: () => undefined })
  const releases: Release[] = []
  const marks: WaitsFor[] = []
  const logged: string[] = []
  const execution = new Execution(claim, {
    ensemble: () => engine.ensemble,
    queue: {
      markWaiting: async (held, waitsFor) => {
        expect(held).toEqual({ runId: RUN, token: claim.token })
        marks.push(waitsFor)
        return mark === undefined ? true : mark()
      },
      release: async ({ runId, token }, how) => {
        expect([runId, token]).toEqual([RUN, claim.token])
        releases.push(how)
        return release === undefined ? how.kind : release()
      },
    },
    steps: () => Promise.resolve(steps),
    journal: (callbacks) => commits.journal({ runId: RUN, token: claim.token, ...callbacks }),
    models: undefined,
    prices: undefined,
    parkAfterMs: PARK_AFTER_MS,
    maxLostOwners: 3,
    clock,
    logger: listLogger(logged),
    ...options,
  })
  let ended: ExecutionEnd | undefined
  void execution.over.then((how) => (ended = how))
  // The engine starts when the steps are read.
  await turns(1)
  return {
    execution,
    engine,
    store,
    commits,
    clock,
    over: execution.over,
    end: () => ended,
    releases,
    marks,
    logged,
  }
}

function listLogger(lines: string[]): Logger {
  const write = (level: string) => (message: string) => {
    lines.push(`${level} ${message}`)
  }
  return {
    debug: write('debug'),
    info: () => undefined,
    warn: write('warn'),
    error: write('error'),
  }
}

function unavailable(): Promise<never> {
  return Promise.reject(new TuttiError('STORE_UNAVAILABLE', 'gone', { retryable: true }))
}

function pending(command: RunCommand, id = 'command-1'): PendingCommand {
  return { id, runId: RUN, command }
}

function missing(): Ensemble {
  throw new TuttiError('CONFIG_INVALID', 'Ensemble "band" is no longer registered')
}

/** A model whose reply the test controls. */
function handSettledModel(
  text: string,
  release: Promise<void>,
): ChatModel & { readonly requests: readonly unknown[] } {
  const model = scriptedModel([text])
  return {
    ...model,
    get requests() {
      return model.requests
    },
    async *stream(request, options) {
      const chunks = model.stream(request, options)
      const { value, done } = await chunks[Symbol.asyncIterator]().next()
      await release
      if (done !== true) yield value
      yield* chunks
    },
  }
}
