/**
 * Parses `Retry-After`, which is a number of seconds or a date.
 *
 * @returns milliseconds from `now`; undefined when the value is missing or invalid
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
