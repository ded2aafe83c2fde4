/** A service with schedules on a clock of the test. */
import { createRunService, sqliteRunStorage, type RunServiceOptions } from '@tutti/runs'
import { fakeClock, type FakeClock } from '@tutti/testing'

import { waitingEnsemble } from './waiting-ensemble.ts'

import type { RunService, ScheduleDefinition } from '@tutti/runs'

export const RUN = { inputs: { topic: 'Bach' } }
export const HOURLY: ScheduleDefinition = { cron: '0 * * * *', run: RUN }
export const HOUR = 3_600_000

/** Starts a service with an embedded store. With `executes: false`, no run begins, so that none ends. */
export async function openSchedules(
  path: string,
  options: RunServiceOptions = {},
  clock = fakeClock(),
) {
  const band = waitingEnsemble()
  band.play()
  const storage = await sqliteRunStorage(path, { clock, ownThread: false })
  const service = createRunService(storage, [band.ensemble], { clock, ...options })
  await service.start()
  return { clock, band, storage, service }
}

/** Returns the ticks of all runs of a schedule, the earliest first. */
export async function listTicks(service: RunService, schedule: string): Promise<readonly string[]> {
  const { runs } = await service.list({ tag: { key: 'schedule', value: schedule }, limit: 1000 })
  return runs.map(({ tags }) => String(tags['tick'])).toReversed()
}

/** Advances in steps, so that the work of each tick is done before the next. */
export async function advance(clock: FakeClock, ms: number, step = ms): Promise<void> {
  for (let passed = 0; passed < ms; passed += step) await clock.advance(Math.min(step, ms - passed))
  await clock.advance(1)
}

/** Returns the full hour that is so many hours after the last one. */
export function nextHour(clock: FakeClock, hours = 1): string {
  return new Date((Math.floor(clock.now() / HOUR) + hours) * HOUR).toISOString()
}
