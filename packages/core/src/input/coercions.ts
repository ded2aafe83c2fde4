/**
 * Coercion of text. Each result is only a candidate: it replaces the text where it matches the schema and the text does not.
 *
 * CORE-C1 A number or boolean written as text becomes the number or boolean; without truncation or rounding.
 * CORE-C2 JSON text of an object or a list becomes that object or list.
 * CORE-C3 There are no other coercions: numbers do not become text, except as CORE-I1 says, and empty text does not become
 *    null.
 */
import { parseExactJson } from '@tutti/protocol/internal'

import { parseIntegerText, parseNumberText } from './numeric-text.ts'

/**
 * Returns the candidates for a text, of the requested JSON types; there is never more than one. `parse` reads JSON text.
 */
export function coerceText(
  text: string,
  wants: (type: string) => boolean,
  parse: (text: string) => unknown = parseExactJson,
): readonly unknown[] {
  const number = wants('number') ? parseNumberText(text) : undefined
  if (number !== undefined) return [number]
  const integer = wants('number') || wants('bigint') ? parseIntegerText(text) : undefined
  if (integer !== undefined) return [integer]
  const word = text.trim()
  if (/^(?:true|false)$/i.test(word)) {
    return wants('boolean') ? [word.toLowerCase() === 'true'] : []
  }
  if (!(word.startsWith('{') && wants('object')) && !(word.startsWith('[') && wants('array')))
    return []
  try {
    return [parse(word)]
  } catch (error) {
    const isUnreadable = error instanceof SyntaxError || error instanceof RangeError
    if (!isUnreadable) throw error
    return []
  }
}
