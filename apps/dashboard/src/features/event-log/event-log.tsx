/** Shows the events of a run. */
import { memo, useDeferredValue, useMemo, useState } from 'react'
import { isTerminalRunStatus, type LoggedRunEvent } from '@tutti/protocol'
import { Download } from 'lucide-react'

import { Empty } from '../../ui/feedback/notice.tsx'
import { FoldMemory, createFolds, Fold } from '../../ui/layout/fold.tsx'
import { GrowingList } from '../../ui/layout/virtual-list.tsx'
import { labelEventType } from '../../ui/labels.ts'
import { cx } from '../../lib/cx.ts'
import { formatClock, formatDuration, formatPlural } from '../../lib/format.ts'
import { JsonView } from '../../ui/show/json-view.tsx'
import { CopyButton } from '../../ui/show/text.tsx'
import { downloadText, formatNdjson } from '../../lib/download.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Select, TextInput } from '../../ui/controls/inputs.tsx'
import { createEventFilter, takeFirst, type LogFilter } from './event-filter.ts'
import { EVENT_GROUPS, isFailure, type EventGroup } from '../../api/event-kinds.ts'
import { groupTasks } from '../../api/task-groups.ts'
import { summarizeEvent, findEventTask } from '../../api/event-summary.ts'
import styles from './event-log.module.css'

import type { FollowedLog } from '../../api/run-log.ts'

/** Height of a collapsed row, in pixels. */
const ROW = 26

/** Initial filter: without tokens, which are numerous and shown in the transcript. */
const FIRST: LogFilter = {
  groups: new Set(EVENT_GROUPS.map(({ name }) => name).filter((name) => name !== 'tokens')),
  taskName: undefined,
  text: '',
}

interface EventLogProps {
  readonly log: FollowedLog
  /** Number of events shown in a replay; undefined for all of them. */
  readonly position?: number | undefined
}

/**
 * The list of events. Rendering is deferred, so intermediate states are skipped when events arrive
 * faster.
 */
export function EventLogView({ log, position }: EventLogProps) {
  return <Events log={useDeferredValue(log)} position={useDeferredValue(position)} />
}

const Events = memo(function Events({ log, position }: EventLogProps) {
  const [folds] = useState(createFolds)
  const [filter, setFilter] = useState(FIRST)
  const used = useDeferredValue(filter)
  const matching = useMemo(() => createEventFilter(used), [used])
  const { events, instants, state } = log
  const shown = takeFirst(matching(events), position)
  return (
    <div className={styles['log']}>
      <EventBar
        filter={filter}
        onFilter={setFilter}
        // The tasks of groups are too many for a list; the text search finds them.
        taskNames={groupTasks(state.tasks).plain.map(({ name }) => name)}
        events={events}
        shown={shown}
        isPast={position !== undefined}
      />
      {shown.length === 0 ? (
        <Empty title="No matching events">Change the filter to see other events.</Empty>
      ) : (
        <FoldMemory value={folds}>
          <GrowingList
            // A changed filter resets the list to its end.
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

interface EventRowProps {
  readonly event: LoggedRunEvent
  readonly instant: number | undefined
  readonly origin: number | undefined
}

/** An event; instants are in milliseconds since 1970, `origin` is that of the first event. */
const EventRow = memo(function EventRow({ event, instant = 0, origin = 0 }: EventRowProps) {
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
              {labelEventType(type)}
            </span>
            <span className={styles['task']}>{findEventTask(event)}</span>
            <span className={styles['summary']}>{summarizeEvent(event)}</span>
          </span>
        }
      >
        {() => <JsonView value={event} label={`event ${seq}`} depth={1} />}
      </Fold>
    </div>
  )
})

interface EventBarProps {
  readonly filter: LogFilter
  readonly onFilter: (filter: LogFilter) => void
  readonly taskNames: readonly string[]
  readonly events: readonly LoggedRunEvent[]
  /** Events that match the filter. */
  readonly shown: readonly LoggedRunEvent[]
  /** Whether an earlier position is shown. */
  readonly isPast: boolean
}

/** The filter and the exports of a log. */
function EventBar({ filter, onFilter, taskNames, events, shown, isPast }: EventBarProps) {
  return (
    <div role="search" aria-label="Events" className={styles['bar']}>
      <div role="group" aria-label="Event types" className={styles['groups']}>
        {EVENT_GROUPS.map(({ name, label }) => (
          <button
            key={name}
            type="button"
            aria-pressed={filter.groups.has(name)}
            className={styles['group']}
            onClick={() => onFilter({ ...filter, groups: toggleGroup(filter.groups, name) })}
          >
            {label}
          </button>
        ))}
      </div>
      <Select
        aria-label="Task"
        className={styles['eventBarTask']}
        value={filter.taskName ?? ''}
        onChange={({ target: { value } }) =>
          onFilter({ ...filter, taskName: value === '' ? undefined : value })
        }
      >
        <option value="">All tasks</option>
        {taskNames.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </Select>
      <TextInput
        type="search"
        aria-label="Search events"
        placeholder="Search events"
        className={styles['text']}
        value={filter.text}
        onChange={({ target: { value } }) => onFilter({ ...filter, text: value })}
      />
      <Exports events={events} shown={shown} isPast={isPast} />
    </div>
  )
}

function Exports({ events, shown, isPast }: Pick<EventBarProps, 'events' | 'shown' | 'isPast'>) {
  const count = formatPlural(events.length, 'event')
  const runId = events[0]?.runId ?? 'run'
  return (
    <span className={styles['exports']}>
      <span className={styles['count']}>
        {shown.length === events.length && !isPast
          ? count
          : `${count}, ${shown.length} shown${isPast ? ' up to here' : ''}`}
      </span>
      <CopyButton text={() => JSON.stringify(shown, undefined, 2)} label="Copy as JSON" />
      <Button
        kind="quiet"
        icon={<Download />}
        title="Download all events, one JSON object per line"
        onClick={() =>
          downloadText(`${runId}.events.ndjson`, formatNdjson(events), 'application/x-ndjson')
        }
      >
        NDJSON
      </Button>
    </span>
  )
}

function toggleGroup(groups: ReadonlySet<EventGroup>, name: EventGroup): ReadonlySet<EventGroup> {
  const others = new Set(groups)
  if (!others.delete(name)) others.add(name)
  return others
}
