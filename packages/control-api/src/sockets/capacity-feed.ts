/**
 * Sends the load of the server to connections when runs start or end in any process.
 *
 *   run_queued, ensemble_started, run_result … ─▶ collect for 100 ms ─▶ load from the store ─▶ changed? ─▶ capacity_update
 */
import type { ResolvedControlApiOptions } from '../options.ts'
import type { LoggedRunEvent } from '@tutti/protocol'
import type { CapacityUpdate } from '@tutti/protocol/internal'

export interface CapacityFeedOptions extends Pick<
  ResolvedControlApiOptions,
  'runs' | 'clock' | 'logger' | 'heartbeatMs'
> {
  /** Returns whether a connection subscribed to `capacity_update`. Otherwise the store is not queried. */
  readonly hasReaders: () => boolean
  /** Sends an update to all subscribed connections. */
  readonly send: (update: CapacityUpdate) => void
}

/** Types of the events that can change the load. */
const LOAD_EVENTS: ReadonlySet<LoggedRunEvent['type']> = new Set([
  'run_queued',
  'ensemble_started',
  'run_resumed',
  'review_requested',
  'run_result',
])

/** Time for which changes are collected before they are sent together, in milliseconds. */
const GATHER_MS = 100

/** The realm of a server that is not part of a larger network. */
const REALM = 'default'

/** Sends changes of the load until it is stopped. */
export class CapacityFeed {
  readonly #options: CapacityFeedOptions
  #stopListening: (() => void) | undefined
  #stopRepeating: (() => void) | undefined
  #stopGathering: (() => void) | undefined
  #last = ''

  constructor(options: CapacityFeedOptions) {
    this.#options = options
  }

  /** Starts sending changes. */
  start(): void {
    this.#repeat()
  }

  /** Listens to the events of all processes, which only a server with connections should. */
  listen(): void {
    this.#stopListening ??= this.#options.runs.listeners.add((events) => {
      if (events.some(({ type }) => LOAD_EVENTS.has(type))) this.#updateSoon()
    })
  }

  /** Stops listening, when the last connection has closed. */
  unlisten(): void {
    this.#stopListening?.()
    this.#stopListening = undefined
  }

  /** Returns the current load, over all processes. */
  async current(): Promise<CapacityUpdate> {
    const { runs } = this.#options
    const { maxConcurrentRuns: maxConcurrent, state } = runs.status
    const { running, queued } = await runs.status.load()
    const isBusy = queued > 0 || running >= maxConcurrent
    return {
      type: 'capacity_update',
      ensemble: runs.ensembles[0]?.name ?? '',
      realm: REALM,
      status: state === 'READY' ? (isBusy ? 'BUSY' : 'AVAILABLE') : state,
      currentLoad: running / maxConcurrent,
      maxConcurrent,
      shareable: state === 'READY',
    }
  }

  /** Stops sending changes. */
  stop(): void {
    this.unlisten()
    this.#stopRepeating?.()
    this.#stopGathering?.()
  }

  /** Updates at intervals, because a run that is parked, or whose process was lost, frees its slot without an event. */
  #repeat(): void {
    const { clock, heartbeatMs } = this.#options
    this.#stopRepeating = clock.after(heartbeatMs, () => {
      this.#updateSoon()
      this.#repeat()
    })
  }

  #updateSoon(): void {
    const { clock, logger, hasReaders } = this.#options
    if (this.#stopGathering !== undefined || !hasReaders()) return
    this.#stopGathering = clock.after(GATHER_MS, () => {
      this.#stopGathering = undefined
      this.#update().catch((error: unknown) => {
        logger.warn('Failed to read the load of the store', { error })
      })
    })
  }

  async #update(): Promise<void> {
    const update = await this.current()
    const text = JSON.stringify(update)
    if (text === this.#last) return
    this.#last = text
    this.#options.send(update)
  }
}
