/** Threads in the embedded store. */
import { clampBytes, clampCount } from '../../shared/query-numbers.ts'
import { ColumnReader, type StoredRow } from '../../shared/column-reader.ts'
import { field } from '../../../domain/field.ts'
import { toThreadRunPage } from '../../shared/record-fields.ts'
import {
  SHOWN_RUNS,
  type ThreadRunPage,
  type ThreadRunQuery,
  type ThreadStore,
} from '../../../ports/thread-store.ts'
import { prepareRows } from '../database/prepare-rows.ts'
import { HAS_TAG, toTagValues } from './list-runs.ts'

import type { RunStatus } from '@tutti/protocol'
import type { SqliteParts } from '../rows/parts.ts'
import { sqliteRecords } from '../rows/rows.ts'
import type { ThreadRecord, ThreadRunRecord } from '../../../domain/thread-record.ts'

/** Returns the thread store of an open database. */
export function sqliteThreadStore({
  database,
  clock,
  transaction,
}: Pick<SqliteParts, 'database' | 'clock' | 'transaction'>): ThreadStore {
  const insert = database.prepare(
    `INSERT INTO threads (place, thread_id, title, tags, actor, created_at, changed_at)
     VALUES (${NEXT_PLACE}, ?, ?, ?, ?, ?, ?) ON CONFLICT (thread_id) DO NOTHING`,
  )
  const select = prepareRows(database, listSql('thread_id = ?', ''))
  const list = prepareRows(
    database,
    listSql(`place < $before AND ($key IS NULL OR ${HAS_TAG})`, 'LIMIT $limit'),
  )
  const readRuns = prepareRunReader(database)
  const retag = database.prepare('UPDATE threads SET tags = ? WHERE thread_id = ?')
  const someRuns = database.prepare(
    `SELECT run_id FROM thread_runs JOIN runs ON runs.id = run
     WHERE thread_runs.thread_id = ? ORDER BY n LIMIT ${SHOWN_RUNS}`,
  )
  const remove = database.prepare('DELETE FROM threads WHERE thread_id = ?')
  const removeEmpty = database.prepare(REMOVE_EMPTY_SQL)
  const find = (threadId: string): ThreadRecord | undefined => {
    const row = select.get(threadId)
    return row === undefined ? undefined : readThread(row)
  }
  return {
    async create({ threadId, title, tags, actor }) {
      const now = clock.now()
      return transaction(() => {
        const { changes } = insert.run(
          threadId,
          title === undefined ? null : JSON.stringify(title),
          JSON.stringify(tags),
          actor === undefined ? null : JSON.stringify(actor),
          now,
          now,
        )
        const thread = find(threadId)
        if (thread === undefined) throw new TypeError(`Thread ${threadId} was not stored`)
        return { isNew: Number(changes) > 0, thread }
      })
    },
    async get(threadId) {
      return find(threadId)
    },
    async setTags(threadId, tags) {
      return transaction(() => {
        retag.run(JSON.stringify(tags), threadId)
        return find(threadId)
      })
    },
    async list({ tag, limit, before = Infinity }) {
      const bounds = { before: clampCount(before), limit: clampCount(limit) }
      return list.all({ ...toTagValues(tag), ...bounds }).map(readThread)
    },
    async runs(query) {
      return readRuns(query)
    },
    async delete(threadId) {
      return transaction(() => {
        const runIds = someRuns.all(threadId).map((row) => String(row['run_id']))
        if (runIds.length > 0) return { kind: 'has_runs', runIds }
        return { kind: Number(remove.run(threadId).changes) > 0 ? 'deleted' : 'unknown' }
      })
    },
    async deleteEmpty({ keep, maxAgeMs = Infinity, limit }) {
      const oldest = maxAgeMs === Infinity ? null : clock.now() - maxAgeMs
      const bounds = [keep, limit].map(clampCount)
      const [kept = 0, most = 0] = bounds
      return removeEmpty
        .all({ keep: kept, oldest, limit: most })
        .map((row) => String(row['thread_id']))
    },
  }
}

/** Prepares the read of a page of the runs of a thread. */
function prepareRunReader(
  database: SqliteParts['database'],
): (query: ThreadRunQuery) => ThreadRunPage {
  const oldestFirst = prepareRows(database, runsSql('ASC'))
  const newestFirst = prepareRows(database, runsSql('DESC'))
  return ({ threadId, limit, before = Infinity, after, maxBytes }) => {
    const bounds = {
      threadId,
      before: clampCount(before),
      after: clampCount(after ?? 0),
      limit: clampCount(limit) + 1,
      maxBytes: clampBytes(maxBytes),
    }
    const rows = (after === undefined ? newestFirst : oldestFirst).all(bounds)
    return toThreadRunPage(rows.map(readThreadRun), Number(rows[0]?.['found'] ?? 0), limit)
  }
}

/** The order number of a thread with the newest submission. */
export const NEXT_PLACE = '(SELECT coalesce(max(place), 0) + 1 FROM threads)'

function listSql(where: string, limit: string): string {
  return `
    WITH page AS (SELECT * FROM threads WHERE ${where} ORDER BY place DESC ${limit})
    SELECT page.*, newest.run_id AS newest_run, newest.status AS newest_status,
      (SELECT count(*) FROM thread_runs WHERE thread_id = page.thread_id) AS run_count
    FROM page
      LEFT JOIN thread_runs AS last ON last.thread_id = page.thread_id
        AND n = (SELECT max(n) FROM thread_runs WHERE thread_id = page.thread_id)
      LEFT JOIN runs AS newest ON newest.id = last.run
    ORDER BY place DESC`
}

/** Sizes are those of the runs before, so that the first run is always read. */
function runsSql(order: 'ASC' | 'DESC'): string {
  return `
    SELECT * FROM (
      SELECT *, count(*) OVER () AS found, sum(bytes) OVER (ORDER BY n ${order}) - bytes AS before
      FROM (
        SELECT n, run_id, ensemble, status, created_at, completed_at,
          substr(error, 1, 2000) AS error_start, last_seq, user_message, output_task, output,
          octet_length(user_message) + coalesce(octet_length(output), 0) AS bytes
        FROM (
          SELECT n, run, user_message FROM thread_runs
          WHERE thread_id = $threadId AND n < $before AND n > $after
          ORDER BY n ${order} LIMIT $limit
        ) AS page
          JOIN runs ON runs.id = page.run
          LEFT JOIN (SELECT run, name, output FROM tasks) AS stated
            ON stated.run = page.run AND name = output_task
      )
    ) WHERE before < $maxBytes ORDER BY n ${order}`
}

const REMOVE_EMPTY_SQL = `
  DELETE FROM threads WHERE place IN (
    SELECT place FROM (
      SELECT place, changed_at, row_number() OVER (ORDER BY place DESC) AS at FROM threads
      WHERE NOT EXISTS (SELECT 1 FROM thread_runs WHERE thread_runs.thread_id = threads.thread_id)
    ) WHERE at > $keep OR changed_at < $oldest ORDER BY place LIMIT $limit
  ) RETURNING thread_id`

function readThread(row: StoredRow): ThreadRecord {
  const { newest_run: newest } = row
  const columns = new ColumnReader(row)
  return {
    threadId: String(row['thread_id']),
    ...field('title', columns.text('title', parse)),
    // NOTE: a cast at the boundary: this store only ever writes tags.
    tags: (columns.json('tags', 'an object') ?? {}) as ThreadRecord['tags'],
    ...field('actor', columns.text('actor', parse)),
    place: Number(row['place']),
    createdAt: columns.time('created_at') ?? 0,
    changedAt: columns.time('changed_at') ?? 0,
    runCount: Number(row['run_count']),
    ...columns.unreadable,
    // NOTE: a cast at the boundary: this store only ever writes statuses.
    ...(typeof newest === 'string'
      ? { newestRun: { runId: newest, status: row['newest_status'] as RunStatus } }
      : {}),
  }
}

function readThreadRun(row: StoredRow): ThreadRunRecord {
  const columns = new ColumnReader(row)
  return {
    runId: String(row['run_id']),
    ensemble: String(row['ensemble']),
    // NOTE: a cast at the boundary: this store only ever writes statuses.
    status: row['status'] as RunStatus,
    createdAt: columns.time('created_at') ?? 0,
    ...field('completedAt', columns.time('completed_at')),
    ...sqliteRecords.cutError(row['error_start']),
    lastSeq: Number(row['last_seq']),
    number: Number(row['n']),
    userMessage: columns.text('user_message', parse) ?? '',
    ...field('outputTask', columns.text('output_task', parse)),
    ...field('output', columns.text('output', parse)),
    ...columns.unreadable,
  }
}

function parse(json: string): unknown {
  return JSON.parse(json)
}
