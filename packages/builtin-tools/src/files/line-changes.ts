/** Numbers of lines that a change adds and removes. */
export interface LineChanges {
  readonly linesAdded: number
  readonly linesRemoved: number
}

/**
 * Counts the lines between the first and the last difference in one pass; a diff can have fewer. Lines with different
 * line breaks differ.
 */
export function countLineChanges(before: string, after: string): LineChanges {
  const [old, fresh] = [splitLines(before), splitLines(after)]
  const shorter = Math.min(old.length, fresh.length)
  let start = 0
  while (start < shorter && old[start] === fresh[start]) start += 1
  let end = 0
  while (end < shorter - start && old.at(-1 - end) === fresh.at(-1 - end)) end += 1
  return { linesAdded: fresh.length - start - end, linesRemoved: old.length - start - end }
}

function splitLines(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? []
}
