/** The ruler above the rows, with marks for events of the whole run. */
import { memo } from 'react'

import { cx } from '../../lib/cx.ts'
import { Mark } from '../../ui/show/mark.tsx'
import { MARK_LABELS } from './describe-entry.ts'
import { listTicks, msToPx, type TimeFrame } from './scale.ts'
import styles from './timeline.module.css'

import type { Note, TimelineModel } from './timeline-model.ts'

/** Shapes of the marks, in a 10 by 10 box. */
const SHAPES: Readonly<Record<string, string>> = {
  directive: 'M1 1h8l-4 8z',
  switch: 'M5 0l5 5l-5 5l-5 -5z',
  cancel: 'M1 1h8v8h-8z',
  resume: 'M1 0l8 5l-8 5z',
}

/** Width for the label of a tick, in pixels; without it, the label is before the tick. */
const TICK_LABEL_PX = 64

export function MarkShape({ kind }: { readonly kind: string }) {
  return (
    <svg aria-hidden viewBox="0 0 10 10" className={cx(styles['shape'], styles[`shape-${kind}`])}>
      <path d={SHAPES[kind]} />
    </svg>
  )
}

interface RulerProps {
  readonly model: TimelineModel
  readonly frame: TimeFrame
  readonly sheetPx: number
}

export const Ruler = memo(function Ruler({ model, frame, sheetPx }: RulerProps) {
  const marks = model.marks.filter(({ startMs }) => {
    const px = msToPx(frame, startMs)
    return px >= frame.fromPx && px <= frame.toPx
  })
  return (
    <div aria-hidden className={styles['ruler']} data-track="marks" style={{ width: sheetPx }}>
      {listTicks({ ...frame, toPx: Math.min(frame.toPx, sheetPx) }).map(({ px, label }) =>
        px + TICK_LABEL_PX <= sheetPx ? (
          <span key={px} className={styles['tick']} style={{ insetInlineStart: px }}>
            {label}
          </span>
        ) : (
          <span
            key={px}
            className={cx(styles['tick'], styles['lastTick'])}
            style={{ insetInlineEnd: sheetPx - px }}
          >
            {label}
          </span>
        ),
      )}
      {marks.map((mark) => (
        <span
          key={`${mark.kind} ${mark.startMs} ${mark.target?.taskName ?? ''}`}
          className={styles['mark']}
          style={{ insetInlineStart: msToPx(frame, mark.startMs) }}
        >
          <MarkShape kind={mark.kind} />
        </span>
      ))}
    </div>
  )
})

const NOTES = {
  model: 'model call',
  tool: 'tool call',
  agent: 'agent call',
  group: 'group of tasks',
} as const

export function Legend({ model: { rows, marks } }: { readonly model: TimelineModel }) {
  const hasNote = (test: (note: Note) => boolean): boolean =>
    rows.some(({ lanes }) => lanes.some((lane) => lane.some(test)))
  const waits = rows.flatMap(({ reviews }) => reviews)
  return (
    <ul aria-label="Legend" className={styles['legend']}>
      {Object.entries(NOTES).map(
        ([kind, label]) =>
          hasNote((note) => note.kind === kind) && (
            <Swatch key={kind} kind={kind}>
              {label}
            </Swatch>
          ),
      )}
      {hasNote(({ status }) => status === 'failed') && <Swatch kind="failed">failed</Swatch>}
      {waits.some(({ review }) => review.kind !== 'EVENT') && (
        <li>
          <Mark kind="held" />
          review
        </li>
      )}
      {waits.some(({ review }) => review.kind === 'EVENT') && (
        <li>
          <Mark kind="queued" />
          wait
        </li>
      )}
      {Object.entries(MARK_LABELS).map(
        ([kind, label]) =>
          marks.some((mark) => mark.kind === kind) && (
            <li key={kind}>
              <MarkShape kind={kind} />
              {label}
            </li>
          ),
      )}
    </ul>
  )
}

function Swatch({ kind, children }: { readonly kind: string; readonly children: string }) {
  return (
    <li>
      <span className={styles['swatch']} data-tone={kind} />
      {children}
    </li>
  )
}
