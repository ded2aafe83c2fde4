/**
 * Pure: places in the timeline that one can point at, or go to with the keyboard.
 *
 * A row has tracks: its attempts and gates, its model calls, its lanes of tool calls. The marks over all
 * rows are a track of their own, in row -1. What is too narrow to tell apart is one place.
 */
import { blocksOf } from './blocks.ts'
import { pxOf, type TimeFrame } from './scale.ts'

import type { TimelineSpan, TimelineMark } from './spans.ts'
import type { TimelineModel, TimelineRow } from './timeline-model.ts'

export interface TimelinePlace {
  /** -1 for the marks over all rows. */
  readonly row: number
  readonly track: number
  readonly fromPx: number
  readonly toPx: number
  /** What is there, in order; more than one where they are too narrow to tell apart. */
  readonly spans: readonly TimelineSpan[]
  readonly mark?: TimelineMark
}

/** Where a card points, in pixels of the window. */
export interface Pointed {
  readonly place: TimelinePlace
  readonly x: number
  readonly top: number
  readonly bottom: number
}

/** The sheet that places are on. */
export interface Paper {
  readonly model: TimelineModel
  readonly frame: TimeFrame
  readonly nowMs: number
}

/** The places of a track, in order. */
export function placesOf({ model, frame, nowMs }: Paper, row: number, track: number) {
  if (row < 0) {
    return model.marks.map((mark): TimelinePlace => {
      const px = pxOf(frame, mark.atMs)
      return { row, track, fromPx: px, toPx: px, spans: [], mark }
    })
  }
  const found = model.rows[row]
  if (found === undefined) return []
  if (track === 0) return holdsOf(found).map((span) => placeOf(span, { row, frame, nowMs }))
  const lane = found.lanes[track - 1] ?? []
  return blocksOf(lane, frame, nowMs).map(({ first, last, fromPx, toPx }): TimelinePlace => {
    return { row, track, fromPx, toPx, spans: lane.slice(first, last + 1) }
  })
}

/** Attempts and gates of a row, in order. */
function holdsOf({ attempts, gates }: TimelineRow): readonly TimelineSpan[] {
  return [...attempts, ...gates].toSorted((one, other) => one.startMs - other.startMs)
}

function placeOf(
  span: TimelineSpan,
  {
    row,
    frame,
    nowMs,
  }: { readonly row: number; readonly frame: TimeFrame; readonly nowMs: number },
): TimelinePlace {
  const fromPx = pxOf(frame, span.startMs)
  const toPx = pxOf(frame, span.endMs ?? Math.max(nowMs, span.startMs))
  return { row, track: 0, fromPx, toPx: Math.max(toPx, fromPx + 1), spans: [span] }
}

/** The place at `px` of a track, or the nearest within `slack` pixels. */
export function placeAt(
  places: readonly TimelinePlace[],
  px: number,
  slack: number,
): TimelinePlace | undefined {
  let best: TimelinePlace | undefined
  let bestAway = Number.POSITIVE_INFINITY
  for (const place of places) {
    const away = Math.max(place.fromPx - px, px - place.toPx, 0)
    // Of two that overlap the later one lies on top.
    if (away > slack || away > bestAway) continue
    best = place
    bestAway = away
  }
  return best
}

/** The place that a key leads to; undefined for other keys and where there is nothing further. */
export function placeAfterKey(
  paper: Paper,
  place: TimelinePlace,
  key: string,
): TimelinePlace | undefined {
  const track = placesOf(paper, place.row, place.track)
  const at = indexOfPlace(track, place)
  switch (key) {
    case 'ArrowRight':
      return track[at + 1]
    case 'ArrowLeft':
      return at > 0 ? track[at - 1] : undefined
    case 'Home':
      return track[0]
    case 'End':
      return track.at(-1)
    case 'ArrowDown':
    case 'ArrowUp':
      return placeBeyond(paper, place, key === 'ArrowDown' ? 1 : -1)
    default:
      return undefined
  }
}

/** The first place there is: of the first row that has one. */
export function firstPlace(paper: Paper): TimelinePlace | undefined {
  const start: TimelinePlace = { row: -1, track: 0, fromPx: 0, toPx: 0, spans: [] }
  return placeBeyond(paper, start, 1) ?? placesOf(paper, -1, 0)[0]
}

/** The place that holds now, at this scale, what `place` held; undefined when it is gone. */
export function placeNow(paper: Paper, place: TimelinePlace): TimelinePlace | undefined {
  const track = placesOf(paper, place.row, place.track)
  return track[indexOfPlace(track, place)]
}

/** Spans are made anew as a run goes on: then one that began at the same time is the same. */
function indexOfPlace(
  track: readonly TimelinePlace[],
  { spans: [span], mark }: TimelinePlace,
): number {
  if (mark !== undefined) {
    const same = track.findIndex((other) => other.mark === mark)
    const alike = (other: TimelinePlace): boolean =>
      other.mark?.atMs === mark.atMs && other.mark.kind === mark.kind
    return same === -1 ? track.findIndex(alike) : same
  }
  if (span === undefined) return -1
  const same = track.findIndex(({ spans }) => spans.includes(span))
  if (same !== -1) return same
  return track.findIndex(({ spans }) =>
    spans.some(({ kind, startMs }) => kind === span.kind && startMs === span.startMs),
  )
}

/** The nearest place of the next track, up or down, that has any. */
function placeBeyond(paper: Paper, place: TimelinePlace, step: 1 | -1): TimelinePlace | undefined {
  let { row, track } = place
  for (;;) {
    track += step
    const tracks = (paper.model.rows[row]?.lanes.length ?? 0) + 1
    if (row < 0 || track < 0 || track >= tracks) {
      row += step
      if (row < -1 || row >= paper.model.rows.length) return undefined
      track = step === 1 || row < 0 ? 0 : (paper.model.rows[row]?.lanes.length ?? 0)
    }
    const found = placeAt(placesOf(paper, row, track), place.fromPx, Number.POSITIVE_INFINITY)
    if (found !== undefined) return found
  }
}
