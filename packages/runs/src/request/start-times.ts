/** Pure: the times before which, and by which, a submitted run starts. */
import { MAX_START_DELAY_MS, type Problem } from '@tutti/protocol/internal'

import { field } from '../domain/field.ts'

import type { NewRun } from '../domain/run-record.ts'

/** Times that a submission requests; see `RunSubmission`. */
interface AskedStart {
  readonly startAt?: string
  readonly startAfterMs?: number
  readonly maxQueueMs?: number
}

/** Returns the problems of the start times of a submission at that time, in milliseconds since 1970. */
export function findStartProblems(
  { startAt, startAfterMs, maxQueueMs }: AskedStart,
  now: number,
): readonly Problem[] {
  const limit = `at most ${MAX_START_DELAY_MS} ms (366 days)`
  const problems: Problem[] = []
  if (startAt !== undefined) {
    const at = Date.parse(startAt)
    if (Number.isNaN(at)) {
      problems.push({
        path: '/startAt',
        message: `must be a time such as 2027-03-15T10:30:00Z, got "${startAt}"`,
      })
    } else if (at - now > MAX_START_DELAY_MS) {
      problems.push({ path: '/startAt', message: `must be ${limit} ahead, got "${startAt}"` })
    }
    if (startAfterMs !== undefined) {
      problems.push({ path: '/startAfterMs', message: 'cannot be combined with startAt' })
    }
  }
  for (const [name, value, least] of [
    ['startAfterMs', startAfterMs, 0],
    ['maxQueueMs', maxQueueMs, 1],
  ] as const) {
    if (value === undefined) continue
    if (Number.isInteger(value) && value >= least && value <= MAX_START_DELAY_MS) continue
    const message = `must be an integer of at least ${least} and ${limit}, got ${value}`
    problems.push({ path: `/${name}`, message })
  }
  return problems
}

/** Returns the start times of a run that is submitted at `now`, in milliseconds since 1970. */
export function findStartTimes(
  { startAt, startAfterMs = 0, maxQueueMs }: AskedStart,
  now: number,
): Pick<NewRun, 'startAt' | 'startBy'> {
  const at = startAt === undefined ? now + startAfterMs : Date.parse(startAt)
  return {
    ...(at > now ? { startAt: at } : {}),
    ...field('startBy', maxQueueMs === undefined ? undefined : Math.max(now, at) + maxQueueMs),
  }
}
