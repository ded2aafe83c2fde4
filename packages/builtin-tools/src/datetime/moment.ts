/**
 * Points in time: from how they are written to Temporal, arithmetic, and back.
 *
 *   2024-03-15                           a date
 *   2024-03-15T10:00:00                  a time of UTC, or of the zone that a command names
 *   2024-03-15T10:00:00Z      …+02:00    a time with its offset
 *   2024-03-15T10:00:00[Europe/Berlin]   a time of a zone; an offset before the bracket says which one
 *
 * M1 A local time that its zone skips is moved on by as much as is skipped; of one that is there twice
 *    the first is meant. This is Temporal's disambiguation "compatible".
 * M2 An offset must be one that the zone has at that time: it chooses, and never contradicts.
 * M3 Days and longer units move the date and keep the local time; hours and shorter ones are exact time.
 * M4 What is printed says as much as what was written: a date, `Z`, the offset, or offset and zone.
 */
import { DatetimeError } from './datetime-error.ts'
import { findZone } from './find-zone.ts'
import { invalidDate, splitWrittenTime, type WrittenTime } from './written-time.ts'

import type { Temporal } from 'temporal-polyfill'
import type { TemporalApi } from './load-temporal.ts'
import type { Amount } from './parse-command.ts'

/** A date, or a time and how its place is printed: `Z`, an offset, offset and zone, or ` Zone`. */
export type Moment =
  | { readonly kind: 'date'; readonly value: Temporal.PlainDate }
  | {
      readonly kind: 'time'
      readonly value: Temporal.ZonedDateTime
      readonly place: 'utc' | 'offset' | 'zone' | 'name'
    }

/**
 * Reads a date, or a time that is of UTC unless it says otherwise.
 *
 * @throws {DatetimeError} when it is written otherwise, is none of the calendar, or its zone is unknown.
 */
export function readMoment(temporal: TemporalApi, text: string): Moment {
  const written = splitWrittenTime(text)
  if (written.time === undefined) {
    return { kind: 'date', value: inCalendar(text, () => temporal.PlainDate.from(written.date)) }
  }
  const { zone, offset = 'Z' } = written
  if (zone !== undefined) {
    return { kind: 'time', value: readTimeIn(temporal, written, zone), place: 'zone' }
  }
  const value = localTime(temporal, written).toZonedDateTime(findZone(temporal, offset))
  return { kind: 'time', value, place: isZulu(offset) ? 'utc' : 'offset' }
}

/**
 * Reads a time as one of a zone; it may say its offset or name the same zone itself.
 *
 * @throws {DatetimeError} as {@link readMoment}, and for a date alone or a time of elsewhere.
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
  const local = localTime(temporal, written)
  if (offset === undefined) return local.toZonedDateTime(id)
  const wanted = isZulu(offset) ? '+00:00' : offset.replace(/^(...)(?=\d)/, '$1:').padEnd(6, ':00')
  const value = bothOf(local, id).find((time) => time.offset === wanted)
  if (value?.toPlainDateTime().equals(local) === true) return value
  throw invalidDate(text, `at ${offset} that is no time of ${id}; leave the offset out`)
}

/** The two times that a local time can mean: one and the same, but where it is there twice or never. */
function bothOf(
  local: Temporal.PlainDateTime,
  zone: string,
): readonly [Temporal.ZonedDateTime, Temporal.ZonedDateTime] {
  return [
    local.toZonedDateTime(zone, { disambiguation: 'earlier' }),
    local.toZonedDateTime(zone, { disambiguation: 'later' }),
  ]
}

/**
 * Adds amounts, one after the other. A day that a month does not have becomes its last.
 *
 * @throws {DatetimeError} for hours and less on a date.
 * @throws {RangeError} beyond the years of Temporal.
 */
export function addAmounts(moment: Moment, amounts: readonly Amount[]): Moment {
  let sum = moment
  for (const amount of amounts) sum = add(sum, amount)
  return sum
}

function add(moment: Moment, { count, unit }: Amount): Moment {
  const duration = { [unit]: count }
  if (moment.kind === 'time') return { ...moment, value: moment.value.add(duration) }
  if (!TIME_UNITS.has(unit)) return { kind: 'date', value: moment.value.add(duration) }
  const time = `${moment.value.toString()}T00:00:00`
  throw new DatetimeError(`Cannot add ${unit} to a date; write a time too, such as ${time}`)
}

/** Units that a date alone does not have. */
const TIME_UNITS: ReadonlySet<string> = new Set(['seconds', 'minutes', 'hours'])

/** A moment as text. */
export function printMoment(moment: Moment): string {
  if (moment.kind === 'date') return moment.value.toString()
  const { value, place } = moment
  const local = value.toPlainDateTime().toString()
  switch (place) {
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

/** Whether the local time is there twice, so that it takes its offset to tell which one it is. */
function isTwice(value: Temporal.ZonedDateTime): boolean {
  const [first, second] = bothOf(value.toPlainDateTime(), value.timeZoneId)
  return !first.equals(second)
}

function localTime(temporal: TemporalApi, written: WrittenTime): Temporal.PlainDateTime {
  const { text, date, time } = written
  if (time === undefined) throw invalidDate(text, 'expected a time too, such as T10:00:00')
  return inCalendar(text, () => temporal.PlainDateTime.from(`${date}T${time}`))
}

function inCalendar<T>(text: string, read: () => T): T {
  try {
    return read()
  } catch {
    throw invalidDate(text, 'there is no such date or time')
  }
}

function isZulu(offset: string): boolean {
  return offset.toUpperCase() === 'Z'
}
