/**
 * Pure: from time to pixels.
 *
 * The sheet of a run that goes on is a little longer than the run, and grows by an eighth when it is full:
 * what one looks at stays where it is meanwhile. It grows in the same steps for everybody.
 */
import { formatDuration } from '../../lib/format.ts'

/** Steps in which a sheet doubles. */
const STEPS = 6
/** The shortest sheet of a run that goes on. */
const SHORTEST_MS = 4_000
/** More pixels are more than browsers place to a fraction of one. */
const WIDEST_PX = 8_000_000
/** No use in more: instants are whole milliseconds. */
const CLOSEST = 8

/** A piece of time on paper. */
export interface Sheet {
  readonly startMs: number
  readonly endMs: number
}

/** The sheet of a run from `startMs` to `lastMs`; `isGrowing` when it goes on. */
export function sheetOf(
  { startMs, lastMs }: { readonly startMs: number; readonly lastMs: number },
  { isGrowing }: { readonly isGrowing: boolean },
): Sheet {
  const length = Math.max(1, lastMs - startMs)
  if (!isGrowing) return { startMs, endMs: startMs + length }
  const steps = Math.ceil(STEPS * Math.log2(Math.max(SHORTEST_MS, length)) - 1e-9)
  return { startMs, endMs: startMs + 2 ** (steps / STEPS) }
}

/** Pixels of a millisecond at which a sheet fills a width. */
export function fittingScale({ startMs, endMs }: Sheet, widthPx: number): number {
  return Math.max(1, widthPx) / (endMs - startMs)
}

/** A wanted scale within what can be shown; undefined when the sheet then fills its width anyway. */
export function allowedScale(wanted: number, sheet: Sheet, widthPx: number): number | undefined {
  const fitting = fittingScale(sheet, widthPx)
  const closest = Math.max(fitting, Math.min(CLOSEST, WIDEST_PX / (sheet.endMs - sheet.startMs)))
  const scale = Math.min(closest, wanted)
  return scale <= fitting * 1.001 ? undefined : scale
}

/** How much of the view a crowd of notes takes once it is opened. */
const OPENED = 0.6
/** One that fills the view already is opened by its middle. */
const LEAST_OPENING = 2

/** By how much one zooms to open a crowd of notes of a width; always closer. */
export function openingFactor(widthPx: number, viewPx: number): number {
  return Math.max(LEAST_OPENING, (viewPx * OPENED) / Math.max(1, widthPx))
}

/** What is drawn: a sheet at a scale, between two places of it. */
export interface TimeFrame {
  readonly originMs: number
  readonly scale: number
  readonly fromPx: number
  readonly toPx: number
}

/** Where an instant is, in pixels from the start of the sheet. */
export function pxOf(
  { originMs, scale }: Pick<TimeFrame, 'originMs' | 'scale'>,
  ms: number,
): number {
  return (ms - originMs) * scale
}

/** Which instant is at a place. */
export function msAt(
  { originMs, scale }: Pick<TimeFrame, 'originMs' | 'scale'>,
  px: number,
): number {
  return originMs + px / scale
}

const MILLISECOND = 1
const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** Lengths that people count in. */
const TICK_STEPS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500].map((count) => count * MILLISECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 5, 10, 20, 50, 100].map((count) => count * DAY),
]
/** So that two labels never touch, in pixels. */
const APART = 72

/** A line of the ruler. */
interface Tick {
  readonly px: number
  readonly label: string
}

/** The lines within a frame. */
export function ticksOf(frame: TimeFrame): readonly Tick[] {
  const step = TICK_STEPS.find((ms) => ms * frame.scale >= APART) ?? TICK_STEPS.at(-1) ?? DAY
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
