import { describeCode } from '@tutti/ensemble/internal'
import { fakeClock, type FakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { claimed, toToken } from '../../test/claimed.ts'
import { FakeCommits } from '../../test/fake-commits.ts'
import { FakeEngine } from '../../test/fake-engine.ts'
import { FakeQueue, fakeStorage, type FakeStorage } from '../../test/fake-storage.ts'
import { turns } from '../../test/turns.ts'
import { GroupCommit } from '../commit/group-commit.ts'
import { resolveRunServiceOptions, type RunServiceOptions } from '../settings/options.ts'
import { ByteBudget } from '../load/byte-budget.ts'
import { RunEnsembles } from '../request/run-ensembles.ts'
import { RunExecutor } from './run-executor.ts'
import { SETTLED_AFTER_MS, SUSPECT_LOSSES } from '../domain/suspects.ts'

import type { ClaimedRun, ClaimRequest, HeldRun } from '../ports/run-queue.ts'
import type { CommandQueue, PendingCommand } from '../ports/command-queue.ts'

const LEASE_MS = 9_000

const POLL_MS = 1_000

describe('RunExecutor, claiming', () => {
  it('[RUNS-Q1] RunExecutor starts waiting runs in order, up to its slots', async () => {
    const { executor, started, queue } = setUp({ waiting: ['a', 'b', 'c'] })
    executor.start()
    await turns()
    expect(started()).toEqual(['a', 'b'])
    expect([executor.running, queue.wanted]).toEqual([2, [2]])
  })

  it('[RUNS-Q1] [RUNS-Q7] RunExecutor claims with the limit, its owner id, the duration of its lease, and its ensembles', async () => {
    const { executor, queue, engine } = setUp({ options: { maxConcurrentRuns: 7 } })
    const requests: unknown[] = []
    queue.take = async (request) => {
      requests.push(request)
      return []
    }
    executor.start()
    await turns()
    const owner: unknown = expect.stringMatching(/^fake-.{36}$/)
    const { name } = engine
    const { digest } = describeCode(engine.ensemble)
    const known = {
      // The last one is that of runs with ensembles as tasks.
      ensembles: [
        name,
        `${name}\u007f${digest}`,
        expect.stringMatching(new RegExp(`^${name}\u007f${digest}\\+[0-9a-f]{16}$`)),
      ],
      code: { build: 'test', codes: { [name]: digest } },
      othersAfterMs: 600_000,
    }
    expect(requests).toEqual([
      {
        owner,
        leaseMs: LEASE_MS,
        idleLeaseMs: 3 * LEASE_MS,
        wanted: 2,
        maxConcurrentRuns: 7,
        known,
        takesSuspect: true,
      },
    ])
  })

  it.each([
    ['a suspect until it has ended', SUSPECT_LOSSES, false],
    ['a run that lost its owner once', SUSPECT_LOSSES - 1, true],
  ])(
    '[RUNS-Q8] RunExecutor decides whether to take a suspect while it executes %s',
    async (_, lostOwners, takes) => {
      const { executor, queue, engine } = setUp()
      const asked = recordTakes(queue, [claimed('a', { lostOwners })])
      executor.start()
      await turns()
      executor.wake()
      await turns()
      expect(asked).toEqual([true, takes])
      engine.run.complete()
      await turns(8)
      expect(asked).toEqual([true, takes, true])
    },
  )

  it('[RUNS-Q8] RunExecutor takes another suspect when the first one has run for a while', async () => {
    const { executor, queue, clock } = setUp({
      options: { pollMs: SETTLED_AFTER_MS / 2 },
      held: [{ runId: 'a', token: toToken(1) }],
    })
    const asked = recordTakes(queue, [claimed('a', { lostOwners: SUSPECT_LOSSES })])
    executor.start()
    await turns()
    for (let poll = 0; poll < 2; poll += 1) {
      await clock.advance(SETTLED_AFTER_MS / 2)
      await turns()
    }
    expect(asked).toEqual([true, false, true])
  })

  it('[RUNS-Q1] RunExecutor claims the next run when a slot is free', async () => {
    const { executor, engine, started } = setUp({ waiting: ['a', 'b', 'c'] })
    executor.start()
    await turns()
    engine.runs[0]?.complete()
    await turns(8)
    expect(started()).toEqual(['a', 'b', 'c'])
    expect(executor.running).toBe(2)
  })

  it('[RUNS-Q1] RunExecutor claims once for all wake-ups of one turn of the event loop', async () => {
    const { executor, queue } = setUp()
    executor.start()
    await turns()
    executor.wake()
    executor.wake()
    executor.wake()
    await turns(8)
    expect(queue.wanted).toHaveLength(2)
  })

  it('[RUNS-Q1] RunExecutor claims again when it is woken during a claim', async () => {
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

  it('[RUNS-Q1] RunExecutor polls for due runs without notifications', async () => {
    const { executor, queue, clock, started } = setUp()
    executor.start()
    await turns()
    queue.waiting.push(claimed('a'))
    await clock.advance(POLL_MS)
    await turns()
    expect(started()).toEqual(['a'])
  })

  it('[RUNS-Q1] RunExecutor never exceeds its slots when a poll coincides with a claim', async () => {
    const { executor, queue, clock, started } = setUp({ waiting: ['a', 'b', 'c', 'd'] })
    const gate = Promise.withResolvers<void>()
    queue.beforeAnswer = () => gate.promise
    executor.start()
    await clock.advance(POLL_MS)
    gate.resolve()
    await turns()
    expect(started()).toEqual(['a', 'b'])
  })

  it('[RUNS-Q1] RunExecutor continues to claim while it gets all wanted runs and has slots', async () => {
    const { executor, engine, started } = setUp({ waiting: ['a', 'b', 'c'] })
    engine.onStart = (run) => {
      if (engine.runs.length < 3) run.complete()
    }
    executor.start()
    await turns(12)
    expect(started()).toEqual(['a', 'b', 'c'])
    expect(executor.running).toBe(1)
  })

  it('RunExecutor does not claim before its start, nor in a process that does not execute', async () => {
    const { executor, queue, clock } = setUp({ options: { executes: false }, waiting: ['a'] })
    executor.wake()
    executor.start()
    executor.wake()
    await clock.advance(10 * POLL_MS)
    expect(queue.wanted).toEqual([])
  })

  it('RunExecutor does not claim while the store cannot be reached', async () => {
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

  it('RunExecutor logs a failed claim and claims again', async () => {
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

describe('RunExecutor.executeNow', () => {
  it('[RUNS-Q2] RunExecutor.executeNow executes the run regardless of the limits, and returns its end', async () => {
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

  it('[RUNS-Q1] RunExecutor.executeNow claims nothing while it exceeds its slots', async () => {
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

  it('[RUNS-Q2] RunExecutor.executeNow waits for a run that is being claimed at the same time', async () => {
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

  it('RunExecutor.executeNow waits for a run that already executes here', async () => {
    const { executor, engine } = setUp({ waiting: ['a'] })
    executor.start()
    await turns()
    const end = executor.executeNow('a')
    await turns()
    engine.run.complete()
    expect(await end).toBe('ended')
  })

  it('RunExecutor.executeNow returns undefined for a run that another process owns', async () => {
    const { executor } = setUp()
    expect(await executor.executeNow('a')).toBeUndefined()
  })

  it('RunExecutor.executeNow stops the earlier execution of a run that it claims again', async () => {
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

describe('RunExecutor, renewing leases', () => {
  it('[RUNS-Q5] RunExecutor renews leases three times before they expire', async () => {
    const { executor, queue, clock } = setUp({
      waiting: ['a'],
      held: [{ runId: 'a', token: toToken(1) }],
    })
    executor.start()
    await turns()
    await clock.advance(LEASE_MS - 1)
    expect(queue.asked).toEqual(['renew', 'renew'])
    await clock.advance(1)
    expect(queue.asked).toEqual(['renew', 'renew', 'renew'])
    expect(executor.running).toBe(1)
  })

  it('[RUNS-Q5] RunExecutor renews leases also in a process that does not claim runs', async () => {
    const held = [{ runId: 'a', token: toToken(1) }]
    const { executor, queue, clock } = setUp({ options: { executes: false }, waiting: ['a'], held })
    executor.start()
    void executor.executeNow('a')
    await turns()
    await clock.advance(LEASE_MS / 3)
    expect(queue.asked).toEqual(['renew'])
  })

  it('[RUNS-Q6] RunExecutor releases a run whose claim was never received', async () => {
    const { executor, queue, clock, warned } = setUp({
      held: [{ runId: 'stray', token: toToken(1) }],
      options: { pollMs: LEASE_MS },
    })
    queue.take = () => Promise.reject(new Error('connection lost'))
    executor.start()
    await turns()
    await clock.advance(LEASE_MS / 3)
    expect(queue.asked).toEqual(['renew', 'release stray lost'])
    expect(warned).toEqual([
      'Failed to claim due runs',
      'Releasing a run whose claim was never received',
    ])
  })

  it('[RUNS-Q6] RunExecutor releases a run whose claim was never received, also when later claims find nothing', async () => {
    const { executor, queue, clock } = setUp({ held: [] })
    executor.start()
    // The first renewal finds no run, so that the next one is due much later.
    await clock.advance(LEASE_MS / 3)
    queue.held = async () => [{ runId: 'stray', token: toToken(1) }]
    const take = queue.take.bind(queue)
    queue.take = () => {
      queue.take = take
      return Promise.reject(new Error('connection lost'))
    }
    await clock.advance(POLL_MS)
    await clock.advance(POLL_MS)
    await clock.advance(LEASE_MS / 3)
    expect(queue.asked).toContain('release stray lost')
  })

  it('[RUNS-Q6] RunExecutor does not release a run that is created for a reserved slot', async () => {
    const { executor, queue } = setUp({ held: [{ runId: 'a', token: toToken(1) }] })
    executor.start()
    await turns()
    const slot = executor.reserveSlot()
    expect(slot?.claimant).toMatchObject({ leaseMs: LEASE_MS, hasFreeSlot: true })
    await executor.renew()
    slot?.execute(claimed('a'))
    slot?.release()
    expect(queue.asked).toEqual(['renew'])
    expect(executor.running).toBe(1)
    await executor.renew()
    expect(queue.asked).toEqual(['renew', 'renew'])
  })

  it('[RUNS-Q6] RunExecutor releases a run that was created for a reserved slot if the reply was lost', async () => {
    const { executor, queue } = setUp({ held: [{ runId: 'a', token: toToken(1) }] })
    executor.start()
    await turns()
    executor.reserveSlot()?.release()
    await turns()
    await executor.renew()
    expect(queue.asked).toEqual(['renew', 'release a lost'])
  })

  it('[RUNS-Q5] RunExecutor renews the lease of a process without runs only when two thirds of it have passed', async () => {
    const { executor, queue, clock } = setUp({ options: { executes: false }, held: [] })
    queue.fleet = { processes: 400, pollers: 1 }
    executor.start()
    // The first renewal starts the lease.
    await clock.advance(LEASE_MS / 3)
    expect(queue.renewals).toMatchObject([
      { leaseMs: LEASE_MS, idleLeaseMs: 3 * 400 * 125, hasFreeSlot: false },
    ])
    await clock.advance(2 * 400 * 125 - 1)
    expect(queue.renewals).toHaveLength(1)
    await clock.advance(LEASE_MS / 3)
    expect(queue.renewals).toHaveLength(2)
  })

  it('[RUNS-Z11] RunExecutor knows no code in its lease if it does not execute runs, or no longer', async () => {
    const api = setUp({ options: { executes: false }, held: [] })
    api.executor.start()
    await api.executor.renew()
    const nothing = { ensembles: [], othersAfterMs: Infinity }
    expect(api.queue.renewals.at(-1)?.known).toEqual(nothing)
    const worker = setUp({ held: [] })
    worker.executor.start()
    await worker.executor.renew()
    expect(worker.queue.renewals.at(-1)?.known).toMatchObject({ code: { build: 'test' } })
    await worker.executor.stop(0)
    expect(worker.queue.renewals.at(-1)?.known).toEqual(nothing)
  })

  it('[RUNS-Q10] RunExecutor polls as often as its share of a large fleet, with jitter', async () => {
    const { executor, queue, clock } = setUp({ held: [] })
    queue.fleet = { processes: 80, pollers: 80 }
    executor.start()
    await turns()
    const polls: number[] = []
    for (let second = 0; second < 200; second += 1) {
      await clock.advance(1_000)
      await turns()
      polls.push(queue.wanted.length)
    }
    const intervals = polls.flatMap((count, second) =>
      count > (polls[second - 1] ?? 1) ? [second] : [],
    )
    const gaps = intervals.slice(1).map((second, index) => second - (intervals[index] ?? 0))
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(7)
    expect(Math.max(...gaps)).toBeLessThanOrEqual(13)
    expect(queue.asked).toEqual([])
  })

  it.each(['before it renews', 'while it renews'])(
    '[RUNS-Q6] RunExecutor does not release a run whose claim is in flight %s',
    async (when) => {
      const { executor, queue } = setUp()
      executor.start()
      await turns()
      const [answer, renewal] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      queue.held = async () => {
        await renewal.promise
        return [{ runId: 'a', token: toToken(1) }]
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

  it('[RUNS-Q5] RunExecutor does not renew leases of a store that is not shared', async () => {
    const { executor, queue, clock } = setUp({ waiting: ['a'], isShared: false })
    const leases: number[] = []
    const take = queue.take.bind(queue)
    queue.take = async (request) => {
      leases.push(request.leaseMs)
      return take(request)
    }
    executor.start()
    await clock.advance(LEASE_MS)
    expect(leases[0]).toBe(Infinity)
    expect(queue.asked).toEqual([])
  })

  it.each([
    ['somebody else has', []],
    ['it has under another claim', [{ runId: 'a', token: toToken(2) }]],
  ])('[RUNS-Q5] RunExecutor stops a run that %s', async (_, lost) => {
    const held = [...lost, { runId: 'b', token: toToken(1) }]
    const { executor, engine, clock, warned, queue } = setUp({ waiting: ['a', 'b'], held })
    executor.start()
    await turns()
    await clock.advance(LEASE_MS / 3)
    await turns()
    expect(engine.runs.map(({ isStopped }) => isStopped)).toEqual([true, false])
    expect([executor.running, warned]).toEqual([1, ['Lost the lease of a run; stopping']])
    expect(queue.asked).toEqual(['renew'])
  })

  it('[RUNS-Q5] RunExecutor does not stop a run that was claimed during the renewal', async () => {
    const { executor, engine, queue } = setUp({ waiting: ['a'] })
    executor.start()
    await turns()
    const gate = Promise.withResolvers<readonly HeldRun[]>()
    queue.held = () => gate.promise
    const renewed = executor.renew()
    queue.waiting.push(claimed('b'))
    executor.wake()
    await turns()
    gate.resolve([{ runId: 'a', token: toToken(1) }])
    await renewed
    expect(engine.runs.map(({ isStopped }) => isStopped)).toEqual([false, false])
  })

  it('[RUNS-Q5] RunExecutor does not stop a run that was claimed again during the renewal', async () => {
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
    gate.resolve([{ runId: 'a', token: toToken(1) }])
    await renewed
    expect(engine.run.isStopped).toBe(false)
    expect([executor.running, warned]).toEqual([1, ['Lost the lease of a run; stopping']])
  })

  it('[RUNS-Q9] RunExecutor stops its runs at the end of a lease that it could not renew, by its own clock', async () => {
    const { executor, engine, queue, clock, warned } = setUp({ waiting: ['a', 'b'] })
    executor.start()
    await turns()
    await clock.advance(LEASE_MS - 1)
    expect(engine.runs.map(({ isStopped }) => isStopped)).toEqual([false, false])
    await clock.advance(1)
    expect(engine.runs.map(({ isStopped }) => isStopped)).toEqual([true, true])
    expect(executor.running).toBe(0)
    const ended = 'The lease ended before it could be renewed; stopping a run'
    expect(warned.filter((line) => line === ended)).toHaveLength(2)
    // The store may still assign the runs to this process, which then releases them.
    queue.held = async () => [{ runId: 'a', token: toToken(1) }]
    await executor.renew()
    expect(queue.asked).toContain('release a lost')
  })

  it('[RUNS-Q11] RunExecutor excuses the losses of a lease that the store did not renew, once the store answers', async () => {
    const { executor, queue, clock } = setUp({ waiting: ['a', 'b'] })
    executor.start()
    await turns()
    await clock.advance(LEASE_MS)
    queue.held = async () => []
    const { excuse } = queue
    queue.excuse = () => Promise.reject(new Error('no connection'))
    await expect(executor.renew()).rejects.toThrow('no connection')
    queue.excuse = excuse
    await executor.renew()
    await executor.renew()
    expect(queue.asked.filter((call) => call.startsWith('excuse'))).toEqual(['excuse a@1 b@1'])
  })

  it('[RUNS-Q11] RunExecutor excuses no loss of a process that was blocked until its lease had ended', async () => {
    const { executor, engine, queue, clock } = setUp({ waiting: ['a'] })
    executor.start()
    await turns()
    clock.block(LEASE_MS + 501)
    await clock.advance(0)
    expect(engine.run.isStopped).toBe(true)
    queue.held = async () => []
    await executor.renew()
    expect(queue.asked.filter((call) => call.startsWith('excuse'))).toEqual([])
  })

  it('[RUNS-Q9] RunExecutor counts the lease from the moment at which a renewal was sent', async () => {
    const { executor, engine, queue, clock } = setUp({ waiting: ['a'] })
    const held = [{ runId: 'a', token: toToken(1) }]
    executor.start()
    await turns()
    const answer = Promise.withResolvers<void>()
    queue.held = async () => {
      await answer.promise
      return held
    }
    await clock.advance(LEASE_MS / 3)
    await clock.advance(LEASE_MS / 3)
    answer.resolve()
    await turns()
    queue.held = undefined
    await clock.advance((LEASE_MS * 2) / 3 - 1)
    expect(engine.run.isStopped).toBe(false)
    await clock.advance(1)
    expect(engine.run.isStopped).toBe(true)
  })

  it('[RUNS-Q5] RunExecutor logs a failed renewal, stops no run, and retries', async () => {
    const { executor, engine, queue, clock, warned } = setUp({ waiting: ['a'] })
    executor.start()
    await turns()
    await clock.advance(LEASE_MS / 3)
    expect(warned).toEqual(['Failed to renew leases'])
    expect(engine.run.isStopped).toBe(false)
    queue.held = async () => [{ runId: 'a', token: toToken(1) }]
    await clock.advance(LEASE_MS / 3)
    expect(queue.asked).toEqual(['renew', 'renew'])
    expect(warned).toHaveLength(1)
  })
})

describe('RunExecutor, delivering commands', () => {
  it('RunExecutor delivers a command to its run, but not to a run that executes elsewhere', async () => {
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

  it('RunExecutor reads the pending commands of one or all of its runs, and of no others', async () => {
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

describe('RunExecutor.stop', () => {
  it('[RUNS-Q4] RunExecutor.stop hands its runs over, waits for calls in flight, and claims no more runs', async () => {
    const { executor, engine, queue, clock } = setUp({ waiting: ['a', 'b', 'c'] })
    executor.start()
    await turns()
    const busy = engine.runs[1]
    if (busy !== undefined) busy.isBusy = true
    const stopped = executor.stop(60_000)
    await turns(8)
    expect(queue.asked).toEqual(['renew', 'release a ready'])
    busy?.rest()
    await stopped
    expect(queue.asked).toEqual(['renew', 'release a ready', 'release b ready'])
    expect(queue.waiting).toHaveLength(1)
    expect([executor.running, clock.pending]).toEqual([0, 0])
  })

  it('[RUNS-Q4] RunExecutor.stop releases the runs that were not handed over in time', async () => {
    const held = [{ runId: 'a', token: toToken(1) }]
    const { executor, engine, queue, clock } = setUp({ waiting: ['a'], held })
    executor.start()
    await turns()
    engine.run.isBusy = true
    const stopped = executor.stop(5_000)
    await clock.advance(4_999)
    expect([queue.asked, engine.run.isStopped]).toEqual([['renew', 'renew'], false])
    await clock.advance(1)
    await turns(8)
    await stopped
    expect(queue.asked).toEqual(['renew', 'renew', 'release a ready'])
    expect(engine.run.isStopped).toBe(true)
    expect(executor.running).toBe(0)
  })

  it('RunExecutor.stop lets runs end when the store is not shared', async () => {
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

  it('[RUNS-Q4] RunExecutor.stop hands over runs that were claimed during the stop', async () => {
    const { executor, queue } = setUp({ waiting: ['a'] })
    const gate = Promise.withResolvers<void>()
    queue.beforeAnswer = () => gate.promise
    executor.start()
    await turns()
    const stopped = executor.stop(60_000)
    gate.resolve()
    await stopped
    expect(queue.asked).toEqual(['renew', 'release a ready'])
    expect(executor.running).toBe(0)
  })

  it('[RUNS-Q4] RunExecutor.stop hands over runs that a poll claimed during the stop', async () => {
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
    expect(queue.asked).toEqual(['renew', 'release a ready'])
  })

  it('[RUNS-Q4] RunExecutor.stop hands over a run of executeNow at once', async () => {
    const { executor, engine, queue } = setUp({ waiting: ['a'] })
    executor.start()
    await turns()
    const { run } = engine
    run.isBusy = true
    const stopped = executor.stop(60_000)
    await turns()
    queue.waiting.push(claimed('b'))
    expect(await executor.executeNow('b')).toBe('ready')
    expect(queue.asked).toEqual(['renew', 'release b ready'])
    run.rest()
    await stopped
  })

  it('RunExecutor.stop leaves no timer, and claims nothing when it is woken', async () => {
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
  /** Ids of the runs that the engine received, in order. */
  started(): readonly (string | undefined)[]
}

interface Given {
  /** Ids of the waiting runs. */
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
    build: 'test',
    budget: new ByteBudget(1_000_000),
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

/** Returns whether each claim takes a suspect; the first claim gets these runs. */
function recordTakes(queue: FakeQueue, first: readonly ClaimedRun[]): (boolean | undefined)[] {
  const asked: (boolean | undefined)[] = []
  queue.take = async ({ takesSuspect }: Pick<ClaimRequest, 'takesSuspect'>) => {
    asked.push(takesSuspect)
    return asked.length === 1 ? first : []
  }
  return asked
}

function pendingFor(runId: string): PendingCommand {
  return { id: `command-${runId}`, runId, command: { kind: 'switch_model', model: 'fast' } }
}
