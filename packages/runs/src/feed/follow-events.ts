/**
 * Reads a run's events from the log and then live, with no gap and no duplicate.
 *
 * RUNS-F1 It yields exactly the events with `seq >= from`, in order, each once.
 * RUNS-F2 It ends after the terminal event, even if `from` is after it, and when the run is deleted.
 * RUNS-F3 A slow reader costs at most `MAX_WAITING` events and about `MAX_WAITING_BYTES` of memory. Further events are
 *    read from the log when the reader requests them. A batch that was yielded is not retained.
 * RUNS-F8 It throws CURSOR_PAST_END with the newest number when the log has lost events that it has yielded, as after a
 *    failover to a database that did not have them.
 */
import { isTerminalRunStatus, type LoggedRunEvent } from '@tutti/protocol'

import { logIsShorter } from '../domain/refusals.ts'
import { eventSize } from './event-size.ts'
import { readTurn } from './read-turns.ts'

import type { EventBus } from './event-bus.ts'
import type { EventPage } from '../ports/event-log.ts'
import type { RunRecord } from '../domain/run-record.ts'
import type { PagedLog } from './page-cache.ts'

/** Maximum number of events that wait in memory for one reader: some seconds of a busy run. */
const MAX_WAITING = 1_000

/** Maximum size of the waiting events in addition to the oldest batch, in bytes. */
const MAX_WAITING_BYTES = 256_000

/** Size of a page of the log. */
const PAGE = { limit: 500, maxBytes: 256_000 }

/**
 * Pages end at multiples of this number, so that readers who start at different events get the same pages from there on.
 * A smaller number would make more pages: those that end by their size rarely end at a multiple.
 */
const COMMON_END = 5_000

/** Size of the first page of a reader. It is read without waiting for a turn: less work than the request of its reader. */
const FIRST_PAGE = { limit: 50, maxBytes: 16_000 }

/** The log and the live events of a run. */
export interface FollowSource {
  readonly events: PagedLog
  readonly bus: Pick<EventBus, 'listen'>
  /** Returns the run, or undefined. Called when a read of the log finds no events. */
  readonly find: (runId: string) => Promise<Pick<RunRecord, 'status' | 'lastSeq'> | undefined>
}

/** Selects the events to follow. */
export interface FollowRunOptions {
  readonly runId: string
  readonly from: number
  readonly signal?: AbortSignal
}

/**
 * Yields events in batches as they arrive. Ends after the terminal event, when the run is deleted, and when `signal`
 * aborts.
 */
export function followEvents(source: FollowSource, options: FollowRunOptions): EventBatches {
  return new FollowedEvents(source, options)
}

/**
 * Follows a run that is about to be created. It listens at once, so every event is live, and the log is read only if an
 * event is missing.
 */
export function followNewRun(source: FollowSource, runId: string): EventBatches {
  const events = new FollowedEvents(source, { runId, from: 0 })
  events.expectLive()
  return events
}

export type EventBatches = AsyncIterableIterator<readonly LoggedRunEvent[], void>

type NextBatch = IteratorResult<readonly LoggedRunEvent[], void>

/** An iterator and not a generator: a suspended generator retains the batch that it yielded last (RUNS-F3). */
class FollowedEvents implements EventBatches {
  readonly #source: FollowSource
  readonly #options: FollowRunOptions
  readonly #live = new LiveEvents()
  #next: number
  #isOver = false
  #hasReadLog = false
  /** Undefined until the first batch is requested. */
  #stopListening: (() => void) | undefined

  constructor(source: FollowSource, options: FollowRunOptions) {
    this.#source = source
    this.#options = options
    this.#next = options.from
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** Listens from now on, before the first event of the run exists. */
  expectLive(): void {
    this.#listen()
    this.#live.caughtUp()
  }

  async next(): Promise<NextBatch> {
    const { signal } = this.#options
    const live = this.#live
    try {
      while (!this.#isOver && signal?.aborted !== true) {
        this.#listen()
        const page = live.complete ? undefined : await this.#readLog()
        const batch = page?.events ?? live.take(this.#next)
        const last = batch.at(-1)
        if (last !== undefined) {
          this.#advance(last)
          return { done: false, value: batch }
        }
        if (page !== undefined && !(await this.#mayGetEvents(page))) break
        await live.arrival(signal)
      }
    } catch (error) {
      this.#end()
      throw error
    }
    this.#end()
    return { done: true, value: undefined }
  }

  return(): Promise<NextBatch> {
    this.#end()
    return Promise.resolve({ done: true, value: undefined })
  }

  /** Continues after an event that is yielded. */
  #advance({ seq, type }: LoggedRunEvent): void {
    this.#next = seq + 1
    if (type === 'run_result') this.#end()
  }

  /**
   * Reads a page of the log. The live events take over once the page is empty, ends with the newest event of the run, or
   * reaches them. Events that are written after the read are live, because the reader listens before it.
   */
  async #readLog(): Promise<EventPage> {
    const live = this.#live
    live.restart()
    if (this.#hasReadLog) await readTurn()
    const size = this.#hasReadLog ? PAGE : FIRST_PAGE
    this.#hasReadLog = true
    const { runId } = this.#options
    const from = this.#next
    const limit = Math.min(size.limit, COMMON_END - (from % COMMON_END))
    const page = await this.#source.events.read({ runId, from, ...size, limit })
    const last = page.events.at(-1)
    if (last === undefined || last.seq === page.lastSeq) live.caughtUp()
    else live.continues(last.seq)
    return page
  }

  /** Whether the run may get events after an empty page. Throws if it has lost events that were yielded (RUNS-F8). */
  async #mayGetEvents({ lastSeq }: EventPage): Promise<boolean> {
    if (lastSeq === undefined) return false
    const { runId, from } = this.#options
    const next = this.#next
    if (next > from && next > lastSeq + 1) throw logIsShorter(runId, lastSeq)
    const run = await this.#source.find(runId)
    return run !== undefined && (!isTerminalRunStatus(run.status) || run.lastSeq >= next)
  }

  #listen(): void {
    if (this.#stopListening !== undefined) return
    const { runId, signal } = this.#options
    const stopListening = this.#source.bus.listen(runId, (batch) => {
      this.#live.add(batch)
    })
    const onAbort = (): void => {
      this.#end()
    }
    signal?.addEventListener('abort', onAbort)
    this.#stopListening = () => {
      stopListening()
      signal?.removeEventListener('abort', onAbort)
    }
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#stopListening?.()
    this.#live.restart()
    this.#live.wake()
  }
}

/** The live events that one reader has not taken yet. */
class LiveEvents {
  #complete = false
  #waiting: LoggedRunEvent[] = []
  #wake: (() => void) | undefined
  #overflowed = false
  /** Size of the waiting events in addition to the oldest batch. */
  #bytes = 0

  /** Starts collecting: from now on all events are retained, unless there are too many. */
  restart(): void {
    this.#waiting = []
    this.#overflowed = false
    this.#complete = false
  }

  /** Marks the log as read to its end. The events since then wait here, unless there were too many. */
  caughtUp(): void {
    this.#complete = !this.#overflowed
  }

  /** Marks the log as read to event `seq`. The waiting events continue it unless there is a gap. */
  continues(seq: number): void {
    const [first] = this.#waiting
    if (first !== undefined && first.seq <= seq + 1) this.caughtUp()
  }

  /** Whether the waiting events continue the last page of the log without a gap. */
  get complete(): boolean {
    return this.#complete
  }

  add(batch: readonly LoggedRunEvent[]): void {
    if (batch.length > 0 && !this.#overflowed && this.#fits(batch)) {
      this.#waiting.push(...batch)
    } else {
      this.#overflowed = true
      this.#waiting = []
      this.#complete = false
    }
    this.wake()
  }

  /** Whether a batch fits into memory. Events of a reader without waiting events are not measured. */
  #fits(batch: readonly LoggedRunEvent[]): boolean {
    const isBehind = this.#waiting.length > 0
    this.#bytes = isBehind ? this.#bytes + eventSize(batch) : 0
    return this.#waiting.length + batch.length <= MAX_WAITING && this.#bytes <= MAX_WAITING_BYTES
  }

  /**
   * Returns the waiting events from `next` on; earlier ones were in the log. If there is a gap, or the terminal event is
   * before `next`, it returns none and the log must be read again.
   */
  take(next: number): readonly LoggedRunEvent[] {
    const taken = this.#waiting.filter(({ seq }) => seq >= next)
    const hasEnded = this.#waiting.at(-1)?.type === 'run_result'
    this.#waiting = []
    const [first] = taken
    if (first === undefined ? !hasEnded : first.seq === next) return taken
    this.#complete = false
    return []
  }

  /** Resolves when there are new events, or when the log must be read again. */
  arrival(signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return Promise.resolve()
    if (this.#waiting.length > 0 || !this.#complete) return Promise.resolve()
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  wake(): void {
    this.#wake?.()
    this.#wake = undefined
  }
}
