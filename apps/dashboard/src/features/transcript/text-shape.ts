/** Pure: whether a text is a value. */

/** The object or list that a text is the JSON of; undefined when it is not one. */
export function jsonOf(text: string): object | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

/** A text in one line, cut where a line of the page ends anyway. */
export function oneLine(text: string, length = 200): string {
  // Only the beginning is looked at: a text may be megabytes long.
  return text
    .slice(0, length * 2)
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, length)
}
