/** Pure: where a ruler has its lines, and what stands at them. */
import { formatDuration } from '../../lib/format.ts'
import { msAt, pxOf, type Frame } from './scale.ts'

const MILLISECOND = 1
const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** Lengths that people count in. */
const STEPS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500].map((count) => count * MILLISECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 5, 10, 20, 50, 100].map((count) => count * DAY),
]
/** So that two labels never touch, in pixels. */
const APART = 72

/** A line of the ruler. */
export interface Tick {
  readonly px: number
  readonly label: string
}

/** The lines within a frame. */
export function ticksOf(frame: Frame): readonly Tick[] {
  const step = STEPS.find((ms) => ms * frame.scale >= APART) ?? STEPS.at(-1) ?? DAY
  const first = Math.max(0, Math.ceil((msAt(frame, frame.fromPx) - frame.originMs) / step))
  const last = Math.floor((msAt(frame, frame.toPx) - frame.originMs) / step)
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => {
    const ms = (first + index) * step
    return { px: pxOf(frame, frame.originMs + ms), label: offsetLabel(ms, step) }
  })
}

/** A time into the run: `0`, `250 ms`, `1.25 s`, `12 s`, `1:30`, `2:05:00`, `3 d 4 h`. */
export function offsetLabel(ms: number, step = 1): string {
  if (ms <= 0) return '0'
  if (ms >= DAY) return formatDuration(ms)
  if (ms < SECOND) return `${ms} ms`
  if (step < SECOND && ms < MINUTE) return `${ms / SECOND} s`
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`
  const seconds = step < SECOND ? (ms % MINUTE) / SECOND : Math.floor((ms % MINUTE) / SECOND)
  const tail = seconds < 10 ? `0${seconds}` : String(seconds)
  const minutes = Math.floor((ms % HOUR) / MINUTE)
  if (ms < HOUR) return `${minutes}:${tail}`
  return `${Math.floor(ms / HOUR)}:${String(minutes).padStart(2, '0')}:${tail}`
}
