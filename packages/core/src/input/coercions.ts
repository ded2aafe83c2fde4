/**
 * The values that a text may mean. Each is only a candidate: it takes the place of the text where it
 * fits and the text does not.
 *
 * CORE-C1 A number or a boolean as text is the number or the boolean; nothing is truncated or rounded.
 * CORE-C2 JSON text of an object or a list is that object or list.
 * CORE-C3 Nothing else: no number becomes text, and empty text becomes nothing.
 */
import { parseNumberText } from './numeric-text.ts'

/**
 * What a text may mean besides itself, of the JSON types that are wanted; no text means more than one
 * thing.
 */
export function coerceText(text: string, wants: (type: string) => boolean): readonly unknown[] {
  const number = wants('number') ? parseNumberText(text) : undefined
  if (number !== undefined) return [number]
  const word = text.trim()
  if (/^(?:true|false)$/i.test(word)) {
    return wants('boolean') ? [word.toLowerCase() === 'true'] : []
  }
  if (!(word.startsWith('{') && wants('object')) && !(word.startsWith('[') && wants('array')))
    return []
  try {
    return [JSON.parse(word)]
  } catch {
    return []
  }
}
