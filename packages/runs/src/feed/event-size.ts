/** Estimates the size of events in memory. Pure. */

/** Number of characters that a value takes in addition to its texts. */
const PER_VALUE = 8

/** Estimates the size of a value as JSON without serializing it: the characters of all texts, plus a constant per value. */
export function eventSize(value: unknown): number {
  if (typeof value === 'string') return value.length + PER_VALUE
  if (typeof value !== 'object' || value === null) return PER_VALUE
  let size = PER_VALUE
  // `Object.entries` would allocate a pair for each field of each event.
  for (const key of Object.keys(value)) size += key.length + eventSize(Reflect.get(value, key))
  return size
}
