/**
 * Pure: the index of search texts. A text contains a term only if it contains every gram of the term, up to three
 * characters each, so an index of grams finds the few texts to search.
 */

/** Maximum number of characters of a gram. */
const LONGEST = 3

/**
 * Number of different grams above which a text is not indexed, because its rows in the index would be many. Such texts
 * are searched one by one.
 */
const MAX_GRAMS = 4_000

/** Returns the different grams of a text as numbers of 16 bits, or undefined when there are too many. */
export function toGrams(text: string): readonly number[] | undefined {
  const grams = new Set<number>()
  for (let at = 0; at < text.length; at += 1) {
    for (let length = 1; length <= LONGEST && at + length <= text.length; length += 1) {
      grams.add(hashGram(text, at, length))
    }
    if (grams.size > MAX_GRAMS) return undefined
  }
  return [...grams]
}

/** Returns the longest grams of a search term, which imply the shorter ones. */
export function toTermGrams(term: string): readonly number[] {
  const length = Math.min(LONGEST, term.length)
  const grams = new Set<number>()
  for (let at = 0; at + length <= term.length; at += 1) grams.add(hashGram(term, at, length))
  return [...grams].slice(0, MAX_GRAMS)
}

/** Hashes the gram at a position. Two grams with the same hash only cause a search of a text without the term. */
function hashGram(text: string, at: number, length: number): number {
  let hash = 0
  for (let index = at; index < at + length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x9e37_79b1)
    hash ^= hash >>> 15
  }
  return (hash << 16) >> 16
}
