/**
 * JSON with exact integers.
 *
 *   text ─parse─▶ value with `bigint` ─▶ text with the same digits
 *                        └─────────────▶ plain value: a number where exact, else the digits as text
 *
 * PROTO-XJ1 An integer literal that is not a safe integer becomes a `bigint`. Its digits never change.
 * PROTO-XJ2 A fraction has the precision of a JavaScript number, as in JSON itself. A number beyond its range is
 *    refused.
 * PROTO-XJ3 A `bigint` exists only within a call. Records, events and messages get plain values, because
 *    `JSON.stringify` refuses a `bigint`.
 * PROTO-XJ4 The text of a model, a tool or another service has at most 50,000 fields and items, and 1,000 levels. More
 *    is refused before it is parsed.
 * PROTO-XJ5 Its integers beyond 2^53 have at most 300,000 digits together, because reading and writing them takes long.
 */
import { findJsonExcess, VALUE_LIMITS } from './json-size.ts'
import {
  markLongIntegers,
  mayHaveLongNumbers,
  toMark,
  unmarkText,
  unmarkValue,
} from './long-numbers.ts'
import { pointer } from './json-pointer.ts'

/**
 * Parses JSON text.
 *
 * @throws {SyntaxError} when the text is not JSON.
 * @throws {RangeError} when a number is beyond the range of JavaScript, an integer has more than 4096 digits, or the text is
 * larger than PROTO-XJ4 and PROTO-XJ5
 * allow.
 */
export function parseExactJson(text: string): unknown {
  const excess = findJsonExcess(text, VALUE_LIMITS)
  if (excess !== undefined) throw new RangeError(`JSON ${excess}`)
  if (!mayHaveLongNumbers(text)) return JSON.parse(text)
  const marked = markLongIntegers(text)
  if (marked === text) return JSON.parse(text)
  return unmarkValue(parseMarked(marked, text), (integer) => integer)
}

/** Parses marked text. An error is that of the original text. */
function parseMarked(marked: string, text: string): unknown {
  try {
    return JSON.parse(marked)
  } catch {
    return JSON.parse(text)
  }
}

/**
 * Returns the JSON text of a value, with the digits of each `bigint` as a number; undefined when the value has no JSON
 * form, as `JSON.stringify`.
 *
 * @throws {TypeError} when the value contains itself, and the error of a getter or a `toJSON`.
 */
export function formatExactJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch (error) {
    if (!hasBigInt(value)) throw error
    const mark = (_key: string, part: unknown): unknown =>
      typeof part === 'bigint' ? toMark(part) : part
    return unmarkText(JSON.stringify(value, mark))
  }
}

/** Whether a value is or contains a `bigint`. Terminates for every value; a getter can throw. */
export function hasBigInt(value: unknown): boolean {
  return searchBigInt(value) !== undefined
}

/** A `bigint` with its JSON pointer. */
export interface FoundBigInt {
  readonly path: string
  readonly integer: bigint
}

/** Returns a `bigint` within a value; undefined when there is none. */
export function findBigInt(value: unknown): FoundBigInt | undefined {
  const found = searchBigInt(value)
  if (found === undefined) return undefined
  const keys: (string | number)[] = []
  for (let at: Part | undefined = found; at?.key !== undefined; at = at.parent) keys.push(at.key)
  return { path: keys.toReversed().reduce<string>(pointer, ''), integer: found.value }
}

/** A part of a value, with its position. */
interface Part<Value = unknown> {
  readonly value: Value
  readonly parent?: Part
  readonly key?: string | number
}

/** Number of objects after which a search remembers those that it has searched. Most values have fewer. */
const REMEMBER_AFTER = 10

function searchBigInt(value: unknown): Part<bigint> | undefined {
  if (typeof value === 'bigint') return { value }
  if (typeof value !== 'object' || value === null) return undefined
  const open: Part<object>[] = [{ value }]
  let searched = 0
  let seen: Set<object> | undefined
  for (let parent = open.pop(); parent !== undefined; parent = open.pop()) {
    const within = parent.value
    if (seen?.has(within) === true || ArrayBuffer.isView(within)) continue
    searched += 1
    if (searched > REMEMBER_AFTER) (seen ??= new Set()).add(within)
    for (const key of Array.isArray(within) ? within.keys() : Object.keys(within)) {
      const part: unknown = Reflect.get(within, key)
      if (typeof part === 'bigint') return { value: part, parent, key }
      if (typeof part === 'object' && part !== null) open.push({ value: part, parent, key })
    }
  }
  return undefined
}

/** Returns the value without `bigint`, as {@link toPlainNumber} converts them; the value itself when it has none. */
export function toPlainJson(value: unknown): unknown {
  return hasBigInt(value) ? mapBigInts(value, toPlainNumber) : value
}

/** Returns the integer as a number if the number has the same digits, and otherwise the digits as text. */
export function toPlainNumber(integer: bigint): number | string {
  const number = Number(integer)
  const digits = String(integer)
  return String(number) === digits && BigInt(number) === integer ? number : digits
}

/** Returns a copy of a value with each `bigint` of its lists and plain objects replaced. */
export function mapBigInts(value: unknown, map: (integer: bigint) => unknown): unknown {
  if (typeof value === 'bigint') return map(value)
  if (Array.isArray(value)) return value.map((item) => mapBigInts(item, map))
  if (typeof value !== 'object' || value === null || !isPlainObject(value)) return value
  const entries = Object.entries(value).map(([key, part]) => [key, mapBigInts(part, map)] as const)
  return Object.fromEntries(entries)
}

/** NOTE: the types of the language do not have the function yet; every supported version of Node has it. */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown }

/** Returns a copy of a value that `JSON.stringify` of other code writes with the digits of each `bigint`. Needs Node. */
export function toRawIntegers(value: unknown): unknown {
  return mapBigInts(value, (integer) => rawJSON(String(integer)))
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}
