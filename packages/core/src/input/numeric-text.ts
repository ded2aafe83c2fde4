/** Numbers that were written as text. */

/** A number of JSON, with the digits before and after its point. @see https://www.rfc-editor.org/rfc/rfc8259#section-6 */
const JSON_NUMBER = /^-?(0|[1-9]\d*)(?:\.(\d+))?(?:[eE][+-]?\d+)?$/

/**
 * The number that a text spells, with or without space round it; nothing when the text is not a
 * number of JSON, or when a whole number would not come out as it is written.
 *
 * A fraction may lose digits that no double holds, as it does in JSON itself.
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

/** The digits of a number without zeros at either end: what is left of it when its size is known. */
function extractDigits(text: string): string {
  const [, whole = '', fraction = ''] = JSON_NUMBER.exec(text) ?? []
  const all = `${whole}${fraction}`.replace(/^0+/, '')
  let end = all.length
  while (all[end - 1] === '0') end--
  return all.slice(0, end)
}
