/** The lines between tasks. */
import { memo } from 'react'

import { cx } from '../../lib/cx.ts'
import { lanesWidth, pathOf, ROW } from './geometry.ts'
import styles from './task-graph.module.css'

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
