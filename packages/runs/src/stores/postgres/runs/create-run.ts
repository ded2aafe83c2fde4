/**
 * Creates a run, once, within exact limits.
 *
 * While the last count leaves room (`unfinished-count.ts`), a run is created by one statement, concurrently with others
 * under a shared lock. Otherwise, and when its id or its key is taken, it is created under an exclusive lock, which sees
 * all others and counts again. If the runs of the actor are limited, a second lock, one per actor, is taken after the first
 * (RUNS-P11). Two runs of one thread have the same number in it, which is unique (RUNS-H1).
 */
import { DatabaseError } from 'pg'

import { serializeOnce, toLoggedEvent } from '../../../log/serialize-once.ts'
import { toClaimKey } from '../../../domain/claim-key.ts'
import { field } from '../../../domain/field.ts'
import {
  assertRoom,
  assertWithinQuota,
  runExists,
  threadNotFound,
} from '../../../domain/refusals.ts'
import { toSearchText } from '../../shared/search-text.ts'
import { LOCKS, type DatabaseSession, type TransactionOptions } from '../database/database.ts'
import { copyLog } from '../log/copy-log.ts'
import { ALL_RUNS } from '../log/event-log.ts'
import { toTagIndexes } from '../../shared/tag-index.ts'
import { toGrams } from './grams.ts'
import { postgresRecords } from '../rows/rows.ts'
import { toColumn, toIndex } from '../database/text.ts'
import {
  isNext,
  NEWEST_OF_THREAD,
  toNewRunRow,
  toRepeatedRun,
  type RepeatedRun,
} from '../../shared/runs/new-run.ts'
import {
  encodeField,
  listColumnNames,
  type Columns,
  type WrittenForm,
} from '../../shared/schema/columns.ts'
import { collectValues, type AddValue } from '../../shared/schema/dialect.ts'
import { NEW_RUN_COLUMNS, REQUEST_COLUMNS } from '../../shared/schema/table-columns.ts'
import { COLUMN_TYPES } from '../schema/column-types.ts'
import { postgresDialect } from '../schema/dialect.ts'
import { activeRunsSql, readActorUse } from './totals.ts'

import type { Quota } from '../../../domain/quota.ts'
import type { CreatedRun, CreateRunOptions } from '../../../ports/run-store.ts'
import type { NewRun, NewThreadRun } from '../../../domain/run-record.ts'
import type { PostgresParts } from '../rows/parts.ts'
import type { StoredRow } from '../../shared/column-reader.ts'

/** Creates a run; see `RunStore.create`. */
export async function createRun(
  parts: PostgresParts,
  run: NewRun,
  how: CreateRunOptions,
): Promise<CreatedRun> {
  const { requests, waker, carrier } = parts
  const creation: Creation = { parts, run, how }
  const lock = { lock: LOCKS.create, ...actorLock(how.quota) }
  const session = { schema: requests.schema, query: requests.change.bind(requests) }
  const created =
    (how.fork !== undefined || how.refusal !== undefined
      ? undefined
      : how.quota === undefined
        ? await createInRoom(session, creation).catch(ignoreNoRoom)
        : await requests
            .transaction({ ...lock, shares: true }, (inside) => createWithinQuota(inside, creation))
            .catch(ignoreNoRoom)) ??
    (await requests
      .transaction(lock, (inside) => createExactly(inside, creation))
      .catch((error: unknown) => {
        throw isMissingThread(error) && run.thread !== undefined
          ? threadNotFound(run.thread.threadId)
          : error
      }))
  if (created.kind !== 'stored') return created
  const to = how.fork === undefined ? 0 : how.fork.parent.at + how.fork.events.length
  const written = { kind: 'events', runId: run.runId, from: 0, to } as const
  carrier.publish([written])
  waker.wake(
    [toClaimKey({ ensemble: run.ensemble, ...field('code', run.code?.code) })],
    created.followers.map((channel) => ({ channel, notification: written })),
  )
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

type OutdatedRun = Extract<CreatedRun, { kind: 'outdated' }>

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
): Promise<StoredRun | RepeatedRun | OutdatedRun> {
  const { parts, run, how } = creation
  const { found, unfinished, lastId } = await findRuns(session, run)
  parts.unfinished.remember({ unfinished, lastId })
  const repeated = findRepeatedRun(found, run)
  if (repeated !== undefined) return repeated
  if (how.refusal !== undefined) throw how.refusal
  if (run.thread !== undefined) {
    const [newest] = await session.query(NEWEST_OF_THREAD, [toColumn(run.thread.threadId)])
    if (!isNext(postgresDialect, run.thread, newest)) return { kind: 'outdated' }
  }
  assertRoom(unfinished, how.maxUnfinishedRuns)
  await checkQuota(session, how.quota)
  const stored = await insertRun(session, creation, Number.MAX_SAFE_INTEGER)
  if (stored === undefined) throw new TypeError('A run was neither created nor refused')
  if (how.fork !== undefined) {
    await copyLog(session, { runId: run.runId, fork: how.fork }, parts.notifications.channel)
  }
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
  const { sql, values } = insertStatement(parts.requests.lockKey, { ...how, run, maxId })
  const rows = await session.query(sql, values)
  if (rows.length === 0) return undefined
  const channels = rows.map((row) => row['channel']).filter((channel) => channel !== null)
  return { kind: 'stored', followers: channels.map(String) }
}

/** The runs with the id or the key of a new one, and the count of all that wait or execute. */
interface FoundRuns {
  readonly found: readonly StoredRow[]
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
function findRepeatedRun(found: readonly StoredRow[], run: NewRun): RepeatedRun | undefined {
  const earlier = found.find((row) => row['has_key'] === true)
  const repeated = earlier && toRepeatedRun(postgresRecords, earlier, run)
  if (repeated === undefined && found.length > 0) throw runExists(run.runId)
  return repeated
}

/**
 * The shared lock comes before the row id, so that the exclusive lock sees every run with an earlier id. A row id without
 * room divides by zero, which undoes the statement: the id comes from the row's default, because a database user may have
 * no right to use its sequence.
 */
function insertStatement(
  lockKey: number,
  { run, firstEvent, maxId }: NewRow,
): { readonly sql: string; readonly values: readonly unknown[] } {
  const { values, add } = collectValues()
  const row: Readonly<Record<string, unknown>> = toNewRunRow(run)
  const columns: Columns<WrittenForm> = { ...NEW_RUN_COLUMNS, ...REQUEST_COLUMNS }
  const given = Object.entries(columns).map(([field, form]) => {
    return `${add(encodeField(postgresDialect.texts, form, row[field]))}::${COLUMN_TYPES[form]}`
  })
  const [tags, index] = [JSON.stringify(run.tags), toTagIndexes(run.tags)]
  const actor = run.actor === undefined ? null : toIndex(run.actor)
  const searchText = toSearchText(run)
  const thread = run.thread === undefined ? NO_THREAD : threadSql(run.thread, add)
  const sql = `
    WITH new_run AS (
      INSERT INTO $schema.runs (${listColumnNames(columns).join(', ')}, tags, tag_index, actor_index)
      SELECT ${given.join(', ')}, ${add(tags)}, ${add(index)}::text[], ${add(actor)}
      WHERE (SELECT pg_advisory_xact_lock_shared(${LOCKS.create}, ${lockKey})) IS NOT NULL${thread.where}
      ON CONFLICT DO NOTHING RETURNING id
    ), new_event AS (
      INSERT INTO $schema.events (run, seq, type, data)
      SELECT id, 0, ${add(firstEvent.type)}, ${add(serializeOnce(firstEvent))} FROM new_run
    ), new_text AS (
      INSERT INTO $schema.run_texts (run, text, grams)
      SELECT id, ${add(searchText)}, ${add(toGrams(searchText) ?? null)} FROM new_run
    )${thread.writes}
    SELECT channel FROM new_run LEFT JOIN $schema.followers ON run = ${ALL_RUNS}
    WHERE 1 / (new_run.id <= ${add(maxId)}::int8)::int4 = 1`
  return { sql, values }
}

/** A run to insert with its first event if its row id is at most `maxId`. */
interface NewRow extends Pick<CreateRunOptions, 'firstEvent'> {
  readonly run: NewRun
  readonly maxId: number
}

const NO_THREAD = { where: '', writes: '' }

/** Returns the parts of the statement that add the run to its thread. */
function threadSql({ threadId, number, userMessage, follows }: NewThreadRun, add: AddValue) {
  const id = `${add(toColumn(threadId))}::text`
  const followed = `${add(follows === undefined ? null : toColumn(follows))}::text`
  return {
    where: ` AND coalesce((
        SELECT earlier.state = 'ended' AND earlier.run_id IS NOT DISTINCT FROM ${followed}
        FROM $schema.thread_runs JOIN $schema.runs AS earlier ON earlier.id = run
        WHERE thread_runs.thread_id = ${id} ORDER BY n DESC LIMIT 1), ${followed} IS NULL)`,
    writes: `, new_thread_run AS (
      INSERT INTO $schema.thread_runs (thread_id, n, run, user_message)
      SELECT ${id}, ${add(number)}::int4, id, ${add(toColumn(userMessage))} FROM new_run
    ), touched AS (
      UPDATE $schema.threads SET place = DEFAULT, changed_at = $now
      FROM new_run WHERE threads.thread_id = ${id}
    )`,
  }
}

/** SQLSTATE of a row id without room, and of a number in a thread that is taken. */
const NOT_NOW: readonly unknown[] = ['22012', '23505']

/** SQLSTATE of a thread that does not exist. */
const FOREIGN_KEY_VIOLATION = '23503'

/** Ignores that the run cannot be created now: under the exclusive lock the reason is determined. */
function ignoreNoRoom(error: unknown): undefined {
  const isRefused =
    isMissingThread(error) || (error instanceof DatabaseError && NOT_NOW.includes(error.code))
  if (!isRefused) throw error
}

function isMissingThread(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === FOREIGN_KEY_VIOLATION
}
