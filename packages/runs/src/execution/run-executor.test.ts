import { fakeClock, type FakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { claimed } from '../../test/claimed.ts'
import { FakeCommits } from '../../test/fake-commits.ts'
import { FakeEngine } from '../../test/fake-engine.ts'
import { FakeQueue, fakeStorage, type FakeStorage } from '../../test/fake-storage.ts'
import { turns } from '../../test/turns.ts'
import { GroupCommit } from '../commit/group-commit.ts'
import { resolveRunServiceOptions, type RunServiceOptions } from '../options.ts'
import { RunEnsembles } from './run-ensembles.ts'
import { RunExecutor } from './run-executor.ts'
import { SETTLED_AFTER_MS, SUSPECT_LOSSES } from './suspects.ts'

import type { ClaimedRun, ClaimRequest, HeldRun } from '../ports/run-queue.ts'
import type { CommandQueue, PendingCommand } from '../ports/command-queue.ts'

const LEASE_MS = 9_000

const POLL_MS = 1_000

describe('RunExecutor, claiming', () => {
  it('[RUNS-Q1] begins with what waits, in its order, as many as it has places', async () => {
    const { executor, started, queue } = setUp({ waiting: ['a', 'b', 'c'] })
    executor.start()
    await turns()
    expect(started()).toEqual(['a', 'b'])
    expect([executor.running, queue.wanted]).toEqual([2, [2]])
  })

  it('[RUNS-Q1] [RUNS-Q7] says how many may execute over all processes, who it is, for how long, and what it knows', async () => {
    const { executor, queue, engine } = setUp({ options: { maxConcurrentRuns: 7 } })
    const requests: unknown[] = []
    queue.claimNext = async (request) => {
      requests.push(request)
      return []
    }
    executor.start()
    await turns()
    const owner: unknown = expect.stringMatching(new RegExp(`^${process.pid}-.{36}$`))
    const known = { ensembles: [engine.name], othersAfterMs: 600_000 }
    expect(requests).toEqual([
      { owner, leaseMs: LEASE_MS, wanted: 2, maxConcurrentRuns: 7, known, takesSuspect: true },
    ])
  })

  it.each([
    ['a suspect until it has ended', SUSPECT_LOSSES, false],
    ['a run that lost its owner once', SUSPECT_LOSSES - 1, true],
  ])('[RUNS-Q8] while it executes %s: whether it takes a suspect', async (_, lostOwners, takes) => {
    const { executor, queue, engine } = setUp()
    const asked = takesOf(queue, [claimed('a', { lostOwners })])
    executor.start()
    await turns()
    executor.wake()
    await turns()
    expect(asked).toEqual([true, takes])
    engine.run.complete()
    await turns(8)
    expect(asked).toEqual([true, takes, true])
  })

  it('[RUNS-Q8] takes another suspect when the first has stayed for a while', async () => {
    const { executor, queue, clock } = setUp({ options: { pollMs: SETTLED_AFTER_MS / 2 } })
    const asked = takesOf(queue, [claimed('a', { lostOwners: SUSPECT_LOSSES })])
    executor.start()
    await turns()
    for (let poll = 0; poll < 2; poll += 1) {
      await clock.advance(SETTLED_AFTER_MS / 2)
      await turns()
    }
    expect(asked).toEqual([true, false, true])
  })

  it('[RUNS-Q1] takes the next one when a place is free', async () => {
    const { executor, engine, started } = setUp({ waiting: ['a', 'b', 'c'] })
    executor.start()
    await turns()
    engine.runs[0]?.complete()
    await turns(8)
    expect(started()).toEqual(['a', 'b', 'c'])
    expect(executor.running).toBe(2)
  })

  it('[RUNS-Q1] looks once for all that wake it in one turn of the event loop', async () => {
    const { executor, queue } = setUp()
    executor.start()
    await turns()
    executor.wake()
    executor.wake()
    executor.wake()
    await turns(8)
    expect(queue.wanted).toHaveLength(2)
  })

  it('[RUNS-Q1] looks again when it is woken while it looks', async () => {
    const { executor, queue, started } = setUp()
    executor.start()
    await turns()
    const gate = Promise.withResolvers<void>()
    queue.beforeAnswer = () => gate.promise
    executor.wake()
    executor.wake()
    await turns()
    expect(queue.wanted).toHaveLength(2)
    executor.wake()
    queue.waiting.push(claimed('a'))
    gate.resolve()
    await turns()
    expect(started()).toEqual(['a'])
    expect(queue.wanted).toHaveLength(3)
  })

  it('[RUNS-Q1] looks from time to time without being told', async () => {
    const { executor, queue, clock, started } = setUp()
    executor.start()
    await turns()
    queue.waiting.push(claimed('a'))
    await clock.advance(POLL_MS)
    await turns()
    expect(started()).toEqual(['a'])
  })

  it('[RUNS-Q1] never executes more than it may, also when it looks on time while it looks', async () => {
    const { executor, queue, clock, started } = setUp({ waiting: ['a', 'b', 'c', 'd'] })
    const gate = Promise.withResolvers<void>()
    queue.beforeAnswer = () => gate.promise
    executor.start()
    await clock.advance(POLL_MS)
    gate.resolve()
    await turns()
    expect(started()).toEqual(['a', 'b'])
  })

  it('[RUNS-Q1] goes on looking while it is given all it wants and has places', async () => {
    const { executor, engine, started } = setUp({ waiting: ['a', 'b', 'c'] })
    engine.onStart = (run) => {
      if (engine.runs.length < 3) run.complete()
    }
    executor.start()
    await turns(12)
    expect(started()).toEqual(['a', 'b', 'c'])
    expect(executor.running).toBe(1)
  })

  it('looks for nothing in a process that does not execute, nor before it is started', async () => {
    const { executor, queue, clock } = setUp({ options: { executes: false }, waiting: ['a'] })
    executor.wake()
    executor.start()
    executor.wake()
    await clock.advance(10 * POLL_MS)
    expect(queue.wanted).toEqual([])
  })

  it('looks for nothing while the store cannot be reached', async () => {
    const { executor, storage, queue, clock, started } = setUp({ waiting: ['a'] })
    storage.isAvailable = false
    executor.start()
    await clock.advance(POLL_MS)
    expect(queue.wanted).toEqual([])
    storage.isAvailable = true
    await clock.advance(POLL_MS)
    await turns()
    expect(started()).toEqual(['a'])
  })

  it('says that it could not look, and looks again', async () => {
    const { executor, queue, clock, started, warned } = setUp({ waiting: ['a'] })
    queue.beforeAnswer = () => Promise.reject(new Error('no connection'))
    executor.start()
    await turns()
    expect(warned).toEqual(['Failed to claim due runs'])
    queue.beforeAnswer = undefined
    queue.waiting.push(claimed('b'))
    await clock.advance(POLL_MS)
    await turns()
    expect(started()).toEqual(['b'])
  })
})

describe('RunExecutor, told to execute a run now', () => {
  it('[RUNS-Q2] executes it whatever the limits, and tells how that ended', async () => {
    const { executor, engine, queue } = setUp({ waiting: ['a', 'b'] })
    executor.start()
    await turns()
    queue.waiting.push(claimed('c'))
    const end = executor.executeNow('c')
    await turns()
    expect(executor.running).toBe(3)
    engine.run.complete()
    expect(await end).toBe('ended')
  })

  it('[RUNS-Q1] claims nothing while it has more than its places', async () => {
    const { executor, engine, queue, clock } = setUp({ waiting: ['a', 'b'] })
    executor.start()
    await turns()
    queue.waiting.push(claimed('c'), claimed('d'))
    void executor.executeNow('c')
    await turns()
    await clock.advance(POLL_MS)
    engine.runs[0]?.complete()
    await turns(8)
    expect(queue.waiting.map(({ run }) => run.runId)).toEqual(['d'])
  })

  it('[RUNS-Q2] waits for the run that it claims at the same moment', async () => {
    const { executor, engine, queue, started } = setUp({ waiting: ['a'] })
    const gate = Promise.withResolvers<void>()
    queue.beforeAnswer = () => gate.promise
    executor.start()
    const end = executor.executeNow('a')
    await turns()
    gate.resolve()
    await turns()
    expect(started()).toEqual(['a'])
    engine.run.complete()
    expect(await end).toBe('ended')
  })

  it('waits for a run that executes here already', async () => {
    const { executor, engine } = setUp({ waiting: ['a'] })
    executor.start()
    await turns()
    const end = executor.executeNow('a')
    await turns()
    engine.run.complete()
    expect(await end).toBe('ended')
  })

  it('gives nothing for a run that another process has', async () => {
    const { executor } = setUp()
    expect(await executor.executeNow('a')).toBeUndefined()
  })

  it('a run that comes back to the process that had it stops there first', async () => {
    const { executor, engine, queue, warned } = setUp({ waiting: ['a'] })
    executor.start()
    await turns()
    queue.waiting.push(claimed('a', { run: { epoch: 2 } }))
    executor.wake()
    await turns()
    expect(engine.runs.map(({ isStopped }) => isStopped)).toEqual([true, false])
    expect([executor.running, warned]).toEqual([1, ['Lost the lease of a run; stopping']])
    engine.run.complete()
    await turns()
    expect(executor.running).toBe(0)
  })
})

describe('RunExecutor, about leases', () => {
  it('[RUNS-Q5] renews them three times before they are over', async () => {
    const { executor, queue, clock } = setUp({ waiting: ['a'], held: [{ runId: 'a', epoch: 1 }] })
    executor.start()
    await turns()
    await clock.advance(LEASE_MS - 1)
    expect(queue.asked).toEqual(['renew', 'renew'])
    await clock.advance(1)
    expect(queue.asked).toEqual(['renew', 'renew', 'renew'])
    expect(executor.running).toBe(1)
  })

  it('[RUNS-Q5] a process that executes nothing by itself renews too', async () => {
    const held = [{ runId: 'a', epoch: 1 }]
    const { executor, queue, clock } = setUp({ options: { executes: false }, waiting: ['a'], held })
    executor.start()
    void executor.executeNow('a')
    await turns()
    await clock.advance(LEASE_MS / 3)
    expect(queue.asked).toEqual(['renew'])
  })

  it('[RUNS-Q6] gives up a run that was claimed for it and never arrived', async () => {
    const { executor, queue, clock, warned } = setUp({ held: [{ runId: 'stray', epoch: 1 }] })
    executor.start()
    await turns()
    await clock.advance(LEASE_MS / 3)
    expect(queue.asked).toEqual(['renew', 'release stray lost'])
    expect(warned).toEqual(['Releasing a run whose claim was never received'])
  })

  it.each(['before it renews', 'while it renews'])(
    '[RUNS-Q6] leaves a run alone whose claim is under way %s',
    async (when) => {
      const { executor, queue } = setUp()
      executor.start()
      await turns()
      const [answer, renewal] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      queue.held = async () => {
        await renewal.promise
        return [{ runId: 'a', epoch: 1 }]
      }
      queue.beforeAnswer = () => answer.promise
      const early = when === 'before it renews' ? undefined : executor.renew()
      queue.waiting.push(claimed('a'))
      executor.wake()
      await turns()
      const renewed = early ?? executor.renew()
      renewal.resolve()
      await renewed
      answer.resolve()
      await turns()
      expect(queue.asked).toEqual(['renew'])
      expect(executor.running).toBe(1)
    },
  )

  it('[RUNS-Q5] renews none of a store that only this process has', async () => {
    const { executor, queue, clock } = setUp({ waiting: ['a'], isShared: false })
    const leases: number[] = []
    const claimNext = queue.claimNext.bind(queue)
    queue.claimNext = async (request) => {
      leases.push(request.leaseMs)
      return claimNext(request)
    }
    executor.start()
    await clock.advance(LEASE_MS)
    expect(leases[0]).toBe(Infinity)
    expect(queue.asked).toEqual([])
  })

  it.each([
    ['somebody else has', []],
    ['it has under another claim', [{ runId: 'a', epoch: 2 }]],
  ])('[RUNS-Q5] stops a run that %s', async (_, lost) => {
    const held = [...lost, { runId: 'b', epoch: 1 }]
    const { executor, engine, clock, warned, queue } = setUp({ waiting: ['a', 'b'], held })
    executor.start()
    await turns()
    await clock.advance(LEASE_MS / 3)
    await turns()
    expect(engine.runs.map(({ isStopped }) => isStopped)).toEqual([true, false])
    expect([executor.running, warned]).toEqual([1, ['Lost the lease of a run; stopping']])
    expect(queue.asked).toEqual(['renew'])
  })

  it('[RUNS-Q5] leaves a run alone that was claimed while it renewed', async () => {
    const { executor, engine, queue } = setUp({ waiting: ['a'] })
    executor.start()
    await turns()
    const gate = Promise.withResolvers<readonly HeldRun[]>()
    queue.held = () => gate.promise
    const renewed = executor.renew()
    queue.waiting.push(claimed('b'))
    executor.wake()
    await turns()
    gate.resolve([{ runId: 'a', epoch: 1 }])
    await renewed
    expect(engine.runs.map(({ isStopped }) => isStopped)).toEqual([false, false])
  })

  it('[RUNS-Q5] leaves a run alone that came back under a new claim while it renewed', async () => {
    const { executor, engine, queue, warned } = setUp({ waiting: ['a'] })
    executor.start()
    await turns()
    const gate = Promise.withResolvers<readonly HeldRun[]>()
    queue.held = () => gate.promise
    const renewed = executor.renew()
    engine.run.wait(Infinity)
    queue.waiting.push(claimed('a', { run: { epoch: 2 } }))
    executor.wake()
    await turns()
    gate.resolve([{ runId: 'a', epoch: 1 }])
    await renewed
    expect(engine.run.isStopped).toBe(false)
    expect([executor.running, warned]).toEqual([1, ['Lost the lease of a run; stopping']])
  })

  it('[RUNS-Q5] says that it could not renew, stops nothing, and tries again', async () => {
    const { executor, engine, queue, clock, warned } = setUp({ waiting: ['a'] })
    executor.start()
    await turns()
    await clock.advance(LEASE_MS / 3)
    expect(warned).toEqual(['Failed to renew leases'])
    expect(engine.run.isStopped).toBe(false)
    queue.held = async () => [{ runId: 'a', epoch: 1 }]
    await clock.advance(LEASE_MS / 3)
    expect(queue.asked).toEqual(['renew', 'renew'])
    expect(warned).toHaveLength(1)
  })
})

describe('RunExecutor, about commands', () => {
  it('takes a command to its run, and none to a run that executes elsewhere', async () => {
    const { executor, engine } = setUp({ waiting: ['a'] })
    executor.start()
    await turns()
    expect(await executor.deliver(pendingFor('a'))).toMatchObject({
      commandId: 'command-a',
      ok: true,
    })
    expect(await executor.deliver(pendingFor('z'))).toBeUndefined()
    expect(engine.run.commands).toHaveLength(1)
  })

  it('looks for pending commands of its runs, of one or of all, and of no others', async () => {
    const asked: (readonly string[])[] = []
    const pending: CommandQueue['pending'] = async (runIds) => {
      asked.push(runIds)
      return runIds.map((runId) => pendingFor(runId))
    }
    const { executor, engine } = setUp({ waiting: ['a', 'b'], pending })
    await executor.takeCommands()
    executor.start()
    await turns()
    await executor.takeCommands('a')
    await executor.takeCommands('z')
    await executor.takeCommands()
    await turns()
    expect(asked).toEqual([['a'], ['a', 'b']])
    expect(engine.runs.map(({ commands }) => commands.length)).toEqual([1, 1])
  })
})

describe('RunExecutor that is stopped', () => {
  it('[RUNS-Q4] hands its runs over, waits for those in flight, and claims nothing more', async () => {
    const { executor, engine, queue, clock } = setUp({ waiting: ['a', 'b', 'c'] })
    executor.start()
    await turns()
    const busy = engine.runs[1]
    if (busy !== undefined) busy.isBusy = true
    const stopped = executor.stop(60_000)
    await turns(8)
    expect(queue.asked).toEqual(['release a ready'])
    busy?.rest()
    await stopped
    expect(queue.asked).toEqual(['release a ready', 'release b ready'])
    expect(queue.waiting).toHaveLength(1)
    expect([executor.running, clock.pending]).toEqual([0, 0])
  })

  it('[RUNS-Q4] lets the runs go that have not come to rest in time', async () => {
    const held = [{ runId: 'a', epoch: 1 }]
    const { executor, engine, queue, clock } = setUp({ waiting: ['a'], held })
    executor.start()
    await turns()
    engine.run.isBusy = true
    const stopped = executor.stop(5_000)
    await clock.advance(4_999)
    expect([queue.asked, engine.run.isStopped]).toEqual([['renew'], false])
    await clock.advance(1)
    await turns(8)
    await stopped
    expect(queue.asked).toEqual(['renew', 'release a ready'])
    expect(engine.run.isStopped).toBe(true)
    expect(executor.running).toBe(0)
  })

  it('lets the runs of a store that only it has come to their end', async () => {
    const { executor, engine, queue } = setUp({ waiting: ['a'], isShared: false })
    executor.start()
    await turns()
    const stopped = executor.stop(60_000)
    await turns(8)
    expect([queue.asked, engine.run.isStopped]).toEqual([[], false])
    engine.run.complete()
    await stopped
    expect(queue.asked).toEqual([])
  })

  it('[RUNS-Q4] hands over what it was given while it was told to stop', async () => {
    const { executor, queue } = setUp({ waiting: ['a'] })
    const gate = Promise.withResolvers<void>()
    queue.beforeAnswer = () => gate.promise
    executor.start()
    await turns()
    const stopped = executor.stop(60_000)
    gate.resolve()
    await stopped
    expect(queue.asked).toEqual(['release a ready'])
    expect(executor.running).toBe(0)
  })

  it('[RUNS-Q4] hands over what it was given on time while it was told to stop', async () => {
    const { executor, queue, clock } = setUp()
    executor.start()
    await turns()
    queue.waiting.push(claimed('a'))
    const gate = Promise.withResolvers<void>()
    queue.beforeAnswer = () => gate.promise
    await clock.advance(POLL_MS)
    let isStopped = false
    const stopped = executor.stop(60_000).then(() => (isStopped = true))
    await turns()
    expect(isStopped).toBe(false)
    gate.resolve()
    await stopped
    expect(queue.asked).toEqual(['release a ready'])
  })

  it('[RUNS-Q4] hands over at once what it is told to execute now', async () => {
    const { executor, engine, queue } = setUp({ waiting: ['a'] })
    executor.start()
    await turns()
    const { run } = engine
    run.isBusy = true
    const stopped = executor.stop(60_000)
    await turns()
    queue.waiting.push(claimed('b'))
    expect(await executor.executeNow('b')).toBe('ready')
    expect(queue.asked).toEqual(['release b ready'])
    run.rest()
    await stopped
  })

  it('leaves no timer, and claims nothing when it is woken', async () => {
    const { executor, queue, clock } = setUp()
    executor.start()
    await turns()
    await executor.stop(1_000)
    queue.waiting.push(claimed('a'))
    executor.wake()
    await clock.advance(100_000)
    expect([queue.waiting.length, clock.pending]).toEqual([1, 0])
  })
})

interface SetUp {
  readonly executor: RunExecutor
  readonly engine: FakeEngine
  readonly queue: FakeQueue
  readonly storage: FakeStorage
  readonly clock: FakeClock
  readonly warned: readonly string[]
  /** Ids of the runs that the engine was given, in order. */
  started(): readonly (string | undefined)[]
}

interface Given {
  /** Ids of the runs that wait. */
  readonly waiting?: readonly string[]
  readonly held?: readonly HeldRun[]
  readonly pending?: CommandQueue['pending']
  readonly isShared?: boolean
  readonly options?: RunServiceOptions
}

function setUp({ waiting = [], held, pending, isShared = true, options }: Given = {}): SetUp {
  const clock = fakeClock()
  const engine = new FakeEngine()
  const queue = new FakeQueue(waiting.map((runId) => claimed(runId)))
  if (held !== undefined) queue.held = async () => held
  const warned: string[] = []
  const ignore = (): void => undefined
  const warn = (message: string): void => {
    warned.push(message)
  }
  const commands = pending === undefined ? {} : { pending }
  const storage = fakeStorage({ queue, commands, isShared })
  const executor = new RunExecutor({
    storage,
    commits: new GroupCommit({ store: new FakeCommits(), clock, onWritten: ignore }),
    ensembles: new RunEnsembles([engine.ensemble], { tools: undefined, models: undefined }),
    settings: resolveRunServiceOptions({
      maxRunsPerProcess: 2,
      leaseMs: LEASE_MS,
      pollMs: POLL_MS,
      clock,
      logger: { debug: ignore, info: ignore, warn, error: warn },
      ...options,
    }),
  })
  const started = () => engine.runs.map(({ options: { runId } }) => runId)
  return { executor, engine, queue, storage, clock, warned, started }
}

/** Whether each claim takes a suspect; the first one gets these runs. */
function takesOf(queue: FakeQueue, first: readonly ClaimedRun[]): (boolean | undefined)[] {
  const asked: (boolean | undefined)[] = []
  queue.claimNext = async ({ takesSuspect }: Pick<ClaimRequest, 'takesSuspect'>) => {
    asked.push(takesSuspect)
    return asked.length === 1 ? first : []
  }
  return asked
}

function pendingFor(runId: string): PendingCommand {
  return { id: `command-${runId}`, runId, command: { kind: 'switch_model', model: 'fast' } }
}
