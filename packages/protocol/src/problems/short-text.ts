/** Shortening of values and lists for messages, so that an error is never much larger than its cause. */

/** Maximum length of a quoted value, in UTF-16 code units. */
const MAX_QUOTED = 100

/** Maximum number of names in a list. */
const MAX_NAMES = 30

/** Returns the text, truncated with `…` if it is longer than `maxLength`; never half of a surrogate pair. */
export function shortText(text: string, maxLength = MAX_QUOTED): string {
  if (text.length <= maxLength) return text
  const end = /[\uD800-\uDBFF]/.test(text.charAt(maxLength - 2)) ? maxLength - 2 : maxLength - 1
  return `${text.slice(0, end)}…`
}

/** Returns `a, b, c`, or the first names and the number of others. Each name is truncated. */
export function shortList(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).map((name) => shortText(name))
  const rest = names.length - shown.length
  return rest === 0 ? shown.join(', ') : `${shown.join(', ')} and ${rest} more`
}
