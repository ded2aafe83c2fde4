/** Pure: how high everything in a row is, in pixels. */
import type { TimelineRow } from './timeline-model.ts'

/** Height of the line that stands for an attempt, and where it is. */
export const ATTEMPT = { top: 4, height: 2 } as const
const FIRST_LANE = 9
const GAP = 2
const END = 5
/** More lanes than this are lower, and have no names. */
const COMFORTABLE = 8
const LANE = { comfortable: 13, low: 5 } as const

export interface LanePlace {
  readonly top: number
  readonly height: number
}

export function lanePlace({ lanes }: TimelineRow, index: number): LanePlace {
  const low = lanes.length > COMFORTABLE
  // Model calls keep their height: they are the melody.
  const height = low && index > 0 ? LANE.low : LANE.comfortable
  const before = index === 0 ? 0 : LANE.comfortable + GAP + (index - 1) * (height + GAP)
  return { top: FIRST_LANE + before, height }
}

export function rowHeight(row: TimelineRow): number {
  const last = lanePlace(row, Math.max(1, row.lanes.length - 1))
  return last.top + last.height + END
}

/** Where each row begins, and, last, where they end. */
export function rowTops(rows: readonly TimelineRow[]): readonly number[] {
  const tops = [0]
  for (const row of rows) tops.push((tops.at(-1) ?? 0) + rowHeight(row))
  return tops
}

/** The lane at a height of its row; undefined above and below them. */
export function laneAt(row: TimelineRow, y: number): number | undefined {
  const at = row.lanes.findIndex((_, index) => {
    const { top, height } = lanePlace(row, index)
    return y >= top - GAP / 2 && y < top + height + GAP / 2
  })
  return at === -1 ? undefined : at
}
