/** How many lines a change adds and removes. */
export interface LineChanges {
  readonly linesAdded: number
  readonly linesRemoved: number
}

/**
 * Counts the lines between the first and the last that differ: at least as many as a diff has, and
 * counted in one pass. A line is told from another by its end too.
 */
export function lineChanges(before: string, after: string): LineChanges {
  const [old, fresh] = [linesOf(before), linesOf(after)]
  const shorter = Math.min(old.length, fresh.length)
  let start = 0
  while (start < shorter && old[start] === fresh[start]) start += 1
  let end = 0
  while (end < shorter - start && old.at(-1 - end) === fresh.at(-1 - end)) end += 1
  return { linesAdded: fresh.length - start - end, linesRemoved: old.length - start - end }
}

function linesOf(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? []
}
