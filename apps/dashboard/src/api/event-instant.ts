/** When an event happened. */
import type { LoggedRunEvent } from '@tutti/protocol'

/** Fields that hold an instant, in the order in which an event is asked for them. */
const FIELDS = [
  'sentAt',
  'startedAt',
  'completedAt',
  'failedAt',
  'skippedAt',
  'queuedAt',
  'resumedAt',
  'requestedAt',
  'decidedAt',
  'withdrawnAt',
  'deliveredAt',
  'switchedAt',
  'activeAt',
  'timestamp',
] as const

/** Milliseconds since 1970; undefined when the event does not say. */
export function eventInstant(event: LoggedRunEvent): number | undefined {
  if ('timestamp_ms' in event) return event.timestamp_ms
  // NOTE: each of these fields is an ISO 8601 text on every event that has it.
  const fields = event as Readonly<Partial<Record<(typeof FIELDS)[number], string>>>
  for (const field of FIELDS) {
    const text = fields[field]
    if (text !== undefined) return Date.parse(text)
  }
  return undefined
}
