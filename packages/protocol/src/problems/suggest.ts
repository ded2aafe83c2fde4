/** Suggestions ("did you mean") for mistyped words. */
import { shortList, shortText } from './short-text.ts'

/** Maximum length of compared words: the work grows with the square of the length. */
const MAX_LENGTH = 48

/** Maximum number of known words that are compared; the list can come from the request itself. */
const MAX_CANDIDATES = 100

/** Returns the known word that is most similar to this one; undefined when none is similar enough. */
export function suggest(word: string, known: Iterable<string>): string | undefined {
  if (word.length > MAX_LENGTH) return undefined
  const wanted = normalizeName(word)
  let best: string | undefined
  let bestDistance = Math.max(1, Math.floor(wanted.length / 3)) + 1
  let compared = 0
  for (const candidate of known) {
    if (compared === MAX_CANDIDATES) break
    compared += 1
    if (candidate.length > MAX_LENGTH) continue
    const distance = measureEditDistance(wanted, normalizeName(candidate))
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance]
  }
  return best
}

/** Describes an unknown name. It and the known ones can come from a request, so all are truncated. */
export function unknownName(kind: string, name: string, known: readonly string[]): string {
  const meant = suggest(name, known)
  const hint = meant === undefined ? '' : `. Did you mean '${meant}'?`
  return `Unknown ${kind} '${shortText(name)}'. Available: [${shortList(known)}]${hint}`
}

/** Removes differences of case and separators: `max_iterations` equals `maxIterations`. */
function normalizeName(word: string): string {
  return word.toLowerCase().replaceAll(/[_\-\s]/g, '')
}

/**
 * Returns the number of edits (insert, delete, replace, swap of neighbors) between two words. Both are short: see
 * `MAX_LENGTH`.
 */
function measureEditDistance(from: string, to: string): number {
  let [beforeLast, last, current] = [createRow(), createRow(), createRow()]
  for (let column = 0; column <= to.length; column++) last[column] = column
  for (let row = 1; row <= from.length; row++) {
    current[0] = row
    const letter = from.charCodeAt(row - 1)
    const letterBefore = from.charCodeAt(row - 2)
    for (let column = 1; column <= to.length; column++) {
      const other = to.charCodeAt(column - 1)
      const replaced = at(last, column - 1) + (letter === other ? 0 : 1)
      const cost = Math.min(at(last, column) + 1, at(current, column - 1) + 1, replaced)
      const isSwap =
        row > 1 && column > 1 && letter === to.charCodeAt(column - 2) && letterBefore === other
      current[column] = isSwap ? Math.min(cost, at(beforeLast, column - 2) + 1) : cost
    }
    ;[beforeLast, last, current] = [last, current, beforeLast]
  }
  return at(last, to.length)
}

function createRow(): Uint8Array {
  return new Uint8Array(MAX_LENGTH + 1)
}

function at(row: Uint8Array, column: number): number {
  return row[column] ?? 0
}
