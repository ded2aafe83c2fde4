/**
 * Maxima of the numbers in requests, configs and options. Each is far beyond any use, and small enough that the current
 * time plus a duration is a valid date, that thousands of values add up to a safe integer, and that the columns of every
 * store hold them.
 */

/** Maximum duration and delay, in milliseconds: 100 years of 365 days. */
export const MAX_DURATION_MS = 3_153_600_000_000

/** Maximum count: of tokens, calls, repetitions, entries, characters and bytes. */
export const MAX_COUNT = 1_000_000_000_000

/** Maximum cost and price, in US dollars. */
export const MAX_COST_USD = 1_000_000_000

/** Last time that a `Date` represents in a text with a year of four digits, in milliseconds since 1970. */
export const MAX_TIME_MS = 253_402_300_799_999

/** Returns the maximum of an option by the unit in its name: a duration, a cost or price, otherwise a count. */
export function maximumOf(name: string): number {
  if (name.endsWith('Ms')) return MAX_DURATION_MS
  return /Usd|PerMillion$/.test(name) ? MAX_COST_USD : MAX_COUNT
}

/**
 * Returns one problem for each number among `options` that exceeds its maximum; `owner` is, for example, `review`.
 * Infinity is not reported: whether it is allowed, as "no limit", depends on the option, and so does the minimum.
 */
export function findExcessProblems(options: object, owner?: string): readonly string[] {
  const where = owner === undefined ? '' : `${owner}.`
  const problems: string[] = []
  for (const name of Object.keys(options)) {
    const value: unknown = Reflect.get(options, name)
    if (typeof value !== 'number' || value === Infinity) continue
    const most = maximumOf(name)
    if (value > most) problems.push(`${where}${name} must be <= ${most}, got ${value}`)
  }
  return problems
}
