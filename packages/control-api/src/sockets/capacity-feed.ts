/**
 * Tells connections how busy the server is, as runs begin and end in any process.
 *
 *   run_queued, ensemble_started, run_result … ─▶ wait a moment ─▶ load of the store ─▶ changed? ─▶ capacity_update
 */
import type { ResolvedControlApiOptions } from '../options.ts'
import type { CapacityUpdate, LoggedRunEvent } from '@tutti/protocol'

/** Parts of a capacity feed. */
export interface CapacityFeedOptions extends Pick<
  ResolvedControlApiOptions,
  'runs' | 'clock' | 'logger' | 'heartbeatMs'
> {
  /** Whether anyone subscribed to `capacity_update`; without readers the store is not asked. */
  readonly hasReaders: () => boolean
  /** Sends an update to everyone who subscribed. */
  readonly send: (update: CapacityUpdate) => void
}

/** Events after which the load may be another one. */
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

/** Tells of the load until it is stopped. */
export class CapacityFeed {
  readonly #options: CapacityFeedOptions
  #stopListening: (() => void) | undefined
  #stopRepeating: (() => void) | undefined
  #stopGathering: (() => void) | undefined
  #last = ''

  constructor(options: CapacityFeedOptions) {
    this.#options = options
  }

  /** Begins to tell of changes. */
  start(): void {
    this.#stopListening = this.#options.runs.listenToAll((events) => {
      if (events.some(({ type }) => LOAD_EVENTS.has(type))) this.#updateSoon()
    })
    this.#repeat()
  }

  /** Returns the current load, over all processes. */
  async current(): Promise<CapacityUpdate> {
    const { runs } = this.#options
    const { maxConcurrentRuns: maxConcurrent, state } = runs
    const { running, queued } = await runs.load()
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

  /** Tells nothing more. */
  stop(): void {
    this.#stopListening?.()
    this.#stopRepeating?.()
    this.#stopGathering?.()
  }

  /** A run that is parked, or whose process was lost, gives its place back without an event. */
  #repeat(): void {
    const { clock, heartbeatMs } = this.#options
    this.#stopRepeating = clock.after(heartbeatMs, () => {
      this.#updateSoon()
      this.#repeat()
    })
  }

  #updateSoon(): void {
    const { clock, logger, hasReaders } = this.#options
    // Without readers nothing is read from the store.
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
