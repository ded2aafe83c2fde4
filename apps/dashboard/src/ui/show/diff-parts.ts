/** Compares two texts by words, or by lines if they are long. */
import { diffLines, diffWordsWithSpace } from 'diff'

/** Part of one text or of both. */
export interface DiffPart {
  readonly value: string
  /** Absent if both texts have the part. */
  readonly change?: 'added' | 'removed'
}

/** Maximum length of both texts, in characters, for a diff by words. */
const MAX_FOR_WORDS = 20_000

/** Maximum number of changes, because the time of a diff grows with their square. */
const MAX_CHANGES = 2_000

/** Returns the parts of both texts in order. Texts that differ too much are one removed and one added part. */
export function findDiffParts(before: string, after: string): readonly DiffPart[] {
  const isShort = before.length + after.length <= MAX_FOR_WORDS
  const limits = { maxEditLength: MAX_CHANGES }
  const parts =
    (isShort ? diffWordsWithSpace(before, after, limits) : undefined) ??
    diffLines(before, after, limits)
  if (parts === undefined) {
    return [
      { value: before, change: 'removed' },
      { value: after, change: 'added' },
    ]
  }
  return parts.map(({ value, added, removed }) => {
    if (added) return { value, change: 'added' }
    return removed ? { value, change: 'removed' } : { value }
  })
}
