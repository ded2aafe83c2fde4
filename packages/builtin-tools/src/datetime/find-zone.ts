/** Time zones by the names that people and models give them. */
import { DatetimeError, shown } from './datetime-error.ts'
import { suggestZone } from './suggest-zone.ts'

import type { TemporalApi } from './load-temporal.ts'

/** Hours and minutes from UTC, perhaps after `UTC` or `GMT`, such as `+02:00`, `UTC+2`, `GMT-0330`. */
const OFFSET = /^(?:UTC|GMT)?\s*([+−-])(\d{1,2})(?::?([0-5]\d))?$/i
/** A name as the time zone database has them. */
const NAME = /^[a-z][\w+\-/]*$/i

/**
 * The id that Temporal knows a zone by: an IANA name in its own case, `UTC`, or an offset such as
 * `+02:00`. Case does not matter, a space may stand for `_`.
 *
 * @throws {DatetimeError} for a name that is none, with the one that may have been meant.
 */
export function findZone(temporal: TemporalApi, text: string): string {
  const name = text.trim().replaceAll(/\s+/g, '_')
  const found = /^z$/i.test(name) ? 'UTC' : (offsetOf(text.trim()) ?? namedZone(temporal, name))
  if (found !== undefined) return found
  const near = suggestZone(name)
  const hint =
    near === undefined
      ? '; use an IANA name such as Europe/Berlin, or an offset such as +02:00'
      : `; did you mean ${near}?`
  throw new DatetimeError(`Unknown timezone: ${shown(text.trim()).slice(1, -1)}${hint}`)
}

function offsetOf(text: string): string | undefined {
  const [, sign, hours, minutes = '00'] = OFFSET.exec(text) ?? []
  if (sign === undefined || hours === undefined || Number(hours) > 23) return undefined
  return `${sign === '+' ? '+' : '-'}${hours.padStart(2, '0')}:${minutes}`
}

function namedZone(temporal: TemporalApi, name: string): string | undefined {
  if (!NAME.test(name)) return undefined
  try {
    return temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name).timeZoneId
  } catch {
    return undefined
  }
}
