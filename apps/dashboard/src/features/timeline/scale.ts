/**
 * Pure: from time to pixels.
 *
 * The sheet of a run that goes on is a little longer than the run, and grows by an eighth when it is full:
 * what one looks at stays where it is meanwhile. It grows in the same steps for everybody.
 */

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
export interface Frame {
  readonly originMs: number
  readonly scale: number
  readonly fromPx: number
  readonly toPx: number
}

/** Where an instant is, in pixels from the start of the sheet. */
export function pxOf({ originMs, scale }: Pick<Frame, 'originMs' | 'scale'>, ms: number): number {
  return (ms - originMs) * scale
}

/** Which instant is at a place. */
export function msAt({ originMs, scale }: Pick<Frame, 'originMs' | 'scale'>, px: number): number {
  return originMs + px / scale
}
