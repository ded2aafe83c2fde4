/** Reads the events of the embedded store. */
import { EVENT_PAGE_BYTES } from '../../../ports/event-log.ts'
import { listReferredEvents } from '../../../log/read-stored.ts'
import { clampCount } from '../../shared/query-numbers.ts'
import { numberSql, ofRun } from '../schema/log-key.ts'
import { readData } from '../rows/run-rows.ts'

import type { EventQuery, StoredEventLog, FollowQuery, RunHead } from '../../../ports/event-log.ts'
import type { SqliteStatements } from '../database/statements.ts'

/** A page of events as they are stored. */
export interface StoredPage {
  readonly events: readonly StoredEventColumns[]
  /** The other events to which they refer. */
  readonly referred: readonly (readonly [seq: number, data: string])[]
  readonly lastSeq: number | undefined
}

export type StoredEventColumns = readonly [seq: number, type: unknown, data: string]

/** The event log as its thread reads it. */
export interface SqliteEventLog extends Pick<StoredEventLog, 'follow'> {
  read(query: EventQuery): Promise<StoredPage>
}

/** The event log over an open database. */
export function sqliteEventLog(statements: SqliteStatements): SqliteEventLog {
  return {
    async read(query: EventQuery): Promise<StoredPage> {
      const { runId, from, limit, types, maxBytes = EVENT_PAGE_BYTES } = query
      // All statements run before anything else can write.
      const [found] = statements.run('SELECT id, last_seq FROM runs WHERE run_id = $1', [runId])
      if (found === undefined) return { events: [], referred: [], lastSeq: undefined }
      const run = Number(found['id'])
      // Separate statements, because a list in a statement costs more than the rest of the read.
      const wanted = types === undefined ? '' : 'AND type = ANY($4::text[])'
      const rows = statements.iterate(
        `SELECT ${numberSql()} AS seq, type, data, coalesce(bytes, octet_length(data)) AS bytes
         FROM events WHERE ${ofRun('$1', '$2')} ${wanted} ORDER BY key LIMIT $3`,
        [run, clampCount(from), clampCount(limit), ...(types === undefined ? [] : [types])],
      )
      const events: StoredEventColumns[] = []
      let bytes = 0
      for (const row of rows) {
        events.push([Number(row['seq']), row['type'], String(row['data'])])
        bytes += Number(row['bytes'])
        if (bytes >= maxBytes) break
      }
      const referred = readReferred(events, (seq) => readData(statements, run, seq))
      return { events, referred, lastSeq: Number(found['last_seq']) }
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

/** Returns the events to which a page refers, and those to which they refer, without those of the page. */
function readReferred(
  page: readonly StoredEventColumns[],
  find: (seq: number) => string,
): StoredPage['referred'] {
  const seen = new Set(page.map(([seq]) => seq))
  const referred: (readonly [seq: number, data: string])[] = []
  const open = page.flatMap(([, , data]) => listReferredEvents(data))
  for (let seq = open.pop(); seq !== undefined; seq = open.pop()) {
    if (seen.has(seq)) continue
    seen.add(seq)
    const data = find(seq)
    referred.push([seq, data])
    open.push(...listReferredEvents(data))
  }
  return referred
}
