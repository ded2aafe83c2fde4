/** Reads the events of the embedded store. */
import { EVENT_PAGE_BYTES } from '../../../ports/event-log.ts'
import { StoredReader } from '../../../log/read-stored.ts'
import { clampCount } from '../../shared/query-numbers.ts'
import { numberSql, ofRun } from '../schema/log-key.ts'
import { readData } from '../rows/run-rows.ts'
import { readEvent } from '../../shared/read-records.ts'

import type {
  StoredEventLog,
  EventPage,
  EventQuery,
  FollowQuery,
  RunHead,
} from '../../../ports/event-log.ts'
import type { LoggedRunEvent } from '@tutti/protocol'
import type { SqliteStatements } from '../database/statements.ts'

/** The event log over an open database. */
export function sqliteEventLog(statements: SqliteStatements): StoredEventLog {
  return {
    async read(query: EventQuery): Promise<EventPage> {
      const { runId, from, limit, types, maxBytes = EVENT_PAGE_BYTES } = query
      // All statements run before anything else can write.
      const [found] = statements.run('SELECT id, last_seq FROM runs WHERE run_id = $1', [runId])
      if (found === undefined) return { events: [], lastSeq: undefined }
      const run = Number(found['id'])
      // Separate statements, because a list in a statement costs more than the rest of the read.
      const wanted = types === undefined ? '' : 'AND type = ANY($4::text[])'
      const rows = statements.iterate(
        `SELECT ${numberSql()} AS seq, type, data, coalesce(bytes, octet_length(data)) AS bytes
         FROM events WHERE ${ofRun('$1', '$2')} ${wanted} ORDER BY key LIMIT $3`,
        [run, clampCount(from), clampCount(limit), ...(types === undefined ? [] : [types])],
      )
      const reader = new StoredReader((seq) => readData(statements, run, seq))
      const events: LoggedRunEvent[] = []
      let bytes = 0
      for (const row of rows) {
        events.push(readEvent(runId, reader, row))
        bytes += Number(row['bytes'])
        if (bytes >= maxBytes) break
      }
      return { events, lastSeq: Number(found['last_seq']) }
    },
    /** No other process writes to this store. */
    async follow({ runIds, all }: FollowQuery): Promise<readonly RunHead[]> {
      const heads = statements.run(
        `SELECT run_id, last_seq FROM runs WHERE $1 AND state = 'owned'
         UNION SELECT run_id, last_seq FROM runs WHERE run_id = ANY($2::text[])`,
        [all, runIds],
      )
      return heads.map((row) => ({
        runId: String(row['run_id']),
        lastSeq: Number(row['last_seq']),
      }))
    },
  }
}
