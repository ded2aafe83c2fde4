/**
 * Pure: how the embedded store searches texts with FTS5.
 *
 * A stored text is the id of the run followed by its search text. It is indexed by trigrams, and a phrase of trigrams is
 * exactly a part of the text. Two breaks at its end let each character begin a trigram, so terms of one or two
 * characters are the beginnings of trigrams.
 */
import { BREAK, normalizeForSearch, toSearchText } from '../../shared/search-text.ts'

import type { NewRun } from '../../../domain/run-record.ts'

/** Number of characters of a trigram. */
const TRIGRAM = 3

/** Follows a beginning in the greatest trigram: the greatest character, twice. */
const GREATEST = '\u{10ffff}'.repeat(2)

/** Returns the text that is stored for a run. */
export function toStoredText(run: Pick<NewRun, 'runId' | 'inputs' | 'tags'>): string {
  return ['', encodeId(run.runId), toSearchText(run), '', ''].join(BREAK)
}

export interface SearchTerm {
  /** A run matches if its stored text contains one of these: the term, or the start of an id. */
  readonly needles: readonly string[]
  /** The query of the index; absent if a needle is shorter than a trigram. */
  readonly query?: string
  /** For each needle, the first and the last trigram that begins with it, if one is shorter than a trigram. */
  readonly ranges: readonly (readonly [first: string, last: string])[]
}

/** Converts the text of a query; undefined for the empty text, which all runs contain. */
export function toSearchTerm(text: string): SearchTerm | undefined {
  const term = normalizeForSearch(text)
  if (term === '') return undefined
  const needles = IS_ID_START.test(term) ? [term, BREAK + encodeId(term)] : [term]
  if ([...term].length < TRIGRAM) {
    return { needles, ranges: needles.map((needle) => [needle, needle + GREATEST]) }
  }
  const query = needles.map((needle) => `"${needle.replaceAll('"', '""')}"`).join(' OR ')
  return { needles, query, ranges: [] }
}

const IS_ID_START = /^[A-Z0-9_-]+$/

const ID_SIGNS = '0123456789_-'
const ENCODED_SIGNS = 'àáâãäåæçèéêë'

/** Encodes an id in lower-case letters. A search text has none, so no part of it is like a part of an id. */
function encodeId(id: string): string {
  return id
    .toLowerCase()
    .replaceAll(/[0-9_-]/g, (sign) => ENCODED_SIGNS[ID_SIGNS.indexOf(sign)] ?? sign)
}
