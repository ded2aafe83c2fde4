/** Numbers written as text. */
import { MAX_INTEGER_DIGITS } from '@tutti/protocol/internal'

/**
 * JSON number; the groups are the digits before and after the point. @see
 * https://www.rfc-editor.org/rfc/rfc8259#section-6
 */
const JSON_NUMBER = /^-?(0|[1-9]\d*)(?:\.(\d+))?(?:[eE][+-]?\d+)?$/

/**
 * Returns the number that a text spells, with or without surrounding space; undefined when the text is not a JSON
 * number, or is an integer that a double cannot represent exactly.
 *
 * A fraction may lose digits that a double cannot hold, as in JSON itself.
 */
export function parseNumberText(text: string): number | undefined {
  const trimmed = text.trim()
  if (!JSON_NUMBER.test(trimmed)) return undefined
  const number = Number(trimmed)
  const written = String(number)
  if (!Number.isFinite(number)) return undefined
  const isRounded = written !== trimmed && extractDigits(written) !== extractDigits(trimmed)
  if (Number.isInteger(number) && isRounded) return undefined
  return number === 0 ? 0 : number
}

/** Returns the integer that a text spells in plain digits; undefined for any other text. */
export function parseIntegerText(text: string): bigint | undefined {
  const trimmed = text.trim()
  return trimmed.length <= MAX_INTEGER_DIGITS && /^-?(?:0|[1-9]\d*)$/.test(trimmed)
    ? BigInt(trimmed)
    : undefined
}

/** Returns the significant digits of a number, without zeros at either end. */
function extractDigits(text: string): string {
  const [, whole = '', fraction = ''] = JSON_NUMBER.exec(text) ?? []
  const all = `${whole}${fraction}`.replace(/^0+/, '')
  let end = all.length
  while (all[end - 1] === '0') end--
  return all.slice(0, end)
}
