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
