/** Follows paths into JSON values. */
import { JsonError, shorten } from './json-error.ts'
import { isJsonArray, isJsonMap, type JsonValue } from './json-value.ts'

import type { JsonStep } from './json-path.ts'

/** A path with its text and its steps. */
export interface JsonPath {
  readonly text: string
  readonly steps: readonly JsonStep[]
}

/** Maximum number of keys of an object that a message names. */
const SHOWN_KEYS = 10

/**
 * Returns the value at the end of a path. A number after a dot is an index into an array.
 *
 * @throws {JsonError} naming the part of the path that exists and its value.
 */
export function followPath(value: JsonValue, { text, steps }: JsonPath): JsonValue {
  let current = value
  let reached = ''
  for (const step of steps) {
    const next = findChild(current, step)
    if (next === undefined) throw noSuchChildError(current, step, { text, reached })
    current = next
    reached = text.slice(0, step.end)
  }
  return current
}

function findChild(value: JsonValue, step: JsonStep): JsonValue | undefined {
  if (isJsonArray(value)) return isIndex(step) ? value[Number(step.name)] : undefined
  return isJsonMap(value) && step.kind === 'key' ? value.get(step.name) : undefined
}

function isIndex({ kind, name }: JsonStep): boolean {
  return kind === 'index' || /^\d+$/.test(name)
}

interface Place {
  readonly text: string
  readonly reached: string
}

function noSuchChildError(value: JsonValue, step: JsonStep, { text, reached }: Place): JsonError {
  const where = reached === '' ? 'the whole document' : `'${shorten(reached)}'`
  if (isJsonArray(value) && isIndex(step)) {
    const { length } = value
    const name = shorten(step.name)
    return new JsonError(`Array index out of bounds: ${name}: ${where} is ${describeArray(length)}`)
  }
  return new JsonError(`Path not found: '${shorten(text)}': ${where} is ${describe(value)}`)
}

function describe(value: JsonValue): string {
  if (isJsonArray(value)) return `${describeArray(value.length)}; continue the path with [n]`
  if (isJsonMap(value)) return `an object with ${describeKeys(value)}`
  if (value === null) return 'null'
  return typeof value === 'object' ? 'a number' : `a ${typeof value}`
}

function describeArray(length: number): string {
  if (length === 0) return 'an empty array'
  return length === 1
    ? 'an array of one element, [0]'
    : `an array of ${length} elements, [0] to [${length - 1}]`
}

function describeKeys(value: ReadonlyMap<string, JsonValue>): string {
  if (value.size === 0) return 'no keys'
  const names = [...value.keys()].slice(0, SHOWN_KEYS).map((key) => JSON.stringify(shorten(key)))
  const more = value.size > SHOWN_KEYS ? ` and ${value.size - SHOWN_KEYS} more` : ''
  return `the keys ${names.join(', ')}${more}`
}
