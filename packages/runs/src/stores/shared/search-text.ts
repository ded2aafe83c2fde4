/**
 * Pure: search text of a run: its tag and input values, case-folded. Stores save this
 * text with the run and search it for a substring, so that all stores find the same runs, regardless of the collation
 * of their database.
 */
import type { RunRecord } from '../../domain/run-record.ts'

/** Separates values. Search terms cannot contain it, so that no match spans two values. */
export const BREAK = '\u0001'

/** Replaces characters that not every database can store. */
const REPLACED = '\ufffd'

/** Returns the search text of a run. */
export function toSearchText({ inputs, tags }: Pick<RunRecord, 'inputs' | 'tags'>): string {
  return [...Object.values(tags).map(String), ...Object.values(inputs)]
    .map(normalizeForSearch)
    .join(BREAK)
}

/**
 * Normalizes a text for search: upper case, which is the same for every form of a letter, and without characters that
 * not every database can store.
 */
export function normalizeForSearch(text: string): string {
  const whole = text.toWellFormed().replaceAll('\0', REPLACED).replaceAll(BREAK, REPLACED)
  return whole.toUpperCase()
}
