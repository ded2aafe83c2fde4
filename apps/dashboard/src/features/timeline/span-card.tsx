/** A small card that says what is under the pointer or the cursor. */
import { plural } from '../../lib/format.ts'
import { cx } from '../../lib/cx.ts'
import { Mark } from '../../ui/show/mark.tsx'
import { blockWords, markWords, spanWords, type Times, type Words } from './span-words.ts'
import styles from './timeline.module.css'

import type { Place, Pointed } from './places.ts'

/** How much of a long note is shown. */
const NOTE_LENGTH = 240

/** What is said of a place. */
export function placeWords({ spans, mark }: Place, times: Times): Words {
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
