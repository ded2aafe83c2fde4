/** Character references of HTML, such as `&eacute;`, as the characters that they stand for. */

/** Names that are looked up at most: HTML has some 2 200. */
const MAX_NAMES = 2500

const REFERENCE = /&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][\da-z]{1,31});/gi

/** What a name stands for, such as `é` for `eacute`; undefined, or its reference, when for nothing. */
export type NamedCharacter = (name: string) => string | undefined

/**
 * Makes a function that replaces the references in texts. It asks for each name once, and leaves those
 * that stand for nothing as they are.
 */
export function referenceDecoder(namedCharacter: NamedCharacter): (text: string) => string {
  const known = new Map<string, string | undefined>()
  const byName = (name: string): string | undefined => {
    if (!known.has(name) && known.size < MAX_NAMES) known.set(name, namedCharacter(name))
    return known.get(name)
  }
  return (text) =>
    text.replace(REFERENCE, (reference) => {
      const name = reference.slice(1, -1)
      return name.startsWith('#') ? byNumber(name.slice(1)) : (byName(name) ?? reference)
    })
}

/** The character of a number such as `233` or `xE9`; of numbers of none, what browsers show. */
function byNumber(digits: string): string {
  const code = Number(/^x/i.test(digits) ? `0${digits}` : digits)
  if (code >= 0x80 && code <= 0x9f) {
    return new TextDecoder('windows-1252').decode(Uint8Array.of(code))
  }
  const isCharacter = code > 0 && code <= 0x10_ff_ff && !(code >= 0xd800 && code <= 0xdfff)
  return isCharacter ? String.fromCodePoint(code) : '\u{FFFD}'
}
