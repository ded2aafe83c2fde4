/** Reads the events of a Postgres store. */
import { EVENT_PAGE_BYTES } from '../../../ports/event-log.ts'
import { clampBytes, clampCount } from '../../shared/query-numbers.ts'
import { loadValues } from './load-values.ts'
import { readEvent } from '../../shared/read-records.ts'
import { fromColumn, toColumn } from '../database/text.ts'

import type {
  StoredEventLog,
  EventPage,
  EventQuery,
  FollowQuery,
  RunHead,
} from '../../../ports/event-log.ts'
import type { PostgresParts } from '../rows/parts.ts'

/** Value of `followers.run` for a process that follows every run. No run has this row id; the driver returns text. */
export const ALL_RUNS = '0'

/** The event log of a Postgres store. */
export class PostgresEventLog implements StoredEventLog {
  readonly #parts: Pick<PostgresParts, 'requests' | 'notifications' | 'carrier'>

  constructor(parts: Pick<PostgresParts, 'requests' | 'notifications' | 'carrier'>) {
    this.#parts = parts
  }

  async read(query: EventQuery): Promise<EventPage> {
    const { runId, from, limit, types, maxBytes = EVENT_PAGE_BYTES } = query
    const { requests } = this.#parts
    const { schema } = requests
    const rows = await requests.query(
      `SELECT last_seq, seq, type, data FROM ${schema}.runs LEFT JOIN LATERAL (
         SELECT seq, type, data, sum(size) OVER (ORDER BY seq) - size AS before
         FROM (
           SELECT seq, type, data, coalesce(bytes, octet_length(data)) AS size FROM ${schema}.events
           WHERE run = runs.id AND seq >= $2 AND ($4::text[] IS NULL OR type = ANY($4))
           ORDER BY seq LIMIT $3
         ) AS wanted
       ) AS sized ON before < $5
       WHERE run_id = $1 ORDER BY seq`,
      [toColumn(runId), clampCount(from), clampCount(limit), types, clampBytes(maxBytes)],
    )
    const [first] = rows
    if (first === undefined) return { events: [], lastSeq: undefined }
    // The only row of an empty page has no event.
    const found = first['seq'] === null ? [] : rows
    const reader = await loadValues({ runId, session: requests }, found)
    const events = found.map((row) => readEvent(runId, reader, row))
    return { events, lastSeq: Number(first['last_seq']) }
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
