/** Recognizes JSON in text. Pure. */

/** Parses the JSON object or array in a text; undefined when the text is anything else. */
export function parseJsonContainer(text: string): object | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
