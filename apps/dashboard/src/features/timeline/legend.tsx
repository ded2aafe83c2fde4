/** What the colours and shapes of the timeline mean; only those that are there. */
import { cx } from '../../lib/cx.ts'
import { Mark } from '../../ui/show/mark.tsx'
import { MarkShape } from './ruler.tsx'
import styles from './timeline.module.css'

import type { TimelineMark } from './spans.ts'
import type { TimelineModel } from './timeline-model.ts'

const MARK_WORDS: Readonly<Record<TimelineMark['kind'], string>> = {
  directive: 'directive delivered',
  switch: 'model switched',
  cancel: 'cancel',
  resume: 'resumed',
}

const MARK_KINDS = ['directive', 'switch', 'cancel', 'resume'] as const

/** The legend. */
export function Legend({ model: { rows, marks } }: { readonly model: TimelineModel }) {
  const isThere = (kind: 'tool' | 'agent'): boolean =>
    rows.some(({ lanes }) => lanes.slice(1).some((lane) => lane.some((note) => note.kind === kind)))
  const hasModels = rows.some(({ lanes: [models = []] }) => models.length > 0)
  return (
    <ul aria-label="What the timeline shows" className={styles['legend']}>
      {hasModels && <Swatch kind="model">model call</Swatch>}
      {isThere('tool') && <Swatch kind="tool">tool call</Swatch>}
      {isThere('agent') && <Swatch kind="agent">agent call</Swatch>}
      {rows.some(({ gates }) => gates.length > 0) && (
        <li>
          <Mark kind="held" />
          review
        </li>
      )}
      {MARK_KINDS.filter((kind) => marks.some((mark) => mark.kind === kind)).map((kind) => (
        <li key={kind}>
          <MarkShape kind={kind} />
          {MARK_WORDS[kind]}
        </li>
      ))}
    </ul>
  )
}

function Swatch({ kind, children }: { readonly kind: string; readonly children: string }) {
  return (
    <li>
      <span className={cx(styles['swatch'], styles[`swatch-${kind}`])} />
      {children}
    </li>
  )
}
