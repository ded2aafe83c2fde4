/** Selects the key events of a log, to step to and to mark on the rail. Pure. */
import { labelEventType } from '../../ui/labels.ts'

import type { LoggedRunEvent } from '@tutti/protocol'

/** Subject of a key event. */
export type KeySubject = 'task' | 'tool' | 'review' | 'steering' | 'failed'

/** Subjects by precedence at the same slot of the rail. */
const SUBJECTS = ['failed', 'review', 'steering', 'task', 'tool'] as const

/** Number of slots on the rail; more would be indistinguishable. */
export const SLOTS = 240

/** Returns the subject of an event; undefined if it is not a key event. */
export function findKeySubject(event: LoggedRunEvent): KeySubject | undefined {
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
      return 'review'
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

/**
 * Returns the number of events shown after stepping to the next key event; undefined if there is
 * none.
 */
export function findNextStep(events: readonly LoggedRunEvent[], count: number): number | undefined {
  for (let index = count; index < events.length; index += 1) {
    const event = events[index]
    if (event !== undefined && findKeySubject(event) !== undefined) return index + 1
  }
  return undefined
}

/**
 * Returns the number of events shown after stepping to the previous key event; 1 if there is none.
 */
export function findPreviousStep(events: readonly LoggedRunEvent[], count: number): number {
  for (let index = count - 2; index > 0; index -= 1) {
    const event = events[index]
    if (event !== undefined && findKeySubject(event) !== undefined) return index + 1
  }
  return 1
}

/** Returns the marks of a rail for `end` events: their slots, 0 to `SLOTS`, by subject. */
export function computeMarks(
  events: readonly LoggedRunEvent[],
  end: number,
): ReadonlyMap<KeySubject, readonly number[]> {
  const winners = new Map<number, KeySubject>()
  for (let at = 0; at < Math.min(end, events.length); at += 1) {
    const event = events[at]
    const matter = event === undefined ? undefined : findKeySubject(event)
    if (matter === undefined) continue
    const slot = end <= 1 ? 0 : Math.round((at / (end - 1)) * SLOTS)
    const known = winners.get(slot)
    if (known === undefined || SUBJECTS.indexOf(matter) < SUBJECTS.indexOf(known)) {
      winners.set(slot, matter)
    }
  }
  return Map.groupBy(winners.keys(), (slot) => winners.get(slot) ?? 'task')
}

/** Returns the label of an event, such as `Tool called: search`. */
export function formatEventLabel(event: LoggedRunEvent): string {
  const words = labelEventType(event.type)
  if ('toolName' in event && event.toolName !== undefined) return `${words}: ${event.toolName}`
  if ('taskName' in event && event.taskName !== undefined) return `${words}: ${event.taskName}`
  return words
}
