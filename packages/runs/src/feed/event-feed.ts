/**
 * Publishes events to the readers of this process, regardless of the process that wrote them.
 *
 *   written here ─ offer ─┐
 *                         ├─▶ in order, no gap ─▶ bus ─▶ readers
 *   written elsewhere ─ onWritten, poll ─▶ read from the log
 *
 * RUNS-F4 The events of a run are published in the order of their sequence numbers, each once, without a gap.
 * RUNS-F5 Events of other processes are read only while there are listeners.
 * RUNS-F6 Notifications may be lost. A poll reads the newest event of each followed run, so readers are at most one poll
 *    late.
 * RUNS-F7 The store notifies this process only of runs that have listeners here and that other processes write.
 */
import type { EventBus } from './event-bus.ts'
import type { PageCache } from './page-cache.ts'
import type { StoredEventLog } from '../ports/event-log.ts'
import type { Clock } from '@tutti/core'
import type { LoggedRunEvent } from '@tutti/protocol'

/**
 * Time after which a run with a new listener is followed, in milliseconds. Most runs that are followed right after their
 * submission execute in the same process by then, and need not be.
 */
const FOLLOW_AFTER_MS = 100

/** Number of events read from the log at a time. */
const PAGE = 500

export interface EventFeedOptions {
  readonly events: StoredEventLog
  readonly bus: EventBus
  /** Pages of the log that readers share. */
  readonly pages: Pick<PageCache, 'clear'>
  /** Returns whether this process writes the run. */
  readonly isOwn: (runId: string) => boolean
  readonly clock: Clock
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
  /** Whether there was no event since the last sweep. */
  isIdle: boolean
}

/** Publishes the events of all runs. */
export class RunEventFeed {
  readonly #options: EventFeedOptions
  readonly #positions = new Map<string, Position>()
  /** Whether the store notifies this process of events. */
  #isFollowing = false
  #polling: Promise<void> | undefined
  #stopTimer: (() => void) | undefined

  constructor(options: EventFeedOptions) {
    this.#options = options
  }

  /** Publishes events that this process wrote. */
  offer(runId: string, events: readonly LoggedRunEvent[]): void {
    const [first] = events
    const last = events.at(-1)
    if (first === undefined || last === undefined) return
    const position = this.#findPosition(runId, first.seq - 1)
    if (position === undefined) return
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
    if (position === undefined || position.hasEnded) return
    position.wanted = Math.max(position.wanted, to)
    if (!position.reading && position.reached < position.wanted) void this.#read(runId, position)
  }

  /** Polls soon, because a listener was added. */
  followSoon(): void {
    const { clock, onError } = this.#options
    this.#stopTimer ??= clock.after(FOLLOW_AFTER_MS, () => {
      this.#stopTimer = undefined
      this.poll().catch(onError)
    })
  }

  /** Polls after a poll that is under way, which may have begun before a listener was added or an event was missed. */
  async pollAgain(): Promise<void> {
    // Its error is reported by its caller.
    await this.#polling?.catch(() => undefined)
    await this.poll()
  }

  /** Follows the runs that have listeners here and that other processes write, and checks each for new events. */
  poll(): Promise<void> {
    this.#polling ??= this.#poll().finally(() => {
      this.#polling = undefined
    })
    return this.#polling
  }

  /** Forgets runs without events since the last sweep, and polls. */
  async sweep(): Promise<void> {
    for (const [runId, position] of this.#positions) {
      if (position.isIdle && !position.reading) this.#positions.delete(runId)
      else position.isIdle = true
    }
    await this.poll()
  }

  /** Makes the readers of a deleted run read the log, and so end. */
  onDeleted(runId: string): void {
    this.#positions.delete(runId)
    this.#options.pages.clear()
    this.#options.bus.nudge(runId)
  }

  /** Stops the timers. */
  stop(): void {
    this.#stopTimer?.()
    this.#options.pages.clear()
  }

  async #poll(): Promise<void> {
    const { events, bus, isOwn } = this.#options
    const { listensToAll: all } = bus
    const known = all ? [...this.#positions.keys()] : []
    const runIds = [...new Set([...bus.runIds, ...known])].filter((runId) => !isOwn(runId))
    if (runIds.length === 0 && !all && !this.#isFollowing) return
    const heads = await events.follow({ runIds, all })
    this.#isFollowing = runIds.length > 0 || all
    for (const { runId, lastSeq } of heads) if (!isOwn(runId)) this.#check(runId, lastSeq)
    const found = new Set(heads.map(({ runId }) => runId))
    for (const runId of runIds) if (!found.has(runId)) this.onDeleted(runId)
  }

  /**
   * Reads events that were missed. The readers of a run without a position may have stopped before its newest event. When
   * the log is shorter than what was published, its readers find that when they read it (RUNS-F8).
   */
  #check(runId: string, lastSeq: number): void {
    const known = this.#positions.get(runId)
    const isShorter = known !== undefined && !known.reading && lastSeq < known.reached
    if (isShorter) this.#positions.delete(runId)
    this.onWritten(runId, { from: lastSeq + 1, to: lastSeq })
    if (known === undefined || isShorter) this.#options.bus.nudge(runId)
  }

  /** Returns the position of a run; undefined if it has no listener. */
  #findPosition(runId: string, reached: number): Position | undefined {
    const known = this.#positions.get(runId)
    if (known?.reading !== true && !this.#options.bus.hasListeners(runId)) {
      this.#positions.delete(runId)
      return undefined
    }
    if (known !== undefined) return known
    const position: Position = {
      reached,
      wanted: reached,
      reading: false,
      hasEnded: false,
      isIdle: false,
    }
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
        const { events: page } = await events.read({
          runId,
          from: position.reached + 1,
          limit: PAGE,
        })
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
    if (position === undefined) return
    position.isIdle = false
    if (events.at(-1)?.type === 'run_result') position.hasEnded = true
  }
}
