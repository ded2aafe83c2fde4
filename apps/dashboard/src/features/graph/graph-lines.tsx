/** Draws the lines between tasks. */
import { memo } from 'react'

import { cx } from '../../lib/cx.ts'
import styles from './task-graph.module.css'

import type { MarkKind } from '../../ui/show/mark.tsx'
import type { GraphLayout, GraphLink } from './layout.ts'

/** Style of a line: lines to active tasks and lines of the selected task stand out. */
export type LineTone = 'quiet' | 'live' | 'held' | 'chosen'

/** Drawing order: stronger lines cover the others. */
const ORDER: readonly LineTone[] = ['quiet', 'chosen', 'held', 'live']

interface GraphLinesProps {
  readonly layout: GraphLayout
  /** Tone of each link. */
  readonly tones: string
  /** Position of each row in the list, in which the tasks of open groups have rows too. */
  readonly positions: string
  /** Number of rows of the list. */
  readonly count: number
}

/** Draws all lines. The values of `tones` and `positions` are separated by spaces, so that `memo` can compare them. */
export const GraphLines = memo(function GraphLines(props: GraphLinesProps) {
  const { layout, tones, positions, count } = props
  const words = tones.split(' ')
  const rowPositions = positions.split(' ').map(Number)
  const width = computeLanesWidth(layout)
  const height = count * ROW
  const drawn = layout.links
    .map((link, index) => ({ link, tone: words[index] ?? 'quiet' }))
    .toSorted((one, other) => rank(one.tone) - rank(other.tone))
  return (
    <svg
      aria-hidden
      className={styles['lines']}
      viewBox={`0 0 ${width} ${height}`}
      style={{ width: `${width / 16}rem`, height: `${height / 16}rem` }}
    >
      {drawn.map(({ link, tone }) => (
        <path
          key={toLinkKey(link)}
          d={drawLink(link, layout, rowPositions)}
          className={cx(styles['line'], styles[`line-${tone}`])}
        />
      ))}
    </svg>
  )
})

function rank(tone: string): number {
  return ORDER.findIndex((one) => one === tone)
}

function toLinkKey({ from, to }: GraphLink): string {
  return `${from} ${to}`
}

/** Height of a row, in pixels at a font size of 16; the style sheet has the same in rem. */
export const ROW = 44
/** Free space around the mark of a task, in pixels. */
const CLEAR = 10
const MARGIN = 14
/** Maximum width of all lanes, in pixels, so that names have room. */
const MAX_WIDTH = 72

/** Returns the distance of two lanes, in pixels; many lanes are closer. */
export function computePitch({ lanes }: GraphLayout): number {
  return Math.max(4, Math.min(16, MAX_WIDTH / Math.max(1, lanes - 1)))
}

/** Returns the center of a lane, in pixels. */
export function computeLaneX(lane: number, pitch: number): number {
  return MARGIN + lane * pitch
}

export function computeLanesWidth(layout: GraphLayout): number {
  return computeLaneX(layout.lanes - 1, computePitch(layout)) + MARGIN
}

/**
 * Returns a link as SVG path data: out of its task, down its lane, into the other task. `rowPositions` are the positions of the
 * rows in the list. @default the numbers of the rows
 */
export function drawLink(
  { from, to, lane }: GraphLink,
  layout: GraphLayout,
  rowPositions: readonly number[] = [],
): string {
  const pitch = computePitch(layout)
  const x = computeLaneX(lane, pitch)
  const startX = computeLaneX(layout.rows[from]?.lane ?? 0, pitch)
  const endX = computeLaneX(layout.rows[to]?.lane ?? 0, pitch)
  const top = (rowPositions[from] ?? from) * ROW + ROW / 2
  const bottom = (rowPositions[to] ?? to) * ROW + ROW / 2
  return [
    x === startX ? `M${x} ${top + CLEAR}` : drawBend([startX, top], [x, top + ROW / 2], 'out'),
    `L${x} ${x === endX ? bottom - CLEAR : bottom - ROW / 2}`,
    x === endX ? '' : drawBend([x, bottom - ROW / 2], [endX, bottom], 'in'),
  ].join('')
}

type Point = readonly [x: number, y: number]

/** Draws a bend between the side of a mark and a lane. */
function drawBend([x1, y1]: Point, [x2, y2]: Point, way: 'out' | 'in'): string {
  const side = Math.min(CLEAR, Math.abs(x2 - x1)) * Math.sign(x2 - x1)
  return way === 'out'
    ? `M${x1 + side} ${y1}Q${x2} ${y1} ${x2} ${y2}`
    : `Q${x1} ${y2} ${x2 - side} ${y2}`
}

/** Returns one tone per link: `live` to a running task, `held` to a task with an open review. */
export function chooseLineTones(
  { rows, links }: GraphLayout,
  {
    markOf,
    selected,
  }: {
    /** Returns the mark of a task or a group. */
    readonly markOf: (name: string) => MarkKind | undefined
    readonly selected: string | undefined
  },
): readonly LineTone[] {
  return links.map(({ from, to }) => {
    const target = rows[to]?.name ?? ''
    const mark = markOf(target)
    if (mark === 'held' || mark === 'live') return mark
    return selected === target || selected === rows[from]?.name ? 'chosen' : 'quiet'
  })
}
