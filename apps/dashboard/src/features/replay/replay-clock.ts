/**
 * The clock of a replay. A playhead advances with time and determines how many events are shown.
 * Pure.
 *
 * DASH-RC1 At speed 1, events keep their distance, except that pauses are cut to `MAX_PAUSE_MS`. Other
 *    speeds divide this.
 * DASH-RC2 `fast` plays any log within `FAST_MS`, but a short log no faster than the eye can follow.
 * DASH-RC3 The playhead never goes back.
 * DASH-RC4 The time at which an event is played does not change when more events arrive.
 */
import type { RunState } from '@tutti/protocol'

/** Speed of a replay: a factor, or `fast`. */
export type ReplaySpeed = 1 | 2 | 4 | 8 | 'fast'

/** Maximum pause between two events, in milliseconds. */
export const MAX_PAUSE_MS = 1_000

/** Maximum duration of a replay at speed `fast`, in milliseconds. */
export const FAST_MS = 6_000

/** Events per millisecond that the eye can follow. */
const SEEN_PER_MS = 60 / 1_000

/** Position of a replay. */
export interface Playhead {
  /** Number of events shown; fractional at speed `fast`. */
  readonly count: number
  /** Position on the time axis with shortened pauses, in milliseconds. */
  readonly offset: number
}

/**
 * Returns how long the run had worked at its first `count` events, in milliseconds: 0 in the queue, and the duration of the
 * run at its end, as everywhere else on the page.
 */
export function measureElapsedMs(
  instants: readonly number[],
  { startedAt, durationMs }: Pick<RunState, 'startedAt' | 'durationMs'>,
  count: number,
): number {
  if (durationMs !== undefined && count === instants.length) return durationMs
  const startMs = Date.parse(startedAt ?? '')
  const nowMs = instants[count - 1]
  return nowMs === undefined || Number.isNaN(startMs) ? 0 : Math.max(0, nowMs - startMs)
}

/** Returns when each event is played, in milliseconds after the first, with shortened pauses. */
export function computeReplayOffsets(instants: readonly number[]): readonly number[] {
  const offsets: number[] = []
  let offset = 0
  for (const [index, instant] of instants.entries()) {
    const gap = instant - (instants[index - 1] ?? instant)
    offset += Math.min(Math.max(gap, 0), MAX_PAUSE_MS)
    offsets.push(offset)
  }
  return offsets
}

/** Returns the playhead at which `count` events are shown. */
export function createPlayhead(offsets: readonly number[], count: number): Playhead {
  return { count, offset: offsets[Math.max(0, count - 1)] ?? 0 }
}

export function advancePlayhead(
  offsets: readonly number[],
  { count, offset }: Playhead,
  { elapsedMs, speed }: { readonly elapsedMs: number; readonly speed: ReplaySpeed },
): Playhead {
  if (speed === 'fast') {
    const perMs = Math.max(SEEN_PER_MS, offsets.length / FAST_MS)
    const next = Math.min(offsets.length, count + elapsedMs * perMs)
    return { count: next, offset: offsets[Math.floor(next) - 1] ?? 0 }
  }
  const now = offset + elapsedMs * speed
  return { count: Math.max(Math.floor(count), countUntilOffset(offsets, now)), offset: now }
}

/**
 * Returns the pause after the first `count` events in milliseconds; undefined if it is not
 * shortened.
 */
export function findPauseAfter(instants: readonly number[], count: number): number | undefined {
  const [before, after] = [instants[count - 1], instants[count]]
  if (before === undefined || after === undefined) return undefined
  return after - before > MAX_PAUSE_MS ? after - before : undefined
}

/** Counts the events at or before an offset; `offsets` is sorted. */
function countUntilOffset(offsets: readonly number[], offset: number): number {
  let [low, high] = [0, offsets.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((offsets[middle] ?? Infinity) <= offset) low = middle + 1
    else high = middle
  }
  return low
}
