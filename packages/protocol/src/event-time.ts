/** Time of an event. */
import type { RunEvent } from './schemas/run-event.ts'

/** Fields with the time of an event. An event has at most one of them. */
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

/** Returns the time of an event in milliseconds since 1970; undefined when it has none. */
export function eventTime(event: RunEvent): number | undefined {
  if ('timestamp_ms' in event) return event.timestamp_ms
  for (const field of FIELDS) {
    const instant: unknown = Reflect.get(event, field)
    if (typeof instant !== 'string') continue
    const ms = Date.parse(instant)
    return Number.isNaN(ms) ? undefined : ms
  }
  return undefined
}
