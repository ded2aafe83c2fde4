/** Pure: the events of a log that matter, to step to and to mark on the rail. */
import { eventWords } from '../../ui/labels.ts'

import type { LoggedRunEvent } from '@tutti/protocol'

/** What an event is about. */
export type Matter = 'task' | 'tool' | 'gate' | 'steering' | 'failed'

/** In the order in which they win a place on the rail. */
const MATTERS = ['failed', 'gate', 'steering', 'task', 'tool'] as const

/** Places of the rail; more would not be told apart. */
export const PLACES = 240

/** What an event is about; undefined for one that one does not step to. */
export function matterOf(event: LoggedRunEvent): Matter | undefined {
  switch (event.type) {
    case 'task_attempt_failed':
    case 'task_failed':
      return 'failed'
    case 'task_started':
    case 'task_completed':
    case 'task_skipped':
      return 'task'
    case 'run_result':
      return event.status === 'FAILED' ? 'failed' : 'task'
    case 'tool_called':
      return event.outcome === 'FAILURE' ? 'failed' : 'tool'
    case 'review_requested':
    case 'review_decided':
    case 'review_timed_out':
    case 'review_withdrawn':
      return 'gate'
    case 'directive_active':
    case 'directive_delivered':
    case 'model_switched':
    case 'run_cancelling':
    case 'run_resumed':
      return 'steering'
    default:
      return undefined
  }
}

/** How many events are shown after a step to the next one that matters; undefined when there is none. */
export function nextStep(events: readonly LoggedRunEvent[], count: number): number | undefined {
  for (let place = count; place < events.length; place += 1) {
    const event = events[place]
    if (event !== undefined && matterOf(event) !== undefined) return place + 1
  }
  return undefined
}

/** The same for the one before; the beginning when there is none. */
export function previousStep(events: readonly LoggedRunEvent[], count: number): number {
  for (let place = count - 2; place > 0; place -= 1) {
    const event = events[place]
    if (event !== undefined && matterOf(event) !== undefined) return place + 1
  }
  return 1
}

/** The marks of a rail on which `end` events fit: their places, 0 to `PLACES`, by matter. */
export function marksOf(
  events: readonly LoggedRunEvent[],
  end: number,
): ReadonlyMap<Matter, readonly number[]> {
  const winners = new Map<number, Matter>()
  for (let at = 0; at < Math.min(end, events.length); at += 1) {
    const event = events[at]
    const matter = event === undefined ? undefined : matterOf(event)
    if (matter === undefined) continue
    const place = end <= 1 ? 0 : Math.round((at / (end - 1)) * PLACES)
    const known = winners.get(place)
    if (known === undefined || MATTERS.indexOf(matter) < MATTERS.indexOf(known)) {
      winners.set(place, matter)
    }
  }
  return Map.groupBy(winners.keys(), (place) => winners.get(place) ?? 'task')
}

/** `Tool called: search`. */
export function eventLabel(event: LoggedRunEvent): string {
  const words = eventWords(event.type)
  if ('toolName' in event && event.toolName !== undefined) return `${words}: ${event.toolName}`
  if ('taskName' in event && event.taskName !== undefined) return `${words}: ${event.taskName}`
  return words
}
