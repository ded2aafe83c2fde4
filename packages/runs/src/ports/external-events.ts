/**
 * External events, and the open waits that they decide. A wait is an open review with `waitsFor`; the store has a row for each
 * of its events from the write that opens it to the write that closes it.
 *
 * RUNS-EV1 An event is stored once under its id. The same id with other content is a conflict.
 * RUNS-EV2 `assign` pairs events with free waits of the same name and key, the oldest event and the wait that opened first
 *    before others. An event has at most one wait, and a wait at most one event at a time.
 * RUNS-EV3 The write that records the decision of an event also records that the event was delivered. Every other end of the
 *    wait makes its event free again, in the same transaction.
 * RUNS-EV4 An event for one run is paired only with waits of that run, is refused after its end, and is deleted with it.
 * RUNS-EV5 An event that nothing waits for is refused when the maximum number of free events is stored, or when its sender
 *    has stored as many of them as still fit. So one sender fills at most half of the room that the others leave.
 * RUNS-EV6 A wait whose time has passed gets no event.
 * RUNS-EV7 Events are deleted when their age exceeds the retention, unless they are assigned, or are for one run that has not
 *    ended.
 */
import type { AwaitedEvent } from '@tutti/protocol/internal'

/** Something that another system reports, by name and key. */
export interface NewExternalEvent extends Readonly<AwaitedEvent> {
  readonly id: string
  /** The only run whose waits it decides; waits of all runs when absent. */
  readonly runId?: string
  /** Data as JSON. */
  readonly data: string
  /** Name of the key that sent it. */
  readonly sender?: string
}

/** Progress of a stored event. */
export type ExternalEventState =
  /** No wait has it. */
  | { readonly kind: 'free' }
  /** A wait has it, but has not recorded the decision. */
  | { readonly kind: 'assigned'; readonly runId: string; readonly reviewId: string }
  /** It decided a wait. The ids are absent when the run was deleted. */
  | { readonly kind: 'delivered'; readonly runId?: string; readonly reviewId?: string }
  /** Its data did not match the schema of a wait. */
  | { readonly kind: 'refused'; readonly reason: string }

/** A stored event that a wait has, without its data: many can be assigned at the same time. */
export interface AssignedEvent extends Omit<NewExternalEvent, 'runId' | 'data'> {
  readonly runId: string
  readonly reviewId: string
}

/** Outcome of adding an event. */
export type AddedEvent =
  | { readonly kind: 'added' | 'known'; readonly state: ExternalEventState }
  /** Another event has the id. */
  | { readonly kind: 'conflict' }
  /** The run does not exist, or has ended, so that it opens no more waits. */
  | { readonly kind: 'run_not_found' | 'run_ended' }
  /** Too many free events are stored, by all senders or by this one (RUNS-EV5). */
  | { readonly kind: 'full' }

/** Stores events until a wait has them, and pairs them with waits. */
export interface ExternalEventStore {
  /** Stores an event under its id. @param maxFree maximum number of free events of all senders */
  add(event: NewExternalEvent, maxFree: number): Promise<AddedEvent>
  /** Returns the progress of an event; undefined for an unknown id. */
  state(id: string): Promise<ExternalEventState | undefined>
  /** Returns the data of an event as JSON; undefined for an unknown id. */
  data(id: string): Promise<string | undefined>
  /**
   * Pairs free events with free waits (RUNS-EV2), and returns all events that are assigned, oldest first.
   *
   * @param now the present by the clock of the engine, in milliseconds since 1970.
   * @param events names and keys to look at; all when absent.
   */
  assign(now: number, events?: readonly AwaitedEvent[]): Promise<readonly AssignedEvent[]>
  /** Makes an assigned event free again, because its wait has ended otherwise. */
  giveBack(id: string): Promise<void>
  /** Ends an assigned event whose data does not match. */
  refuse(id: string, reason: string): Promise<void>
  /** Deletes an event that was not delivered. */
  remove(id: string): Promise<void>
  /** Deletes events that are older than `maxAgeMs`, up to `limit`; returns their number. */
  trim(maxAgeMs: number, limit: number): Promise<number>
}
