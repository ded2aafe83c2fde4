/** The events of a run as they are. */
import { memo, useDeferredValue, useMemo, useState } from 'react'
import { isTerminalRunStatus, type LoggedRunEvent } from '@tutti/protocol'

import { Empty } from '../../ui/feedback/notice.tsx'
import { FoldMemory, newFolds, Fold } from '../../ui/layout/fold.tsx'
import { GrowingList } from '../../ui/layout/growing-list.tsx'
import { eventWords } from '../../ui/labels.ts'
import { cx } from '../../lib/cx.ts'
import { formatClock, formatDuration } from '../../lib/format.ts'
import { JsonView } from '../../ui/show/json-view.tsx'
import { EventBar } from './event-bar.tsx'
import { eventsMatching, upTo, type EventFilter } from './event-filter.ts'
import { EVENT_GROUPS, isFailure } from './event-groups.ts'
import { eventSummary, taskOf } from './event-summary.ts'
import styles from './event-log.module.css'

import type { RunLog } from '../../api/run-log.ts'

/** Height of a row that is folded, in pixels. */
const ROW = 26

/** Tokens are many, and are read in the transcript. */
const FIRST: EventFilter = {
  groups: new Set(EVENT_GROUPS.map(({ name }) => name).filter((name) => name !== 'tokens')),
  taskName: undefined,
  text: '',
}

interface EventLogProps {
  readonly log: RunLog
  /** How many events have been, where one looks back; undefined is all of them. */
  readonly position?: number | undefined
}

/** The list of events; when more come than can be drawn, it leaves out what lies between. */
export function EventLog({ log, position }: EventLogProps) {
  return <Events log={useDeferredValue(log)} position={useDeferredValue(position)} />
}

const Events = memo(function Events({ log, position }: EventLogProps) {
  const [folds] = useState(newFolds)
  const [filter, setFilter] = useState(FIRST)
  const used = useDeferredValue(filter)
  const matching = useMemo(() => eventsMatching(used), [used])
  const { events, instants, state } = log
  const shown = upTo(matching(events), position)
  return (
    <div className={styles['log']}>
      <EventBar
        filter={filter}
        onFilter={setFilter}
        taskNames={state.tasks.map(({ name }) => name)}
        events={events}
        shown={shown}
        isPast={position !== undefined}
      />
      {shown.length === 0 ? (
        <Empty title="No event fits">Other events may: change what is asked for.</Empty>
      ) : (
        <FoldMemory value={folds}>
          <GrowingList
            // Another choice of events is another list, which begins at its end.
            key={[...used.groups, used.taskName, used.text].join(' ')}
            items={shown}
            keyOf={({ seq }) => seq}
            estimate={() => ROW}
            label="Events"
            isGrowing={position !== undefined || !isTerminalRunStatus(state.status)}
          >
            {(event) => (
              <EventRow event={event} instant={instants[event.seq]} origin={instants[0]} />
            )}
          </GrowingList>
        </FoldMemory>
      )}
    </div>
  )
})

/** An event; instants in milliseconds since 1970, `origin` that of the first event. */
const EventRow = memo(function EventRow({
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
