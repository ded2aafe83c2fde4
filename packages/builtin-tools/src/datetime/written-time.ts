/** How dates and times are written: the form alone, no calendar and no zones. */
import { DatetimeError, shown } from './datetime-error.ts'

/** The parts of a written date or time. */
export interface WrittenTime {
  /** All of it, for messages. */
  readonly text: string
  readonly date: string
  /** Missing where only a date is written. */
  readonly time?: string
  /** `Z`, `+02:00`, `+0200`, `+02`, or as zones had it before 1972, `+00:53:28`. */
  readonly offset?: string
  /** What stands in brackets. */
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
 * Takes a written date or time apart.
 *
 * @throws {DatetimeError} when it is written otherwise.
 */
export function splitWrittenTime(text: string): WrittenTime {
  const [, date, time, offset, zone] = FORM.exec(text.trim()) ?? []
  if (date === undefined) {
    throw invalidDate(
      text,
      'expected yyyy-MM-dd, or yyyy-MM-ddTHH:mm:ss with nothing, Z, an offset such as +02:00 or a zone such as [Europe/Berlin] after it',
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

/** What the model reads of a date that is none. */
export function invalidDate(text: string, why: string): DatetimeError {
  return new DatetimeError(`Invalid date format: ${shown(text)}; ${why}`)
}
