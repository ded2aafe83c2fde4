/**
 * Creates a run, once, within exact limits.
 *
 * While the last count leaves room (`unfinished-count.ts`), runs that are submitted together are created by one statement
 * (RUNS-D8), concurrently with others under a shared lock. An outdated count is repeated once for all of them. Without
 * room, and when its id or its key is taken, a run is created under an exclusive lock, which sees all others and counts
 * again. If the runs of the actor are limited, a second lock, one per actor, is taken after the first (RUNS-P11). Two runs
 * of one thread have the same number in it, which is unique (RUNS-H1).
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
import { CallGroup } from '../database/call-group.ts'
import {
  LOCKS,
  type Database,
  type DatabaseSession,
  type TransactionOptions,
} from '../database/database.ts'
import { copyLog } from '../log/copy-log.ts'
import { ALL_RUNS } from '../log/event-log.ts'
import { toTagIndexes } from '../../shared/schema/tag-index.ts'
import { toGrams } from './grams.ts'
import { postgresRecords } from '../rows/rows.ts'
import { toArrayText, toColumn, toIndex } from '../database/text.ts'
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
import type { UnfinishedCount } from '../rows/unfinished-count.ts'
import type { StoredRow } from '../../shared/column-reader.ts'

/** Creates a run; see `RunStore.create`. `creations` are those of {@link groupCreations}. */
export async function createRun(
  parts: PostgresParts,
  creations: CreationGroup,
  creation: Creation,
): Promise<CreatedRun> {
  const { requests, waker, carrier } = parts
  const { run, how } = creation
  const created =
    (await createConcurrently(parts, creations, creation).catch(ignoreNoRoom)) ??
    (await requests
      .transaction({ lock: LOCKS.create, ...actorLock(how.quota) }, (inside) =>
        createExactly(parts, inside, creation),
      )
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
export interface Creation {
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

/** Creates a run without the exclusive lock; undefined if it must be created exactly. */
async function createConcurrently(
  parts: PostgresParts,
  creations: CreationGroup,
  creation: Creation,
): Promise<StoredRun | RepeatedRun | undefined> {
  const { requests } = parts
  const { run, how } = creation
  if (how.fork !== undefined || how.refusal !== undefined) return undefined
  if (how.quota !== undefined) {
    const lock = { lock: LOCKS.create, shares: true, ...actorLock(how.quota) }
    return requests.transaction(lock, (inside) => createWithinQuota(parts, inside, creation))
  }
  if (run.thread === undefined) return creations.add(creation)
  const [stored] = await createInRoom(parts, toSession(requests), [creation])
  return stored
}

/** Creates runs together; a result is undefined as in {@link createInRoom}. */
export type CreationGroup = CallGroup<Creation, StoredRun | undefined>

/** Groups the creation of runs. One group at a time: the runs that are submitted meanwhile form the next one. */
export function groupCreations(
  parts: Pick<PostgresParts, 'requests' | 'unfinished'>,
): CreationGroup {
  const session = toSession(parts.requests)
  return new CallGroup({
    maxGroups: 1,
    sizeOf: ({ run }) => JSON.stringify(run).length,
    async run(creations) {
      if (parts.unfinished.isOutdated) await countUnfinished(parts)
      return createInRoom(parts, session, creations)
    },
  })
}

/** Runs each statement in a separate transaction; it may wait for locks. */
function toSession(requests: Database): DatabaseSession {
  return { schema: requests.schema, query: (sql, values = []) => requests.change(sql, values) }
}

/** Counts the unfinished runs under the exclusive lock, which sees all creations. */
async function countUnfinished({
  requests,
  unfinished,
}: Pick<PostgresParts, 'requests' | 'unfinished'>): Promise<void> {
  const [row] = await requests.transaction({ lock: LOCKS.create }, ({ schema, query }) =>
    query(`SELECT ${countSql(schema)}`),
  )
  unfinished.remember(readCount(row))
}

/**
 * Creates runs if the last count leaves room. Returns undefined for each run that must be created exactly: its id or its
 * key is taken, or there is no room.
 */
async function createInRoom(
  { requests: { lockKey }, unfinished }: Pick<PostgresParts, 'requests' | 'unfinished'>,
  session: DatabaseSession,
  creations: readonly Creation[],
): Promise<readonly (StoredRun | undefined)[]> {
  const maxId = unfinished.findLimit(Math.min(...creations.map(({ how }) => how.maxUnfinishedRuns)))
  if (maxId === undefined) return creations.map(() => undefined)
  return insertRuns(session, creations, { lockKey, maxId })
}

async function createWithinQuota(
  parts: PostgresParts,
  session: DatabaseSession,
  creation: Creation,
): Promise<StoredRun | RepeatedRun | undefined> {
  const { found } = await findRuns(session, creation.run)
  const repeated = findRepeatedRun(found, creation.run)
  if (repeated !== undefined) return repeated
  await checkQuota(session, creation.how.quota)
  const [stored] = await createInRoom(parts, session, [creation])
  return stored
}

/** Creates the run under the exclusive lock, which sees all other creations, or reports why not. */
async function createExactly(
  parts: PostgresParts,
  session: DatabaseSession,
  creation: Creation,
): Promise<StoredRun | RepeatedRun | OutdatedRun> {
  const { run, how } = creation
  const { found, count } = await findRuns(session, run)
  parts.unfinished.remember(count)
  const repeated = findRepeatedRun(found, run)
  if (repeated !== undefined) return repeated
  if (how.refusal !== undefined) throw how.refusal
  if (run.thread !== undefined) {
    const [newest] = await session.query(NEWEST_OF_THREAD, [toColumn(run.thread.threadId)])
    if (!isNext(postgresDialect, run.thread, newest)) return { kind: 'outdated' }
  }
  assertRoom(count.unfinished, how.maxUnfinishedRuns)
  await checkQuota(session, how.quota)
  const { lockKey } = parts.requests
  const maxId = Number.MAX_SAFE_INTEGER
  const [stored] = await insertRuns(session, [creation], { lockKey, maxId })
  if (stored === undefined) throw new TypeError('A run was neither created nor refused')
  if (how.fork !== undefined) {
    await copyLog(session, { runId: run.runId, fork: how.fork }, parts.notifications.channel)
  }
  return stored
}

async function checkQuota(session: DatabaseSession, quota: Quota | undefined): Promise<void> {
  if (quota !== undefined) assertWithinQuota(quota, await readActorUse(session, quota))
}

/**
 * Stores runs if the row id of each is at most `maxId`. Returns undefined for each run whose id or key is taken, also by
 * an earlier one of these runs.
 */
async function insertRuns(
  session: DatabaseSession,
  creations: readonly Creation[],
  bounds: InsertBounds,
): Promise<readonly (StoredRun | undefined)[]> {
  const firsts = new Map<string, Creation>()
  for (const creation of creations) {
    const id = toColumn(creation.run.runId)
    if (!firsts.has(id)) firsts.set(id, creation)
  }
  const { sql, values } = insertStatement([...firsts.values()], bounds)
  const followers = new Map<string, string[]>()
  for (const { run_id: runId, channel } of await session.query(sql, values)) {
    const ofRun = followers.get(String(runId)) ?? []
    followers.set(String(runId), typeof channel === 'string' ? [...ofRun, channel] : ofRun)
  }
  return creations.map((creation) => {
    const id = toColumn(creation.run.runId)
    const ofRun = firsts.get(id) === creation ? followers.get(id) : undefined
    return ofRun && { kind: 'stored', followers: ofRun }
  })
}

/** The runs with the id or the key of a new one, and the count of all that wait or execute. */
interface FoundRuns {
  readonly found: readonly StoredRow[]
  readonly count: UnfinishedCount
}

/** The columns of an {@link UnfinishedCount}. */
function countSql(schema: string): string {
  return `${activeRunsSql(schema)} AS unfinished,
    (SELECT coalesce(max(id), 0) FROM ${schema}.runs) AS last_id`
}

function readCount(row: StoredRow | undefined): UnfinishedCount {
  return { unfinished: Number(row?.['unfinished']), lastId: Number(row?.['last_id']) }
}

async function findRuns({ schema, query }: DatabaseSession, run: NewRun): Promise<FoundRuns> {
  const { runId, submission } = run
  const rows = await query(
    `SELECT found.*, coalesce(idempotency_key = $2, false) AS has_key, ${countSql(schema)}
     FROM (SELECT) AS one LEFT JOIN ${schema}.runs AS found
       ON run_id = $1 OR idempotency_key = $2`,
    [toColumn(runId), submission === undefined ? null : toIndex(submission.idempotencyKey)],
  )
  return {
    found: rows.filter((row) => row['id'] !== null),
    count: readCount(rows[0]),
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
 * Builds the statement that stores runs with their first events. At most one of them, alone, is of a thread.
 *
 * The shared lock comes before the row ids, so that the exclusive lock sees every run with an earlier id. A row id without
 * room divides by zero, which undoes the statement: the id comes from the row's default, because a database user may have
 * no right to use its sequence.
 */
function insertStatement(
  creations: readonly Creation[],
  { lockKey, maxId }: InsertBounds,
): { readonly sql: string; readonly values: readonly unknown[] } {
  const { values, add } = collectValues()
  const rows = creations.map(toGivenRow)
  const given = Object.entries(GIVEN_COLUMNS).map(([field, form]) => {
    const column = rows.map((row) => encodeField(postgresDialect.texts, form, row[field]))
    return `${add(column)}::${COLUMN_TYPES[form]}[]`
  })
  const runNames = listColumnNames(RUN_COLUMNS).join(', ')
  const newThread = creations[0]?.run.thread
  const thread = newThread === undefined ? NO_THREAD : threadSql(newThread, add)
  const sql = `
    WITH given AS MATERIALIZED (
      SELECT * FROM unnest(${given.join(', ')})
        WITH ORDINALITY AS given (${listColumnNames(GIVEN_COLUMNS).join(', ')}, place)
    ), new_run AS (
      INSERT INTO $schema.runs (${runNames}, tag_index)
      SELECT ${runNames}, tag_index::text[] FROM given
      WHERE (SELECT pg_advisory_xact_lock_shared(${LOCKS.create}, ${lockKey})) IS NOT NULL${thread.where}
      ORDER BY place ON CONFLICT DO NOTHING RETURNING id, run_id
    ), new_event AS (
      INSERT INTO $schema.events (run, seq, type, data)
      SELECT id, 0, event_type, event_data FROM new_run JOIN given USING (run_id)
    ), new_text AS (
      INSERT INTO $schema.run_texts (run, text, grams)
      SELECT id, search_text, grams::int2[] FROM new_run JOIN given USING (run_id)
    )${thread.writes}
    SELECT run_id, channel FROM new_run LEFT JOIN $schema.followers ON run = ${ALL_RUNS}
    WHERE 1 / (new_run.id <= ${add(maxId)}::int8)::int4 = 1`
  return { sql, values }
}

/** Bounds of an insertion. */
interface InsertBounds {
  /** Key of the lock of creations. */
  readonly lockKey: number
  /** The greatest row id of a new run. */
  readonly maxId: number
}

/** The columns of a new run. */
const RUN_COLUMNS = {
  ...NEW_RUN_COLUMNS,
  ...REQUEST_COLUMNS,
  tags: 'an object',
  actorIndex: 'data',
} as const satisfies Columns<WrittenForm>

/** The columns of a new run, with those of its index of tags, of its first event and of its search text. */
const GIVEN_COLUMNS = {
  ...RUN_COLUMNS,
  tagIndex: 'data',
  eventType: 'word',
  eventData: 'data',
  searchText: 'data',
  grams: 'data',
} as const satisfies Columns<WrittenForm>

/** Returns the values of {@link GIVEN_COLUMNS}. Arrays are texts, because an array of arrays is one array in Postgres. */
function toGivenRow({ run, how: { firstEvent } }: Creation): Readonly<Record<string, unknown>> {
  const searchText = toSearchText(run)
  const grams = toGrams(searchText)
  return {
    ...toNewRunRow(run),
    actorIndex: run.actor === undefined ? undefined : toIndex(run.actor),
    tagIndex: toArrayText(toTagIndexes(run.tags)),
    eventType: firstEvent.type,
    eventData: serializeOnce(firstEvent),
    searchText,
    grams: grams && toArrayText(grams),
  }
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
