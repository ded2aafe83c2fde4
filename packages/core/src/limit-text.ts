/** `text` cut to `maxLength` characters with a note of its full length; a negative limit is none. */
export function limitText(text: string, maxLength: number): string {
  if (maxLength < 0 || text.length <= maxLength) return text
  return `${wholeCharacters(text, maxLength)}\n[truncated: ${text.length} characters in full]`
}

/** The first `length` UTF-16 units of `text`, one less where that would split a character in two. */
export function wholeCharacters(text: string, length: number): string {
  const last = text.charCodeAt(length - 1)
  const splits = last >= 0xd800 && last <= 0xdbff
  return text.slice(0, splits ? length - 1 : length)
}
