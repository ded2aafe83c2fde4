/** One event in a line that unfolds to its JSON. */
import { memo } from 'react'

import { eventWords } from '../../api/words.ts'
import { cx } from '../../lib/cx.ts'
import { formatClock, formatDuration } from '../../lib/format.ts'
import { Fold } from '../../ui/layout/fold.tsx'
import { JsonView } from '../../ui/show/json-view.tsx'
import { isFailure } from './event-groups.ts'
import styles from './event-row.module.css'
import { eventSummary, taskOf } from './event-summary.ts'

import type { LoggedRunEvent } from '@tutti/protocol'

/** An event; instants in milliseconds since 1970, `origin` that of the first event. */
export const EventRow = memo(function EventRow({
  event,
  instant = 0,
  origin = 0,
}: {
  readonly event: LoggedRunEvent
  readonly instant: number | undefined
  readonly origin: number | undefined
}) {
  const { seq, type } = event
  return (
    <div className={styles['row']}>
      <Fold
        name={`event-${seq}`}
        summary={
          <span className={styles['line']}>
            <span className={styles['seq']}>{seq}</span>
            <span className={styles['clock']}>{formatClock(instant)}</span>
            <span className={styles['offset']}>+{formatDuration(instant - origin)}</span>
            <span className={cx(styles['type'], isFailure(event) && styles['failed'])}>
              {eventWords(type)}
            </span>
            <span className={styles['task']}>{taskOf(event)}</span>
            <span className={styles['summary']}>{eventSummary(event)}</span>
          </span>
        }
      >
        {() => <JsonView value={event} label={`event ${seq}`} depth={1} />}
      </Fold>
    </div>
  )
})
