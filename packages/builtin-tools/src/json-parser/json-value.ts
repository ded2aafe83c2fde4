/**
 * JSON values as they are written: numbers keep their digits, objects keep the order of their keys,
 * and `__proto__` is a key like any other.
 */
export type JsonValue =
  | string
  | boolean
  | null
  | JsonNumber
  | readonly JsonValue[]
  | ReadonlyMap<string, JsonValue>

/** A number in the digits it was written with: as a double, 12345678901234567890 would lose its last. */
export interface JsonNumber {
  readonly digits: string
}

/** Whether a value is an object. */
export function isJsonMap(value: JsonValue): value is ReadonlyMap<string, JsonValue> {
  return value instanceof Map
}

/** Whether a value is an array. */
export function isJsonArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value)
}

/** A value as text for people and models: a string bare, all else as JSON without spaces. */
export function showJson(value: JsonValue): string {
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
