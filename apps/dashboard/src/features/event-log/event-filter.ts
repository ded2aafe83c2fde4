/** Pure: which events of a log are shown. */
import { eventWords } from '../../ui/labels.ts'
import { GROUP_OF, type EventGroup } from './event-groups.ts'
import { eventSummary, taskOf } from './event-summary.ts'

import type { LoggedRunEvent } from '@tutti/protocol'

/** What is asked for. */
export interface LogFilter {
  readonly groups: ReadonlySet<EventGroup>
  /** Any task when undefined. */
  readonly taskName: string | undefined
  /** In any case of letters; everything when empty. */
  readonly text: string
}

/** Whether an event is asked for; its text is looked for in what its line says and in its JSON. */
export function matches(event: LoggedRunEvent, { groups, taskName, text }: LogFilter): boolean {
  if (!groups.has(GROUP_OF[event.type])) return false
  if (taskName !== undefined && taskOf(event) !== taskName) return false
  if (text === '') return true
  const wanted = text.toLowerCase()
  const line = `${eventWords(event.type)} ${eventSummary(event)}`
  return line.toLowerCase().includes(wanted) || JSON.stringify(event).toLowerCase().includes(wanted)
}

/**
 * A function that gives the events of a log that are asked for. When it is given the same log with more
 * events it looks at those alone; its answers are what they would be if it looked at all.
 */
export function eventsMatching(
  filter: LogFilter,
): (events: readonly LoggedRunEvent[]) => readonly LoggedRunEvent[] {
  let seen: readonly LoggedRunEvent[] = []
  let found: readonly LoggedRunEvent[] = []
  return (events) => {
    const isLonger = events.length >= seen.length && events[seen.length - 1] === seen.at(-1)
    const kept = isLonger ? found : []
    const more = events.slice(isLonger ? seen.length : 0).filter((event) => matches(event, filter))
    seen = events
    found = more.length === 0 ? kept : [...kept, ...more]
    return found
  }
}

/** Those of some events, in their order, that are among the first `count` of their log; all when undefined. */
export function upTo(
  events: readonly LoggedRunEvent[],
  count: number | undefined,
): readonly LoggedRunEvent[] {
  const last = events.at(-1)
  if (count === undefined || last === undefined || last.seq < count) return events
  return events.slice(0, events.findLastIndex(({ seq }) => seq < count) + 1)
}
