/**
 * Positions of the entries of a timeline, in pixels, for drawing and for selection with the pointer
 * or the keyboard. Pure.
 *
 * A row has tracks: attempts and reviews, model calls, and the lanes of tool calls. The marks above
 * the rows are a track in row -1. Adjacent notes narrower than a pixel share a position, so that a
 * track has at most as many positions as pixels.
 */
import { msToPx, type TimeFrame } from './scale.ts'

import type { RunEntry } from '../../api/run-entries.ts'
import type { Selection } from '../../api/selection.ts'
import type { Lane, TimelineModel, TimelineRow } from './timeline-model.ts'

/** Width, in pixels, below which notes are merged with their neighbors. */
const NARROW = 1.5
/** Minimum width of merged notes, in pixels. */
const MIN_WIDTH = 1.5

/** A range of the sheet, in pixels. */
interface Extent {
  readonly fromPx: number
  readonly toPx: number
}

export interface TimelinePosition extends Extent {
  /** -1 for the marks above the rows. */
  readonly row: number
  readonly track: number
  /** Entries at this position, in order; several if they are too narrow to distinguish. */
  readonly entries: readonly RunEntry[]
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
  /** The top of each row, and finally the bottom of the last one. */
  readonly tops: readonly number[]
}

/** Returns the extent of an entry; running ones extend to `nowMs`. */
export function findExtent(entry: RunEntry, frame: TimeFrame, nowMs: number): Extent {
  const { startMs, endMs = Math.max(nowMs, startMs) } = entry
  return { fromPx: msToPx(frame, startMs), toPx: msToPx(frame, endMs) }
}

/** One note, or several that are too narrow to distinguish. */
export interface Block extends Extent {
  readonly notes: Lane
  /** Share of its time in which work was running, from 0 to 1. */
  readonly density: number
  /** Positions of its failed notes. */
  readonly failedPx: readonly number[]
}

/** Returns the blocks of a lane within a frame. */
export function buildBlocks(lane: Lane, frame: TimeFrame, nowMs: number): readonly Block[] {
  const blocks: Block[] = []
  let open: Growing | undefined
  const close = (): void => {
    if (open === undefined) return
    const { first, last, busyPx, ...block } = open
    const width = block.toPx - block.fromPx
    const density = first === last || width <= 0 ? 1 : Math.min(1, busyPx / width)
    const toPx = Math.max(block.toPx, block.fromPx + MIN_WIDTH)
    blocks.push({ ...block, toPx, density, notes: lane.slice(first, last + 1) })
    open = undefined
  }
  for (let at = findFirstWithin(lane, frame, nowMs); at < lane.length; at += 1) {
    const note = lane[at]
    if (note === undefined) break
    const { fromPx, toPx: endPx } = findExtent(note, frame, nowMs)
    if (fromPx > frame.toPx) break
    const toPx = Math.max(fromPx, endPx)
    const isFailed = note.status === 'failed'
    const isNarrow = toPx - fromPx < NARROW
    if (open !== undefined && isNarrow && fromPx - open.toPx < NARROW) {
      open.last = at
      open.busyPx += toPx - fromPx
      open.toPx = Math.max(open.toPx, toPx)
      if (isFailed && fromPx - (open.failedPx.at(-1) ?? -NARROW) >= 1) open.failedPx.push(fromPx)
      continue
    }
    close()
    const failedPx = isFailed ? [fromPx] : []
    open = { first: at, last: at, fromPx, toPx, busyPx: toPx - fromPx, failedPx }
    if (!isNarrow) close()
  }
  close()
  return blocks
}

interface Growing {
  /** Indexes of its first and last note in the lane. */
  readonly first: number
  last: number
  readonly fromPx: number
  toPx: number
  busyPx: number
  readonly failedPx: number[]
}

/**
 * Returns the index of the first note that reaches into the frame; notes are sorted and do not
 * overlap.
 */
function findFirstWithin(lane: Lane, frame: TimeFrame, nowMs: number): number {
  let [low, high] = [0, lane.length]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const note = lane[middle]
    if (note !== undefined && findExtent(note, frame, nowMs).toPx < frame.fromPx) low = middle + 1
    else high = middle
  }
  return low
}

/** Returns the positions on a track, in order. */
export function listPositions(
  { model, frame, nowMs }: Paper,
  row: number,
  track: number,
): readonly TimelinePosition[] {
  const found = model.rows[row]
  if (row < 0) {
    return model.marks.map((mark) => {
      const { fromPx, toPx } = findExtent(mark, frame, nowMs)
      return { row, track, fromPx, toPx, entries: [mark] }
    })
  }
  if (found === undefined) return []
  if (track > 0) {
    const blocks = buildBlocks(found.lanes[track - 1] ?? [], frame, nowMs)
    return blocks.map(({ notes, fromPx, toPx }) => ({ row, track, fromPx, toPx, entries: notes }))
  }
  const holds = [...found.attempts, ...found.reviews]
  return holds
    .toSorted((one, other) => one.startMs - other.startMs)
    .map((entry) => {
      const { fromPx, toPx } = findExtent(entry, frame, nowMs)
      return { row, track, fromPx, toPx: Math.max(toPx, fromPx + 1), entries: [entry] }
    })
}

/** Returns the position at `px` of a track, or the nearest one within `slack` pixels. */
export function findPositionAt(
  positions: readonly TimelinePosition[],
  px: number,
  slack: number,
): TimelinePosition | undefined {
  let best: TimelinePosition | undefined
  let bestAway = slack
  for (const position of positions) {
    const away = Math.max(position.fromPx - px, px - position.toPx, 0)
    // Where two overlap, the later one is on top.
    if (away > bestAway) continue
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
  const start: TimelinePosition = { row: -1, track: 0, fromPx: 0, toPx: 0, entries: [] }
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
 * Entries are rebuilt while a run proceeds, so entries of the same kind and start time count as the
 * same.
 */
function findPositionIndex(
  track: readonly TimelinePosition[],
  { entries: [entry] }: TimelinePosition,
): number {
  if (entry === undefined) return -1
  const same = track.findIndex(({ entries }) => entries.includes(entry))
  if (same !== -1) return same
  return track.findIndex(({ entries }) =>
    entries.some(({ kind, startMs }) => kind === entry.kind && startMs === entry.startMs),
  )
}

/** Returns the nearest position in the next non-empty track above or below. */
function findPositionBeyond(
  paper: Paper,
  position: TimelinePosition,
  step: 1 | -1,
): TimelinePosition | undefined {
  const { rows } = paper.model
  let { row, track } = position
  for (;;) {
    track += step
    if (row < 0 || track < 0 || track > (rows[row]?.lanes.length ?? 0)) {
      row += step
      if (row < -1 || row >= rows.length) return undefined
      track = step === 1 ? 0 : (rows[row]?.lanes.length ?? 0)
    }
    const positions = listPositions(paper, row, track)
    const found = findPositionAt(positions, position.fromPx, Number.POSITIVE_INFINITY)
    if (found !== undefined) return found
  }
}

/** Position and height of the line of an attempt. */
export const ATTEMPT = { top: 4, height: 2 } as const
const FIRST_LANE = 9
const GAP = 2
const END = 5
/** Maximum number of lanes with full height and labels. */
const COMFORTABLE = 8
const LANE = { comfortable: 13, low: 5 } as const

/** A vertical range of a row, in pixels. */
export interface LanePosition {
  readonly top: number
  readonly height: number
}

export function computeLanePosition({ lanes }: TimelineRow, index: number): LanePosition {
  const low = lanes.length > COMFORTABLE
  // Model calls always have full height, because they structure the row.
  const height = low && index > 0 ? LANE.low : LANE.comfortable
  const before = index === 0 ? 0 : LANE.comfortable + GAP + (index - 1) * (height + GAP)
  return { top: FIRST_LANE + before, height }
}

export function computeRowHeight(row: TimelineRow): number {
  const last = computeLanePosition(row, Math.max(1, row.lanes.length - 1))
  return last.top + last.height + END
}

/** Returns the top of each row, and finally the bottom of the last one. */
export function computeRowTops(rows: readonly TimelineRow[]): readonly number[] {
  const tops = [0]
  for (const row of rows) tops.push((tops.at(-1) ?? 0) + computeRowHeight(row))
  return tops
}

/** Returns the lane at a height of its row; undefined above and below the lanes. */
export function findLaneAt(row: TimelineRow, y: number): number | undefined {
  const at = row.lanes.findIndex((_, index) => {
    const { top, height } = computeLanePosition(row, index)
    return y >= top - GAP / 2 && y < top + height + GAP / 2
  })
  return at === -1 ? undefined : at
}

/** Minimum width of the box around a selected note, in pixels. */
const MIN_BOX = 5

/**
 * Returns a box around the selected note, relative to the frame; undefined if a whole task is
 * selected, which is represented by its row.
 */
export function findSelectedPosition(
  row: TimelineRow,
  selection: Selection,
  { frame, nowMs }: { readonly frame: TimeFrame; readonly nowMs: number },
) {
  for (const [index, lane] of row.lanes.entries()) {
    const note = lane.findLast((one) => isSelected(one, selection))
    if (note === undefined) continue
    const { fromPx, toPx } = findExtent(note, frame, nowMs)
    if (toPx < frame.fromPx || fromPx > frame.toPx) return undefined
    const { top, height } = computeLanePosition(row, index)
    const x = Math.max(fromPx, frame.fromPx - MIN_BOX) - frame.fromPx
    const width = Math.min(toPx, frame.toPx + MIN_BOX) - frame.fromPx - x
    return { x: x - 1, y: top - 1, width: Math.max(MIN_BOX, width) + 1, height: height + 2 }
  }
  return undefined
}

/** Whether an entry is the selected tool call, or the model call of the selected turn. */
export function isSelected(
  { kind, target }: Pick<RunEntry, 'kind' | 'target'>,
  { iterationIndex, toolCallId }: Selection,
): boolean {
  if (toolCallId === undefined) {
    return (
      kind === 'model' && iterationIndex !== undefined && target?.iterationIndex === iterationIndex
    )
  }
  const isInTurn = iterationIndex === undefined || target?.iterationIndex === iterationIndex
  return kind === 'tool' && target?.toolCallId === toolCallId && isInTurn
}
