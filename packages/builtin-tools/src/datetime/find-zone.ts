/** Finds time zones by the names that people and models use. */
import { DatetimeError, quoteText } from './datetime-error.ts'
import { suggestZone } from './suggest-zone.ts'

import type { TemporalApi } from './load-temporal.ts'

/** Hours and minutes from UTC, optionally after `UTC` or `GMT`, such as `+02:00`, `UTC+2`, `GMT-0330`. */
const OFFSET = /^(?:UTC|GMT)?\s*([+−-])(\d{1,2})(?::?([0-5]\d))?$/i
/** A name of the time zone database. */
const NAME = /^[a-z][\w+\-/]*$/i

/**
 * Returns Temporal's id of a zone: an IANA name in its usual case, `UTC`, or an offset such as `+02:00`. Names are
 * case-insensitive, and a space may replace `_`.
 *
 * @throws {DatetimeError} for an unknown name, with a suggestion.
 */
export function findZone(temporal: TemporalApi, text: string): string {
  const name = text.trim().replaceAll(/\s+/g, '_')
  const found = /^z$/i.test(name)
    ? 'UTC'
    : (parseOffset(text.trim()) ?? findNamedZone(temporal, name))
  if (found !== undefined) return found
  const near = suggestZone(name)
  const hint =
    near === undefined
      ? '; use an IANA name such as Europe/Berlin, or an offset such as +02:00'
      : `; did you mean ${near}?`
  throw new DatetimeError(`Unknown timezone: ${quoteText(text.trim()).slice(1, -1)}${hint}`)
}

function parseOffset(text: string): string | undefined {
  const [, sign, hours, minutes = '00'] = OFFSET.exec(text) ?? []
  if (sign === undefined || hours === undefined || Number(hours) > 23) return undefined
  return `${sign === '+' ? '+' : '-'}${hours.padStart(2, '0')}:${minutes}`
}

function findNamedZone(temporal: TemporalApi, name: string): string | undefined {
  if (!NAME.test(name)) return undefined
  try {
    return temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name).timeZoneId
  } catch {
    return undefined
  }
}
