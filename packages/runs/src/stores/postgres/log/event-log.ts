/** Reads the events of a Postgres store. */
import { EVENT_PAGE_BYTES } from '../../../ports/event-log.ts'
import { clampBytes, clampCount } from '../../shared/query-numbers.ts'
import { loadValues } from './load-values.ts'
import { readEvent } from '../../shared/read-records.ts'
import { CallGroup } from '../database/call-group.ts'
import { fromColumn, toArrayText, toColumn } from '../database/text.ts'

import type {
  StoredEventLog,
  EventPage,
  EventQuery,
  FollowQuery,
  RunHead,
} from '../../../ports/event-log.ts'
import type { PostgresParts } from '../rows/parts.ts'
import type { StoredRow } from '../../shared/column-reader.ts'

/** Value of `followers.run` for a process that follows every run. No run has this row id; the driver returns text. */
export const ALL_RUNS = '0'

/** The event log of a Postgres store. */
export class PostgresEventLog implements StoredEventLog {
  readonly #parts: Pick<PostgresParts, 'requests' | 'notifications' | 'carrier'>
  /** Small pages that are read together, as by new readers, share a statement (RUNS-D8). */
  readonly #pages: CallGroup<EventQuery, readonly StoredRow[]>

  constructor(parts: Pick<PostgresParts, 'requests' | 'notifications' | 'carrier'>) {
    this.#parts = parts
    this.#pages = new CallGroup({
      run: (queries) => this.#readPages(queries),
      sizeOf: ({ maxBytes = EVENT_PAGE_BYTES }) => maxBytes,
    })
  }

  async read(query: EventQuery): Promise<EventPage> {
    const { runId } = query
    const rows = await this.#pages.add(query)
    const [first] = rows
    if (first === undefined) return { events: [], lastSeq: undefined }
    // The only row of an empty page has no event.
    const found = first['seq'] === null ? [] : rows
    const reader = await loadValues({ runId, session: this.#parts.requests }, found)
    const events = found.map((row) => readEvent(runId, reader, row))
    return { events, lastSeq: Number(first['last_seq']) }
  }

  /** Returns the rows of each page. `OFFSET 0` makes the plan find each run by its id, for all statistics. */
  async #readPages(queries: readonly EventQuery[]): Promise<readonly (readonly StoredRow[])[]> {
    const { requests } = this.#parts
    const { schema } = requests
    const rows = await requests.query(
      `SELECT page_no, last_seq, seq, type, data
       FROM unnest($1::text[], $2::int8[], $3::int8[], $4::text[], $5::int8[])
         WITH ORDINALITY AS page (of_run, first, max_events, types, max_bytes, page_no)
       CROSS JOIN LATERAL (
         SELECT id, last_seq FROM ${schema}.runs WHERE run_id = of_run OFFSET 0
       ) AS found LEFT JOIN LATERAL (
         SELECT seq, type, data, sum(size) OVER (ORDER BY seq) - size AS before
         FROM (
           SELECT seq, type, data, coalesce(bytes, octet_length(data)) AS size FROM ${schema}.events
           WHERE run = found.id AND seq >= page.first
             AND (page.types IS NULL OR type = ANY(page.types::text[]))
           ORDER BY seq LIMIT page.max_events
         ) AS wanted
       ) AS sized ON before < page.max_bytes
       ORDER BY page_no, seq`,
      [
        queries.map(({ runId }) => toColumn(runId)),
        queries.map(({ from }) => clampCount(from)),
        queries.map(({ limit }) => clampCount(limit)),
        queries.map(({ types }) => types && toArrayText(types)),
        queries.map(({ maxBytes = EVENT_PAGE_BYTES }) => clampBytes(maxBytes)),
      ],
    )
    const pages = Map.groupBy(rows, ({ page_no: page }) => Number(page))
    return queries.map((_, index) => pages.get(index + 1) ?? [])
  }

  async follow({ runIds, all }: FollowQuery): Promise<readonly RunHead[]> {
    const { requests, notifications, carrier } = this.#parts
    const { schema } = requests
    const remembers = !(await carrier.follow({ runIds, all }))
    const rows = await requests.query(
      `WITH named AS (
         SELECT id, run_id, last_seq FROM ${schema}.runs WHERE run_id = ANY($1::text[])
       ), places AS (
         SELECT id FROM named WHERE $4 UNION ALL SELECT ${ALL_RUNS} WHERE $2 AND $4
       ), gone AS (
         DELETE FROM ${schema}.followers
         WHERE channel = $3 AND run NOT IN (SELECT id FROM places)
       ), added AS (
         INSERT INTO ${schema}.followers (run, channel) SELECT id, $3 FROM places
         WHERE id NOT IN (SELECT run FROM ${schema}.followers WHERE channel = $3)
         ON CONFLICT DO NOTHING
       )
       SELECT run_id, last_seq FROM named UNION
       SELECT run_id, last_seq FROM ${schema}.runs WHERE $2 AND state = 'owned'`,
      [runIds.map(toColumn), all, notifications.channel, remembers],
    )
    return rows.map((row) => ({
      runId: fromColumn(String(row['run_id'])),
      lastSeq: Number(row['last_seq']),
    }))
  }
}
