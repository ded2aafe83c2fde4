/** "Did you mean": the known word that is closest to a mistyped one. */

/** Longer words are not compared: the work grows with the square of the length. */
const MAX_LENGTH = 48

/** Maximum number of known words that are compared; the list can come from the request itself. */
const MAX_CANDIDATES = 200

/** The known word that is nearly this one, or nothing when none is near enough. */
export function suggest(word: string, known: Iterable<string>): string | undefined {
  if (word.length > MAX_LENGTH) return undefined
  const wanted = plain(word)
  let best: string | undefined
  let bestDistance = Math.max(1, Math.floor(wanted.length / 3)) + 1
  let compared = 0
  for (const candidate of known) {
    if (compared === MAX_CANDIDATES) break
    compared += 1
    if (candidate.length > MAX_LENGTH) continue
    const distance = editDistance(wanted, plain(candidate))
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance]
  }
  return best
}

/** Case and separators are no difference: `max_iterations` is `maxIterations`. */
function plain(word: string): string {
  return word.toLowerCase().replaceAll(/[_\-\s]/g, '')
}

/** Edits (insert, delete, replace, swap of neighbours) from one word to the other. */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1]
      let cost = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (same ? 0 : 1),
      )
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      if (row > 1 && column > 1 && swapped) cost = Math.min(cost, at(beforeLast, column - 2) + 1)
      current.push(cost)
    }
    ;[beforeLast, last] = [last, current]
  }
  return at(last, to.length)
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY
}
