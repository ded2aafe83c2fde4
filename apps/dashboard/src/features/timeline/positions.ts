/**
 * Timeline positions for selection with the pointer or the keyboard. Pure.
 *
 * A row has tracks: attempts and reviews, model calls, and the lanes of tool calls. The marks above
 * the rows are a track in row -1. Notes that are too narrow to distinguish share a position.
 */
import { buildBlocks } from './blocks.ts'
import { msToPx, type TimeFrame } from './scale.ts'

import type { TimelineSpan, TimelineMark } from './spans.ts'
import type { TimelineModel, TimelineRow } from './timeline-model.ts'

export interface TimelinePosition {
  /** -1 for the marks above the rows. */
  readonly row: number
  readonly track: number
  readonly fromPx: number
  readonly toPx: number
  /** Spans at this position, in order; several if they are too narrow to distinguish. */
  readonly spans: readonly TimelineSpan[]
  readonly mark?: TimelineMark
}

/** A timeline position, and where its card appears, in window pixels. */
export interface Pointed {
  readonly position: TimelinePosition
  readonly x: number
  readonly top: number
  readonly bottom: number
}

/** The model and the frame that define the positions. */
export interface Paper {
  readonly model: TimelineModel
  readonly frame: TimeFrame
  readonly nowMs: number
}

/** Returns the positions on a track, in order. */
export function listPositions({ model, frame, nowMs }: Paper, row: number, track: number) {
  if (row < 0) {
    return model.marks.map((mark): TimelinePosition => {
      const px = msToPx(frame, mark.atMs)
      return { row, track, fromPx: px, toPx: px, spans: [], mark }
    })
  }
  const found = model.rows[row]
  if (found === undefined) return []
  if (track === 0) return listHolds(found).map((span) => toPosition(span, { row, frame, nowMs }))
  const lane = found.lanes[track - 1] ?? []
  return buildBlocks(lane, frame, nowMs).map(({ first, last, fromPx, toPx }): TimelinePosition => {
    return { row, track, fromPx, toPx, spans: lane.slice(first, last + 1) }
  })
}

/** Returns the attempts and reviews of a row, in order. */
function listHolds({ attempts, reviews }: TimelineRow): readonly TimelineSpan[] {
  return [...attempts, ...reviews].toSorted((one, other) => one.startMs - other.startMs)
}

function toPosition(
  span: TimelineSpan,
  {
    row,
    frame,
    nowMs,
  }: { readonly row: number; readonly frame: TimeFrame; readonly nowMs: number },
): TimelinePosition {
  const fromPx = msToPx(frame, span.startMs)
  const toPx = msToPx(frame, span.endMs ?? Math.max(nowMs, span.startMs))
  return { row, track: 0, fromPx, toPx: Math.max(toPx, fromPx + 1), spans: [span] }
}

/** Returns the position at `px` of a track, or the nearest one within `slack` pixels. */
export function findPositionAt(
  positions: readonly TimelinePosition[],
  px: number,
  slack: number,
): TimelinePosition | undefined {
  let best: TimelinePosition | undefined
  let bestAway = Number.POSITIVE_INFINITY
  for (const position of positions) {
    const away = Math.max(position.fromPx - px, px - position.toPx, 0)
    // Where two overlap, the later one is on top.
    if (away > slack || away > bestAway) continue
    best = position
    bestAway = away
  }
  return best
}

/** Returns the position that a key leads to; undefined for other keys and at the ends. */
export function findPositionAfterKey(
  paper: Paper,
  position: TimelinePosition,
  key: string,
): TimelinePosition | undefined {
  const track = listPositions(paper, position.row, position.track)
  const at = findPositionIndex(track, position)
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
      return findPositionBeyond(paper, position, key === 'ArrowDown' ? 1 : -1)
    default:
      return undefined
  }
}

/** Returns the first position of the first non-empty row. */
export function findFirstPosition(paper: Paper): TimelinePosition | undefined {
  const start: TimelinePosition = { row: -1, track: 0, fromPx: 0, toPx: 0, spans: [] }
  return findPositionBeyond(paper, start, 1) ?? listPositions(paper, -1, 0)[0]
}

/** Returns the position with the same content at the current scale; undefined if it is gone. */
export function findPositionNow(
  paper: Paper,
  position: TimelinePosition,
): TimelinePosition | undefined {
  const track = listPositions(paper, position.row, position.track)
  return track[findPositionIndex(track, position)]
}

/**
 * Spans are rebuilt while a run proceeds, so spans of the same kind and start time count as the
 * same.
 */
function findPositionIndex(
  track: readonly TimelinePosition[],
  { spans: [span], mark }: TimelinePosition,
): number {
  if (mark !== undefined) {
    const same = track.findIndex((other) => other.mark === mark)
    const alike = (other: TimelinePosition): boolean =>
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

/** Returns the nearest position in the next non-empty track above or below. */
function findPositionBeyond(
  paper: Paper,
  position: TimelinePosition,
  step: 1 | -1,
): TimelinePosition | undefined {
  let { row, track } = position
  for (;;) {
    track += step
    const tracks = (paper.model.rows[row]?.lanes.length ?? 0) + 1
    if (row < 0 || track < 0 || track >= tracks) {
      row += step
      if (row < -1 || row >= paper.model.rows.length) return undefined
      track = step === 1 || row < 0 ? 0 : (paper.model.rows[row]?.lanes.length ?? 0)
    }
    const found = findPositionAt(
      listPositions(paper, row, track),
      position.fromPx,
      Number.POSITIVE_INFINITY,
    )
    if (found !== undefined) return found
  }
}
