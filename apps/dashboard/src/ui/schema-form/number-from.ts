/** A number out of what somebody typed. */

/** The number that a text says; the text itself when it says none, undefined when there is none. */
export function numberFrom(text: string): number | string | undefined {
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  const number = Number(trimmed)
  return Number.isFinite(number) ? number : text
}
