/** The events of runs for readers in this process: from the log, live, or both. */
import {
  followEvents,
  followNewRun,
  type EventBatches,
  type FollowRunOptions,
  type FollowSource,
} from './follow-events.ts'

import type { LoggedRunEvent } from '@tutti/protocol'
import type { EventQuery } from '../ports/event-log.ts'
import type { RunStorage } from '../ports/run-storage.ts'
import type { EventBus, EventListener } from './event-bus.ts'
import type { RunEventFeed } from './event-feed.ts'
import type { PagedLog } from './page-cache.ts'

export interface RunEventsParts {
  readonly storage: RunStorage
  readonly bus: EventBus
  readonly feed: RunEventFeed
  /** The log of `storage`. */
  readonly pages: PagedLog
}

/** Reads and follows the events of runs. */
export class RunEvents {
  readonly #storage: RunStorage
  readonly #bus: EventBus
  readonly #feed: RunEventFeed
  readonly #pages: PagedLog

  constructor({ storage, bus, feed, pages }: RunEventsParts) {
    this.#storage = storage
    this.#bus = bus
    this.#feed = feed
    this.#pages = pages
  }

  /** Yields the events of a run from `from` on, first from the log and then live, until its end. */
  follow(options: FollowRunOptions): EventBatches {
    this.#followSoon()
    return followEvents(this.#source, options)
  }

  /** Follows a run that is about to be created. Its events are not read from the log. */
  followNew(runId: string): EventBatches {
    this.#followSoon()
    return followNewRun(this.#source, runId)
  }

  /** Returns the events of a run that are in the log now. */
  async read(query: EventQuery): Promise<readonly LoggedRunEvent[]> {
    return (await this.#pages.read(query)).events
  }

  /** Calls `listener` with the durable events of every run, until the returned function is called. */
  listenToAll(listener: EventListener): () => void {
    this.#followSoon()
    return this.#bus.listenToAll(listener)
  }

  /** Resolves when the present listeners of every run receive the events that other processes write from then on. */
  async connectListeners(): Promise<void> {
    if (this.#storage.isShared) await this.#feed.pollAgain()
  }

  get #source(): FollowSource {
    const { runs } = this.#storage
    return { events: this.#pages, bus: this.#bus, find: (runId) => runs.get(runId) }
  }

  #followSoon(): void {
    if (this.#storage.isShared) this.#feed.followSoon()
  }
}
