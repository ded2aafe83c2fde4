import { formatExactJson } from '@tutti/protocol/basics'

/**
 * Returns `text` truncated to `maxLength` characters, with a note of its full length; a negative limit means no limit.
 */
export function limitText(text: string, maxLength: number): string {
  if (maxLength < 0 || text.length <= maxLength) return text
  return `${sliceWholeCharacters(text, maxLength)}\n[truncated: ${text.length} characters in full]`
}

/** Returns the first `length` UTF-16 units of `text`, one less where that would split a surrogate pair. */
export function sliceWholeCharacters(text: string, length: number): string {
  const last = text.charCodeAt(length - 1)
  const splits = last >= 0xd800 && last <= 0xdbff
  return text.slice(0, splits ? length - 1 : length)
}

/** Number of characters of an input that a reviewer sees. */
const SHOWN_INPUT_LENGTH = 200

/** Returns the start of an input for a reviewer: text unchanged, other values as JSON. */
export function startOfInput(input: unknown): string {
  const text = typeof input === 'string' ? input : (formatExactJson(input) ?? '')
  if (text.length <= SHOWN_INPUT_LENGTH) return text
  return `${sliceWholeCharacters(text, SHOWN_INPUT_LENGTH)}…`
}
