/**
 * JSON forms of the values that tools and handlers return.
 *
 * `JSON.stringify` silently drops what JSON cannot express: a `Map` becomes `{}`, NaN becomes null. A side effect may have
 * happened when a tool returns, so a value with a natural JSON form is converted, and only others are refused.
 *
 * CORE-V1 `Map` becomes an object if its keys are texts and numbers, else a list of entries; `Set` becomes a list.
 * CORE-V2 NaN, Infinity, an invalid `Date`, a `RegExp` and an error within a value become text.
 * CORE-V3 An object of a class has its fields and those of its getters. A `toJSON` method takes precedence.
 * CORE-V4 Functions, symbols, promises, streams, generators, other objects of the platform, and values that contain
 *    themselves are refused with their path and type.
 * CORE-V5 Fields with the value undefined are left out, and undefined items are null, as in JSON.
 */
import { pointer } from '@tutti/protocol/internal'

import { errorMessage } from './errors.ts'

/** A value as JSON, possibly with `bigint`; or the reason why it has no JSON form, with the path of the part. */
export type JsonForm =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string }

/** Returns the JSON form of a value: the value itself if it needs no conversion. Never throws. */
export function toJsonForm(value: unknown): JsonForm {
  const keys: (string | number)[] = []
  try {
    return { ok: true, value: convert(value, { keys, above: new Set() }) }
  } catch (error) {
    const path = keys.length === 0 ? 'the value' : keys.reduce<string>(pointer, '')
    return { ok: false, problem: `${path} ${explainRefusal(error)}` }
  }
}

function explainRefusal(error: unknown): string {
  if (error instanceof Refusal) return error.message
  return error instanceof RangeError
    ? 'is nested too deeply'
    : `cannot be read: ${errorMessage(error)}`
}

/** A part has no JSON form. The message follows its path. */
class Refusal extends Error {}

/** Position within the value. Mutable: it stays at the part whose conversion threw. */
interface Walk {
  readonly keys: (string | number)[]
  /** Objects that contain the part. */
  readonly above: Set<object>
}

function convert(value: unknown, walk: Walk): unknown {
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value) ? value : String(value)
    case 'function':
    case 'symbol':
      throw new Refusal(`is a ${typeof value}`)
    case 'object':
      return value === null ? value : convertOnce(value, walk)
    default:
      return value
  }
}

function convertOnce(value: object, walk: Walk): unknown {
  if (walk.above.has(value)) throw new Refusal('contains itself')
  walk.above.add(value)
  const converted = convertObject(value, walk)
  walk.above.delete(value)
  return converted
}

function convertObject(value: object, walk: Walk): unknown {
  if (Array.isArray(value)) return convertList(value, walk)
  const prototype: unknown = Object.getPrototypeOf(value)
  if ('toJSON' in value && typeof value.toJSON === 'function') return convertWithOwnForm(value)
  if (prototype === Object.prototype || prototype === null) return convertFields(value, walk)
  if (value instanceof Error) return errorMessage(value)
  if (value instanceof RegExp) return String(value)
  if (value instanceof Map) return convertMap(value, walk)
  if (value instanceof Set) return convertList([...value], walk)
  if (ArrayBuffer.isView(value) || isBoxed(value)) return value
  if (Symbol.toStringTag in value || Symbol.asyncIterator in value) {
    const name = describeClass(value)
    throw new Refusal(`is ${/^[AEIOU]/.test(name) ? 'an' : 'a'} ${name}`)
  }
  return convertFields(readInstance(value), walk)
}

/** Returns a value with a `toJSON` method, which decides about its form. */
function convertWithOwnForm(value: object): unknown {
  return value instanceof Date && Number.isNaN(value.getTime()) ? String(value) : value
}

function isBoxed(value: object): boolean {
  // oxlint-disable-next-line unicorn/no-instanceof-builtins -- text of another realm has a JSON form
  return value instanceof Number || value instanceof String || value instanceof Boolean
}

function convertList(items: readonly unknown[], walk: Walk): readonly unknown[] {
  const converted = Array.from(items, (item, index) => convertPart(index, item, walk))
  return converted.every((item, index) => Object.is(item, items[index])) ? items : converted
}

function convertMap(map: ReadonlyMap<unknown, unknown>, walk: Walk): unknown {
  const isRecord = [...map.keys()].every((key) => ['string', 'number'].includes(typeof key))
  return isRecord
    ? convertFields(Object.fromEntries([...map].map(([key, part]) => [String(key), part])), walk)
    : convertList([...map], walk)
}

function convertFields(fields: object, walk: Walk): object {
  let changed = false
  const converted: [string, unknown][] = []
  for (const [key, given] of Object.entries(fields)) {
    const part = convertPart(key, given, walk)
    changed ||= !Object.is(part, given)
    converted.push([key, part])
  }
  return changed ? Object.fromEntries(converted) : fields
}

function convertPart(key: string | number, part: unknown, walk: Walk): unknown {
  if (typeof part === 'string' || typeof part === 'boolean' || part === undefined) return part
  walk.keys.push(key)
  const converted = convert(part, walk)
  walk.keys.pop()
  return converted
}

/** Returns the fields of an object of a class, with those of its getters; the object itself if it has none. */
function readInstance(value: object): object {
  const getters: [string, unknown][] = []
  for (
    let prototype: unknown = Object.getPrototypeOf(value);
    typeof prototype === 'object' && prototype !== null && prototype !== Object.prototype;
    prototype = Object.getPrototypeOf(prototype)
  ) {
    for (const [key, { get }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
      if (get !== undefined && !Object.hasOwn(value, key)) getters.push([key, get.call(value)])
    }
  }
  if (getters.length === 0) return value
  // The getter of a subclass replaces the one that it inherits.
  return { ...Object.fromEntries(getters.toReversed()), ...value }
}

function describeClass(value: object): string {
  const { constructor } = value
  const tag = Object.prototype.toString.call(value).slice(8, -1)
  return tag === 'Object' ? constructor.name || 'stream' : tag
}
