/**
 * Creates a run, once, within exact limits.
 *
 * While the last count leaves room (`unfinished-count.ts`), a run is created by one statement, concurrently with others
 * under a shared lock. Otherwise, and when its id or its key is taken, it is created under an exclusive lock, which sees
 * all others and counts again. If the runs of the actor are limited, a second lock, one per actor, is taken after the first
 * (RUNS-P11).
 */
import { DatabaseError } from 'pg'

import { toLoggedEvent, toSubmittedColumns } from '../record-fields.ts'
import { assertRoom, assertWithinQuota, idempotencyConflict, runExists } from '../refusals.ts'
import { toSearchText } from '../search-text.ts'
import {
  LOCKS,
  type PostgresRow,
  type DatabaseSession,
  type TransactionOptions,
} from './database.ts'
import { ALL_RUNS } from './event-log.ts'
import { toGrams } from './grams.ts'
import { toRunRow } from './rows.ts'
import { toTagIndex, toColumn, toIndex } from './text.ts'
import { activeRunsSql, readActorUse } from './totals.ts'

import type { CreatedRun, CreateRunOptions, Quota } from '../ports/run-store.ts'
import type { NewRun } from '../run-record.ts'
import type { PostgresParts } from './postgres-parts.ts'

/** Creates a run; see `RunStore.create`. */
export async function createRun(
  parts: PostgresParts,
  run: NewRun,
  how: CreateRunOptions,
): Promise<CreatedRun> {
  const { requests, notifications, sender, sharedChannel } = parts
  const creation: Creation = { parts, run, how }
  const lock = { lock: LOCKS.create, ...actorLock(how.quota) }
  const session = { schema: requests.schema, query: requests.change.bind(requests) }
  const created =
    (how.quota === undefined
      ? await createInRoom(session, creation).catch(ignoreNoRoom)
      : await requests
          .transaction({ ...lock, shares: true }, (inside) => createWithinQuota(inside, creation))
          .catch(ignoreNoRoom)) ??
    (await requests.transaction(lock, (inside) => createExactly(inside, creation)))
  if (created.kind === 'repeated') return created
  notifications.notify([{ kind: 'ready' }])
  const written = { kind: 'events', runId: run.runId, from: 0, to: 0 } as const
  sender.send([
    { channel: sharedChannel, notification: { kind: 'ready' } },
    ...created.followers.map((channel) => ({ channel, notification: written })),
  ])
  return { kind: 'created', event: toLoggedEvent(run.runId, 0, how.firstEvent) }
}

/** A run to create. */
interface Creation {
  readonly parts: PostgresParts
  readonly run: NewRun
  readonly how: CreateRunOptions
}

/** A created run, and the channels of the processes that follow every run. */
interface StoredRun {
  readonly kind: 'stored'
  readonly followers: readonly string[]
}

type RepeatedRun = Extract<CreatedRun, { kind: 'repeated' }>

/** Two creations for one actor must not count at the same time. */
function actorLock(quota: Quota | undefined): Pick<TransactionOptions, 'actor'> {
  return quota?.maxUnfinishedRuns === undefined ? {} : { actor: quota.actor }
}

/** Creates the run if the last count leaves room, and neither its id nor its key is taken. */
async function createInRoom(
  session: DatabaseSession,
  creation: Creation,
): Promise<StoredRun | undefined> {
  const { unfinished } = creation.parts
  const limit = unfinished.findLimit(creation.how.maxUnfinishedRuns)
  return limit === undefined ? undefined : insertRun(session, creation, limit)
}

async function createWithinQuota(
  session: DatabaseSession,
  creation: Creation,
): Promise<StoredRun | RepeatedRun | undefined> {
  const { found } = await findRuns(session, creation.run)
  const repeated = findRepeatedRun(found, creation.run)
  if (repeated !== undefined) return repeated
  await checkQuota(session, creation.how.quota)
  return createInRoom(session, creation)
}

/** Creates the run under the exclusive lock, which sees all other creations, or reports why not. */
async function createExactly(
  session: DatabaseSession,
  creation: Creation,
): Promise<StoredRun | RepeatedRun> {
  const { parts, run, how } = creation
  const { found, unfinished, lastId } = await findRuns(session, run)
  parts.unfinished.remember({ unfinished, lastId })
  const repeated = findRepeatedRun(found, run)
  if (repeated !== undefined) return repeated
  assertRoom(unfinished, how.maxUnfinishedRuns)
  await checkQuota(session, how.quota)
  const stored = await insertRun(session, creation, Number.MAX_SAFE_INTEGER)
  if (stored === undefined) throw new TypeError('A run was neither created nor refused')
  return stored
}

async function checkQuota(session: DatabaseSession, quota: Quota | undefined): Promise<void> {
  if (quota !== undefined) assertWithinQuota(quota, await readActorUse(session, quota))
}

/** Stores the run if its row id is at most `maxId` and nothing else has its id or its key. */
async function insertRun(
  session: DatabaseSession,
  { parts, run, how }: Creation,
  maxId: number,
): Promise<StoredRun | undefined> {
  const { firstEvent } = how
  const searchText = toSearchText(run)
  const rows = await session.query(insertSql(session.schema, parts.requests.lockKey), [
    ...toRunValues(run),
    firstEvent.type,
    JSON.stringify(firstEvent),
    searchText,
    toGrams(searchText) ?? null,
    maxId,
  ])
  if (rows.length === 0) return undefined
  const channels = rows.map((row) => row['channel']).filter((channel) => channel !== null)
  return { kind: 'stored', followers: channels.map(String) }
}

/** The runs with the id or the key of a new one, and the count of all that wait or execute. */
interface FoundRuns {
  readonly found: readonly PostgresRow[]
  readonly unfinished: number
  /** The greatest row id. */
  readonly lastId: number
}

async function findRuns({ schema, query }: DatabaseSession, run: NewRun): Promise<FoundRuns> {
  const { runId, submission } = run
  const rows = await query(
    `SELECT found.*, coalesce(idempotency_key = $2, false) AS has_key,
       ${activeRunsSql(schema)} AS unfinished,
       (SELECT coalesce(max(id), 0) FROM ${schema}.runs) AS last_id
     FROM (SELECT) AS one LEFT JOIN ${schema}.runs AS found
       ON run_id = $1 OR idempotency_key = $2`,
    [toColumn(runId), submission === undefined ? null : toIndex(submission.idempotencyKey)],
  )
  return {
    found: rows.filter((row) => row['id'] !== null),
    unfinished: Number(rows[0]?.['unfinished']),
    lastId: Number(rows[0]?.['last_id']),
  }
}

/** Returns the run of an earlier, equal submission. @throws {TuttiError} when the id or the key is taken. */
function findRepeatedRun(
  found: readonly PostgresRow[],
  { runId, submission }: NewRun,
): RepeatedRun | undefined {
  const earlier = found.find((row) => row['has_key'] === true)
  if (earlier !== undefined && submission !== undefined) {
    const row = toRunRow(earlier)
    if (row.fingerprint === submission.fingerprint) return { kind: 'repeated', run: row.run }
    throw idempotencyConflict(submission.idempotencyKey)
  }
  if (found.length > 0) throw runExists(runId)
  return undefined
}

/**
 * The shared lock comes before the row id, so that the exclusive lock sees every run with an earlier id. A row id without
 * room divides by zero, which undoes the statement: the id comes from the row's default, because a database user may have
 * no right to use its sequence.
 */
function insertSql(schema: string, lockKey: number): string {
  return `
    WITH new_run AS (
      INSERT INTO ${schema}.runs (run_id, ensemble, workflow, inputs, tags, tag_index, task_count,
        created_at, idempotency_key, fingerprint, request, actor, webhooks, actor_index, cache_key)
      SELECT $1, $2, $3, $4, $5, $6::text[], $7::int4, $8::float8, $9, $10, $11, $12, $13, $14, $15
      WHERE (SELECT pg_advisory_xact_lock_shared(${LOCKS.create}, ${lockKey})) IS NOT NULL
      ON CONFLICT DO NOTHING RETURNING id
    ), new_event AS (
      INSERT INTO ${schema}.events (run, seq, type, data) SELECT id, 0, $16, $17 FROM new_run
    ), new_text AS (
      INSERT INTO ${schema}.run_texts (run, text, grams) SELECT id, $18, $19 FROM new_run
    )
    SELECT channel FROM new_run LEFT JOIN ${schema}.followers ON run = ${ALL_RUNS}
    WHERE 1 / (new_run.id <= $20::int8)::int4 = 1`
}

/** SQLSTATE of a row id without room. */
const DIVISION_BY_ZERO = '22012'

/** Ignores that there is no room: under the exclusive lock the runs are counted again. */
function ignoreNoRoom(error: unknown): undefined {
  const hasNoRoom = error instanceof DatabaseError && error.code === DIVISION_BY_ZERO
  if (!hasNoRoom) throw error
}

function toRunValues(run: NewRun): readonly unknown[] {
  const tags = Object.entries(run.tags)
  return [
    toColumn(run.runId),
    toColumn(run.ensemble),
    run.workflow,
    JSON.stringify(run.inputs),
    JSON.stringify(run.tags),
    tags.flatMap(([key, value]) => [toTagIndex(key), toTagIndex(key, String(value))]),
    run.taskCount,
    run.createdAt,
    run.submission === undefined ? null : toIndex(run.submission.idempotencyKey),
    run.submission === undefined ? null : toColumn(run.submission.fingerprint),
    ...toSubmittedColumns(run),
    run.actor === undefined ? null : toIndex(run.actor),
    run.cacheKey ?? null,
  ]
}
