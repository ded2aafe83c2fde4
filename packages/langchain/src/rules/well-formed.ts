/** Replaces lone surrogates with U+FFFD: JSON with a lone surrogate is refused by every provider. Pure. */

/** An escape in JSON, or a run of escaped code units. */
const ESCAPES = /(?:\\u[0-9a-fA-F]{4})+|\\[^]/g

const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/

/** Returns JSON text whose strings are well-formed, also where it has escapes; other escapes are unchanged. */
export function toWellFormedJson(json: string): string {
  const text = json.toWellFormed()
  if (!SURROGATE_ESCAPE.test(text)) return text
  return text.replaceAll(ESCAPES, (escapes) => {
    if (!SURROGATE_ESCAPE.test(escapes)) return escapes
    // NOTE: a run of escapes is the content of a JSON string.
    const value = String(JSON.parse(`"${escapes}"`))
    return value.isWellFormed() ? escapes : JSON.stringify(value.toWellFormed()).slice(1, -1)
  })
}

/** Returns whether all texts of a JSON value are well-formed, names of properties included. */
export function isWellFormedValue(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(
    ([name, each]) => name.isWellFormed() && isWellFormedValue(each),
  )
}

/** Returns a copy of a JSON value with well-formed texts; the value itself when they are well-formed. */
export function toWellFormedValue<T>(value: T): T {
  if (isWellFormedValue(value)) return value
  // NOTE: boundary cast: texts are replaced by texts.
  return JSON.parse(toWellFormedJson(JSON.stringify(value))) as T
}
