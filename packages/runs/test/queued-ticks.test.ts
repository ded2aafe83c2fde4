/** Schedules whose ticks wait for the run of the last one. No run is executed here, so a run ends when it is cancelled. */
import { TuttiError } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { MAX_QUEUED_TICKS } from '../src/domain/schedule.ts'
import { advance, listTicks, openSchedules, RUN } from './scheduled-runs.ts'
import { temporaryDirectory } from './waiting-ensemble.ts'

import type { Overlap, RunServiceOptions } from '@tutti/runs'

/** Longer than the interval at which a process looks for the end of a run that a tick waits for, in milliseconds. */
const LOOK_MS = 6_000

const MINUTE = 60_000

/** Starts a service with a schedule that has a tick each minute, and has had one. */
async function openQueue(path: string, overlap: Overlap, options: RunServiceOptions = {}) {
  const opened = await openSchedules(path, { executes: false, ...options })
  const { clock, service, storage } = opened
  const { schedules } = service
  const definition = { cron: '* * * * *', run: RUN, overlap }
  const next = () => new Date((Math.floor(clock.now() / MINUTE) + 1) * MINUTE).toISOString()
  await schedules.add({ name: 'brief', definition, actor: 'ci' })
  /** Reads the schedule a moment later. */
  const read = async () => {
    await clock.advance(1_000)
    return schedules.get('brief')
  }
  const queued = async () => (await read()).queued.map((tick) => new Date(tick).toISOString())
  const first = next()
  await advance(clock, MINUTE, MINUTE / 4)
  await expect.poll(() => listTicks(service, 'brief')).toEqual([first])
  return {
    ...opened,
    definition,
    first,
    next,
    read,
    queued,
    ticks: () => listTicks(service, 'brief'),
    /** Lets the next tick pass. Returns it. */
    async pass(): Promise<string> {
      const tick = next()
      await advance(clock, MINUTE, MINUTE / 4)
      await expect.poll(async () => (await read()).nextTick).toBe(Date.parse(tick) + MINUTE)
      return tick
    },
    /** Ends the last run, and lets a process look for that. */
    async end(): Promise<void> {
      const { lastRun } = await read()
      await service.send(lastRun?.runId ?? '', { kind: 'cancel', cause: 'CALLER' })
      await advance(clock, LOOK_MS, LOOK_MS / 3)
    },
    /** Stores these ticks as waiting. */
    async wait(waiting: readonly number[]): Promise<void> {
      const { revision, ...schedule } = await read()
      expect(await storage.schedules.replace({ ...schedule, queued: waiting }, revision)).toBe(true)
    },
  }
}

describe('a schedule whose ticks wait', () => {
  it('[RUNS-SC10] With queueOne, one tick waits for the end of the last run, and later ones are left out', async () => {
    using directory = temporaryDirectory()
    const one = await openQueue(directory.path, 'queueOne')
    const second = await one.pass()
    expect([await one.ticks(), await one.queued()]).toEqual([[one.first], [second]])
    expect((await one.read()).problem).toBeUndefined()
    const third = await one.pass()
    const problem = { tick: Date.parse(third), code: 'SKIPPED' }
    expect(await one.read()).toMatchObject({ queued: [Date.parse(second)], problem })
    await one.end()
    await expect.poll(one.ticks).toEqual([one.first, second])
    // The run of an earlier tick does not solve the problem of the third.
    await expect.poll(one.read).toMatchObject({ queued: [], problem })
    const fourth = await one.pass()
    expect(await one.queued()).toEqual([fourth])
    await one.end()
    await expect.poll(one.ticks).toEqual([one.first, second, fourth])
    await expect.poll(async () => (await one.read()).problem).toBeUndefined()
    await one.service.close({ drainTimeoutMs: 0 })
  })

  it('[RUNS-SC10] With queueAll, every tick waits, and each has a run when the one before has ended', async () => {
    using directory = temporaryDirectory()
    const all = await openQueue(directory.path, 'queueAll')
    const waiting = [await all.pass(), await all.pass(), await all.pass()]
    expect([await all.ticks(), await all.queued()]).toEqual([[all.first], waiting])
    for (const count of [1, 2, 3]) {
      await all.end()
      await expect.poll(all.ticks).toEqual([all.first, ...waiting.slice(0, count)])
      await expect.poll(all.queued).toEqual(waiting.slice(count))
    }
    await all.service.close({ drainTimeoutMs: 0 })
  })

  it('[RUNS-SC10] A tick does not overtake those that wait, although no run executes', async () => {
    using directory = temporaryDirectory()
    const all = await openQueue(directory.path, 'queueAll')
    const second = await all.pass()
    const { lastRun } = await all.read()
    await all.service.send(lastRun?.runId ?? '', { kind: 'cancel', cause: 'CALLER' })
    // One process finds the end of the run and the third tick at the same time.
    const third = all.next()
    await all.clock.advance(MINUTE)
    await expect.poll(all.ticks).toEqual([all.first, second])
    await expect.poll(all.queued).toEqual([third])
    await all.service.close({ drainTimeoutMs: 0 })
  })

  it('[RUNS-SC10] With queueAll, ticks beyond the maximum number are left out', async () => {
    using directory = temporaryDirectory()
    const all = await openQueue(directory.path, 'queueAll')
    const waiting = Array.from({ length: MAX_QUEUED_TICKS }, (_, n) => Date.parse(all.first) + n)
    await all.wait(waiting)
    const tick = await all.pass()
    const { queued, problem } = await all.read()
    expect(queued).toEqual(waiting)
    expect(problem).toMatchObject({
      tick: Date.parse(tick),
      code: 'SKIPPED',
      message: expect.stringContaining(`maximum number of ${MAX_QUEUED_TICKS} ticks`),
    })
    await all.service.close({ drainTimeoutMs: 0 })
  })

  it('[RUNS-SC5] [RUNS-SC10] A process that dies after the run of a waiting tick leaves one run', async () => {
    using directory = temporaryDirectory()
    const one = await openQueue(directory.path, 'queueOne')
    const second = await one.pass()
    const { schedules } = one.storage
    const settle = schedules.settle.bind(schedules)
    let lost = 0
    schedules.settle = () => {
      lost += 1
      return Promise.reject(new TuttiError('STORE_UNAVAILABLE', 'no connection'))
    }
    await one.end()
    await expect.poll(() => lost).toBeGreaterThan(0)
    expect(await one.ticks()).toEqual([one.first, second])
    schedules.settle = settle
    await advance(one.clock, 20_000, 5_000)
    await expect.poll(one.queued).toEqual([])
    expect(await one.ticks()).toEqual([one.first, second])
    expect((await one.read()).lastRun?.tick).toBe(Date.parse(second))
    await one.service.close({ drainTimeoutMs: 0 })
  })

  it('[RUNS-SC7] [RUNS-SC10] A waiting tick is tried again after a refusal that may pass, and left out after another', async () => {
    using directory = temporaryDirectory()
    let refusal: TuttiError | undefined
    const all = await openQueue(directory.path, 'queueAll', {
      async authorizeSchedule() {
        if (refusal !== undefined) throw refusal
        return undefined
      },
    })
    const [second, third] = [await all.pass(), await all.pass()]
    refusal = new TuttiError('CONCURRENCY_LIMIT', 'The queue is full', { retryable: true })
    await all.end()
    await expect.poll(async () => (await all.read()).problem?.code).toBe('CONCURRENCY_LIMIT')
    await advance(all.clock, 2 * MINUTE, LOOK_MS)
    expect(await all.ticks()).toEqual([all.first])
    expect((await all.queued()).slice(0, 2)).toEqual([second, third])
    refusal = new TuttiError('FORBIDDEN', 'Key "ci" has expired')
    await advance(all.clock, LOOK_MS, LOOK_MS)
    await expect.poll(all.queued).toEqual([])
    expect((await all.read()).problem).toMatchObject({ code: 'FORBIDDEN' })
    refusal = undefined
    const last = await all.pass()
    await expect.poll(all.ticks).toEqual([all.first, last])
    await all.service.close({ drainTimeoutMs: 0 })
  })

  it.for([
    ['is paused', 0],
    ['has another expression', 0],
    ['gets overlap skip', 0],
    ['gets overlap queueOne', 1],
    ['gets another run', 2],
  ] as const)('[RUNS-SC10] When a schedule %s, %i waiting ticks remain', async ([how, kept]) => {
    using directory = temporaryDirectory()
    const all = await openQueue(directory.path, 'queueAll')
    const waiting = [await all.pass(), await all.pass()]
    const { service, definition } = all
    const changed = {
      'has another expression': { cron: '*/2 * * * *' },
      'gets overlap skip': { overlap: 'skip' },
      'gets overlap queueOne': { overlap: 'queueOne' },
      'gets another run': { run: { inputs: { topic: 'Mozart' } } },
    } as const
    if (how === 'is paused') await service.schedules.setPaused('brief', true)
    else {
      const next = { ...definition, ...changed[how] }
      await service.schedules.replace({ name: 'brief', definition: next, actor: 'ci' })
    }
    expect(await all.queued()).toEqual(waiting.slice(0, kept))
    await service.close({ drainTimeoutMs: 0 })
  })
})
