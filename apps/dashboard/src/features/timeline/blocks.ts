/**
 * Merges the notes of a lane into blocks for drawing at a scale. Pure.
 *
 * Adjacent notes narrower than a pixel become one block, so that a lane has at most as many blocks
 * as pixels. Failed notes stay visible as separate lines.
 */
import type { Lane } from './timeline-model.ts'
import { msToPx, type TimeFrame } from './scale.ts'

/** Width, in pixels, below which notes are merged with their neighbors. */
const NARROW = 1.5
/** Minimum width of a block, in pixels. */
const MIN_WIDTH = 1.5

/** One note, or several that are too narrow to distinguish. */
export interface Block {
  /** Indexes of its first and last note in the lane. */
  readonly first: number
  readonly last: number
  readonly fromPx: number
  readonly toPx: number
  /** Share of its time in which work was running, from 0 to 1. */
  readonly density: number
  /** Positions of its failed notes. */
  readonly failedPx: readonly number[]
}

/** Returns the blocks of a lane within a frame; running notes extend to `nowMs`. */
export function buildBlocks(lane: Lane, frame: TimeFrame, nowMs: number): readonly Block[] {
  const blocks: Block[] = []
  let open: Growing | undefined
  for (let at = findFirstWithin(lane, frame, nowMs); at < lane.length; at += 1) {
    const note = lane[at]
    if (note === undefined) break
    const fromPx = msToPx(frame, note.startMs)
    if (fromPx > frame.toPx) break
    const toPx = Math.max(fromPx, msToPx(frame, note.endMs ?? Math.max(nowMs, note.startMs)))
    const isFailed = note.status === 'failed'
    const isNarrow = toPx - fromPx < NARROW
    if (open !== undefined && isNarrow && fromPx - open.toPx < NARROW) {
      open.last = at
      open.busyPx += toPx - fromPx
      open.toPx = Math.max(open.toPx, toPx)
      if (isFailed && fromPx - (open.failedPx.at(-1) ?? -NARROW) >= 1) open.failedPx.push(fromPx)
      continue
    }
    if (open !== undefined) blocks.push(closeBlock(open))
    const failedPx = isFailed ? [fromPx] : []
    const next = { first: at, last: at, fromPx, toPx, busyPx: toPx - fromPx, failedPx }
    open = isNarrow ? next : undefined
    if (!isNarrow) blocks.push(closeBlock(next))
  }
  if (open !== undefined) blocks.push(closeBlock(open))
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

function closeBlock({ busyPx, ...block }: Growing): Block {
  const width = block.toPx - block.fromPx
  const density = block.first === block.last || width <= 0 ? 1 : Math.min(1, busyPx / width)
  return { ...block, toPx: Math.max(block.toPx, block.fromPx + MIN_WIDTH), density }
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
    const isBefore =
      note !== undefined &&
      msToPx(frame, note.endMs ?? Math.max(nowMs, note.startMs)) < frame.fromPx
    if (isBefore) low = middle + 1
    else high = middle
  }
  return low
}
