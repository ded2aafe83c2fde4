/**
 * A subscription of one reader, with its position.
 *
 * CLIENT-S1 Every event of one run is passed on once and in order: each socket resumes at the next `seq`.
 * CLIENT-S2 Events that arrive before the server has acknowledged a subscription belong to the previous one and are
 *    dropped.
 * CLIENT-S3 A subscription to every run passes on no event twice, and each open review once.
 * CLIENT-S4 A subscription to one run ends after its `run_result`.
 */
import { BoundedMap } from '@tutti/protocol/internal'

import { TuttiClientError } from '../errors.ts'
import { placeEvent, startCursor, type EventCursor } from '../events/event-cursor.ts'
import { EventQueue } from './event-queue.ts'

import type { LoggedRunEvent, RunEvent } from '@tutti/protocol'
import type { Subscribe } from '@tutti/protocol/internal'

/** Default maximum number of events that wait for a loop: some seconds of a run that streams fast. */
const MAX_WAITING = 10_000

/** Maximum number of runs whose last `seq`, and of reviews that are remembered when every run is followed. */
const MAX_MARKS = 10_000

/** Maximum number of consecutive sockets that may miss the same event; after that the log itself is broken. */
const MAX_GAPS = 5

/** Event after which a subscription to one run ends. */
export const LAST_TYPE = 'run_result'

/** A subscription's options, resolved. */
export interface FollowedEvents {
  /** Undefined for every run. */
  readonly runId: string | undefined
  readonly from: number | undefined
  /** Undefined for all. */
  readonly types: readonly RunEvent['type'][] | undefined
  readonly maxWaiting?: number | undefined
  readonly onEvent: ((event: LoggedRunEvent) => void) | undefined
  readonly onEnd: ((error?: unknown) => void) | undefined
  /** Called when the loop ends. */
  readonly onLeave: () => void
}

/** A subscription and its position. */
export class Subscription {
  readonly #followed: FollowedEvents
  readonly #queue: EventQueue<LoggedRunEvent>
  /** Run → last `seq` that was passed on, when every run is followed. */
  readonly #marks = new BoundedMap<string, number>(MAX_MARKS)
  readonly #reviews = new BoundedMap<string, true>(MAX_MARKS)
  #cursor: EventCursor
  #gaps = 0
  #isInForce = false
  #isOver = false

  constructor(followed: FollowedEvents) {
    const { from, types, maxWaiting = MAX_WAITING, onLeave } = followed
    this.#followed = followed
    this.#queue = new EventQueue(maxWaiting, onLeave)
    this.#cursor = startCursor(from, types !== undefined)
  }

  /** Whether the subscription has ended. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** The followed run; undefined for every run. */
  get runId(): string | undefined {
    return this.#followed.runId
  }

  /** Id of the last event that was passed on. */
  get lastEventId(): string | undefined {
    return this.#cursor.lastEventId
  }

  /** The message that resumes the subscription at its position. */
  get message(): Subscribe {
    const { runId, types } = this.#followed
    const events = types === undefined ? [] : [...new Set([...types, LAST_TYPE] as const)]
    if (runId === undefined) return { type: 'subscribe', events }
    const from = this.#cursor.nextSeq ?? this.#cursor.from ?? 0
    return { type: 'subscribe', events, runId, from, repeats: 'omit' }
  }

  /** Called for a new socket. It sends every run at once, and one run only after a subscription. */
  greeted(): void {
    this.#isInForce = this.#followed.runId === undefined
  }

  /** Called when the server has acknowledged the subscription. */
  confirmed(): void {
    this.#isInForce = true
  }

  /** Yields the events for a loop. */
  read(): AsyncGenerator<LoggedRunEvent, void> {
    return this.#queue.read()
  }

  /**
   * Takes a received event.
   *
   * @throws {TuttiClientError} BAD_RESPONSE when one before it is missing.
   */
  take(event: LoggedRunEvent): void {
    if (!this.advance(event)) return
    const { types, onEvent, runId } = this.#followed
    if (types === undefined || types.includes(event.type)) {
      onEvent?.(event)
      // A subscription with a listener has no loop, so events need not wait.
      const error = onEvent === undefined ? this.#queue.push(event) : undefined
      if (error !== undefined) this.#finish(error)
    }
    if (runId !== undefined && event.type === 'run_result') this.end()
  }

  /**
   * Advances the position if this is the next event, also for an unknown type; returns whether it is.
   *
   * @throws {TuttiClientError} BAD_RESPONSE when one before it is missing.
   */
  advance(event: { type?: string; runId: string; seq: number; id: string }): boolean {
    if (!this.#isInForce || this.#isOver) return false
    const { runId } = this.#followed
    if (runId === undefined) return this.#advanceAll(event)
    if (event.runId !== runId) return false
    const placement = placeEvent(this.#cursor, event)
    if (placement.kind === 'gap') throw this.#missing(placement.expectedSeq, event.seq)
    if (placement.kind === 'seen') return false
    this.#cursor = placement.cursor
    this.#gaps = 0
    return true
  }

  /** Ends the subscription, with an error if it failed. */
  end(end: { readonly error?: unknown } = {}): void {
    if (this.#isOver) return
    this.#queue.end(end)
    this.#finish(end.error)
  }

  #finish(error?: unknown): void {
    this.#isOver = true
    this.#followed.onEnd?.(error)
  }

  #advanceAll({ type, runId, seq, id }: { type?: string; runId: string; seq: number; id: string }) {
    const last = this.#marks.get(runId) ?? -1
    if (type === 'review_requested') {
      if (this.#reviews.has(id)) return false
      this.#reviews.set(id, true)
    } else if (seq <= last) return false
    this.#marks.set(runId, Math.max(seq, last))
    this.#cursor = { ...this.#cursor, lastEventId: id }
    return true
  }

  #missing(expected: number, got: number): TuttiClientError {
    this.#gaps += 1
    const message = `Expected event ${expected} of run "${this.#followed.runId}", got ${got}`
    return new TuttiClientError('BAD_RESPONSE', message, { retryable: this.#gaps < MAX_GAPS })
  }
}
