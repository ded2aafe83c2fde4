/** The button that is moved from note to note with the arrow keys. */
import { useState, type KeyboardEvent } from 'react'

import { plural } from '../../lib/format.ts'
import { cx } from '../../lib/cx.ts'
import { Mark } from '../../ui/show/mark.tsx'
import {
  firstPlace,
  placeAfterKey,
  placeNow,
  type Paper,
  type TimelinePlace,
  type Pointed,
} from './places.ts'
import { lanePlace } from './row-geometry.ts'
import {
  sentenceOf,
  type Times,
  blockWords,
  markWords,
  spanWords,
  type Words,
} from './span-words.ts'
import unseen from '../../ui/show/unseen.module.css'
import styles from './timeline.module.css'

import type { Viewport, Wanted } from './use-viewport.ts'

export interface CursorProps {
  readonly paper: Paper
  readonly tops: readonly number[]
  readonly viewport: Viewport
  readonly times: Times
  readonly onOpen: (place: TimelinePlace) => void
  /** Told where the cursor is while it has the focus. */
  readonly onPoint: (pointed: Pointed | undefined) => void
}

/** The cursor, and what is read out as it moves. */
export function Cursor({ paper, tops, viewport, times, onOpen, onPoint }: CursorProps) {
  const [kept, setKept] = useState<TimelinePlace>()
  const [isFocused, setFocused] = useState(false)
  // The keyboard reaches all of the sheet, drawn or not.
  const whole: Paper = { ...paper, frame: { ...paper.frame, fromPx: 0, toPx: Infinity } }
  const place = (kept === undefined ? undefined : placeNow(whole, kept)) ?? firstPlace(whole)
  if (place === undefined) return null
  const box = boxOf(place, { paper, tops })
  const words = sentenceOf(placeWords(place, times))
  const show = (shown: TimelinePlace, element: HTMLElement): void => {
    const wanted = boxOf(shown, { paper, tops })
    viewport.reveal(wanted)
    const sheet = element.parentElement?.getBoundingClientRect()
    if (sheet === undefined) return
    const left = sheet.left + viewport.gutterPx + wanted.fromPx
    const x = Math.max(left, (viewport.scroller.current?.getBoundingClientRect().left ?? 0) + 24)
    onPoint({ place: shown, x, top: sheet.top + wanted.top, bottom: sheet.top + wanted.bottom })
  }
  const onKeyDown = (event: KeyboardEvent<HTMLElement>): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return
    if (event.key === 'Escape') {
      viewport.scroller.current?.focus()
      return
    }
    if (!/^(Arrow|Home|End)/.test(event.key)) return
    event.preventDefault()
    const next = placeAfterKey(whole, place, event.key)
    if (next === undefined) return
    setKept(next)
    show(next, event.currentTarget)
  }
  return (
    <>
      <button
        type="button"
        aria-label={words}
        className={styles['cursor']}
        style={{
          insetInlineStart: `calc(var(--gutter) + ${box.fromPx}px)`,
          insetBlockStart: box.top,
          width: box.toPx - box.fromPx,
          height: box.bottom - box.top,
        }}
        onKeyDown={onKeyDown}
        onClick={() => onOpen(place)}
        onFocus={(event) => {
          setFocused(true)
          show(place, event.currentTarget)
        }}
        onBlur={() => {
          setFocused(false)
          onPoint(undefined)
        }}
      />
      <span role="status" className={unseen['unseen']}>
        {isFocused && kept !== undefined && words}
      </span>
    </>
  )
}

/** The marks over all rows are above the first one. */
const RULE = { top: -12, bottom: 0 } as const

function boxOf(
  { row, track, fromPx, toPx }: TimelinePlace,
  { paper, tops }: Pick<CursorProps, 'paper' | 'tops'>,
): Wanted {
  if (row < 0) return { fromPx: fromPx - 6, toPx: fromPx + 6, ...RULE }
  const sides = { fromPx: fromPx - 1, toPx: Math.max(toPx, fromPx + 4) + 1 }
  const top = tops[row] ?? 0
  const drawn = paper.model.rows[row]
  if (track === 0 || drawn === undefined) return { ...sides, top, bottom: tops[row + 1] ?? top }
  const lane = lanePlace(drawn, track - 1)
  return { ...sides, top: top + lane.top - 1, bottom: top + lane.top + lane.height + 1 }
}

/** How much of a long note is shown. */
const NOTE_LENGTH = 240

/** What is said of a place. */
function placeWords({ spans, mark }: TimelinePlace, times: Times): Words {
  if (mark !== undefined) return markWords(mark, times)
  const [span] = spans
  if (span === undefined) return { title: plural(0, 'note'), facts: [] }
  return spans.length === 1 ? spanWords(span, times) : blockWords(spans, times)
}

/** The card; it lies over everything and takes no pointer. */
export function SpanCard({ pointed, times }: { readonly pointed: Pointed; readonly times: Times }) {
  const { title, mark, state, facts, note } = placeWords(pointed.place, times)
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
        {mark !== undefined && <Mark kind={mark} />}
        <span>{title}</span>
        {state !== undefined && <span className={styles['cardState']}>{state}</span>}
      </p>
      <dl className={styles['facts']}>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {note !== undefined && note !== '' && (
        <p className={cx(styles['note'], mark === 'failed' && styles['noteFailed'])}>
          {note.length > NOTE_LENGTH ? `${note.slice(0, NOTE_LENGTH)}…` : note}
        </p>
      )}
    </div>
  )
}
