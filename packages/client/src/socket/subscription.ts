/**
 * What one reader follows over a connection, and where it stands.
 *
 * S1 Of one run every event is given once and in order: each socket goes on at the next `seq`.
 * S2 Nothing is given between a new socket, or a new subscription, and the server's word that it is in
 *    force: what comes then belongs to what was followed before.
 * S3 Of every run, what was given is not given again; a review that waits is told to each reader once.
 * S4 A subscription to one run ends after its `run_result`.
 */
import { TuttiClientError } from '../errors.ts'
import { placeEvent, startCursor, type EventCursor } from '../events/event-cursor.ts'
import { EventQueue } from './event-queue.ts'

import type { LoggedRunEvent, RunEvent, Subscribe } from '@tutti/protocol'

/** Events that may wait for a loop: some seconds of a run that streams fast. */
const MAX_WAITING = 10_000

/** Runs of which it is kept what was given, when every run is followed. */
const MAX_MARKS = 10_000

/** Sockets in a row that may leave out the same event before the log itself must be broken. */
const MAX_GAPS = 5

/** Types that the connection itself needs, whoever reads. */
export const NEEDED_TYPES = ['run_result', 'review_decided'] as const

/** What is followed, with every choice made. */
export interface FollowedEvents {
  /** Undefined for every run. */
  readonly runId: string | undefined
  readonly from: number | undefined
  /** Undefined for all. */
  readonly types: readonly RunEvent['type'][] | undefined
  readonly maxWaiting?: number | undefined
  readonly onEvent: ((event: LoggedRunEvent) => void) | undefined
  readonly onEnd: ((error?: unknown) => void) | undefined
  /** Told when the loop is left. */
  readonly onLeave: () => void
}

/** A place in what is followed. */
export class Subscription {
  readonly #followed: FollowedEvents
  readonly #queue: EventQueue<LoggedRunEvent>
  /** Run → last `seq` that was given, when every run is followed. */
  readonly #marks = new Map<string, number>()
  readonly #reviews = new Set<string>()
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

  /** Whether nothing more comes. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Id of the last event that was given. */
  get lastEventId(): string | undefined {
    return this.#cursor.lastEventId
  }

  /** What the server is to be told, to go on where this stands. */
  get message(): Subscribe {
    const { runId, types } = this.#followed
    const events = types === undefined ? [] : [...new Set([...types, ...NEEDED_TYPES])]
    if (runId === undefined) return { type: 'subscribe', events }
    const from = this.#cursor.nextSeq ?? this.#cursor.from ?? 0
    return { type: 'subscribe', events, runId, from }
  }

  /** A new socket is there: it sends every run, and nothing of one run before it is told so. */
  greeted(): void {
    this.#isInForce = this.#followed.runId === undefined
  }

  /** The server has said that the subscription is in force. */
  confirmed(): void {
    this.#isInForce = true
  }

  /** The events for a loop. */
  read(): AsyncGenerator<LoggedRunEvent, void> {
    return this.#queue.read()
  }

  /**
   * Takes an event that came.
   *
   * @throws {TuttiClientError} BAD_RESPONSE when one before it is missing.
   */
  take(event: LoggedRunEvent): void {
    if (!this.advance(event)) return
    const { types, onEvent, runId } = this.#followed
    if (types === undefined || types.includes(event.type)) {
      onEvent?.(event)
      // Those who listen do not loop; then nothing needs to wait.
      const error = onEvent === undefined ? this.#queue.push(event) : undefined
      if (error !== undefined) this.#finish(error)
    }
    if (runId !== undefined && event.type === 'run_result') this.end()
  }

  /**
   * Whether something is the next event, and counts it as given then; also for a type that nobody knows.
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

  /** Ends it, with an error when it has failed. */
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
      this.#reviews.add(id)
    } else if (seq <= last) return false
    this.#marks.delete(runId)
    this.#marks.set(runId, Math.max(seq, last))
    if (this.#marks.size > MAX_MARKS) this.#forgetOldest()
    this.#cursor = { ...this.#cursor, lastEventId: id }
    return true
  }

  #forgetOldest(): void {
    const [oldest] = this.#marks.keys()
    if (oldest !== undefined) this.#marks.delete(oldest)
  }

  #missing(expected: number, got: number): TuttiClientError {
    this.#gaps += 1
    const message = `Run "${this.#followed.runId}" must go on with event ${expected}, got ${got}`
    return new TuttiClientError('BAD_RESPONSE', message, { retryable: this.#gaps < MAX_GAPS })
  }
}
