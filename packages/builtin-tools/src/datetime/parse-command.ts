/** Parses the form of a command; its dates and zones are parsed elsewhere. */
import { DatetimeError, quoteText } from './datetime-error.ts'

/** A parsed command. */
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

/** The start of a calculation: the current time, optionally in a zone, or a written one. */
export type Start =
  | { readonly kind: 'now' | 'today'; readonly zone?: string }
  | { readonly kind: 'written'; readonly text: string }

/** A number of units; a negative `count` is subtracted. */
export interface Amount {
  readonly count: number
  readonly unit: Unit
}

const UNITS = ['seconds', 'minutes', 'hours', 'days', 'weeks', 'months', 'years'] as const

/** Temporal's name of a unit of time. */
export type Unit = (typeof UNITS)[number]

/** The forms of a command, for the model. */
export const FORMS =
  'now; now in <zone>; today; today in <zone>; <date or datetime> + <number> <unit> (or -); ' +
  'convert <datetime> from <zone> to <zone>'

/** Maximum number of characters of a command; enough for three zones and several amounts. */
const MAX_LENGTH = 300

const CLOCK = /^(now|today)(?:\s+in\s+(.+))?$/i
const CONVERT = /^convert\s+(.+?)(?:\s+from\s+(.+?))?\s+to\s+(.+)$/i
/** Units have at least two letters, so the Z of a time is not a unit. */
const AMOUNTS = /(?:\s*[+−-]\s*\d[\d.,]*\s*[a-z]{2,})+$/i
const AMOUNT = /([+−-])\s*(\d[\d.,]*)\s*([a-z]+)/gi

/**
 * Parses a command.
 *
 * @throws {DatetimeError} for an unknown form.
 */
export function parseCommand(input: string): DatetimeCommand {
  const text = input.trim()
  if (text.length > MAX_LENGTH) throw unrecognizedCommand(text)
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
  const amounts = index === -1 ? [] : parseAmounts(text.slice(index))
  const start = parseStart(index === -1 ? text : text.slice(0, index))
  if (start.kind === 'written' && amounts.length === 0) throw unrecognizedCommand(text)
  return { kind: 'moment', start, amounts }
}

function parseStart(text: string): Start {
  const [, word, zone] = CLOCK.exec(text) ?? []
  if (word === undefined) return { kind: 'written', text: text.trim() }
  const kind = word.toLowerCase() === 'now' ? 'now' : 'today'
  return { kind, ...(zone === undefined ? {} : { zone }) }
}

function parseAmounts(text: string): readonly Amount[] {
  return [...text.matchAll(AMOUNT)].map(([, sign, digits = '', word = '']) => {
    const count = parseCount(digits)
    return { count: sign === '+' ? count : -count, unit: parseUnit(word) }
  })
}

function parseCount(digits: string): number {
  if (!/^\d+$/.test(digits)) {
    throw new DatetimeError(
      `Amount must be a whole number without separators, got ${quoteText(digits)}; use a smaller unit for fractions`,
    )
  }
  const count = Number(digits)
  if (!Number.isSafeInteger(count))
    throw new DatetimeError(`Amount too large: ${quoteText(digits)}`)
  return count
}

function parseUnit(word: string): Unit {
  const plural = `${word.toLowerCase().replace(/s$/, '')}s`
  const unit = UNITS.find((known) => known === plural)
  if (unit !== undefined) return unit
  throw new DatetimeError(`Unknown unit: ${quoteText(word)}; use one of ${UNITS.join(', ')}`)
}

/** Creates the error of a command with an unknown form. */
export function unrecognizedCommand(text: string): DatetimeError {
  const got = text === '' ? 'the command is blank' : quoteText(text)
  return new DatetimeError(`Unrecognized command: ${got}. Known forms: ${FORMS}`)
}
