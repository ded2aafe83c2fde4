/** Shows one task of the timeline: its name and its notes. */
import { ChevronRight } from 'lucide-react'
import { memo, useMemo } from 'react'

import { labelHold, labelTask } from '../../ui/labels.ts'
import { cx } from '../../lib/cx.ts'
import { Mark } from '../../ui/show/mark.tsx'
import { drawRow } from './row-drawing.ts'
import { ATTEMPT, computeRowHeight, findExtent, findSelectedPosition } from './positions.ts'
import { describeRow } from './describe-entry.ts'
import styles from './timeline.module.css'

import type { Selection } from '../../api/selection.ts'
import type { EntryOf } from '../../api/run-entries.ts'
import type { TimeFrame } from './scale.ts'
import type { TimelineRow } from './timeline-model.ts'

/** Minimum width of a review with its mark, in pixels. */
const MARK_WIDTH = 12

/** A row; rendered again only when its props change. */
export const TimelineRowView = memo(function TimelineRowView({
  row,
  top,
  frame,
  nowMs,
  startMs,
  selection,
}: {
  readonly row: TimelineRow
  readonly top: number
  readonly frame: TimeFrame
  /** Current time, for running work. */
  readonly nowMs: number
  /** Start of the run. */
  readonly startMs: number
  /** The selection, if it is in this row. */
  readonly selection: Selection | undefined
}) {
  const { name, label, task, group, attempts, reviews } = row
  const drawing = useMemo(() => drawRow(row, frame, nowMs), [row, frame, nowMs])
  const hold = labelHold(reviews.map(({ review }) => review))
  const height = computeRowHeight(row)
  const width = frame.toPx - frame.fromPx
  const chosen =
    selection === undefined ? undefined : findSelectedPosition(row, selection, { frame, nowMs })
  return (
    <div
      role="img"
      aria-label={describeRow(row, { startMs, nowMs })}
      data-row={name}
      className={cx(styles['row'], selection !== undefined && styles['selected'])}
      style={{ insetBlockStart: top, height }}
    >
      <div
        data-label
        className={cx(
          styles['label'],
          (group ?? task.delegatedBy) !== undefined && styles['below'],
        )}
      >
        <Mark kind={group?.states[0]?.mark ?? labelTask(task, hold).mark} />
        <span className={styles['name']}>{label}</span>
        {group !== undefined && (
          <ChevronRight
            aria-hidden
            className={cx(styles['sign'], group.view.isOpen && styles['signOpen'])}
          />
        )}
      </div>
      <svg
        className={styles['stave']}
        width={width}
        height={height}
        style={{ insetInlineStart: `calc(var(--gutter) + ${frame.fromPx}px)` }}
      >
        {attempts.map((entry) => (
          <Attempt key={entry.task.attempt} {...{ entry, frame, nowMs, height }} />
        ))}
        {reviews.map((entry) => (
          <Review key={entry.review.reviewId} {...{ entry, frame, nowMs, height }} />
        ))}
        {Object.entries(drawing.paths).map(([look, path]) => {
          const [shape, tone] = look.split('-')
          return <path key={look} d={path} className={styles[`note-${shape}`]} data-tone={tone} />
        })}
        {drawing.names.map(({ x, y, text }) => (
          <text key={`${x} ${y}`} x={x} y={y} className={styles['noteName']}>
            {text}
          </text>
        ))}
        {chosen !== undefined && <rect {...chosen} rx={2} className={styles['chosen']} />}
      </svg>
    </div>
  )
})

interface HoldProps<Kind extends 'attempt' | 'review'> {
  readonly entry: EntryOf<Kind>
  readonly frame: TimeFrame
  readonly nowMs: number
  readonly height: number
}

function Attempt(props: HoldProps<'attempt'>) {
  const { entry, height } = props
  const { x, width } = computeBox(props)
  if (width <= 0) return null
  return (
    <g className={styles[`attempt-${entry.status}`]} data-attempt={entry.task.attempt}>
      <rect x={x} y={ATTEMPT.top} width={width} height={height - 2 * ATTEMPT.top} />
      <rect
        x={x}
        y={ATTEMPT.top}
        width={width}
        height={ATTEMPT.height}
        className={styles['rule']}
      />
    </g>
  )
}

function Review(props: HoldProps<'review'>) {
  const { entry, height } = props
  const { x, width } = computeBox(props)
  if (width <= 0) return null
  const isOpen = entry.endMs === undefined
  const isWait = entry.review.kind === 'EVENT'
  return (
    <g className={cx(styles['review'], isOpen && styles['open'], isWait && styles['wait'])}>
      <rect x={x} y={1.5} width={width} height={height - 3} rx={2} />
      {width >= MARK_WIDTH && (
        <g transform={`translate(${x + width / 2 - 8} ${height / 2 - (isWait ? 8 : 9)})`}>
          {isWait ? (
            <circle cx="8" cy="8" r="5.25" strokeDasharray="2.2 2.2" className={styles['arc']} />
          ) : (
            <>
              <path d="M2.5 11a5.5 5.5 0 0 1 11 0" className={styles['arc']} />
              <circle cx="8" cy="10.6" r="1.7" className={styles['dot']} />
            </>
          )}
        </g>
      )}
    </g>
  )
}

/** Clips an entry to the frame, with a minimum width of two pixels. */
function computeBox({ entry, frame, nowMs }: HoldProps<'attempt'> | HoldProps<'review'>): {
  readonly x: number
  readonly width: number
} {
  const { fromPx, toPx } = findExtent(entry, frame, nowMs)
  const from = Math.max(frame.fromPx - 4, fromPx)
  const to = Math.min(frame.toPx + 4, toPx)
  return { x: from - frame.fromPx, width: to < from ? 0 : Math.max(2, to - from) }
}
