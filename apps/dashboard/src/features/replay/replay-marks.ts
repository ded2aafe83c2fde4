/** Selects the key events of a log, to step to and to mark on the rail. Pure. */
import { findKeySubject, type KeySubject } from '../../api/event-kinds.ts'
import { findEventTask } from '../../api/event-summary.ts'
import { labelEventType } from '../../ui/labels.ts'

import type { LoggedRunEvent } from '@tutti/protocol'

/** Subjects by precedence at the same slot of the rail. */
const SUBJECTS = ['failed', 'review', 'steering', 'task', 'tool'] as const

/** Number of slots on the rail; more would be indistinguishable. */
export const SLOTS = 240

/**
 * Returns the number of events shown after stepping to the next key event; undefined if there is
 * none.
 */
export function findNextStep(events: readonly LoggedRunEvent[], count: number): number | undefined {
  const at = events.findIndex((event, index) => index >= count && isKeyEvent(event))
  return at === -1 ? undefined : at + 1
}

/**
 * Returns the number of events shown after stepping to the previous key event; 1 if there is none.
 */
export function findPreviousStep(events: readonly LoggedRunEvent[], count: number): number {
  return Math.max(1, events.findLastIndex((event, at) => at <= count - 2 && isKeyEvent(event)) + 1)
}

function isKeyEvent(event: LoggedRunEvent): boolean {
  return findKeySubject(event) !== undefined
}

/** Returns the marks of a rail for `end` events: their slots, 0 to `SLOTS`, by subject. */
export function computeMarks(
  events: readonly LoggedRunEvent[],
  end: number,
): ReadonlyMap<KeySubject, readonly number[]> {
  const winners = new Map<number, KeySubject>()
  for (const [at, event] of events.slice(0, end).entries()) {
    const matter = findKeySubject(event)
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
  const isWait = event.type === 'review_requested' && event.kind === 'EVENT'
  const name = 'toolName' in event && !isWait ? event.toolName : undefined
  const subject = name ?? findEventTask(event)
  const label = isWait ? 'Wait started' : labelEventType(event.type)
  return subject === undefined ? label : `${label}: ${subject}`
}
