/** The events of a run as they are. */
import { memo, useDeferredValue, useMemo, useState } from 'react'
import { isTerminalRunStatus, type LoggedRunEvent } from '@tutti/protocol'
import { Copy, Download } from 'lucide-react'

import { Empty } from '../../ui/feedback/notice.tsx'
import { FoldMemory, newFolds, Fold } from '../../ui/layout/fold.tsx'
import { GrowingList } from '../../ui/layout/growing-list.tsx'
import { eventWords } from '../../ui/labels.ts'
import { cx } from '../../lib/cx.ts'
import { formatClock, formatDuration, plural } from '../../lib/format.ts'
import { JsonView } from '../../ui/show/json-view.tsx'
import { downloadText } from '../../lib/download.ts'
import { useCopy } from '../../lib/use-copy.ts'
import { Button, IconButton } from '../../ui/controls/button.tsx'
import { Select, TextInput } from '../../ui/controls/inputs.tsx'
import { eventsMatching, upTo, type LogFilter } from './event-filter.ts'
import { EVENT_GROUPS, isFailure, type EventGroup } from './event-groups.ts'
import { eventSummary, taskOf } from './event-summary.ts'
import styles from './event-log.module.css'

import type { FollowedLog } from '../../api/run-log.ts'

/** Height of a row that is folded, in pixels. */
const ROW = 26

/** Tokens are many, and are read in the transcript. */
const FIRST: LogFilter = {
  groups: new Set(EVENT_GROUPS.map(({ name }) => name).filter((name) => name !== 'tokens')),
  taskName: undefined,
  text: '',
}

interface EventLogProps {
  readonly log: FollowedLog
  /** How many events have been, where one looks back; undefined is all of them. */
  readonly position?: number | undefined
}

/** The list of events; when more come than can be drawn, it leaves out what lies between. */
export function EventLogView({ log, position }: EventLogProps) {
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

/** The filter and the exports of a log. */
function EventBar({
  filter,
  onFilter,
  taskNames,
  events,
  shown,
  isPast,
}: {
  readonly filter: LogFilter
  readonly onFilter: (filter: LogFilter) => void
  readonly taskNames: readonly string[]
  readonly events: readonly LoggedRunEvent[]
  /** Those that the filter asks for. */
  readonly shown: readonly LoggedRunEvent[]
  /** Whether an earlier moment is looked at. */
  readonly isPast: boolean
}) {
  return (
    <div role="search" aria-label="Events" className={styles['bar']}>
      <div role="group" aria-label="Kinds of events" className={styles['groups']}>
        {EVENT_GROUPS.map(({ name, label }) => (
          <button
            key={name}
            type="button"
            aria-pressed={filter.groups.has(name)}
            className={styles['group']}
            onClick={() => onFilter({ ...filter, groups: toggled(filter.groups, name) })}
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
        aria-label="Text in events"
        placeholder="Find in events"
        className={styles['text']}
        value={filter.text}
        onChange={({ target: { value } }) => onFilter({ ...filter, text: value })}
      />
      <Exports events={events} shown={shown} isPast={isPast} />
    </div>
  )
}

function Exports({
  events,
  shown,
  isPast,
}: {
  readonly events: readonly LoggedRunEvent[]
  readonly shown: readonly LoggedRunEvent[]
  readonly isPast: boolean
}) {
  const [copy, copied] = useCopy()
  const count = plural(events.length, 'event')
  const runId = events[0]?.runId ?? 'run'
  const said = {
    idle: 'Copy these as JSON',
    copied: 'Copied',
    failed: 'The browser did not copy it',
  }
  return (
    <span className={styles['exports']}>
      <span className={styles['count']}>
        {shown.length === events.length && !isPast
          ? count
          : `${count}, ${shown.length} shown${isPast ? ' up to here' : ''}`}
      </span>
      <IconButton
        label={said[copied]}
        icon={<Copy />}
        onClick={() => copy(JSON.stringify(shown, undefined, 2))}
      />
      <Button
        kind="quiet"
        icon={<Download />}
        title="All events, one JSON object a line"
        onClick={() =>
          downloadText(`${runId}.events.ndjson`, linesOf(events), 'application/x-ndjson')
        }
      >
        NDJSON
      </Button>
    </span>
  )
}

function toggled(groups: ReadonlySet<EventGroup>, name: EventGroup): ReadonlySet<EventGroup> {
  const others = new Set(groups)
  if (!others.delete(name)) others.add(name)
  return others
}

function linesOf(events: readonly LoggedRunEvent[]): string {
  return events.map((event) => `${JSON.stringify(event)}\n`).join('')
}
