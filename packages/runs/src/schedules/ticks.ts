/** Pure: the times of the ticks of schedules. */
import { createHash } from 'node:crypto'

import { errorMessage } from '@tutti/core/internal'
import { Cron } from 'croner'

import type { ScheduleDefinition } from '../domain/schedule.ts'
import type { ScheduleRecord } from '../ports/schedule-store.ts'
import type { RunSubmission } from '../request/new-run.ts'

type TickTimes = Pick<ScheduleDefinition, 'cron' | 'timeZone'>

/** Whether a name is one of a time zone that this runtime knows. */
export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/** Returns why an expression has no ticks; undefined when it has. */
export function findCronProblem(cron: string, timeZone?: string): string | undefined {
  const fields = cron.trim().split(/\s+/)
  const isNickname = fields.length === 1 && cron.startsWith('@')
  if (!isNickname && fields.length !== 5 && fields.length !== 6) {
    return `must be a cron expression of 5 fields, or of 6 with seconds, got ${JSON.stringify(cron)}`
  }
  try {
    const next = parse({ cron, ...(timeZone === undefined ? {} : { timeZone }) }).nextRun(
      new Date(0),
    )
    return next === null ? `must have a tick, got ${JSON.stringify(cron)}` : undefined
  } catch (error) {
    return `must be a cron expression such as "0 9 * * MON-FRI", got ${JSON.stringify(cron)}: ${errorMessage(error)}`
  }
}

/** Returns the first `count` ticks after an instant, in milliseconds since 1970. */
export function listScheduleTicks(
  times: TickTimes,
  after: number,
  count: number,
): readonly number[] {
  return parse(times)
    .nextRuns(count, new Date(after))
    .map((date) => date.getTime())
}

/** Returns the first tick after an instant; undefined when there is none. */
export function findNextTick(times: TickTimes, after: number): number | undefined {
  return listScheduleTicks(times, after, 1)[0]
}

/** Returns the last `count` ticks before an instant, the earliest first. */
export function listEarlierTicks(
  times: TickTimes,
  before: number,
  count: number,
): readonly number[] {
  return parse(times)
    .previousRuns(count, new Date(before))
    .map((date) => date.getTime())
    .toSorted((a, b) => a - b)
}

/** Returns the time at which a tick is due: the tick with its jitter, which ends before the next tick. */
export function findDueTime(
  name: string,
  { jitterMs = 0, ...times }: TickTimes & Pick<ScheduleDefinition, 'jitterMs'>,
  tick: number,
): number {
  if (jitterMs === 0) return tick
  const next = findNextTick(times, tick) ?? Infinity
  const maxDelayMs = Math.min(jitterMs, next - tick - 1)
  const hash = createHash('sha256').update(`${name}/${tick}`).digest()
  return tick + (hash.readUInt32BE() % (maxDelayMs + 1))
}

/** Returns the next tick of a schedule, and the time at which it is due. */
export function toTickTimes(
  name: string,
  definition: ScheduleDefinition,
  nextTick: number | undefined,
): Pick<ScheduleRecord, 'nextTick' | 'dueAt'> {
  return nextTick === undefined ? {} : { nextTick, dueAt: findDueTime(name, definition, nextTick) }
}

/** Returns the submission of a tick. */
export function toTickSubmission(
  name: string,
  { run }: Pick<ScheduleDefinition, 'run'>,
  tick: number,
): RunSubmission {
  const tags = { ...run.tags, schedule: name, tick: new Date(tick).toISOString() }
  return { ...run, tags }
}

/** Returns the idempotency key of the run of a tick: the same in every process. */
export function toTickKey(name: string, tick: number): string {
  return `schedule/${name}/${new Date(tick).toISOString()}`
}

function parse({ cron, timeZone = 'UTC' }: TickTimes): Cron {
  return new Cron(cron, { timezone: timeZone, paused: true, mode: '5-or-6-parts' })
}
