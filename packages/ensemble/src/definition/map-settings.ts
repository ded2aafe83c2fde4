/** Checks the settings of a map over items. No I/O. */
import type { MapSettings } from './operations.ts'

/** Default maximum number of items. */
export const DEFAULT_MAX_ITEMS = 100

/** Reactions of a map to a failed task. */
const ERROR_REACTIONS = ['fail', 'continue', 'collect'] as const

/**
 * Returns the problems of the settings of a map, one text each.
 *
 * @param count number of its items, once it is known.
 */
export function findMapProblems(
  { maxItems = DEFAULT_MAX_ITEMS, onError = 'fail', ...settings }: MapSettings,
  count?: number,
): readonly string[] {
  const { maxParallel = 1, maxFailures, until } = settings
  const problems: string[] = []
  if (!ERROR_REACTIONS.includes(onError)) {
    problems.push(`onError must be one of ${ERROR_REACTIONS.join(', ')}, got ${onError}`)
  }
  for (const [name, value, min] of [
    ['maxItems', maxItems, 1],
    ['maxParallel', maxParallel, 1],
    ['maxFailures', maxFailures ?? 0, 0],
    ['until.succeeded', until?.succeeded ?? 1, 1],
  ] as const) {
    if (!(Number.isInteger(value) && value >= min)) {
      problems.push(`${name} must be an integer >= ${min}, got ${value}`)
    }
  }
  if (maxFailures !== undefined && onError === 'fail') {
    problems.push("maxFailures needs onError 'continue' or 'collect'")
  }
  if (count === undefined) return problems
  if (count > maxItems) problems.push(`maxItems is ${maxItems}, got ${count} items`)
  if (until !== undefined && until.succeeded > count) {
    problems.push(`until.succeeded is ${until.succeeded}, got ${count} items`)
  }
  return problems
}
