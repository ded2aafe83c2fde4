/** Numbers that were written as text. */

/** A number of JSON; its whole part, fraction and exponent. @see https://www.rfc-editor.org/rfc/rfc8259#section-6 */
const JSON_NUMBER = /^-?(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/**
 * The number that a text spells, with or without space round it; nothing when the text is not a
 * number of JSON, or when a whole number would not come out as it is written.
 *
 * A fraction may lose digits that no double holds, as it does in JSON itself.
 */
export function numberFromText(text: string): number | undefined {
  const trimmed = text.trim()
  const parts = JSON_NUMBER.exec(trimmed)
  if (parts === null) return undefined
  const number = Number(trimmed)
  if (!Number.isFinite(number)) return undefined
  if (Number.isInteger(number) && !isSameDecimal(trimmed, String(number))) return undefined
  return number === 0 ? 0 : number
}

/** Whether two texts of JSON numbers spell the same number, however large. */
function isSameDecimal(a: string, b: string): boolean {
  if (a === b) return true
  const [left, right] = [decimalOf(a), decimalOf(b)]
  return left.digits === right.digits && (left.digits === '' || left.exponent === right.exponent)
}

/** The number as a whole one times a power of ten, without zeros at either end. */
function decimalOf(text: string): { digits: string; exponent: number } {
  const [, whole = '', fraction = '', exponent = '0'] = JSON_NUMBER.exec(text) ?? []
  const all = `${whole}${fraction}`.replace(/^0+/, '')
  let end = all.length
  while (all[end - 1] === '0') end--
  const shift = all.length - end - fraction.length
  return { digits: all.slice(0, end), exponent: Number(exponent) + shift }
}
