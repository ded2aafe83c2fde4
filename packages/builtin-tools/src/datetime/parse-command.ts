/** From the text of a command to what is asked: no dates and zones are read here. */
import { DatetimeError, shown } from './datetime-error.ts'

/** What is asked. */
export type DatetimeCommand =
  | { readonly kind: 'moment'; readonly start: Start; readonly amounts: readonly Amount[] }
  | {
      readonly kind: 'convert'
      /** The command itself, for messages. */
      readonly input: string
      readonly text: string
      readonly from?: string
      readonly to: string
    }

/** What an amount is added to: the time of the clock, perhaps in a zone, or a written one. */
export type Start =
  | { readonly kind: 'now' | 'today'; readonly zone?: string }
  | { readonly kind: 'written'; readonly text: string }

/** So many units, to be added when `count` is above 0, else to be taken away. */
export interface Amount {
  readonly count: number
  readonly unit: Unit
}

const UNITS = ['seconds', 'minutes', 'hours', 'days', 'weeks', 'months', 'years'] as const

/** A unit of time, as Temporal calls it. */
export type Unit = (typeof UNITS)[number]

/** The forms of a command, for the model. */
export const FORMS =
  'now; now in <zone>; today; today in <zone>; <date or datetime> + <number> <unit> (or -); ' +
  'convert <datetime> from <zone> to <zone>'

/** Characters of a command: the longest of use has three zones and a few amounts. */
const MAX_LENGTH = 300

const CLOCK = /^(now|today)(?:\s+in\s+(.+))?$/i
const CONVERT = /^convert\s+(.+?)(?:\s+from\s+(.+?))?\s+to\s+(.+)$/i
/** Units have two letters at least: the Z of a time is none. */
const AMOUNTS = /(?:\s*[+−-]\s*\d[\d.,]*\s*[a-z]{2,})+$/i
const AMOUNT = /([+−-])\s*(\d[\d.,]*)\s*([a-z]+)/gi

/**
 * What a command asks.
 *
 * @throws {DatetimeError} when it has none of the known forms.
 */
export function parseCommand(input: string): DatetimeCommand {
  const text = input.trim()
  if (text.length > MAX_LENGTH) throw unrecognized(text)
  const [, moment, from, to] = CONVERT.exec(text) ?? []
  if (moment !== undefined && to !== undefined) {
    return {
      kind: 'convert',
      input: text,
      text: moment,
      to,
      ...(from === undefined ? {} : { from }),
    }
  }
  const index = text.search(AMOUNTS)
  const amounts = index === -1 ? [] : amountsOf(text.slice(index))
  const start = startOf(index === -1 ? text : text.slice(0, index))
  if (start.kind === 'written' && amounts.length === 0) throw unrecognized(text)
  return { kind: 'moment', start, amounts }
}

function startOf(text: string): Start {
  const [, word, zone] = CLOCK.exec(text) ?? []
  if (word === undefined) return { kind: 'written', text: text.trim() }
  const kind = word.toLowerCase() === 'now' ? 'now' : 'today'
  return { kind, ...(zone === undefined ? {} : { zone }) }
}

function amountsOf(text: string): readonly Amount[] {
  return [...text.matchAll(AMOUNT)].map(([, sign, digits = '', word = '']) => {
    const count = countOf(digits)
    return { count: sign === '+' ? count : -count, unit: unitOf(word) }
  })
}

function countOf(digits: string): number {
  if (!/^\d+$/.test(digits)) {
    throw new DatetimeError(
      `Amount must be a whole number without separators, got ${shown(digits)}; use a smaller unit for parts`,
    )
  }
  const count = Number(digits)
  if (!Number.isSafeInteger(count)) throw new DatetimeError(`Amount too large: ${shown(digits)}`)
  return count
}

function unitOf(word: string): Unit {
  const plural = `${word.toLowerCase().replace(/s$/, '')}s`
  const unit = UNITS.find((known) => known === plural)
  if (unit !== undefined) return unit
  throw new DatetimeError(`Unknown unit: ${shown(word)}; use one of ${UNITS.join(', ')}`)
}

/** What the model reads of a command that has no known form. */
export function unrecognized(text: string): DatetimeError {
  const got = text === '' ? 'the command is blank' : shown(text)
  return new DatetimeError(`Unrecognized command: ${got}. Known forms: ${FORMS}`)
}
