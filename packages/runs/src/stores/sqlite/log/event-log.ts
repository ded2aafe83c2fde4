/** Reads the events of the embedded store. */
import { EVENT_PAGE_BYTES } from '../../../ports/event-log.ts'
import { StoredReader } from '../../../log/read-stored.ts'
import { clampCount } from '../../shared/query-numbers.ts'
import { keySql, numberSql, ofRun } from '../schema/log-key.ts'
import { readEvent } from '../../shared/read-records.ts'

import type {
  StoredEventLog,
  EventPage,
  EventQuery,
  FollowQuery,
  RunHead,
} from '../../../ports/event-log.ts'
import type { LoggedRunEvent } from '@tutti/protocol'
import type { DatabaseSync, StatementSync } from 'node:sqlite'

/** The event log over an open database. */
export function sqliteEventLog(database: DatabaseSync): StoredEventLog {
  const head = database.prepare('SELECT id, last_seq FROM runs WHERE run_id = $runId')
  const select = (filter: string): StatementSync =>
    database.prepare(
      `SELECT ${numberSql()} AS seq, type, data, coalesce(bytes, octet_length(data)) AS bytes
       FROM events WHERE ${ofRun('$run', '$from')} ${filter} ORDER BY key LIMIT $limit`,
    )
  const all = select('')
  // Separate statements, because a list in a statement costs more than the rest of the read.
  const some = select('AND type IN (SELECT value FROM json_each($wanted))')
  const one = database.prepare(`SELECT data FROM events WHERE key = ${keySql('$run', '$seq')}`)
  const heads = database.prepare(
    `SELECT run_id, last_seq FROM runs WHERE $all AND state = 'owned'
     UNION SELECT run_id, last_seq FROM runs WHERE run_id IN (SELECT value FROM json_each($runIds))`,
  )
  return {
    async read(query: EventQuery): Promise<EventPage> {
      const { runId, from, limit, types, maxBytes = EVENT_PAGE_BYTES } = query
      // All statements run before anything else can write.
      const found = head.get({ runId })
      if (found === undefined) return { events: [], lastSeq: undefined }
      const run = Number(found['id'])
      const range = { run, from: clampCount(from), limit: clampCount(limit) }
      const rows =
        types === undefined
          ? all.iterate(range)
          : some.iterate({ ...range, wanted: JSON.stringify(types) })
      const reader = new StoredReader((seq) => String(one.get({ run, seq })?.['data']))
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
      const which = { runIds: JSON.stringify(runIds), all: Number(all) }
      return heads.all(which).map((row) => ({
        runId: String(row['run_id']),
        lastSeq: Number(row['last_seq']),
      }))
    },
  }
}
