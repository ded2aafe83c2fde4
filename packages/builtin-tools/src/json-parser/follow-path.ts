/** Going down a JSON value along a path. */
import { JsonError, startOf } from './json-error.ts'
import { isJsonArray, isJsonMap, type JsonValue } from './json-value.ts'

import type { JsonStep } from './json-path.ts'

/** A path: its text and its steps. */
export interface JsonPath {
  readonly text: string
  readonly steps: readonly JsonStep[]
}

/** Keys of an object that a message names, at most. */
const SHOWN_KEYS = 10

/**
 * The value at the end of a path. A number after a dot is an index where there is an array.
 *
 * @throws {JsonError} saying how far the path led and what is there.
 */
export function followPath(value: JsonValue, { text, steps }: JsonPath): JsonValue {
  let current = value
  let reached = ''
  for (const step of steps) {
    const next = childOf(current, step)
    if (next === undefined) throw noSuchChild(current, step, { text, reached })
    current = next
    reached = text.slice(0, step.end)
  }
  return current
}

function childOf(value: JsonValue, step: JsonStep): JsonValue | undefined {
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

function noSuchChild(value: JsonValue, step: JsonStep, { text, reached }: Place): JsonError {
  const where = reached === '' ? 'the whole' : `'${startOf(reached)}'`
  if (isJsonArray(value) && isIndex(step)) {
    const { length } = value
    const name = startOf(step.name)
    return new JsonError(`Array index out of bounds: ${name}: ${where} is ${arrayOf(length)}`)
  }
  return new JsonError(`Path not found: '${startOf(text)}': ${where} is ${describe(value)}`)
}

function describe(value: JsonValue): string {
  if (isJsonArray(value)) return `${arrayOf(value.length)}; its path goes on with [n]`
  if (isJsonMap(value)) return `an object with ${keysOf(value)}`
  if (value === null) return 'null'
  return typeof value === 'object' ? 'a number' : `a ${typeof value}`
}

function arrayOf(length: number): string {
  if (length === 0) return 'an empty array'
  return length === 1
    ? 'an array of one element, [0]'
    : `an array of ${length} elements, [0] to [${length - 1}]`
}

function keysOf(value: ReadonlyMap<string, JsonValue>): string {
  if (value.size === 0) return 'no keys'
  const names = [...value.keys()].slice(0, SHOWN_KEYS).map((key) => JSON.stringify(startOf(key)))
  const more = value.size > SHOWN_KEYS ? ` and ${value.size - SHOWN_KEYS} more` : ''
  return `the keys ${names.join(', ')}${more}`
}
