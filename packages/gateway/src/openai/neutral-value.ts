/** Pure: parameters that are not supported, with values that change nothing. */
import { isDeepStrictEqual } from 'node:util'

import type { Problem } from '@tutti/protocol/internal'

/**
 * Returns the problem of a parameter that is not supported. Values that change nothing have none: those in `neutral`,
 * null, and empty lists. An empty object has a meaning for some parameters, such as `web_search_options`.
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

/** Whether a value is null or an empty list. */
function isEmptyValue(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0)
}
