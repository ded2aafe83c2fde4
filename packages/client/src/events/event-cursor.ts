/**
 * Pure: the position of a reader in the events of a run.
 *
 * CLIENT-K1 Events are `next` in order and each once, even if the server repeats or reorders them.
 * CLIENT-K2 Without a type filter no event is skipped: a missing `seq` is a gap, and the cursor does not move.
 * CLIENT-K3 A lost connection does not change the cursor: after a connection that received no event, the next one
 *    resumes at the same position.
 */
import type { EventPosition } from '@tutti/protocol/internal'

/** A position in the events of a run. */
export interface EventCursor {
  /** First `seq` that the caller wants; a negative one counts from the end. */
  readonly from: number | undefined
  /** Whether the caller wants some types only, so that numbers may be missing. */
  readonly filtered: boolean
  /** `seq` of the next event; undefined until the server determines it. */
  readonly nextSeq: number | undefined
  /** Id of the last received event. */
  readonly lastEventId: string | undefined
}

/** Relation of an event to the cursor: the next one, one that was received before, or one after a gap. */
export type Placement =
  | { readonly kind: 'next'; readonly cursor: EventCursor }
  | { readonly kind: 'seen' }
  | { readonly kind: 'gap'; readonly expectedSeq: number }

/** Returns the cursor of a reader that has received nothing. */
export function startCursor(from: number | undefined, filtered: boolean): EventCursor {
  const nextSeq = from === undefined ? 0 : from
  return { from, filtered, nextSeq: nextSeq < 0 ? undefined : nextSeq, lastEventId: undefined }
}

/** Compares a received event with the cursor. */
export function placeEvent(
  cursor: EventCursor,
  { seq, id }: Pick<EventPosition, 'seq' | 'id'>,
): Placement {
  const { nextSeq = seq, filtered } = cursor
  if (seq < nextSeq) return { kind: 'seen' }
  if (seq > nextSeq && !filtered) return { kind: 'gap', expectedSeq: nextSeq }
  return { kind: 'next', cursor: { ...cursor, nextSeq: seq + 1, lastEventId: id } }
}

/** Parts of a request that resumes at a cursor. */
export interface StreamPosition {
  readonly query: { readonly from: number | undefined }
  readonly headers: Readonly<Record<string, string>>
}

/** Returns the position at which a request resumes: after the last received event, else where the caller begins. */
export function resumePoint({ from, nextSeq, lastEventId }: EventCursor): StreamPosition {
  if (lastEventId === undefined) return { query: { from }, headers: {} }
  // An id that is not valid in a header would fail every attempt; its number means the same.
  if (!/^[\x21-\x7e]+$/.test(lastEventId)) return { query: { from: nextSeq }, headers: {} }
  return { query: { from: undefined }, headers: { 'last-event-id': lastEventId } }
}
