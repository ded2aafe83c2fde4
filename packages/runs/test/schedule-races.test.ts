/** Schedules that are changed while a process submits the run of their tick. */
import { expect, it } from 'vitest'

import { advance, HOUR, HOURLY, listTicks, nextHour, openSchedules } from './scheduled-runs.ts'
import { temporaryDirectory } from './waiting-ensemble.ts'

import type { RunService, ScheduleDefinition } from '@tutti/runs'

const SKIPPING: ScheduleDefinition = { ...HOURLY, overlap: 'skip' }

/** Starts a service whose schedule has its first tick, and is changed before or after the run is stored. No run ends. */
async function changeDuringTick(
  path: string,
  when: 'before' | 'after',
  change: (schedules: RunService['schedules']) => Promise<unknown>,
) {
  const { clock, service, storage } = await openSchedules(path, { executes: false })
  await service.schedules.add({ name: 'brief', definition: SKIPPING })
  const create = storage.runs.create.bind(storage.runs)
  let hasChanged = false
  const changeOnce = async (): Promise<void> => {
    if (hasChanged) return
    hasChanged = true
    await change(service.schedules)
  }
  storage.runs.create = async (...given) => {
    if (when === 'before') await changeOnce()
    const created = await create(...given)
    await changeOnce()
    return created
  }
  const tick = nextHour(clock)
  await advance(clock, HOUR, HOUR / 4)
  await expect.poll(() => listTicks(service, 'brief')).toEqual([tick])
  return {
    clock,
    service,
    tick,
    /** Reads the schedule a moment later. */
    async read() {
      await clock.advance(100)
      return service.schedules.get('brief')
    },
  }
}

for (const when of ['before', 'after'] as const) {
  it(`[RUNS-SC3] [RUNS-SC5] A schedule that is edited ${when} the run of its tick is stored has one run for it`, async () => {
    using directory = temporaryDirectory()
    const run = { inputs: { topic: 'Mozart' } }
    const { clock, service, tick, read } = await changeDuringTick(directory.path, when, (all) =>
      all.replace({ name: 'brief', definition: { ...SKIPPING, run } }),
    )
    await expect.poll(async () => (await read()).nextTick).toBe(Date.parse(nextHour(clock)))
    expect(await read()).toMatchObject({
      definition: { run },
      lastRun: { tick: Date.parse(tick) },
      revision: 2,
    })
    // The edited schedule knows the run, for which its next tick is left out.
    await advance(clock, HOUR, HOUR / 4)
    await expect.poll(async () => (await read()).problem?.code).toBe('SKIPPED')
    expect(await listTicks(service, 'brief')).toEqual([tick])
    await service.close({ drainTimeoutMs: 0 })
  })

  it(`[RUNS-SC3] [RUNS-SC5] A schedule that is paused ${when} the run of its tick is stored has one run for it`, async () => {
    using directory = temporaryDirectory()
    const { clock, service, tick, read } = await changeDuringTick(directory.path, when, (all) =>
      all.setPaused('brief', true),
    )
    await expect.poll(async () => (await read()).lastRun?.tick).toBe(Date.parse(tick))
    const { isPaused, nextTick, dueAt } = await read()
    expect([isPaused, nextTick, dueAt]).toEqual([true, undefined, undefined])
    await service.schedules.setPaused('brief', false)
    await advance(clock, HOUR, HOUR / 4)
    await expect.poll(async () => (await read()).problem?.code).toBe('SKIPPED')
    expect(await listTicks(service, 'brief')).toEqual([tick])
    await service.close({ drainTimeoutMs: 0 })
  })

  it(`[RUNS-SC3] A schedule that is deleted ${when} the run of its tick is stored keeps the run, and stays deleted`, async () => {
    using directory = temporaryDirectory()
    const { clock, service, tick } = await changeDuringTick(directory.path, when, (all) =>
      all.delete('brief'),
    )
    await advance(clock, 2 * HOUR, HOUR / 4)
    expect(await service.schedules.list()).toEqual([])
    expect(await listTicks(service, 'brief')).toEqual([tick])
    await service.close({ drainTimeoutMs: 0 })
  })

  it(`[RUNS-SC5] A schedule that gets another time zone ${when} the run of its tick is stored continues there`, async () => {
    using directory = temporaryDirectory()
    const cron = '0 12 * * *'
    const definition = { ...HOURLY, cron, timeZone: 'Asia/Kolkata' }
    const { service, tick, read } = await changeDuringTick(directory.path, when, (all) =>
      all.replace({ name: 'brief', definition }),
    )
    await expect.poll(async () => (await read()).lastRun?.tick).toBe(Date.parse(tick))
    const [next = 0] = await service.schedules.nextTicks(await read(), 1)
    expect(new Date(next).toISOString()).toContain('T06:30:00.000Z')
    expect(await listTicks(service, 'brief')).toEqual([tick])
    await service.close({ drainTimeoutMs: 0 })
  })
}

it('[RUNS-SC3] A schedule that is created again during a tick does not get the run of the deleted one', async () => {
  using directory = temporaryDirectory()
  const { service, read } = await changeDuringTick(directory.path, 'after', async (all) => {
    await all.delete('brief')
    await all.add({ name: 'brief', definition: HOURLY })
  })
  expect((await read()).lastRun).toBeUndefined()
  await service.close({ drainTimeoutMs: 0 })
})
