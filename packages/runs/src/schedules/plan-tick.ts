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
  const { catchUp = 'last', jitterMs = 0 } = definition
  const isDue = (one: number): boolean => findDueTime(name, definition, one) <= now
  const isLate = (one: number): boolean => findDueTime(name, definition, one) < now - LATE_AFTER_MS
  if (!isLate(tick)) return planOf([tick])
  if (catchUp === 'skip') {
    let next = findNextTick(definition, Math.max(tick, now - LATE_AFTER_MS - jitterMs - 1_000))
    while (next !== undefined && isLate(next)) next = findNextTick(definition, next)
    return { ticks: [], next, skipped: describe(next) }
  }
  const kept = catchUp === 'all' ? MAX_CAUGHT_UP : 1
  const due = listDueTicks()
  const ticks = due.slice(-kept)
  // After a change of the expression, the next tick may not match it.
  const [first = tick] = ticks
  const hasSkipped = first > tick
  return {
    ...planOf(ticks.length === 0 ? [tick] : ticks),
    skipped: hasSkipped ? describe(first) : undefined,
  }

  /** Returns the last due ticks, at least `kept` of them if there are. With jitter, a tick before now may be due later. */
  function listDueTicks(): readonly number[] {
    const found: number[] = []
    let before = now + 1
    while (found.length < kept) {
      const page = listEarlierTicks(definition, before, MAX_CAUGHT_UP).filter((one) => one >= tick)
      const [earliest] = page
      if (earliest === undefined) break
      found.unshift(...page.filter(isDue))
      before = earliest
    }
    return found
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
