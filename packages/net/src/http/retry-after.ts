/**
 * Reads `Retry-After`: seconds, or a date; undefined when there is none.
 *
 * @returns milliseconds from `now`
 * @see https://www.rfc-editor.org/rfc/rfc9110#field.retry-after
 */
export function readRetryAfter(
  value: string | null | undefined,
  now = Date.now(),
): number | undefined {
  const text = value?.trim() ?? ''
  if (/^\d+$/.test(text)) return Number(text) * 1_000
  // A text without letters is not an HTTP date, but `Date.parse` accepts it.
  const at = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}
