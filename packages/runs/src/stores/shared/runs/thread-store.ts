/** Threads. */
import { field } from '../../../domain/field.ts'
import { SHOWN_RUNS, type ThreadStore } from '../../../ports/thread-store.ts'
import { ColumnReader, type StoredRow } from '../column-reader.ts'
import { clampBytes, clampCount, finiteOrNull } from '../query-numbers.ts'
import { parseCutText, toThreadRunPage } from '../record-fields.ts'
import { toTagIndexes } from '../schema/tag-index.ts'
import { encodeRow, listColumnNames } from '../schema/columns.ts'
import { collectValues, type StoreDialect, type StoreParts } from '../schema/dialect.ts'
import { THREAD_COLUMNS } from '../schema/table-columns.ts'

import type { NewThread, ThreadRecord, ThreadRunRecord } from '../../../domain/thread-record.ts'
import type { StoredTexts } from '../schema/columns.ts'
import type { RunStatus } from '@tutti/protocol'

/** Greatest number of a run in its thread. */
const MAX_NUMBER = 2_147_483_647

/** Returns the thread store of a database. */
export function threadStore({ dialect, requests, searches }: StoreParts): ThreadStore {
  const { texts } = dialect
  const { id: toId } = texts.encode
  const readId = (row: StoredRow, column: string): string => String(texts.id(String(row[column])))
  const get = async (threadId: string): Promise<ThreadRecord | undefined> => {
    const sql = listSql(dialect, '$schema.threads WHERE thread_id = $1')
    const [row] = await requests.query(sql, [toId(threadId)])
    return row === undefined ? undefined : readThread(texts, row)
  }
  const create: ThreadStore['create'] = async (thread) => {
    const [created] = await requests.change(...insertStatement(dialect, thread))
    if (created !== undefined) return { isNew: true, thread: readThread(texts, created) }
    const found = await get(thread.threadId)
    // Without one, it was deleted in the meantime.
    return found === undefined ? create(thread) : { isNew: false, thread: found }
  }
  return {
    create,
    get,
    async setTags(threadId, tags) {
      const { values, add } = collectValues(toId(threadId))
      const assignments = Object.entries(tagColumns(tags)).map(
        ([column, value]) => `${column} = ${add(value)}`,
      )
      await requests.change(
        `UPDATE $schema.threads SET ${assignments.join(', ')} WHERE thread_id = $1`,
        values,
      )
      return get(threadId)
    },
    async list({ tag, limit, before = Infinity }) {
      const { values, add } = collectValues(clampCount(before), clampCount(limit))
      const from =
        tag === undefined ? '$schema.threads WHERE true' : dialect.threadsWithTag(tag, add)
      const page = `${from} AND place < $1::int8 ORDER BY place DESC LIMIT $2`
      const rows = await searches.query(listSql(dialect, page), values)
      return rows.map((row) => readThread(texts, row))
    },
    async runs({ threadId, limit, before = Infinity, after, maxBytes }) {
      const rows = await requests.query(runsSql(after === undefined ? 'DESC' : 'ASC'), [
        toId(threadId),
        Math.min(clampCount(before), MAX_NUMBER),
        Math.min(clampCount(after ?? 0), MAX_NUMBER),
        clampCount(limit) + 1,
        clampBytes(maxBytes),
      ])
      const runs = rows.map((row) => readThreadRun(texts, row))
      return toThreadRunPage(runs, Number(rows[0]?.['found'] ?? 0), limit)
    },
    async delete(threadId) {
      const deleted = await requests.change(
        `DELETE FROM $schema.threads WHERE thread_id = $1
           AND NOT EXISTS (SELECT 1 FROM $schema.thread_runs WHERE thread_id = $1)
         RETURNING thread_id`,
        [toId(threadId)],
      )
      if (deleted.length > 0) return { kind: 'deleted' }
      const rows = await requests.query(
        `SELECT run_id FROM $schema.threads AS thread
           LEFT JOIN $schema.thread_runs USING (thread_id)
           LEFT JOIN $schema.runs ON runs.id = run
         WHERE thread.thread_id = $1 ORDER BY n LIMIT ${SHOWN_RUNS}`,
        [toId(threadId)],
      )
      if (rows.length === 0) return { kind: 'unknown' }
      const named = rows.filter((row) => row['run_id'] !== null)
      return { kind: 'has_runs', runIds: named.map((row) => readId(row, 'run_id')) }
    },
    async deleteEmpty({ keep, maxAgeMs = Infinity, limit }) {
      const rows = await requests.change(removeEmptySql(dialect), [
        clampCount(keep),
        finiteOrNull(maxAgeMs),
        clampCount(limit),
      ])
      return rows.map((row) => readId(row, 'thread_id'))
    },
  }
}

/** The columns of a thread. */
function threadSql({ millis }: StoreDialect): string {
  return `thread_id, title, tags, actor, place,
    ${millis('created_at')} AS created_ms, ${millis('changed_at')} AS changed_ms`
}

/** Returns the values of the columns that store tags. */
function tagColumns(tags: ThreadRecord['tags']): Readonly<Record<string, unknown>> {
  return { tags: JSON.stringify(tags), tag_index: toTagIndexes(tags) }
}

function insertStatement(dialect: StoreDialect, thread: NewThread): [string, readonly unknown[]] {
  const tags = tagColumns(thread.tags)
  const { values, add } = collectValues()
  const parameters = [
    ...encodeRow(dialect.texts, THREAD_COLUMNS, { ...thread }),
    ...Object.values(tags),
  ].map(add)
  const columns = [...listColumnNames(THREAD_COLUMNS), ...Object.keys(tags)]
  const sql = `
    INSERT INTO $schema.threads (${columns.join(', ')}, place, created_at, changed_at)
    VALUES (${parameters.join(', ')}, ${dialect.newPlace}, $now, $now)
    ON CONFLICT (thread_id) DO NOTHING
    RETURNING ${threadSql(dialect)}, 0 AS run_count, NULL AS newest_run`
  return [sql, values]
}

/** The newest run of a thread is one text, the status and the id, so that it is found once. */
function listSql(dialect: StoreDialect, page: string): string {
  return `
    SELECT page.*,
      (SELECT status || ' ' || run_id FROM $schema.thread_runs JOIN $schema.runs ON runs.id = run
       WHERE thread_runs.thread_id = page.thread_id ORDER BY n DESC LIMIT 1) AS newest_run,
      (SELECT count(*) FROM $schema.thread_runs WHERE thread_id = page.thread_id) AS run_count
    FROM (SELECT ${threadSql(dialect)} FROM ${page}) AS page
    ORDER BY place DESC`
}

/** Sizes are those of the runs before, so that the first run is always read. */
function runsSql(order: 'ASC' | 'DESC'): string {
  return `
    SELECT * FROM (
      SELECT *, count(*) OVER () AS found, sum(bytes) OVER (ORDER BY n ${order}) - bytes AS before
      FROM (
        SELECT n, run_id, ensemble, runs.status, created_at, runs.completed_at,
          substr(runs.error, 1, 2000) AS error_start, last_seq, user_message, output_task, output,
          octet_length(user_message) + coalesce(octet_length(output), 0) AS bytes
        FROM (
          SELECT n, run, user_message FROM $schema.thread_runs
          WHERE thread_id = $1 AND n < $2 AND n > $3 ORDER BY n ${order} LIMIT $4
        ) AS page
          JOIN $schema.runs ON runs.id = page.run
          LEFT JOIN $schema.tasks ON tasks.run = page.run AND tasks.name = output_task
      ) AS texts
    ) AS sized WHERE before < $5 ORDER BY n ${order}`
}

function removeEmptySql({ duration }: StoreDialect): string {
  return `
    DELETE FROM $schema.threads WHERE place IN (
      SELECT place FROM (
        SELECT place, changed_at, row_number() OVER (ORDER BY place DESC) AS at
        FROM $schema.threads
        WHERE NOT EXISTS (
          SELECT 1 FROM $schema.thread_runs WHERE thread_runs.thread_id = threads.thread_id)
      ) AS empty
      WHERE at > $1::int8 OR changed_at < $now - ${duration('$2')}
      ORDER BY place LIMIT $3
    ) RETURNING thread_id`
}

function readThread(texts: StoredTexts, row: StoredRow): ThreadRecord {
  const columns = new ColumnReader(row)
  return {
    threadId: String(texts.id(String(row['thread_id']))),
    ...field('title', columns.text('title', texts.text)),
    // NOTE: a cast at the boundary: stores only ever write tags.
    tags: (columns.json('tags', 'an object') ?? {}) as ThreadRecord['tags'],
    ...field('actor', columns.text('actor', texts.text)),
    place: Number(row['place']),
    createdAt: columns.time('created_ms') ?? 0,
    changedAt: columns.time('changed_ms') ?? 0,
    runCount: Number(row['run_count']),
    ...columns.unreadable,
    ...field('newestRun', readNewestRun(texts, row['newest_run'])),
  }
}

/** Reads the status and the id of a run; a status contains no space. */
function readNewestRun(texts: StoredTexts, stored: unknown): ThreadRecord['newestRun'] {
  if (typeof stored !== 'string') return undefined
  const at = stored.indexOf(' ')
  // NOTE: a cast at the boundary: stores only ever write statuses.
  const status = stored.slice(0, at) as RunStatus
  return { runId: String(texts.id(stored.slice(at + 1))), status }
}

function readThreadRun(texts: StoredTexts, row: StoredRow): ThreadRunRecord {
  const { error_start: error } = row
  const columns = new ColumnReader(row)
  return {
    runId: String(texts.id(String(row['run_id']))),
    ensemble: String(texts.id(String(row['ensemble']))),
    // NOTE: a cast at the boundary: stores only ever write statuses.
    status: row['status'] as RunStatus,
    createdAt: columns.time('created_at') ?? 0,
    ...field('completedAt', columns.time('completed_at')),
    ...(typeof error === 'string' ? { error: parseCutText(texts.inside(error)) } : {}),
    lastSeq: Number(row['last_seq']),
    number: Number(row['n']),
    userMessage: columns.text('user_message', texts.text) ?? '',
    ...field('outputTask', columns.text('output_task', texts.text)),
    ...field('output', columns.text('output', texts.text)),
    ...columns.unreadable,
  }
}
