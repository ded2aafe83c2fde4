/** Pure: the gist of a text. */

/** A text in one line, cut where a line of the page ends anyway. */
export function toOneLine(text: string, length = 200): string {
  // Only the beginning is looked at: a text may be megabytes long.
  return text
    .slice(0, length * 2)
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, length)
}
