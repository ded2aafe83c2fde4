/** Chooses which events are shown, and gives them away as a file. */
import { Copy, Download } from 'lucide-react'

import { downloadText } from '../../lib/download.ts'
import { plural } from '../../lib/format.ts'
import { useCopy } from '../../lib/use-copy.ts'
import { Button, IconButton } from '../../ui/controls/button.tsx'
import { Select, TextInput } from '../../ui/controls/inputs.tsx'
import styles from './event-bar.module.css'
import { EVENT_GROUPS, type EventGroup } from './event-groups.ts'

import type { EventFilter } from './event-filter.ts'
import type { LoggedRunEvent } from '@tutti/protocol'

/** The filter and the exports of a log. */
export function EventBar({
  filter,
  onFilter,
  taskNames,
  events,
  shown,
  isPast,
}: {
  readonly filter: EventFilter
  readonly onFilter: (filter: EventFilter) => void
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
        className={styles['task']}
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
