/** The vertical layout of a row, in pixels. Pure. */
import type { TimelineRow } from './timeline-model.ts'

/** Position and height of the line of an attempt. */
export const ATTEMPT = { top: 4, height: 2 } as const
const FIRST_LANE = 9
const GAP = 2
const END = 5
/** Maximum number of lanes with full height and labels. */
const COMFORTABLE = 8
const LANE = { comfortable: 13, low: 5 } as const

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
