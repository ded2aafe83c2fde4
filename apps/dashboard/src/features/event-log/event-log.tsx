/** The events of a run as they are. */
import { memo, useDeferredValue, useMemo, useState } from 'react'

import { isTerminalRunStatus } from '@tutti/protocol'

import { Empty } from '../../ui/feedback/notice.tsx'
import { FoldMemory, newFolds } from '../../ui/layout/fold.tsx'
import { GrowingList } from '../../ui/layout/growing-list.tsx'
import { EventBar } from './event-bar.tsx'
import { eventsMatching, upTo, type EventFilter } from './event-filter.ts'
import { EVENT_GROUPS } from './event-groups.ts'
import styles from './event-log.module.css'
import { EventRow } from './event-row.tsx'

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
