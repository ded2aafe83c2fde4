/** Checks the settings of a map over items. No I/O. */
import { findOptionProblems, type OptionNames } from '@tutti/core/internal'
import { isTemplateName, previewOf, type Problem } from '@tutti/protocol/internal'

import type { MapOptions, MapSettings } from './operations.ts'

/** Default name of the template variable for an item. */
export const DEFAULT_ITEM_VARIABLE = 'item'

/** Whether a variable is the item with the name `as`, or a field of it. */
export function isItemVariable(variable: string, as = DEFAULT_ITEM_VARIABLE): boolean {
  return variable === as || variable.startsWith(`${as}.`)
}

/** Default name of the template variable for the texts of a reduction. */
export const DEFAULT_TEXTS_VARIABLE = 'items'

/** Default maximum number of items. */
export const DEFAULT_MAX_ITEMS = 100

/** Values of the settings that name one of several behaviors. */
const CHOICES: readonly (readonly [keyof MapSettings, readonly string[]])[] = [
  ['onError', ['fail', 'continue', 'collect']],
  ['collect', ['list', 'outputs']],
]

/** Names of the options of a map. */
export const MAP_NAMES = {
  as: true,
  key: true,
  maxItems: true,
  maxParallel: true,
  maxFailures: true,
  until: true,
  onError: true,
  collect: true,
} as const satisfies OptionNames<MapOptions<never>>

/** Returns the problems of the arguments of a call of `map`, which plain JavaScript can contain, one text each. */
export function findCallProblems(items: unknown, options: MapOptions<never>): readonly string[] {
  const { as, key } = options
  const problems = [...findOptionProblems(options, MAP_NAMES), ...findKeyProblems(key)]
  if (as !== undefined && !isTemplateName(as)) {
    problems.push(`as must be the name of a template variable, got ${previewOf(as)}`)
  }
  if (!Array.isArray(items)) problems.push(`the items must be a list, got ${previewOf(items)}`)
  return problems
}

/** Returns the problems of a key, one text each. */
export function findKeyProblems(key: unknown): readonly string[] {
  const isKey = key === undefined || typeof key === 'function' || typeof key === 'string'
  return isKey ? [] : [`key must be a function or the path of a field, got ${previewOf(key)}`]
}

/**
 * Returns the problems of the settings of a map, with the paths of their options.
 *
 * @param count number of its items, once it is known.
 */
export function findMapProblems(settings: MapSettings, count?: number): readonly Problem[] {
  const { maxItems = DEFAULT_MAX_ITEMS, onError = 'fail' } = settings
  const { maxParallel = 1, maxFailures, until } = settings
  const problems: Problem[] = []
  for (const [name, known] of CHOICES) {
    const value = settings[name]
    if (value === undefined || known.some((one) => one === value)) continue
    const message = `must be one of ${known.join(', ')}, got ${previewOf(value)}`
    problems.push({ path: `/${name}`, message })
  }
  for (const [path, value, min] of [
    ['/maxItems', maxItems, 1],
    ['/maxParallel', maxParallel, 1],
    ['/maxFailures', maxFailures ?? 0, 0],
    ['/until/succeeded', until?.succeeded ?? 1, 1],
  ] as const) {
    if (!(Number.isInteger(value) && value >= min)) {
      problems.push({ path, message: `must be an integer >= ${min}, got ${value}` })
    }
  }
  if (maxFailures !== undefined && onError === 'fail') {
    problems.push({ path: '/maxFailures', message: "needs onError 'continue' or 'collect'" })
  }
  if (until !== undefined && until.succeeded > maxItems) {
    const message = `must be at most maxItems, which is ${maxItems}, got ${until.succeeded}`
    problems.push({ path: '/until/succeeded', message })
  }
  if (count === undefined) return problems
  if (maxItems >= 1 && count > maxItems) {
    problems.push({ path: '/maxItems', message: `is ${maxItems}, got ${count} items` })
  } else if (until !== undefined && until.succeeded > count) {
    problems.push({
      path: '/until/succeeded',
      message: `is ${until.succeeded}, got ${count} items`,
    })
  }
  return problems
}
