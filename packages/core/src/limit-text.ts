/** `text` cut to `maxLength` characters with a note of its full length; a negative limit is none. */
export function limitText(text: string, maxLength: number): string {
  if (maxLength < 0 || text.length <= maxLength) return text
  return `${sliceWholeCharacters(text, maxLength)}\n[truncated: ${text.length} characters in full]`
}

/** The first `length` UTF-16 units of `text`, one less where that would split a character in two. */
export function sliceWholeCharacters(text: string, length: number): string {
  const last = text.charCodeAt(length - 1)
  const splits = last >= 0xd800 && last <= 0xdbff
  return text.slice(0, splits ? length - 1 : length)
}

/** Characters of an input that a reviewer is shown, as in AgentEnsemble. */
const SHOWN_INPUT_LENGTH = 200

/** The start of an input as a reviewer is shown it: text as it is, anything else as its JSON. */
export function startOfInput(input: unknown): string {
  // Not every value is JSON: nothing, for one, has no text.
  const json = (): string | undefined => JSON.stringify(input)
  const text = typeof input === 'string' ? input : (json() ?? '')
  if (text.length <= SHOWN_INPUT_LENGTH) return text
  return `${sliceWholeCharacters(text, SHOWN_INPUT_LENGTH)}…`
}
