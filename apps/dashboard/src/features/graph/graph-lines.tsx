/** The lines between tasks. */
import { memo } from 'react'

import { cx } from '../../lib/cx.ts'
import styles from './task-graph.module.css'

import type { TaskState } from '@tutti/protocol'

import type { GraphLayout, GraphLink } from './layout.ts'

/** How a line looks: what is on its way is stronger, and what belongs to the chosen task. */
export type LineTone = 'quiet' | 'live' | 'held' | 'chosen'

/** Lines in the order in which they are drawn: the stronger over the others. */
const ORDER: readonly LineTone[] = ['quiet', 'chosen', 'held', 'live']

/** All lines; `tones` is one word for each link, with blanks between, so that it stays the same. */
export const GraphLines = memo(function GraphLines({
  layout,
  tones,
}: {
  readonly layout: GraphLayout
  readonly tones: string
}) {
  const words = tones.split(' ')
  const width = lanesWidth(layout)
  const height = layout.rows.length * ROW
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
          key={keyOf(link)}
          d={pathOf(link, layout)}
          className={cx(styles['line'], styles[`line-${tone}`])}
        />
      ))}
    </svg>
  )
})

function rank(tone: string): number {
  return ORDER.findIndex((one) => one === tone)
}

function keyOf({ from, to }: GraphLink): string {
  return `${from} ${to}`
}

/** Height of a row; the style sheet has the same, in rem. */
const ROW = 44
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

/** One word for each link: what leads to a task at work is live, to one that waits for a person held. */
export function lineTones(
  { rows, links }: GraphLayout,
  {
    tasks,
    held,
    selected,
  }: {
    readonly tasks: ReadonlyMap<string, TaskState>
    readonly held: ReadonlySet<string>
    readonly selected: string | undefined
  },
): readonly LineTone[] {
  return links.map(({ from, to }) => {
    const target = rows[to]?.name ?? ''
    if (held.has(target)) return 'held'
    if (tasks.get(target)?.status === 'RUNNING') return 'live'
    return selected === target || selected === rows[from]?.name ? 'chosen' : 'quiet'
  })
}
