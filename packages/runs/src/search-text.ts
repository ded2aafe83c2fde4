/**
 * Pure: what a run is found by, beside its id: the values of its tags and inputs, in any case. Stores keep it
 * beside the run and look for a part of it, so that all find the same whatever their database takes for the
 * same letter.
 */
import type { RunRecord } from './run-record.ts'

/** Between two values: no text that is looked for has it, so that none is found over the end of a value. */
const BREAK = '\u0001'

/** In place of what cannot be kept. */
const REPLACED = '\ufffd'

/** What the values of a run are looked for in. */
export function searchTextOf({ inputs, tags }: Pick<RunRecord, 'inputs' | 'tags'>): string {
  return [...Object.values(tags).map(String), ...Object.values(inputs)].map(toSearched).join(BREAK)
}

/**
 * A text as it is looked for: in upper case, which is the same for every form of a letter, and without what
 * not every database can hold.
 */
export function toSearched(text: string): string {
  const whole = text.toWellFormed().replaceAll('\0', REPLACED).replaceAll(BREAK, REPLACED)
  return whole.toUpperCase()
}
