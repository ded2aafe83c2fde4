/** Pure: parameters that are not supported, with values that change nothing. */
import { isDeepStrictEqual } from 'node:util'

import type { Problem } from '@tutti/protocol'

/**
 * Returns the problem of a parameter that is not supported. Values that change nothing have none: those in `neutral`,
 * null, and lists and objects without a value.
 */
export function findNeutralProblem(
  path: string,
  value: unknown,
  neutral: readonly unknown[],
): readonly Problem[] {
  if (isEmptyValue(value) || neutral.some((one) => isDeepStrictEqual(one, value))) return []
  if (neutral.length === 0) return [{ path, message: 'is not supported' }]
  const values = neutral.map((one) => JSON.stringify(one)).join(' or ')
  return [{ path, message: `must be ${values}` }]
}

/** Whether a value is null, or a list or an object without a value. */
function isEmptyValue(value: unknown): boolean {
  if (value === undefined || value === null) return true
  if (typeof value !== 'object') return false
  return Array.isArray(value) ? value.length === 0 : Object.values(value).every(isEmptyValue)
}
