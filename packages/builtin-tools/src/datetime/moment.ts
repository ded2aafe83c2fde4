/**
 * Parses, calculates with and prints points in time.
 *
 *   2024-03-15                           a date
 *   2024-03-15T10:00:00                  a time in UTC, or in the zone that a command names
 *   2024-03-15T10:00:00Z      …+02:00    a time with its offset
 *   2024-03-15T10:00:00[Europe/Berlin]   a time in a zone; an offset before the bracket selects one of two times
 *
 * TOOLS-M1 A local time that its zone skips moves forward by the length of the gap. A local time that occurs twice is
 *    the first one. This is Temporal's disambiguation "compatible".
 * TOOLS-M2 An offset must be valid in the zone at that time.
 * TOOLS-M3 Days and longer units change the date and keep the local time; hours and shorter units are exact time.
 * TOOLS-M4 The output has the form of the input: a date, or a time with `Z`, the offset, or offset and zone.
 */
import { DatetimeError } from './datetime-error.ts'
import { findZone } from './find-zone.ts'
import { invalidDate, splitWrittenTime, type WrittenTime } from './written-time.ts'

import type { Temporal } from 'temporal-polyfill'
import type { TemporalApi } from './load-temporal.ts'
import type { Amount } from './parse-command.ts'

/** A date, or a time with the form of its zone: `Z`, an offset, offset and zone, or ` Zone`. */
export type Moment =
  | { readonly kind: 'date'; readonly value: Temporal.PlainDate }
  | {
      readonly kind: 'time'
      readonly value: Temporal.ZonedDateTime
      readonly zoneForm: 'utc' | 'offset' | 'zone' | 'name'
    }

/**
 * Parses a date or a time; a time without a zone is in UTC.
 *
 * @throws {DatetimeError} for another form, a date that does not exist, or an unknown zone.
 */
export function readMoment(temporal: TemporalApi, text: string): Moment {
  const written = splitWrittenTime(text)
  if (written.time === undefined) {
    return { kind: 'date', value: checkCalendar(text, () => temporal.PlainDate.from(written.date)) }
  }
  const { zone, offset = 'Z' } = written
  if (zone !== undefined) {
    return { kind: 'time', value: readTimeIn(temporal, written, zone), zoneForm: 'zone' }
  }
  const value = parseLocalTime(temporal, written).toZonedDateTime(findZone(temporal, offset))
  return { kind: 'time', value, zoneForm: isZulu(offset) ? 'utc' : 'offset' }
}

/**
 * Parses a time in a zone; it may contain an offset or the same zone.
 *
 * @throws {DatetimeError} as {@link readMoment}, and for a date without a time or a time of another zone.
 */
export function readTimeIn(
  temporal: TemporalApi,
  written: WrittenTime,
  zone: string,
): Temporal.ZonedDateTime {
  const { text, offset } = written
  const id = findZone(temporal, zone)
  if (written.zone !== undefined && findZone(temporal, written.zone) !== id) {
    throw invalidDate(text, `its zone is not ${id}`)
  }
  const local = parseLocalTime(temporal, written)
  if (offset === undefined) return local.toZonedDateTime(id)
  const wanted = isZulu(offset) ? '+00:00' : offset.replace(/^(...)(?=\d)/, '$1:').padEnd(6, ':00')
  const value = findPossibleTimes(local, id).find((time) => time.offset === wanted)
  if (value?.toPlainDateTime().equals(local) === true) return value
  throw invalidDate(
    text,
    `${id} does not have the offset ${offset} at that time; leave the offset out`,
  )
}

/** Returns the earlier and the later time that a local time can mean; they differ only if it is skipped or occurs twice. */
function findPossibleTimes(
  local: Temporal.PlainDateTime,
  zone: string,
): readonly [Temporal.ZonedDateTime, Temporal.ZonedDateTime] {
  return [
    local.toZonedDateTime(zone, { disambiguation: 'earlier' }),
    local.toZonedDateTime(zone, { disambiguation: 'later' }),
  ]
}

/**
 * Adds amounts one after the other. A day that a month does not have becomes its last day.
 *
 * @throws {DatetimeError} for hours and shorter units on a date.
 * @throws {RangeError} outside the years of Temporal.
 */
export function addDateAmounts(moment: Moment, amounts: readonly Amount[]): Moment {
  let sum = moment
  for (const amount of amounts) sum = add(sum, amount)
  return sum
}

function add(moment: Moment, { count, unit }: Amount): Moment {
  const duration = { [unit]: count }
  if (moment.kind === 'time') return { ...moment, value: moment.value.add(duration) }
  if (!TIME_UNITS.has(unit)) return { kind: 'date', value: moment.value.add(duration) }
  const time = `${moment.value.toString()}T00:00:00`
  throw new DatetimeError(`Cannot add ${unit} to a date; write a time as well, such as ${time}`)
}

/** Units that need a time. */
const TIME_UNITS: ReadonlySet<string> = new Set(['seconds', 'minutes', 'hours'])

export function formatMoment(moment: Moment): string {
  if (moment.kind === 'date') return moment.value.toString()
  const { value, zoneForm } = moment
  const local = value.toPlainDateTime().toString()
  switch (zoneForm) {
    case 'utc':
      return `${local}Z`
    case 'offset':
      return `${local}${value.offset}`
    case 'zone':
      return `${local}${value.offset}[${value.timeZoneId}]`
    case 'name':
      return `${local}${isTwice(value) ? value.offset : ''} ${value.timeZoneId}`
  }
}

/** Returns whether the local time occurs twice, so that only the offset identifies it. */
function isTwice(value: Temporal.ZonedDateTime): boolean {
  const [first, second] = findPossibleTimes(value.toPlainDateTime(), value.timeZoneId)
  return !first.equals(second)
}

function parseLocalTime(temporal: TemporalApi, written: WrittenTime): Temporal.PlainDateTime {
  const { text, date, time } = written
  if (time === undefined) throw invalidDate(text, 'expected a time as well, such as T10:00:00')
  return checkCalendar(text, () => temporal.PlainDateTime.from(`${date}T${time}`))
}

function checkCalendar<T>(text: string, read: () => T): T {
  try {
    return read()
  } catch {
    throw invalidDate(text, 'this date or time does not exist')
  }
}

function isZulu(offset: string): boolean {
  return offset.toUpperCase() === 'Z'
}
