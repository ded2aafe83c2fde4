/** Pure: decides which ticks of a due schedule have a run. */
import { findDueTime, findNextTick, listEarlierTicks } from './ticks.ts'

import type { ScheduleRecord } from '../ports/schedule-store.ts'

/** Time after which a tick counts as missed, in milliseconds. */
const LATE_AFTER_MS = 60_000

/** Maximum number of missed ticks that `catchUp: 'all'` submits. */
const MAX_CAUGHT_UP = 100

/** The ticks of a due schedule. */
export interface TickPlan {
  /** Ticks that have a run, the earliest first. */
  readonly ticks: readonly number[]
  /** The tick after them; undefined when there is none. */
  readonly next: number | undefined
  /** The reason why ticks before them have no run; undefined when there are none. */
  readonly skipped: string | undefined
}

/** Decides what happens to the next tick of a schedule at `now`, by the clock of the store. */
export function planTicks(
  { name, definition }: Pick<ScheduleRecord, 'name' | 'definition'>,
  tick: number,
  now: number,
): TickPlan {
  const { catchUp = 'last' } = definition
  const isDue = (one: number): boolean => findDueTime(name, definition, one) <= now
  const isLate = (one: number): boolean => findDueTime(name, definition, one) < now - LATE_AFTER_MS
  if (!isLate(tick)) return planOf([tick])
  if (catchUp === 'skip') {
    const [earlier = tick] = listEarlierTicks(definition, now - LATE_AFTER_MS, 1)
    const last = Math.max(tick, earlier)
    const next = isLate(last) ? findNextTick(definition, last) : last
    return { ticks: [], next, skipped: describe(next) }
  }
  const kept = catchUp === 'all' ? MAX_CAUGHT_UP : 1
  // With jitter, the last tick may be due later.
  const due = listEarlierTicks(definition, now + 1, kept + 1).filter(
    (one) => one >= tick && isDue(one),
  )
  const ticks = due.slice(-kept)
  // After a change of the expression, the next tick may not match it.
  const [first = tick] = ticks
  const hasSkipped = first > tick
  return {
    ...planOf(ticks.length === 0 ? [tick] : ticks),
    skipped: hasSkipped ? describe(first) : undefined,
  }

  function planOf(ticks: readonly number[]): TickPlan {
    return { ticks, next: findNextTick(definition, ticks.at(-1) ?? tick), skipped: undefined }
  }

  function describe(next: number | undefined): string {
    const end = next === undefined ? '' : ` to the one before ${new Date(next).toISOString()}`
    return (
      `Left out the ticks from ${new Date(tick).toISOString()}${end}: no process submitted them within ` +
      `${LATE_AFTER_MS} ms (catchUp: ${catchUp})`
    )
  }
}
