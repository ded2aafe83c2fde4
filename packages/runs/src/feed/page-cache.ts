/**
 * Shares pages of event logs between readers. Many readers of the same run arrive together, for example when all clients
 * reconnect after a deployment. Without sharing, each of them would decode and serialize the whole log again.
 *
 * RUNS-F9 A page that is read twice within `LIFETIME_MS` is retained, and further readers get the same event objects, with
 *    the texts that were serialized for the first of them. Retained pages use at most about `MAX_BYTES` of memory.
 * RUNS-F10 No reader gets a page that was read more than `LIFETIME_MS` before. A deletion of a run by this process ends the
 *    life of all pages. A page to which later events of an unfinished run belong is never shared. They may have been published
 *    before the next reader listens, and it would miss them.
 */
import { BoundedMap } from '@tutti/core/internal'

import { eventSize } from './event-size.ts'

import type { Clock } from '@tutti/core'
import type { LoggedRunEvent } from '@tutti/protocol'
import type { EventPage, EventQuery, StoredEventLog } from '../ports/event-log.ts'

/**
 * Maximum time for which pages are retained, in milliseconds. Within it, readers may get events that another process has
 * deleted, or that a failover of the database has lost.
 */
const LIFETIME_MS = 2_000

/** Maximum memory for retained pages, in bytes. */
const MAX_BYTES = 32_000_000

/** Approximate memory of a query that was read once, in bytes. */
const QUERY_BYTES = 300

/** Memory of a page relative to its size as JSON: its values, its text, and the bytes for connections. */
const COPIES = 3

/** A log, read through the retained pages. */
export type PagedLog = Pick<StoredEventLog, 'read'>

/** Events of the pages that several readers got. */
const shared = new WeakSet<readonly LoggedRunEvent[]>()

/** Whether these events are a page that several readers got, so that what is computed from it can be shared as well. */
export function isSharedPage(events: readonly LoggedRunEvent[]): boolean {
  return shared.has(events)
}

interface ReadQuery {
  readonly bytes: number
  /** Undefined after the first read. */
  readonly page?: Promise<EventPage>
}

/** Pages of all runs that several readers read at nearly the same time. */
export class PageCache implements PagedLog {
  readonly #log: PagedLog
  readonly #clock: Clock
  #queries = createQueries()
  #stopTimer: (() => void) | undefined

  constructor(log: PagedLog, clock: Clock) {
    this.#log = log
    this.#clock = clock
  }

  /** Returns a page as the log does, or the same one that other readers got. */
  async read(query: EventQuery): Promise<EventPage> {
    const key = toKey(query)
    const known = this.#queries.get(key)
    if (known?.page !== undefined) {
      const page = await known.page
      return isShareable(query, page) ? page : this.#log.read(query)
    }
    if (known !== undefined) return this.#readAndRetain(key, query)
    this.#stopTimer ??= this.#clock.after(LIFETIME_MS, () => {
      this.clear()
    })
    this.#queries.set(key, { bytes: QUERY_BYTES })
    return this.#log.read(query)
  }

  /** Forgets all pages. */
  clear(): void {
    this.#stopTimer?.()
    this.#stopTimer = undefined
    this.#queries = createQueries()
  }

  async #readAndRetain(key: string, query: EventQuery): Promise<EventPage> {
    const queries = this.#queries
    const reading = this.#log.read(query)
    queries.set(key, { bytes: QUERY_BYTES, page: reading })
    try {
      const page = await reading
      if (isShareable(query, page)) {
        shared.add(page.events)
        const bytes = QUERY_BYTES + COPIES * eventSize(page.events)
        queries.set(key, { bytes, page: reading })
      } else queries.set(key, { bytes: QUERY_BYTES })
      return page
    } catch (error) {
      queries.set(key, { bytes: QUERY_BYTES })
      throw error
    }
  }
}

function createQueries(): BoundedMap<string, ReadQuery> {
  return new BoundedMap(MAX_BYTES, ({ bytes }) => bytes)
}

/**
 * Whether a later read of the same query returns the same events, unless the run is deleted or loses events. A page of some
 * types may end before the newest event because no later event has one of its types yet.
 */
function isShareable({ types, limit }: EventQuery, { events, lastSeq }: EventPage): boolean {
  const last = events.at(-1)
  if (last === undefined || lastSeq === undefined) return false
  if (last.type === 'run_result') return true
  return types === undefined ? last.seq < lastSeq : events.length >= limit
}

function toKey({ runId, from, limit, maxBytes, types }: EventQuery): string {
  return JSON.stringify([runId, from, limit, maxBytes, types])
}
