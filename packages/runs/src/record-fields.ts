/** Pure: what every store makes records of. */
import type { LoggedRunEvent, RunEvent } from '@tutti/protocol'

/** An event with its place in the log of its run. */
export function logged(runId: string, seq: number, event: RunEvent): LoggedRunEvent {
  return { ...event, runId, seq, id: `${runId}:${seq}` }
}

/** A field with the number of a column; no field when the column is NULL. */
export function optionalNumber<K extends string>(
  key: K,
  value: unknown,
): Partial<Record<K, number>> {
  return value === null || value === undefined ? {} : field(key, Number(value))
}

/** A record of one field. */
export function field<K extends string, V>(key: K, value: V): Partial<Record<K, V>> {
  // NOTE: TypeScript widens a computed key to string.
  return { [key]: value } as Partial<Record<K, V>>
}
