/**
 * Integers in JSON text that a JavaScript number cannot hold.
 *
 * `JSON.parse` rounds them silently. The text is scanned before it is parsed, and each of these integers is replaced by a
 * mark, an object with one random key. Every engine can do that, and a mark also survives code that parses the text itself.
 */
import { findStringEnd } from './json-size.ts'

/** Maximum number of digits of an integer; reading and writing longer ones takes more than linear time. */
export const MAX_INTEGER_DIGITS = 4096

/** Maximum number of digits of all integers of a text together: 5,000 rows with three ids of 20 digits. */
const MAX_ALL_DIGITS = 300_000

/** Key of a mark. It is random, so that no text from outside contains it. */
const MARK = `integer ${crypto.getRandomValues(new Uint32Array(4)).join('-')}`

const MARKED = new RegExp(`\\{"${MARK}":"(-?\\d+)"\\}`, 'g')

/** Text that may contain such a number: at least 16 digits, or an exponent of at least three. */
const SUSPICIOUS = /\d(?:\.?\d){15}|[eE]\+?\d{3}/

/** Whether a text may contain a number that `JSON.parse` changes. False for almost every text. */
export function mayHaveLongNumbers(text: string): boolean {
  return SUSPICIOUS.test(text)
}

/**
 * Returns JSON text with marks for the integers that a number cannot hold. Text that is not valid JSON remains invalid.
 *
 * @throws {RangeError} for an integer with more than {@link MAX_INTEGER_DIGITS} digits, for integers with more than 300,000
 * digits together, and for a number beyond the range of JavaScript.
 */
export function markLongIntegers(text: string): string {
  let marked = ''
  let copied = 0
  let digits = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = findStringEnd(text, at)
    } else if (isDigit(code)) {
      const start = text.charAt(at - 1) === '-' ? at - 1 : at
      NUMBER_END.lastIndex = at
      at = (NUMBER_END.exec(text)?.index ?? text.length) - 1
      const integer = readLongInteger(text.slice(start, at + 1))
      if (integer === undefined) continue
      digits += at + 1 - start
      if (digits > MAX_ALL_DIGITS) {
        throw new RangeError(
          `Integers beyond 2^53 can have at most ${MAX_ALL_DIGITS} digits together, got more up to ${shorten(text.slice(start, at + 1))}`,
        )
      }
      marked += `${text.slice(copied, start)}{"${MARK}":"${integer}"}`
      copied = at + 1
    }
  }
  return copied === 0 ? text : marked + text.slice(copied)
}

/** Returns a mark for an integer, which {@link unmarkText} replaces with its digits. */
export function toMark(integer: bigint): unknown {
  return { [MARK]: String(integer) }
}

/** Returns JSON text with the digits of its marks. */
export function unmarkText(text: string): string {
  return text.replaceAll(MARKED, '$1')
}

/**
 * Replaces each mark within a parsed value, in place, with the result of `read`, and returns the value. Works for any
 * depth.
 */
export function unmarkValue(value: unknown, read: (integer: bigint) => unknown): unknown {
  const root: Record<string, unknown> = { value }
  const open: object[] = [root]
  for (let parent = open.pop(); parent !== undefined; parent = open.pop()) {
    const keys = Array.isArray(parent) ? parent.keys() : Object.keys(parent)
    for (const key of keys) {
      const part: unknown = Reflect.get(parent, key)
      if (typeof part !== 'object' || part === null) continue
      if (Object.hasOwn(part, MARK)) {
        Reflect.set(parent, key, read(BigInt(String(Reflect.get(part, MARK)))))
      } else open.push(part)
    }
  }
  return root['value']
}

const QUOTE = 0x22

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

/** Character after a number; other signs can only be part of an invalid one. */
const NUMBER_END = /[^\d.eE+-]/g

/** JSON number. @see https://www.rfc-editor.org/rfc/rfc8259#section-6 */
const JSON_NUMBER = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/** Returns the integer that a literal spells, if a number cannot hold it; undefined for any other literal. */
function readLongInteger(literal: string): bigint | undefined {
  const parts = JSON_NUMBER.exec(literal)
  const number = Number(literal)
  if (parts === null || Number.isSafeInteger(number)) return undefined
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = parts
  if (whole.length > MAX_INTEGER_DIGITS) {
    throw new RangeError(
      `Integers can have at most ${MAX_INTEGER_DIGITS} digits, got ${shorten(literal)} with ${whole.length}`,
    )
  }
  if (sign + whole === literal) return BigInt(literal)
  if (!Number.isFinite(number)) {
    throw new RangeError(`Numbers must be between ±${Number.MAX_VALUE}, got ${shorten(literal)}`)
  }
  if (!Number.isInteger(number)) return undefined
  const digits = moveDecimalPoint(whole + fraction, Number(exponent) - fraction.length)
  // A number holds 1e300 as well as JSON does, but not 9007199254740993.0.
  if (digits === undefined || pickDigits(digits) === pickDigits(String(number))) return undefined
  return BigInt(sign + digits)
}

/** Returns the digits of an integer; undefined if other digits than zeros follow its decimal point. */
function moveDecimalPoint(digits: string, places: number): string | undefined {
  if (places >= 0) return digits + '0'.repeat(places)
  return /[1-9]/.test(digits.slice(places)) ? undefined : digits.slice(0, places)
}

/** Returns the significant digits of a number. */
function pickDigits(text: string): string {
  const [mantissa = ''] = text.split('e', 1)
  return mantissa.replaceAll(/\D/g, '').replace(/^0+/, '').replace(/0+$/, '')
}

function shorten(literal: string): string {
  return literal.length <= 40 ? literal : `${literal.slice(0, 39)}…`
}
