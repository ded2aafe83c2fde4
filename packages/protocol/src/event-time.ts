/** Pure: when an event happened. */
import type { RunEvent } from './schemas/run-event.ts'

/** Fields that say when an event happened. An event has at most one of them. */
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

/** Returns when an event happened, in milliseconds since 1970; undefined when it does not say. */
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
