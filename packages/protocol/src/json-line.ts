/** Line breaks that JSON allows in a text, and that readers such as `str.splitlines` of Python take for the end of a line. */
const LINE_BREAKS = /[\u0085\u2028\u2029]/g

/** Escapes line breaks in JSON text that is written as a line, as in Server-Sent Events. Parsers read the same values. */
export function escapeLineBreaks(json: string): string {
  return json.replace(
    LINE_BREAKS,
    (character) => String.raw`\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
