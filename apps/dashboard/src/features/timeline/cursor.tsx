/** The keyboard cursor of the timeline, and the card with details. */
import { useState, type KeyboardEvent } from 'react'

import { cx } from '../../lib/cx.ts'
import { Mark } from '../../ui/show/mark.tsx'
import {
  computeLanePosition,
  findFirstPosition,
  findPositionAfterKey,
  findPositionNow,
  type Paper,
  type TimelinePosition,
  type Pointed,
} from './positions.ts'
import { describeEntries, joinDescription, type Times } from './describe-entry.ts'
import hidden from '../../ui/show/visually-hidden.module.css'
import styles from './timeline.module.css'

import type { Viewport, Wanted } from './use-viewport.ts'

export interface CursorProps {
  readonly paper: Paper
  readonly viewport: Viewport
  readonly times: Times
  readonly onOpen: (position: TimelinePosition) => void
  /** Called with the position of the cursor while it has the focus. */
  readonly onPoint: (pointed: Pointed | undefined) => void
}

/** A button that moves from note to note with the arrow keys, and announces them. */
export function Cursor({ paper, viewport, times, onOpen, onPoint }: CursorProps) {
  const [current, setCurrent] = useState<TimelinePosition>()
  const [isFocused, setFocused] = useState(false)
  // The keyboard reaches the whole sheet, including parts that are not rendered.
  const whole: Paper = { ...paper, frame: { ...paper.frame, fromPx: 0, toPx: Infinity } }
  const position =
    (current === undefined ? undefined : findPositionNow(whole, current)) ??
    findFirstPosition(whole)
  if (position === undefined) return null
  const box = computeCursorBox(position, paper)
  const label = joinDescription(describeEntries(position.entries, times))
  const show = (shown: TimelinePosition, element: HTMLElement): void => {
    const wanted = computeCursorBox(shown, paper)
    viewport.reveal(wanted)
    const sheet = element.parentElement?.getBoundingClientRect()
    if (sheet === undefined) return
    const left = sheet.left + viewport.gutterPx + wanted.fromPx
    const x = Math.max(left, (viewport.scroller.current?.getBoundingClientRect().left ?? 0) + 24)
    onPoint({ position: shown, x, top: sheet.top + wanted.top, bottom: sheet.top + wanted.bottom })
  }
  const onKeyDown = (event: KeyboardEvent<HTMLElement>): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return
    if (event.key === 'Escape') {
      viewport.scroller.current?.focus()
      return
    }
    if (!/^(Arrow|Home|End)/.test(event.key)) return
    event.preventDefault()
    const next = findPositionAfterKey(whole, position, event.key)
    if (next === undefined) return
    setCurrent(next)
    show(next, event.currentTarget)
  }
  return (
    <>
      <button
        type="button"
        aria-label={label}
        className={styles['cursor']}
        style={{
          insetInlineStart: `calc(var(--gutter) + ${box.fromPx}px)`,
          insetBlockStart: box.top,
          width: box.toPx - box.fromPx,
          height: box.bottom - box.top,
        }}
        onKeyDown={onKeyDown}
        onClick={() => onOpen(position)}
        onFocus={(event) => {
          setFocused(true)
          show(position, event.currentTarget)
        }}
        onBlur={() => {
          setFocused(false)
          onPoint(undefined)
        }}
      />
      <span role="status" className={hidden['hidden']}>
        {isFocused && current !== undefined && label}
      </span>
    </>
  )
}

/** Position of the marks, above the first row. */
const RULE = { top: -12, bottom: 0 } as const

function computeCursorBox(
  { row, track, fromPx, toPx }: TimelinePosition,
  { model, tops }: Paper,
): Wanted {
  if (row < 0) return { fromPx: fromPx - 6, toPx: fromPx + 6, ...RULE }
  const sides = { fromPx: fromPx - 1, toPx: Math.max(toPx, fromPx + 4) + 1 }
  const top = tops[row] ?? 0
  const drawn = model.rows[row]
  if (track === 0 || drawn === undefined) return { ...sides, top, bottom: tops[row + 1] ?? top }
  const lane = computeLanePosition(drawn, track - 1)
  return { ...sides, top: top + lane.top - 1, bottom: top + lane.top + lane.height + 1 }
}

/** Maximum length of a note text, in characters. */
const NOTE_LENGTH = 240

/** The card with details; it covers other content and ignores the pointer. */
export function SpanCard({ pointed, times }: { readonly pointed: Pointed; readonly times: Times }) {
  const { title, shown, facts, note } = describeEntries(pointed.position.entries, times)
  const isAbove = pointed.bottom > innerHeight * 0.6
  const side = isAbove
    ? { insetBlockEnd: innerHeight - pointed.top + 6 }
    : { insetBlockStart: pointed.bottom + 6 }
  return (
    <div
      aria-hidden
      data-card
      className={styles['card']}
      style={{ insetInlineStart: `clamp(8px, ${pointed.x - 24}px, 100vw - 19rem)`, ...side }}
    >
      <p className={styles['cardTitle']}>
        {shown !== undefined && <Mark kind={shown.mark} />}
        <span>{title}</span>
        {shown !== undefined && <span className={styles['cardState']}>{shown.word}</span>}
      </p>
      <dl className={styles['facts']}>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {note !== undefined && note !== null && note !== '' && (
        <p className={cx(styles['note'], shown?.mark === 'failed' && styles['noteFailed'])}>
          {note.length > NOTE_LENGTH ? `${note.slice(0, NOTE_LENGTH)}…` : note}
        </p>
      )}
    </div>
  )
}
