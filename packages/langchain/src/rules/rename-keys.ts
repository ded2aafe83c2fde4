/** Renames keys in JSON text. Pure. */

/** A string in JSON, also one that the end of the text cuts, and a colon after it if it is a key. */
const STRINGS = /"(?:[^"\\]|\\[^])*\\?(?:"|$)(?=(\s*:)?)/g

/**
 * Returns JSON text in which every key in `names` has its new name. Everything else is unchanged, including the
 * digits of numbers and text that is not valid JSON.
 */
export function renameKeys(json: string, names: ReadonlyMap<string, string>): string {
  if (names.size === 0) return json
  return json.replaceAll(STRINGS, (text, colon: string | undefined) => {
    const name = colon === undefined ? undefined : names.get(readString(text))
    return name === undefined ? text : JSON.stringify(name)
  })
}

function readString(text: string): string {
  if (!text.includes('\\')) return text.slice(1, -1)
  try {
    return String(JSON.parse(text))
  } catch {
    return text
  }
}
