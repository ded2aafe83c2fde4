/**
 * Reads `Retry-After`: seconds, or a date; undefined when there is none.
 *
 * @returns milliseconds from `now`
 * @see https://www.rfc-editor.org/rfc/rfc9110#field.retry-after
 */
export function readRetryAfter(value: string | null, now = Date.now()): number | undefined {
  if (value === null) return undefined
  if (/^\d+$/.test(value)) return Number(value) * 1_000
  // A text without letters is not an HTTP date, but `Date.parse` accepts it.
  const at = /[a-z]/i.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}
