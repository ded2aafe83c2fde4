/**
 * Pure: how a log is played. A playhead goes on with the time that passes and says how many events are shown.
 *
 * C1 At speed 1 events are as far apart as they were; nothing lasts longer than `MAX_SILENCE_MS` before it is
 *    divided by the speed.
 * C2 `fast` shows a log of any length in `FAST_MS` or less, and no log faster than one can see.
 * C3 The playhead never goes back.
 * C4 The time that an event is played at does not change when more events come.
 */

/** How fast a log is played: times as fast as it was, or as fast as one can see. */
export type ReplaySpeed = 1 | 2 | 4 | 8 | 'fast'

/** The longest time, in milliseconds, in which nothing happens. */
export const MAX_SILENCE_MS = 1_000

/** How long the longest log is played, in milliseconds, at speed `fast`. */
export const FAST_MS = 6_000

/** Events a millisecond that one can still see go by. */
const SEEN_PER_MS = 60 / 1_000

/** Where the playing is. */
export interface Playhead {
  /** Events that are shown; the part of one that `fast` has on its way is after the dot. */
  readonly count: number
  /** Where on the shortened axis of time it is, in milliseconds. */
  readonly offset: number
}

/** When each event is played, in milliseconds after the first, silences shortened. */
export function replayOffsets(instants: readonly number[]): readonly number[] {
  const offsets: number[] = []
  let offset = 0
  for (const [place, instant] of instants.entries()) {
    const gap = instant - (instants[place - 1] ?? instant)
    offset += Math.min(Math.max(gap, 0), MAX_SILENCE_MS)
    offsets.push(offset)
  }
  return offsets
}

/** The playhead when `count` events are shown. */
export function playheadAt(offsets: readonly number[], count: number): Playhead {
  return { count, offset: offsets[Math.max(0, count - 1)] ?? 0 }
}

/** The playhead after some time. */
export function advanced(
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
  return { count: Math.max(Math.floor(count), countUntil(offsets, now)), offset: now }
}

/** How long nothing happened after the first `count` events, when it is shortened. */
export function silenceAfter(instants: readonly number[], count: number): number | undefined {
  const [before, after] = [instants[count - 1], instants[count]]
  if (before === undefined || after === undefined) return undefined
  return after - before > MAX_SILENCE_MS ? after - before : undefined
}

/** Events at or before an offset; they are in order. */
function countUntil(offsets: readonly number[], offset: number): number {
  let [low, high] = [0, offsets.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((offsets[middle] ?? Infinity) <= offset) low = middle + 1
    else high = middle
  }
  return low
}
