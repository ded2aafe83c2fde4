/** Reads fields of JSON that another system sent: a field of another type is absent. Pure. */
import { isJsonObject } from '@tutti/core/internal'

/** An object of a service's answer. */
export type Json = Readonly<Record<string, unknown>>

/** Returns a field of `value`; undefined when `value` is not an object. */
export function readField(value: unknown, key: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

/** Returns `value` if it is an object. */
export function readObject(value: unknown): Json | undefined {
  return isJsonObject(value) ? value : undefined
}

/** Returns the objects of a list, or of one object; empty for anything else. */
export function readObjects(value: unknown): readonly Json[] {
  return (Array.isArray(value) ? value : [value]).filter((entry): entry is Json =>
    isJsonObject(entry),
  )
}

/** Returns `value` if it is a text with characters. */
export function readNonEmpty(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Returns a scalar as text: some services send a token such as `42` as a number. */
export function readScalar(value: unknown): string {
  return typeof value === 'string'
    ? value
    : typeof value === 'number' || typeof value === 'boolean'
      ? String(value)
      : ''
}

/** Returns an index, also one that was sent as text. */
export function readIndex(value: unknown): number | undefined {
  const index = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value
  return typeof index === 'number' && Number.isSafeInteger(index) && index >= 0 ? index : undefined
}

/** Returns the JSON text of arguments, which some services send as an object. */
export function readArgumentText(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value)
}

/** Parses JSON; undefined when `text` is not JSON. */
export function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
