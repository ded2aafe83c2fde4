/**
 * Converts time to pixels. Pure.
 *
 * The sheet of an active run is a little longer than the run and grows by an eighth when it is
 * full, so that its content stays in place in between. The steps are the same for all readers.
 */
import { formatDuration } from '../../lib/format.ts'

/** Number of steps in which a sheet doubles. */
const STEPS = 6
/** Minimum length of the sheet of an active run, in milliseconds. */
const MIN_LENGTH_MS = 4_000
/** Maximum width of a sheet, in pixels; browsers position content beyond it imprecisely. */
const MAX_WIDTH_PX = 8_000_000
/** Maximum scale, in pixels per millisecond; instants are whole milliseconds. */
const MAX_SCALE = 8

/** The range of time that the timeline covers. */
export interface Sheet {
  readonly startMs: number
  readonly endMs: number
}

/**
 * Returns the sheet of a run from `startMs` to `lastMs`; `isGrowing` is whether the run is active.
 */
export function createSheet(
  { startMs, lastMs }: { readonly startMs: number; readonly lastMs: number },
  { isGrowing }: { readonly isGrowing: boolean },
): Sheet {
  const length = Math.max(1, lastMs - startMs)
  if (!isGrowing) return { startMs, endMs: startMs + length }
  const steps = Math.ceil(STEPS * Math.log2(Math.max(MIN_LENGTH_MS, length)) - 1e-9)
  return { startMs, endMs: startMs + 2 ** (steps / STEPS) }
}

/** Returns the scale, in pixels per millisecond, at which a sheet fills a width. */
export function computeFittingScale({ startMs, endMs }: Sheet, widthPx: number): number {
  return Math.max(1, widthPx) / (endMs - startMs)
}

/** Limits a scale to the allowed range; undefined if the sheet then fills its width. */
export function limitScale(wanted: number, sheet: Sheet, widthPx: number): number | undefined {
  const fitting = computeFittingScale(sheet, widthPx)
  const closest = Math.max(
    fitting,
    Math.min(MAX_SCALE, MAX_WIDTH_PX / (sheet.endMs - sheet.startMs)),
  )
  const scale = Math.min(closest, wanted)
  return scale <= fitting * 1.001 ? undefined : scale
}

/** Share of the view that a block fills after it is opened. */
const OPENED = 0.6
/** Zoom factor for a block that already fills the view. */
const MIN_OPENING = 2

/** Returns the zoom factor that opens a block of a width; always greater than 1. */
export function computeOpeningFactor(widthPx: number, viewPx: number): number {
  return Math.max(MIN_OPENING, (viewPx * OPENED) / Math.max(1, widthPx))
}

/** The rendered part of a sheet and its scale. */
export interface TimeFrame {
  readonly originMs: number
  readonly scale: number
  readonly fromPx: number
  readonly toPx: number
}

/** Returns the position of an instant, in pixels from the start of the sheet. */
export function msToPx(
  { originMs, scale }: Pick<TimeFrame, 'originMs' | 'scale'>,
  ms: number,
): number {
  return (ms - originMs) * scale
}

/** Returns the instant at a position. */
export function pxToMs(
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
/** Distances of ticks, in milliseconds. */
const TICK_STEPS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500].map((count) => count * MILLISECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 5, 10, 20, 50, 100].map((count) => count * DAY),
]
/** Minimum distance of two labels, in pixels. */
const MIN_TICK_DISTANCE = 72

/** A line of the ruler. */
interface Tick {
  readonly px: number
  readonly label: string
}

/** Returns the lines within a frame. */
export function listTicks(frame: TimeFrame): readonly Tick[] {
  const step =
    TICK_STEPS.find((ms) => ms * frame.scale >= MIN_TICK_DISTANCE) ?? TICK_STEPS.at(-1) ?? DAY
  const first = Math.max(0, Math.ceil((pxToMs(frame, frame.fromPx) - frame.originMs) / step))
  const last = Math.floor((pxToMs(frame, frame.toPx) - frame.originMs) / step)
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => {
    const ms = (first + index) * step
    return { px: msToPx(frame, frame.originMs + ms), label: formatOffset(ms, step) }
  })
}

/**
 * Formats a time relative to the start of the run: `0`, `250 ms`, `1.25 s`, `12 s`, `1:30`,
 * `2:05:00`, `3 d 4 h`.
 */
export function formatOffset(ms: number, step = 1): string {
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
