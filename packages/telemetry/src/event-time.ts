/** Pure: when an event happened. */
import type { RunEvent } from '@tutti/protocol'

/** Fields that say when an event happened. An event has one of them, or none. */
const INSTANTS = [
  'sentAt',
  'startedAt',
  'completedAt',
  'failedAt',
  'queuedAt',
  'requestedAt',
  'decidedAt',
  'withdrawnAt',
  'deliveredAt',
  'activeAt',
  'switchedAt',
  'skippedAt',
  'resumedAt',
] as const

/** When it happened, in milliseconds since 1970; undefined when it does not say. */
export function timeOf(event: RunEvent): number | undefined {
  if ('timestamp_ms' in event) return event.timestamp_ms
  // NOTE: every event is an object; which of these fields it has is what is looked for.
  const fields = event as Readonly<Record<string, unknown>>
  for (const name of INSTANTS) {
    const instant = fields[name]
    if (typeof instant === 'string') return instantOf(instant)
  }
  return undefined
}

/** An instant of the wire in milliseconds since 1970; undefined for a text that is none. */
export function instantOf(instant: string | undefined): number | undefined {
  const ms = instant === undefined ? Number.NaN : Date.parse(instant)
  return Number.isNaN(ms) ? undefined : ms
}
