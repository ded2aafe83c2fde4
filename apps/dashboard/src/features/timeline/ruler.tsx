/** The ruler above the rows, with marks for events of the whole run. */
import { memo } from 'react'

import { cx } from '../../lib/cx.ts'
import { Mark } from '../../ui/show/mark.tsx'
import { listTicks, msToPx, type TimeFrame } from './scale.ts'
import styles from './timeline.module.css'

import type { SpanStatus, TimelineMark } from './spans.ts'
import type { TimelineModel } from './timeline-model.ts'

/** Shapes of the marks, in a 10 by 10 box. */
const SHAPES: Readonly<Record<TimelineMark['kind'], string>> = {
  directive: 'M1 1h8l-4 8z',
  switch: 'M5 0l5 5l-5 5l-5 -5z',
  cancel: 'M1 1h8v8h-8z',
  resume: 'M1 0l8 5l-8 5z',
}

/** Width for the label of a tick, in pixels; without it, the label is before the tick. */
const TICK_LABEL_PX = 64

export function MarkShape({ kind }: { readonly kind: TimelineMark['kind'] }) {
  return (
    <svg aria-hidden viewBox="0 0 10 10" className={cx(styles['shape'], styles[`shape-${kind}`])}>
      <path d={SHAPES[kind]} />
    </svg>
  )
}

export const Ruler = memo(function Ruler({
  model,
  frame,
  sheetPx,
}: {
  readonly model: TimelineModel
  readonly frame: TimeFrame
  readonly sheetPx: number
}) {
  const marks = model.marks.filter(({ atMs }) => {
    const px = msToPx(frame, atMs)
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
          key={`${mark.kind} ${mark.atMs} ${mark.target?.taskName ?? ''}`}
          className={styles['mark']}
          style={{ insetInlineStart: msToPx(frame, mark.atMs) }}
        >
          <MarkShape kind={mark.kind} />
        </span>
      ))}
    </div>
  )
})

const MARK_LABELS: Readonly<Record<TimelineMark['kind'], string>> = {
  directive: 'directive delivered',
  switch: 'model switched',
  cancel: 'cancel',
  resume: 'resumed',
}

function isFailed({ status }: { readonly status: SpanStatus }): boolean {
  return status === 'failed'
}

const MARK_KINDS = ['directive', 'switch', 'cancel', 'resume'] as const

export function Legend({ model: { rows, marks } }: { readonly model: TimelineModel }) {
  const isThere = (kind: 'tool' | 'agent'): boolean =>
    rows.some(({ lanes }) => lanes.slice(1).some((lane) => lane.some((note) => note.kind === kind)))
  const hasModels = rows.some(({ lanes: [models = []] }) => models.length > 0)
  return (
    <ul aria-label="Legend" className={styles['legend']}>
      {hasModels && <Swatch kind="model">model call</Swatch>}
      {isThere('tool') && <Swatch kind="tool">tool call</Swatch>}
      {isThere('agent') && <Swatch kind="agent">agent call</Swatch>}
      {rows.some(({ lanes }) => lanes.some((lane) => lane.some(isFailed))) && (
        <Swatch kind="failed">failed</Swatch>
      )}
      {rows.some(({ reviews }) => reviews.length > 0) && (
        <li>
          <Mark kind="held" />
          review
        </li>
      )}
      {MARK_KINDS.filter((kind) => marks.some((mark) => mark.kind === kind)).map((kind) => (
        <li key={kind}>
          <MarkShape kind={kind} />
          {MARK_LABELS[kind]}
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
