/** Pure: the lines of a layout, in pixels of an unscaled page. */
import type { GraphLayout, GraphLink } from './layout.ts'

/** Height of a row; the style sheet has the same, in rem. */
export const ROW = 44
/** Free space round the mark of a task. */
const CLEAR = 10
const MARGIN = 14
/** The widest that lanes may be together, so that names keep their place. */
const WIDEST = 72

/** Pixels from lane to lane; many lanes are narrower. */
export function pitchOf({ lanes }: GraphLayout): number {
  return Math.max(4, Math.min(16, WIDEST / Math.max(1, lanes - 1)))
}

/** Where the middle of a lane is. */
export function laneX(lane: number, pitch: number): number {
  return MARGIN + lane * pitch
}

/** Width of all lanes. */
export function lanesWidth(layout: GraphLayout): number {
  return laneX(layout.lanes - 1, pitchOf(layout)) + MARGIN
}

/** A link as the data of an SVG path: out of its task, down its lane, into the other task. */
export function pathOf({ from, to, lane }: GraphLink, layout: GraphLayout): string {
  const pitch = pitchOf(layout)
  const x = laneX(lane, pitch)
  const startX = laneX(layout.rows[from]?.lane ?? 0, pitch)
  const endX = laneX(layout.rows[to]?.lane ?? 0, pitch)
  const top = from * ROW + ROW / 2
  const bottom = to * ROW + ROW / 2
  return [
    x === startX ? `M${x} ${top + CLEAR}` : bend([startX, top], [x, top + ROW / 2], 'out'),
    `L${x} ${x === endX ? bottom - CLEAR : bottom - ROW / 2}`,
    x === endX ? '' : bend([x, bottom - ROW / 2], [endX, bottom], 'in'),
  ].join('')
}

type Point = readonly [x: number, y: number]

/** From the side of a mark to a lane, or from a lane to the side of a mark. */
function bend([x1, y1]: Point, [x2, y2]: Point, way: 'out' | 'in'): string {
  const side = Math.min(CLEAR, Math.abs(x2 - x1)) * Math.sign(x2 - x1)
  return way === 'out'
    ? `M${x1 + side} ${y1}Q${x2} ${y1} ${x2} ${y2}`
    : `Q${x1} ${y2} ${x2 - side} ${y2}`
}
