/** Pure: how long an answer asks to wait. */

/**
 * The milliseconds that a `Retry-After` header asks for at the instant `now`; undefined when it is absent
 * or says nothing. It has seconds or a date.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9110#field.retry-after
 */
export function retryAfterMs(header: string | null, now: number): number | undefined {
  if (header === null) return undefined
  const text = header.trim()
  if (/^\d+$/.test(text)) return Number(text) * 1000
  // `Date.parse` takes bare numbers for years, so a date must begin with the name of its day.
  const at = /^[a-z]{3}/i.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}
