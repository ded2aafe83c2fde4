/**
 * Reads a run's events from the log and then live, with no gap and no duplicate.
 *
 * RUNS-F1 The events given are exactly those with `seq >= from`, in order, each once.
 * RUNS-F2 It ends after the terminal event, also when it was to begin after it, and when the run is deleted.
 * RUNS-F3 A slow reader costs at most `MAX_WAITING` events and about `MAX_WAITING_BYTES` of memory: what does not fit is
 *    read from the log again when the reader asks for it. A batch that was given is no longer held here.
 */
import { isTerminalRunStatus, type LoggedRunEvent } from '@tutti/protocol'

import { readTurn } from './read-turns.ts'

import type { EventBus } from './event-bus.ts'
import type { StoredEventLog } from '../ports/event-log.ts'
import type { RunRecord } from '../run-record.ts'

/** Maximum number of events that wait in memory for one reader: some seconds of a busy run. */
const MAX_WAITING = 1_000

/** Maximum size of what waits in addition to the oldest batch, in bytes. */
const MAX_WAITING_BYTES = 256_000

/** Events read from the log at a time. */
const PAGE = 500

/** Size of what is read at a time, in bytes. */
const PAGE_BYTES = 256_000

/** Where to read and from when. */
export interface FollowSource {
  readonly events: StoredEventLog
  readonly bus: Pick<EventBus, 'listen'>
  /** The run, if there is one; asked for when its log has nothing to read. */
  readonly find: (runId: string) => Promise<Pick<RunRecord, 'status' | 'lastSeq'> | undefined>
}

/** What to read. */
export interface FollowRunOptions {
  readonly runId: string
  readonly from: number
  readonly signal?: AbortSignal
}

/**
 * Returns the events in batches as they come. Ends after the terminal event, when the run was deleted, and when
 * `signal` aborts.
 */
export function followEvents(source: FollowSource, options: FollowRunOptions): EventBatches {
  return new FollowedEvents(source, options)
}

/** Batches of events. */
export type EventBatches = AsyncIterableIterator<readonly LoggedRunEvent[], void>

type NextBatch = IteratorResult<readonly LoggedRunEvent[], void>

/** An iterator and not a generator: a suspended generator retains the batch that it gave last (RUNS-F3). */
class FollowedEvents implements EventBatches {
  readonly #source: FollowSource
  readonly #options: FollowRunOptions
  readonly #live = new LiveEvents()
  #next: number
  #isOver = false
  /** Undefined until the first batch is asked for. */
  #stopListening: (() => void) | undefined

  constructor(source: FollowSource, options: FollowRunOptions) {
    this.#source = source
    this.#options = options
    this.#next = options.from
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<NextBatch> {
    try {
      const batch = await this.#nextBatch()
      if (batch !== undefined) return { done: false, value: batch }
    } catch (error) {
      this.#end()
      throw error
    }
    return this.return()
  }

  return(): Promise<NextBatch> {
    this.#end()
    return Promise.resolve({ done: true, value: undefined })
  }

  /** Reads the next batch; undefined at the end. */
  async #nextBatch(): Promise<readonly LoggedRunEvent[] | undefined> {
    const { runId, signal } = this.#options
    const { events, find } = this.#source
    const live = this.#live
    while (!this.#isOver && signal?.aborted !== true) {
      this.#listen()
      const next = this.#next
      const isLive = live.complete
      const batch = isLive ? live.take(next) : await readLog(events, live, { runId, next })
      const last = batch.at(-1)
      if (last !== undefined) {
        this.#next = last.seq + 1
        if (last.type === 'run_result') this.#end()
        return batch
      }
      if (!isLive && !mayHave(next, await find(runId))) break
      await live.arrival(signal)
    }
    return undefined
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

/** Whether a run has, or may come to, an event from `next` on. */
function mayHave(next: number, run: Pick<RunRecord, 'status' | 'lastSeq'> | undefined): boolean {
  return run !== undefined && (!isTerminalRunStatus(run.status) || run.lastSeq >= next)
}

/**
 * A page of the log. The live events take over once it is empty or reaches them: a short page may be one of long
 * events.
 */
async function readLog(
  events: StoredEventLog,
  live: LiveEvents,
  { runId, next }: { readonly runId: string; readonly next: number },
): Promise<readonly LoggedRunEvent[]> {
  live.restart()
  await readTurn()
  const page = await events.read({ runId, from: next, limit: PAGE, maxBytes: PAGE_BYTES })
  const last = page.at(-1)
  if (last === undefined) live.caughtUp()
  else live.continues(last.seq)
  return page
}

/** The live events that one reader has not taken yet. */
class LiveEvents {
  #complete = false
  #waiting: LoggedRunEvent[] = []
  #wake: (() => void) | undefined
  #overflowed = false
  /** Size of what waits in addition to the oldest batch. */
  #bytes = 0

  /** Begins again: from now on no event is lost, unless too many come. */
  restart(): void {
    this.#waiting = []
    this.#overflowed = false
    this.#complete = false
  }

  /** The log was read to its end; what came meanwhile waits here, unless it was too much. */
  caughtUp(): void {
    this.#complete = !this.#overflowed
  }

  /** The log was read to event `seq`: what waits here continues it unless there is a gap. */
  continues(seq: number): void {
    const [first] = this.#waiting
    if (first !== undefined && first.seq <= seq + 1) this.caughtUp()
  }

  /** Whether nothing is missing between the log as it was last read and what waits here. */
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

  /** Whether a batch has room. A reader that keeps up has nothing waiting: its events are not measured. */
  #fits(batch: readonly LoggedRunEvent[]): boolean {
    const isBehind = this.#waiting.length > 0
    this.#bytes = isBehind ? this.#bytes + eventSize(batch) : 0
    return this.#waiting.length + batch.length <= MAX_WAITING && this.#bytes <= MAX_WAITING_BYTES
  }

  /**
   * The waiting events from `next` on; those before were in the log already. When the first one is a later
   * one there is a gap, and when the last one of all is before it there is nothing to wait for: then the log
   * is to be looked at again.
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

  /** Resolves when there is something new to look at. */
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

/** Characters that a value takes in addition to its texts. */
const PER_VALUE = 8

/** Estimates the size of a value as JSON without serializing it: the characters of all texts, and a little for each part. */
export function eventSize(value: unknown): number {
  if (typeof value === 'string') return value.length + PER_VALUE
  if (typeof value !== 'object' || value === null) return PER_VALUE
  let size = PER_VALUE
  for (const [key, part] of Object.entries(value)) size += key.length + eventSize(part)
  return size
}
