/** The slider over the events of a log, with marks where something happened. */
import { memo, startTransition, useDeferredValue, useMemo, useOptimistic } from 'react'

import { cx } from '../../lib/cx.ts'
import styles from './replay-bar.module.css'
import { marksOf, PLACES, type Matter } from './replay-marks.ts'

import type { LoggedRunEvent } from '@tutti/protocol'

/** The slider; `count` of `end` events are shown. */
export function Rail({
  events,
  count,
  end,
  text,
  onSeek,
}: {
  readonly events: readonly LoggedRunEvent[]
  readonly count: number
  readonly end: number
  /** Where it is, in words. */
  readonly text: string
  readonly onSeek: (count: number) => void
}) {
  // The thumb is where the pointer is, however long the page takes to follow.
  const [thumb, setThumb] = useOptimistic(count)
  const shown = end <= 1 ? 1 : (thumb - 1) / (end - 1)
  return (
    <div className={styles['rail']}>
      <div className={styles['track']} aria-hidden>
        <Marks events={useDeferredValue(events)} end={useDeferredValue(end)} />
        <div className={styles['past']} style={{ width: `${shown * 100}%` }} />
      </div>
      <input
        type="range"
        className={styles['slider']}
        aria-label="Place in the run"
        aria-valuetext={text}
        min={Math.min(1, end)}
        max={end}
        value={thumb}
        onChange={({ currentTarget: { valueAsNumber: wanted } }) =>
          startTransition(() => {
            setThumb(wanted)
            onSeek(wanted)
          })
        }
      />
    </div>
  )
}

/** One path for each matter: thousands of events are five elements. */
const Marks = memo(function Marks({
  events,
  end,
}: {
  readonly events: readonly LoggedRunEvent[]
  readonly end: number
}) {
  const marks = useMemo(() => marksOf(events, end), [events, end])
  return (
    <svg className={styles['marks']} viewBox={`0 0 ${PLACES} 1`} preserveAspectRatio="none">
      {[...marks].map(([matter, places]) => (
        <path
          key={matter}
          className={cx(styles['mark'], MATTER_STYLE[matter])}
          vectorEffect="non-scaling-stroke"
          d={places.map((place) => `M${place} 0V1`).join('')}
        />
      ))}
    </svg>
  )
})

const MATTER_STYLE: Readonly<Record<Matter, string | undefined>> = {
  task: styles['task'],
  tool: styles['tool'],
  gate: styles['gate'],
  steering: styles['steering'],
  failed: styles['failed'],
}
