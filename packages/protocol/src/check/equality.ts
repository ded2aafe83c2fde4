/** Equality of JSON values, in counted steps. */
import type { CheckRun } from './check-run.ts'
import { isJsonObject } from '../schema-node.ts'

/** Number of characters that are hashed in the time of a step. */
const CHARACTERS_PER_STEP = 16

/** Returns whether a value is compared by `===`. */
export function isScalarValue(value: unknown): boolean {
  return (typeof value !== 'object' || value === null) && !Number.isNaN(value)
}

/** Returns whether two values are the same JSON value; the order of fields does not count. */
export function isDeepEqual(left: unknown, right: unknown, run: CheckRun): boolean {
  run.spend(1)
  if (left === right) return true
  if (Array.isArray(left)) {
    return (
      Array.isArray(right) &&
      left.length === right.length &&
      left.every((item, index) => isDeepEqual(item, right[index], run))
    )
  }
  if (!isJsonObject(left) || !isJsonObject(right)) return false
  const keys = Object.keys(left)
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && isDeepEqual(left[key], right[key], run))
  )
}

/** Returns whether all items are different, in time that grows with their size and not with its square. */
export function areDifferent(items: readonly unknown[], run: CheckRun): boolean {
  const seen = new Set<unknown>()
  for (const item of items) {
    run.spend(1)
    const key = isScalarValue(item) && typeof item !== 'string' ? item : toKey(item, run)
    if (seen.has(key)) return false
    seen.add(key)
  }
  return true
}

/** Returns a text that is the same for equal values only. */
function toKey(value: unknown, run: CheckRun): string {
  run.spend(1)
  if (typeof value === 'string') {
    run.spend(value.length / CHARACTERS_PER_STEP)
    return JSON.stringify(value)
  }
  if (Array.isArray(value)) return `[${value.map((item) => toKey(item, run)).join()}]`
  if (!isJsonObject(value)) return `${typeof value} ${String(value)}`
  const keys = Object.keys(value).toSorted()
  return `{${keys.map((key) => `${toKey(key, run)}:${toKey(value[key], run)}`).join()}}`
}
