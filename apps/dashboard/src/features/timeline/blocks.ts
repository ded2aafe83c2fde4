/**
 * Pure: a lane as it is drawn at a scale. Notes that are narrower than a pixel, and no further apart, are
 * one block, so that a lane of any length is at most as many blocks as it has pixels; one that failed is
 * kept in sight as a line of its own.
 */
import type { Lane } from './timeline-model.ts'
import { pxOf, type TimeFrame } from './scale.ts'

/** A note narrower than this is drawn together with its neighbours, in pixels. */
const NARROW = 1.5
/** Nothing is narrower, in pixels. */
const LEAST = 1.5

/** One note, or some that are too narrow to tell apart. */
export interface Block {
  /** Places of the first and the last of its notes in the lane. */
  readonly first: number
  readonly last: number
  readonly fromPx: number
  readonly toPx: number
  /** Part of its time in which something was at work, from 0 to 1. */
  readonly density: number
  /** Where notes of it failed. */
  readonly failedPx: readonly number[]
}

/** The blocks of a lane within a frame; what goes on reaches to `nowMs`. */
export function blocksOf(lane: Lane, frame: TimeFrame, nowMs: number): readonly Block[] {
  const blocks: Block[] = []
  let open: Growing | undefined
  for (let at = firstWithin(lane, frame, nowMs); at < lane.length; at += 1) {
    const note = lane[at]
    if (note === undefined) break
    const fromPx = pxOf(frame, note.startMs)
    if (fromPx > frame.toPx) break
    const toPx = Math.max(fromPx, pxOf(frame, note.endMs ?? Math.max(nowMs, note.startMs)))
    const isFailed = note.status === 'failed'
    const isNarrow = toPx - fromPx < NARROW
    if (open !== undefined && isNarrow && fromPx - open.toPx < NARROW) {
      open.last = at
      open.busyPx += toPx - fromPx
      open.toPx = Math.max(open.toPx, toPx)
      if (isFailed && fromPx - (open.failedPx.at(-1) ?? -NARROW) >= 1) open.failedPx.push(fromPx)
      continue
    }
    if (open !== undefined) blocks.push(closed(open))
    const failedPx = isFailed ? [fromPx] : []
    const next = { first: at, last: at, fromPx, toPx, busyPx: toPx - fromPx, failedPx }
    open = isNarrow ? next : undefined
    if (!isNarrow) blocks.push(closed(next))
  }
  if (open !== undefined) blocks.push(closed(open))
  return blocks
}

interface Growing {
  readonly first: number
  last: number
  readonly fromPx: number
  toPx: number
  busyPx: number
  readonly failedPx: number[]
}

function closed({ busyPx, ...block }: Growing): Block {
  const width = block.toPx - block.fromPx
  const density = block.first === block.last || width <= 0 ? 1 : Math.min(1, busyPx / width)
  return { ...block, toPx: Math.max(block.toPx, block.fromPx + LEAST), density }
}

/** Place of the first note that reaches into the frame; notes are in order and do not overlap. */
function firstWithin(lane: Lane, frame: TimeFrame, nowMs: number): number {
  let [low, high] = [0, lane.length]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const note = lane[middle]
    const isBefore =
      note !== undefined && pxOf(frame, note.endMs ?? Math.max(nowMs, note.startMs)) < frame.fromPx
    if (isBefore) low = middle + 1
    else high = middle
  }
  return low
}
