/** Splits written dates and times by their form, without checking calendar and zone. */
import { DatetimeError, quoteText } from './datetime-error.ts'

/** The parts of a written date or time. */
export interface WrittenTime {
  /** The whole text, for messages. */
  readonly text: string
  readonly date: string
  /** The time; undefined for a date. */
  readonly time?: string
  /** `Z`, `+02:00`, `+0200`, `+02`, or with seconds as before 1972, `+00:53:28`. */
  readonly offset?: string
  /** The zone in brackets. */
  readonly zone?: string
}

const DATE = String.raw`(?:[+-]\d{6}|\d{4})-\d\d-\d\d`
const TIME = String.raw`\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?`
const OFFSET = String.raw`Z|[+-]\d\d(?::?\d\d(?::\d\d)?)?`
const FORM = new RegExp(
  String.raw`^(${DATE})(?:[T\s]\s*(${TIME})\s*(${OFFSET})?\s*(?:\[([^[\]]+)\])?)?$`,
  'i',
)

/**
 * Splits a written date or time into its parts.
 *
 * @throws {DatetimeError} for another form.
 */
export function splitWrittenTime(text: string): WrittenTime {
  const [, date, time, offset, zone] = FORM.exec(text.trim()) ?? []
  if (date === undefined) {
    throw invalidDate(
      text,
      'expected yyyy-MM-dd, or yyyy-MM-ddTHH:mm:ss, optionally followed by Z, an offset such as +02:00 or a zone such as [Europe/Berlin]',
    )
  }
  return {
    text,
    date,
    ...(time === undefined ? {} : { time }),
    ...(offset === undefined ? {} : { offset }),
    ...(zone === undefined ? {} : { zone }),
  }
}

/** Creates the error of an invalid date. */
export function invalidDate(text: string, reason: string): DatetimeError {
  return new DatetimeError(`Invalid date format: ${quoteText(text)}; ${reason}`)
}
