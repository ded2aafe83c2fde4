/** Reads the events of the embedded store. */
import { toEvent } from './rows.ts'

import type { EventLog, EventQuery, RunHead } from '../ports/event-log.ts'
import type { LoggedRunEvent } from '@tutti/protocol'
import type { DatabaseSync } from 'node:sqlite'

/** The event log over an open database. */
export function sqliteEventLog(database: DatabaseSync): EventLog {
  const events = database.prepare(
    `SELECT seq, data FROM events JOIN runs ON runs.id = run
     WHERE run_id = $runId AND seq >= $from
       AND ($wanted IS NULL OR type IN (SELECT value FROM json_each($wanted)))
     ORDER BY seq LIMIT $limit`,
  )
  const heads = database.prepare(
    `SELECT run_id, last_seq FROM runs WHERE state IN ('ready', 'owned', 'parked')
     UNION SELECT run_id, last_seq FROM runs WHERE run_id IN (SELECT value FROM json_each(?))`,
  )
  return {
    async read(query: EventQuery): Promise<readonly LoggedRunEvent[]> {
      const { runId, from, limit, types } = query
      const wanted = types === undefined ? null : JSON.stringify(types)
      return events.all({ runId, from, limit, wanted }).map((row) => toEvent(runId, row))
    },
    async heads(runIds: readonly string[]): Promise<readonly RunHead[]> {
      return heads.all(JSON.stringify(runIds)).map((row) => ({
        runId: String(row['run_id']),
        lastSeq: Number(row['last_seq']),
      }))
    },
  }
}
