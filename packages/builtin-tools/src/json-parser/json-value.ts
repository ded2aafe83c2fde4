/**
 * A JSON value without loss: numbers keep their digits, objects keep the order of their keys, and `__proto__` is an
 * ordinary key.
 */
export type JsonValue =
  | string
  | boolean
  | null
  | JsonNumber
  | readonly JsonValue[]
  | ReadonlyMap<string, JsonValue>

/** A number with its original digits; as a double, 12345678901234567890 would lose its last digits. */
export interface JsonNumber {
  readonly digits: string
}

/** Returns whether a value is an object. */
export function isJsonMap(value: JsonValue): value is ReadonlyMap<string, JsonValue> {
  return value instanceof Map
}

/** Returns whether a value is an array. */
export function isJsonArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value)
}

/** Formats a value for people and models: a string without quotes, everything else as compact JSON. */
export function formatJson(value: JsonValue): string {
  return typeof value === 'string' ? value : writeJson(value)
}

function writeJson(value: JsonValue): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (isJsonArray(value)) return `[${value.map((item) => writeJson(item)).join(',')}]`
  if (isJsonMap(value)) {
    const members = [...value].map(([key, item]) => `${JSON.stringify(key)}:${writeJson(item)}`)
    return `{${members.join(',')}}`
  }
  return value.digits
}
