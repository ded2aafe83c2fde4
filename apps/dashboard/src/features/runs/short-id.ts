/** Pure: ids as a list shows them. */

/** Longest id that is shown whole. */
const WHOLE = 14

/** The start of an id, which is what one searches for, and its end, which differs most. */
export function shortId(id: string): string {
  return id.length <= WHOLE ? id : `${id.slice(0, 8)}…${id.slice(-4)}`
}
