/** Pure: JSON that acts on no terminal. */

/**
 * Returns a value as JSON. `JSON.stringify` escapes the control characters below U+0020 only; DEL, the C1 codes and the
 * marks that change the direction of writing are escaped here. The value that a parser reads is the same.
 */
export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replaceAll(ACTING, escaped)
}

// oxlint-disable-next-line no-control-regex -- control characters are what it is about
const ACTING = /[\u007F-\u009F\u200E\u200F\u202A-\u202E\u2066-\u2069]/g

function escaped(character: string): string {
  return String.raw`\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
