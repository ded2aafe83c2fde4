/**
 * Publishes events to the readers of this process, regardless of the process that wrote them.
 *
 *   written here ─ offer ─┐
 *                         ├─▶ in order, no gap ─▶ bus ─▶ readers
 *   written elsewhere ─ onWritten ─▶ read from the log
 *
 * RUNS-F4 The events of a run are published in the order of their sequence numbers, each once, without a gap.
 * RUNS-F5 Events of other processes are read only while there are listeners.
 * RUNS-F6 When notifications may have been missed, the newest event of each run is read from the log.
 */
import type { EventBus } from './event-bus.ts'
import type { StoredEventLog } from '../ports/event-log.ts'
import type { LoggedRunEvent } from '@tutti/protocol'

/** Number of events read from the log at a time. */
const PAGE = 500

/** Options of a feed. */
export interface EventFeedOptions {
  readonly events: StoredEventLog
  readonly bus: EventBus
  readonly onError: (error: unknown) => void
}

/** The position of a run for the readers of this process. */
interface Place {
  /** Newest event that was published, or skipped because there was no listener. */
  reached: number
  /** Newest event that is known to be durable. */
  wanted: number
  reading: boolean
  /** Whether its last event was published. The place is retained for a while, because notifications may be late. */
  hasEnded: boolean
}

/** Publishes the events of all runs. */
export class RunEventFeed {
  readonly #options: EventFeedOptions
  readonly #places = new Map<string, Place>()

  constructor(options: EventFeedOptions) {
    this.#options = options
  }

  /** Reads the newest event of each run, from which later notifications continue. */
  async start(): Promise<void> {
    for (const { runId, lastSeq } of await this.#options.events.heads([])) {
      this.#place(runId, lastSeq)
    }
  }

  /** Publishes events that this process wrote. */
  offer(runId: string, events: readonly LoggedRunEvent[]): void {
    const [first] = events
    const last = events.at(-1)
    if (first === undefined || last === undefined) return
    const place = this.#place(runId, first.seq - 1)
    if (place.reading || first.seq !== place.reached + 1) {
      this.onWritten(runId, { from: first.seq, to: last.seq })
      return
    }
    place.reached = last.seq
    place.wanted = Math.max(place.wanted, last.seq)
    this.#publish(runId, events)
  }

  /** Reads and publishes events that another process wrote. */
  onWritten(runId: string, { from, to }: { readonly from: number; readonly to: number }): void {
    const place = this.#place(runId, from - 1)
    if (place.hasEnded) return
    place.wanted = Math.max(place.wanted, to)
    if (!place.reading && place.reached < place.wanted) void this.#read(runId, place)
  }

  /** Checks every run, because notifications may have been missed. */
  async catchUp(): Promise<void> {
    const { events, bus } = this.#options
    for (const [runId, { hasEnded }] of this.#places) if (hasEnded) this.#places.delete(runId)
    const known = [...this.#places.keys()]
    const heads = await events.heads(known)
    const alive = new Set(heads.map(({ runId }) => runId))
    for (const runId of known) if (!alive.has(runId)) this.#places.delete(runId)
    for (const { runId, lastSeq } of heads) this.onWritten(runId, { from: 0, to: lastSeq })
    // Readers of runs that have ended in the meantime read the remaining events from the log.
    for (const runId of bus.runIds) bus.nudge(runId)
  }

  #place(runId: string, reached: number): Place {
    const known = this.#places.get(runId)
    if (known !== undefined) return known
    const place: Place = { reached, wanted: reached, reading: false, hasEnded: false }
    this.#places.set(runId, place)
    return place
  }

  async #read(runId: string, place: Place): Promise<void> {
    const { events, bus, onError } = this.#options
    place.reading = true
    try {
      while (place.reached < place.wanted) {
        if (!bus.hasListeners(runId)) {
          place.reached = place.wanted
          break
        }
        const page = await events.read({ runId, from: place.reached + 1, limit: PAGE })
        const last = page.at(-1)
        if (last === undefined) break
        place.reached = last.seq
        this.#publish(runId, page)
      }
    } catch (error) {
      onError(error)
    } finally {
      place.reading = false
    }
  }

  #publish(runId: string, events: readonly LoggedRunEvent[]): void {
    this.#options.bus.publish(runId, events)
    const place = this.#places.get(runId)
    if (place !== undefined && events.at(-1)?.type === 'run_result') place.hasEnded = true
  }
}
