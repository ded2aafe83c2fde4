/** Filters the events of a log. Pure. */
import { labelEventType } from '../../ui/labels.ts'
import { findEventGroup, type EventGroup } from '../../api/event-kinds.ts'
import { summarizeEvent, findEventTask } from '../../api/event-summary.ts'

import type { LoggedRunEvent } from '@tutti/protocol'

export interface LogFilter {
  readonly groups: ReadonlySet<EventGroup>
  /** Undefined for any task. */
  readonly taskName: string | undefined
  /** Searched ignoring case; empty to match everything. */
  readonly text: string
}

/** Whether an event matches. The text is searched in its summary line and in its JSON. */
export function matchesFilter(
  event: LoggedRunEvent,
  { groups, taskName, text }: LogFilter,
): boolean {
  if (!groups.has(findEventGroup(event.type))) return false
  if (taskName !== undefined && findEventTask(event) !== taskName) return false
  if (text === '') return true
  const wanted = text.toLowerCase()
  const line = `${labelEventType(event.type)} ${summarizeEvent(event)}`
  return line.toLowerCase().includes(wanted) || JSON.stringify(event).toLowerCase().includes(wanted)
}

/**
 * Returns a function that filters a log. When called with the same log plus more events, it
 * examines only the new ones.
 */
export function createEventFilter(
  filter: LogFilter,
): (events: readonly LoggedRunEvent[]) => readonly LoggedRunEvent[] {
  let seen: readonly LoggedRunEvent[] = []
  let found: readonly LoggedRunEvent[] = []
  return (events) => {
    const isLonger = events.length >= seen.length && events[seen.length - 1] === seen.at(-1)
    const previous = isLonger ? found : []
    const more = events
      .slice(isLonger ? seen.length : 0)
      .filter((event) => matchesFilter(event, filter))
    seen = events
    found = more.length === 0 ? previous : [...previous, ...more]
    return found
  }
}

/**
 * Returns those of the events that are among the first `count` of their log; all when undefined.
 */
export function takeFirst(
  events: readonly LoggedRunEvent[],
  count: number | undefined,
): readonly LoggedRunEvent[] {
  const last = events.at(-1)
  if (count === undefined || last === undefined || last.seq < count) return events
  return events.slice(0, events.findLastIndex(({ seq }) => seq < count) + 1)
}
