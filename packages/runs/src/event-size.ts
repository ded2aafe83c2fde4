/** Pure: about how much an event takes. */

/** Characters that a value takes besides its texts. */
const PER_VALUE = 8

/** Returns the characters in all texts of a value, and a little for each part; without making JSON of it. */
export function eventSize(value: unknown): number {
  if (typeof value === 'string') return value.length + PER_VALUE
  if (typeof value !== 'object' || value === null) return PER_VALUE
  let size = PER_VALUE
  for (const [key, part] of Object.entries(value)) size += key.length + eventSize(part)
  return size
}
