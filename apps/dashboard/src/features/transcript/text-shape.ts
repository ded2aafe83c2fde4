/** Shortens texts. Pure. */

/** Shortens a text to one line. */
export function toOneLine(text: string, length = 200): string {
  // Process only the start, because a text may be megabytes long.
  return text
    .slice(0, length * 2)
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, length)
}

/** Returns the end of a text as one line: its last line that is not empty, shortened at its start. */
export function toLastLine(text: string, length = 160): string {
  // Process only the end, because a text may be long and grows.
  const end = text.slice(-2 * length).trimEnd()
  const line = end.slice(end.lastIndexOf('\n') + 1)
  return toOneLine(line.slice(-length), length)
}
