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
interface Position {
  /** Newest event that was published, or skipped because there was no listener. */
  reached: number
  /** Newest event that is known to be durable. */
  wanted: number
  reading: boolean
  /** Whether its last event was published. The position is retained for a while, because notifications may be late. */
  hasEnded: boolean
}

/** Publishes the events of all runs. */
export class RunEventFeed {
  readonly #options: EventFeedOptions
  readonly #positions = new Map<string, Position>()

  constructor(options: EventFeedOptions) {
    this.#options = options
  }

  /** Reads the newest event of each run, from which later notifications continue. */
  async start(): Promise<void> {
    for (const { runId, lastSeq } of await this.#options.events.heads([])) {
      this.#findPosition(runId, lastSeq)
    }
  }

  /** Publishes events that this process wrote. */
  offer(runId: string, events: readonly LoggedRunEvent[]): void {
    const [first] = events
    const last = events.at(-1)
    if (first === undefined || last === undefined) return
    const position = this.#findPosition(runId, first.seq - 1)
    if (position.reading || first.seq !== position.reached + 1) {
      this.onWritten(runId, { from: first.seq, to: last.seq })
      return
    }
    position.reached = last.seq
    position.wanted = Math.max(position.wanted, last.seq)
    this.#publish(runId, events)
  }

  /** Reads and publishes events that another process wrote. */
  onWritten(runId: string, { from, to }: { readonly from: number; readonly to: number }): void {
    const position = this.#findPosition(runId, from - 1)
    if (position.hasEnded) return
    position.wanted = Math.max(position.wanted, to)
    if (!position.reading && position.reached < position.wanted) void this.#read(runId, position)
  }

  /** Checks every run, because notifications may have been missed. */
  async catchUp(): Promise<void> {
    const { events, bus } = this.#options
    for (const [runId, { hasEnded }] of this.#positions) if (hasEnded) this.#positions.delete(runId)
    const known = [...this.#positions.keys()]
    const heads = await events.heads(known)
    const alive = new Set(heads.map(({ runId }) => runId))
    for (const runId of known) if (!alive.has(runId)) this.#positions.delete(runId)
    for (const { runId, lastSeq } of heads) this.onWritten(runId, { from: 0, to: lastSeq })
    // Readers of runs that have ended in the meantime read the remaining events from the log.
    for (const runId of bus.runIds) bus.nudge(runId)
  }

  #findPosition(runId: string, reached: number): Position {
    const known = this.#positions.get(runId)
    if (known !== undefined) return known
    const position: Position = { reached, wanted: reached, reading: false, hasEnded: false }
    this.#positions.set(runId, position)
    return position
  }

  async #read(runId: string, position: Position): Promise<void> {
    const { events, bus, onError } = this.#options
    position.reading = true
    try {
      while (position.reached < position.wanted) {
        if (!bus.hasListeners(runId)) {
          position.reached = position.wanted
          break
        }
        const page = await events.read({ runId, from: position.reached + 1, limit: PAGE })
        const last = page.at(-1)
        if (last === undefined) break
        position.reached = last.seq
        this.#publish(runId, page)
      }
    } catch (error) {
      onError(error)
    } finally {
      position.reading = false
    }
  }

  #publish(runId: string, events: readonly LoggedRunEvent[]): void {
    this.#options.bus.publish(runId, events)
    const position = this.#positions.get(runId)
    if (position !== undefined && events.at(-1)?.type === 'run_result') position.hasEnded = true
  }
}
