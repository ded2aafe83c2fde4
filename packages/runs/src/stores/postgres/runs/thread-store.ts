/** Threads in Postgres. */
import { ColumnReader, type StoredRow } from '../../shared/column-reader.ts'
import { field } from '../../../domain/field.ts'
import { parseCutText, toThreadRunPage } from '../../shared/record-fields.ts'
import {
  SHOWN_RUNS,
  type CreatedThread,
  type DeletedThread,
  type ThreadQuery,
  type ThreadRunPage,
  type ThreadRunQuery,
  type ThreadStore,
} from '../../../ports/thread-store.ts'
import { clampBytes, clampCount, finiteOrNull } from '../../shared/query-numbers.ts'
import { fromColumn, toColumn, toTagIndex } from '../database/text.ts'

import type { RunStatus } from '@tutti/protocol'
import type { Retention } from '../../../ports/run-store.ts'
import type { NewThread, ThreadRecord, ThreadRunRecord } from '../../../domain/thread-record.ts'
import type { Database } from '../database/database.ts'
import type { PostgresParts } from '../rows/parts.ts'

export class PostgresThreadStore implements ThreadStore {
  readonly #requests: Database
  readonly #searches: Database

  constructor({ requests, searches }: Pick<PostgresParts, 'requests' | 'searches'>) {
    this.#requests = requests
    this.#searches = searches
  }

  async create({ threadId, title, tags, actor }: NewThread): Promise<CreatedThread> {
    const [created] = await this.#requests.change(
      `INSERT INTO ${this.#requests.schema}.threads (thread_id, title, tags, tag_index, actor)
       VALUES ($1, $2, $3, $4::text[], $5) ON CONFLICT (thread_id) DO NOTHING
       RETURNING *, ${INSTANTS}, 0 AS run_count, NULL AS newest_run`,
      [
        toColumn(threadId),
        title === undefined ? null : toColumn(title),
        ...toTagColumns(tags),
        actor === undefined ? null : toColumn(actor),
      ],
    )
    if (created !== undefined) return { isNew: true, thread: readThread(created) }
    const thread = await this.get(threadId)
    // Deleted in the meantime.
    if (thread === undefined) return this.create({ threadId, tags, ...pickTexts(title, actor) })
    return { isNew: false, thread }
  }

  async get(threadId: string): Promise<ThreadRecord | undefined> {
    const { schema } = this.#requests
    const page = `SELECT * FROM ${schema}.threads WHERE thread_id = $1`
    const [row] = await this.#requests.query(listSql(schema, page), [toColumn(threadId)])
    return row === undefined ? undefined : readThread(row)
  }

  async setTags(threadId: string, tags: ThreadRecord['tags']): Promise<ThreadRecord | undefined> {
    await this.#requests.change(
      `UPDATE ${this.#requests.schema}.threads SET tags = $2, tag_index = $3::text[]
       WHERE thread_id = $1`,
      [toColumn(threadId), ...toTagColumns(tags)],
    )
    return this.get(threadId)
  }

  async list({ tag, limit, before }: ThreadQuery): Promise<readonly ThreadRecord[]> {
    const { schema } = this.#searches
    const page = `SELECT * FROM ${schema}.threads
      WHERE place < $1::int8 AND ($2::text[] IS NULL OR tag_index @> $2)
      ORDER BY place DESC LIMIT $3`
    const rows = await this.#searches.query(listSql(schema, page), [
      clampCount(before ?? Infinity),
      tag === undefined ? null : [toTagIndex(tag.key, tag.value)],
      clampCount(limit),
    ])
    return rows.map(readThread)
  }

  async runs(query: ThreadRunQuery): Promise<ThreadRunPage> {
    const { threadId, limit, before, after, maxBytes } = query
    const order = after === undefined ? 'DESC' : 'ASC'
    const rows = await this.#requests.query(runsSql(this.#requests.schema, order), [
      toColumn(threadId),
      Math.min(clampCount(before ?? Infinity), MAX_INTEGER),
      Math.min(clampCount(after ?? 0), MAX_INTEGER),
      clampCount(limit) + 1,
      clampBytes(maxBytes),
    ])
    return toThreadRunPage(rows.map(readThreadRun), Number(rows[0]?.['found'] ?? 0), limit)
  }

  async delete(threadId: string): Promise<DeletedThread> {
    const { schema } = this.#requests
    const id = toColumn(threadId)
    const deleted = await this.#requests.change(
      `DELETE FROM ${schema}.threads WHERE thread_id = $1
         AND NOT EXISTS (SELECT FROM ${schema}.thread_runs WHERE thread_id = $1)
       RETURNING thread_id`,
      [id],
    )
    if (deleted.length > 0) return { kind: 'deleted' }
    const rows = await this.#requests.query(
      `SELECT run_id FROM ${schema}.threads AS thread
         LEFT JOIN ${schema}.thread_runs USING (thread_id)
         LEFT JOIN ${schema}.runs ON runs.id = run
       WHERE thread.thread_id = $1 ORDER BY n LIMIT ${SHOWN_RUNS}`,
      [id],
    )
    if (rows.length === 0) return { kind: 'unknown' }
    const runIds = rows.flatMap(({ run_id: id }) =>
      typeof id === 'string' ? [fromColumn(id)] : [],
    )
    return { kind: 'has_runs', runIds }
  }

  async deleteEmpty({ keep, maxAgeMs = Infinity, limit }: Retention): Promise<readonly string[]> {
    const rows = await this.#requests.change(removeEmptySql(this.#requests.schema), [
      clampCount(keep),
      finiteOrNull(maxAgeMs),
      clampCount(limit),
    ])
    return rows.map((row) => fromColumn(String(row['thread_id'])))
  }
}

/** Greatest number of a run in its thread. */
const MAX_INTEGER = 2_147_483_647

/** Instants in milliseconds since 1970. */
const INSTANTS = `extract(epoch FROM created_at) * 1000 AS created_ms,
  extract(epoch FROM changed_at) * 1000 AS changed_ms`

function listSql(schema: string, page: string): string {
  return `
    SELECT page.*, ${INSTANTS}, newest_run, newest_status, run_count
    FROM (${page}) AS page
    LEFT JOIN LATERAL (
      SELECT run_id AS newest_run, status AS newest_status
      FROM ${schema}.thread_runs JOIN ${schema}.runs ON runs.id = run
      WHERE thread_runs.thread_id = page.thread_id ORDER BY n DESC LIMIT 1
    ) AS newest ON true
    LEFT JOIN LATERAL (
      SELECT count(*) AS run_count FROM ${schema}.thread_runs
      WHERE thread_id = page.thread_id
    ) AS counted ON true
    ORDER BY place DESC`
}

/** Sizes are those of the runs before, so that the first run is always read. */
function runsSql(schema: string, order: 'ASC' | 'DESC'): string {
  return `
    SELECT * FROM (
      SELECT *, count(*) OVER () AS found, sum(bytes) OVER (ORDER BY n ${order}) - bytes AS before
      FROM (
        SELECT n, run_id, ensemble, runs.status, created_at, runs.completed_at,
          substr(runs.error, 1, 2000) AS error_start, last_seq, user_message, output_task, output,
          octet_length(user_message) + coalesce(octet_length(output), 0) AS bytes
        FROM (
          SELECT n, run, user_message FROM ${schema}.thread_runs
          WHERE thread_id = $1 AND n < $2 AND n > $3 ORDER BY n ${order} LIMIT $4
        ) AS page
          JOIN ${schema}.runs ON runs.id = page.run
          LEFT JOIN ${schema}.tasks ON tasks.run = page.run AND tasks.name = output_task
      ) AS texts
    ) AS sized WHERE before < $5 ORDER BY n ${order}`
}

function removeEmptySql(schema: string): string {
  return `
    DELETE FROM ${schema}.threads WHERE place IN (
      SELECT place FROM (
        SELECT place, changed_at, row_number() OVER (ORDER BY place DESC) AS at
        FROM ${schema}.threads
        WHERE NOT EXISTS (
          SELECT FROM ${schema}.thread_runs WHERE thread_runs.thread_id = threads.thread_id)
      ) AS empty
      WHERE at > $1::int8 OR changed_at < statement_timestamp() - $2::float8 * interval '1 millisecond'
      ORDER BY place LIMIT $3
    ) RETURNING thread_id`
}

/** Returns the columns `tags` and `tag_index`. */
function toTagColumns(tags: ThreadRecord['tags']): readonly [string, readonly string[]] {
  const index = Object.entries(tags).flatMap(([key, value]) => [
    toTagIndex(key),
    toTagIndex(key, String(value)),
  ])
  return [JSON.stringify(tags), index]
}

function pickTexts(
  title: string | undefined,
  actor: string | undefined,
): Pick<NewThread, 'title' | 'actor'> {
  return { ...(title === undefined ? {} : { title }), ...(actor === undefined ? {} : { actor }) }
}

function readThread(row: StoredRow): ThreadRecord {
  const { newest_run: newest } = row
  const columns = new ColumnReader(row)
  return {
    threadId: fromColumn(String(row['thread_id'])),
    ...field('title', columns.text('title', fromColumn)),
    // NOTE: a cast at the boundary: this store only ever writes tags.
    tags: (columns.json('tags', 'an object') ?? {}) as ThreadRecord['tags'],
    ...field('actor', columns.text('actor', fromColumn)),
    place: Number(row['place']),
    createdAt: Math.round(columns.time('created_ms') ?? 0),
    changedAt: Math.round(columns.time('changed_ms') ?? 0),
    runCount: Number(row['run_count']),
    ...columns.unreadable,
    // NOTE: a cast at the boundary: this store only ever writes statuses.
    ...(typeof newest === 'string'
      ? { newestRun: { runId: fromColumn(newest), status: row['newest_status'] as RunStatus } }
      : {}),
  }
}

function readThreadRun(row: StoredRow): ThreadRunRecord {
  const { error_start: error } = row
  const columns = new ColumnReader(row)
  return {
    runId: fromColumn(String(row['run_id'])),
    ensemble: fromColumn(String(row['ensemble'])),
    // NOTE: a cast at the boundary: this store only ever writes statuses.
    status: row['status'] as RunStatus,
    createdAt: columns.time('created_at') ?? 0,
    ...field('completedAt', columns.time('completed_at')),
    ...(typeof error === 'string' ? { error: parseCutText(error) } : {}),
    lastSeq: Number(row['last_seq']),
    number: Number(row['n']),
    userMessage: columns.text('user_message', fromColumn) ?? '',
    ...field('outputTask', columns.text('output_task', fromColumn)),
    ...field('output', columns.text('output', fromColumn)),
    ...columns.unreadable,
  }
}
