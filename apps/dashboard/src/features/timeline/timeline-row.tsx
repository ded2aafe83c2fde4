/** One task of the timeline: its name, and its work as notes. */
import { memo, useMemo } from 'react'

import { taskShown } from '../../ui/labels.ts'
import { cx } from '../../lib/cx.ts'
import { Mark } from '../../ui/show/mark.tsx'
import { drawRow } from './row-drawing.ts'
import { ATTEMPT, rowHeight } from './row-geometry.ts'
import { rowWords } from './span-words.ts'
import { pxOf, type TimeFrame } from './scale.ts'
import { selectedPlace } from './selected-place.ts'
import styles from './timeline.module.css'

import type { Selection } from '../../api/selection.ts'
import type { AttemptSpan, GateSpan } from './spans.ts'
import type { TimelineRow } from './timeline-model.ts'

/** Narrower gates have no fermata. */
const FERMATA = 12

/** A row; drawn anew only when its task, the frame or what is selected in it has changed. */
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
  /** The time, for what goes on. */
  readonly nowMs: number
  /** When the run began. */
  readonly startMs: number
  /** What is selected, when it is in this row. */
  readonly selection: Selection | undefined
}) {
  const { task, attempts, gates } = row
  const drawing = useMemo(() => drawRow(row, frame, nowMs), [row, frame, nowMs])
  const isHeld = gates.some(({ endMs }) => endMs === undefined)
  const height = rowHeight(row)
  const width = frame.toPx - frame.fromPx
  const chosen =
    selection === undefined ? undefined : selectedPlace(row, selection, { frame, nowMs })
  return (
    <div
      role="img"
      aria-label={rowWords(row, { startMs, nowMs })}
      data-row={task.name}
      className={cx(styles['row'], selection !== undefined && styles['selected'])}
      style={{ insetBlockStart: top, height }}
    >
      <div
        data-label
        className={cx(styles['label'], task.delegatedBy !== undefined && styles['below'])}
      >
        <Mark kind={taskShown(task, isHeld).mark} />
        <span className={styles['name']}>{task.name}</span>
      </div>
      <svg
        className={styles['stave']}
        width={width}
        height={height}
        style={{ insetInlineStart: `calc(var(--gutter) + ${frame.fromPx}px)` }}
      >
        {attempts.map((span) => (
          <Attempt key={span.task.attempt} span={span} {...{ frame, nowMs, height }} />
        ))}
        {gates.map((span) => (
          <Gate key={span.gate.reviewId} span={span} {...{ frame, nowMs, height }} />
        ))}
        {Object.entries(drawing.paths).map(([look, path]) => (
          <path key={look} d={path} className={styles[look]} />
        ))}
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

interface HoldProps<T> {
  readonly span: T
  readonly frame: TimeFrame
  readonly nowMs: number
  readonly height: number
}

function Attempt({ span, frame, nowMs, height }: HoldProps<AttemptSpan>) {
  const { x, width } = boxOf(span, frame, nowMs)
  if (width <= 0) return null
  return (
    <g className={styles[`attempt-${span.status}`]} data-attempt={span.task.attempt}>
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

function Gate({ span, frame, nowMs, height }: HoldProps<GateSpan>) {
  const { x, width } = boxOf(span, frame, nowMs)
  if (width <= 0) return null
  const isOpen = span.endMs === undefined
  return (
    <g className={cx(styles['gate'], isOpen && styles['open'])}>
      <rect x={x} y={1.5} width={width} height={height - 3} rx={2} />
      {width >= FERMATA && (
        <g transform={`translate(${x + width / 2 - 8} ${height / 2 - 9})`}>
          <path d="M2.5 11a5.5 5.5 0 0 1 11 0" className={styles['arc']} />
          <circle cx="8" cy="10.6" r="1.7" className={styles['dot']} />
        </g>
      )}
    </g>
  )
}

/** A span within the frame; nothing is narrower than two pixels. */
function boxOf(
  { startMs, endMs }: AttemptSpan | GateSpan,
  frame: TimeFrame,
  nowMs: number,
): { readonly x: number; readonly width: number } {
  const from = Math.max(frame.fromPx - 4, pxOf(frame, startMs))
  const to = Math.min(frame.toPx + 4, pxOf(frame, endMs ?? Math.max(nowMs, startMs)))
  return { x: from - frame.fromPx, width: to < from ? 0 : Math.max(2, to - from) }
}
