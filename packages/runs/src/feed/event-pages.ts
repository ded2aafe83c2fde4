/** Reads the log of a run in pages of limited size. */
import { readTurn } from './read-turns.ts'

import type { EventQuery } from '../ports/event-log.ts'
import type { LoggedRunEvent } from '@tutti/protocol'

/** Number of events read at a time. */
const PAGE = 1_000

/** Size of a page, in bytes; to read it takes a few milliseconds of the thread. */
const PAGE_BYTES = 250_000

/** Selects events of one run. */
export type EventPagesQuery = Omit<EventQuery, 'limit'>

/** Reads events that are in the log. */
export interface EventReader {
  readEvents(query: EventQuery): Promise<readonly LoggedRunEvent[]>
}

/**
 * Yields the events in pages until there are no more. All readers together take turns (`readTurn`): the embedded store
 * answers at once, so long logs would otherwise block the thread.
 */
export async function* eventPages(
  runs: EventReader,
  query: EventPagesQuery,
): AsyncGenerator<readonly LoggedRunEvent[]> {
  let { from } = query
  for (;;) {
    await readTurn()
    const page = await runs.readEvents({ maxBytes: PAGE_BYTES, ...query, from, limit: PAGE })
    const last = page.at(-1)
    if (last === undefined) return
    yield page
    from = last.seq + 1
  }
}
