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
