/**
 * Pure: where a reader stands in the events of a run.
 *
 * K1 The events that are `next` are in order and each is so once, whatever the server sends.
 * K2 With every type asked for, none is passed over: a missing `seq` is a gap, and the cursor stays.
 * K3 A cursor is lost by nothing: a connection that brought no event resumes where the one before did.
 */
import type { EventPosition } from '@tutti/protocol'

/** A place in the events of a run. */
export interface EventCursor {
  /** Where the caller asked to begin; negative counts from the end. */
  readonly from: number | undefined
  /** True when the caller asked for some types only, so that numbers may be missing. */
  readonly filtered: boolean
  /** `seq` of the event to come; undefined as long as only the server knows it. */
  readonly nextSeq: number | undefined
  /** Id of the last event that came. */
  readonly lastEventId: string | undefined
}

/** What an event is to a reader: the next one, one that was there before, or one that comes too early. */
export type Placement =
  | { readonly kind: 'next'; readonly cursor: EventCursor }
  | { readonly kind: 'seen' }
  | { readonly kind: 'gap'; readonly expectedSeq: number }

/** The cursor of a reader that has seen nothing. */
export function startCursor(from: number | undefined, filtered: boolean): EventCursor {
  const nextSeq = from === undefined ? 0 : from
  return { from, filtered, nextSeq: nextSeq < 0 ? undefined : nextSeq, lastEventId: undefined }
}

/** Places an event that has come. */
export function placeEvent(
  cursor: EventCursor,
  { seq, id }: Pick<EventPosition, 'seq' | 'id'>,
): Placement {
  const { nextSeq = seq, filtered } = cursor
  if (seq < nextSeq) return { kind: 'seen' }
  if (seq > nextSeq && !filtered) return { kind: 'gap', expectedSeq: nextSeq }
  return { kind: 'next', cursor: { ...cursor, nextSeq: seq + 1, lastEventId: id } }
}

/** What a request says to go on from a cursor. */
export interface StreamPosition {
  readonly query: { readonly from: number | undefined }
  readonly headers: Readonly<Record<string, string>>
}

/** How to go on from `cursor`: after the last event that came, else where the caller asked to begin. */
export function resumePoint({ from, nextSeq, lastEventId }: EventCursor): StreamPosition {
  if (lastEventId === undefined) return { query: { from }, headers: {} }
  // An id that no header can carry would fail every try; its number says the same.
  if (!/^[\x21-\x7e]+$/.test(lastEventId)) return { query: { from: nextSeq }, headers: {} }
  return { query: { from: undefined }, headers: { 'last-event-id': lastEventId } }
}
