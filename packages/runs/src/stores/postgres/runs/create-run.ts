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
import { listClaimKeys, toClaimKey } from '../../../domain/claim-key.ts'
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
import {
  CREATED_DUE,
  CREATED_OWNED,
  CREATED_WAITING,
  creationClaimSql,
  type CreationClaim,
} from '../queue/creation-claim.ts'
import { queuedSql, TURN } from '../queue/turn-sql.ts'
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
import type { Claimant, CreatedRun, CreateRunOptions } from '../../../ports/run-store.ts'
import type { ClaimedRun } from '../../../ports/run-queue.ts'
import type { PostgresClaims } from '../queue/claims.ts'
import type { NewRun, NewThreadRun } from '../../../domain/run-record.ts'
import type { PostgresParts } from '../rows/parts.ts'
import type { UnfinishedCount } from '../rows/unfinished-count.ts'
import type { StoredRow } from '../../shared/column-reader.ts'

/** Creates a run; see `RunStore.create`. `creations` are those of {@link groupCreations}. */
export async function createRun(
  parts: CreatingParts,
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
  const { claim, followers } = created
  waker.wake(
    claim === undefined ? [claimKeyOf(run)] : [],
    followers.map((channel) => ({ channel, notification: written })),
  )
  const event = toLoggedEvent(run.runId, 0, how.firstEvent)
  return { kind: 'created', event, ...field('claim', claim) }
}

/** The parts that create runs. */
export interface CreatingParts extends PostgresParts {
  readonly claims: PostgresClaims
}

function claimKeyOf({ ensemble, code }: NewRun): string {
  return toClaimKey({ ensemble, ...field('code', code?.code) })
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
  readonly claim?: ClaimedRun
}

type OutdatedRun = Extract<CreatedRun, { kind: 'outdated' }>

/** Two creations for one actor must not count at the same time. */
function actorLock(quota: Quota | undefined): Pick<TransactionOptions, 'actor'> {
  return quota?.maxUnfinishedRuns === undefined ? {} : { actor: quota.actor }
}

/** Creates a run without the exclusive lock; undefined if it must be created exactly. */
async function createConcurrently(
  parts: CreatingParts,
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
  parts: Pick<CreatingParts, 'requests' | 'unfinished' | 'claims'>,
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
  {
    requests: { lockKey },
    unfinished,
    claims,
  }: Pick<CreatingParts, 'requests' | 'unfinished' | 'claims'>,
  session: DatabaseSession,
  creations: readonly Creation[],
): Promise<readonly (StoredRun | undefined)[]> {
  const maxId = unfinished.findLimit(Math.min(...creations.map(({ how }) => how.maxUnfinishedRuns)))
  if (maxId === undefined) return creations.map(() => undefined)
  return insertRuns(session, creations, { lockKey, maxId, claims })
}

async function createWithinQuota(
  parts: CreatingParts,
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
  parts: CreatingParts,
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
  const { claims } = parts
  const maxId = Number.MAX_SAFE_INTEGER
  const [stored] = await insertRuns(session, [creation], { lockKey, maxId, claims })
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
  const { claims } = bounds
  const inserted = [...firsts.values()]
  const claim = await planClaim(inserted, claims)
  const { sql, values } = insertStatement(inserted, { ...bounds, claim })
  const rows = await session.query(sql, values)
  const claimed = claim === undefined ? undefined : claims.readCreated(rows, claim)
  const turns = new Map(rows.map((row) => [row['run_id'], Number(row['turn'])]))
  for (const { run } of inserted) claims.lookBefore(run, turns.get(toColumn(run.runId)))
  const stored = new Map<string, StoredRun>()
  for (const row of rows) {
    // NOTE: a cast at the boundary: the column is an array of texts.
    const followers = row['followers'] as readonly string[]
    const own = field('claim', claimed?.get(row['id']))
    stored.set(String(row['run_id']), { kind: 'stored', followers, ...own })
  }
  return creations.map((creation) => {
    const id = toColumn(creation.run.runId)
    return firsts.get(id) === creation ? stored.get(id) : undefined
  })
}

/**
 * Returns the claim of new runs: up to the first that the claimant cannot take, so that they start in their order. A fork
 * waits, because its log is copied after its creation.
 */
async function planClaim(
  creations: readonly Creation[],
  claims: PostgresClaims,
): Promise<CreationClaim | undefined> {
  const claimant = creations[0]?.how.claimant
  if (claimant === undefined) return undefined
  const keys = new Set(listClaimKeys(claimant.code?.codes ?? {}))
  const first = creations.findIndex(
    ({ run, how }) =>
      how.fork !== undefined ||
      run.startAt !== undefined ||
      how.claimant?.owner !== claimant.owner ||
      !keys.has(claimKeyOf(run)),
  )
  const wanted = first === -1 ? creations.length : first
  // The last one knows the slots that the others have taken.
  const last: Claimant = creations[wanted - 1]?.how.claimant ?? claimant
  return wanted === 0 ? undefined : claims.planCreation(last, wanted)
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
 *
 * The limit on the new rows changes the estimate of their number in a plan for all values from 10 to 1. With 10, such a
 * plan seems to cost so much that the server plans the statement at each call.
 */
function insertStatement(
  creations: readonly Creation[],
  { lockKey, maxId, claim }: InsertBounds & { readonly claim: CreationClaim | undefined },
): { readonly sql: string; readonly values: readonly unknown[] } {
  const { values, add } = collectValues()
  const rows = creations.map(toGivenRow)
  const given = Object.entries(GIVEN_COLUMNS).map(([field, form]) => {
    const column = rows.map((row) => encodeField(postgresDialect.texts, form, row[field]))
    return `${add(column)}::${COLUMN_TYPES[form]}[]`
  })
  const runNames = listColumnNames(RUN_COLUMNS)
  const newThread = creations[0]?.run.thread
  const thread = newThread === undefined ? NO_THREAD : threadSql(newThread, add)
  const claiming = claim === undefined ? undefined : creationClaimSql(claim, add)
  const queueNames = claiming === undefined ? CREATED_WAITING : CREATED_OWNED
  const columns = [...runNames, ...queueNames].join(', ')
  const selected = [
    ...runNames.map((name) =>
      name === 'code' || name === 'build' ? (claiming?.[name] ?? name) : name,
    ),
    claiming === undefined
      ? `waiting_state, ${CREATED_DUE}, ${TURN}`
      : `${claiming.owned}, CASE WHEN is_claimed THEN 0 ELSE ${TURN} END`,
  ].join(', ')
  const queued =
    claiming === undefined ? queuedSql('given', 'false') : queuedSql('placed', 'is_claimed')
  const sql = `
    WITH given AS MATERIALIZED (
      SELECT * FROM unnest(${given.join(', ')})
        WITH ORDINALITY AS given (${listColumnNames(GIVEN_COLUMNS).join(', ')}, place)
      LIMIT ${add(creations.length)}::int8
    )${claiming?.before ?? ''}, ${queued}, new_run AS (
      INSERT INTO $schema.runs (${columns}, tag_index)
      SELECT ${selected}, tag_index::text[] FROM queued
      WHERE (SELECT pg_advisory_xact_lock_shared(${LOCKS.create}, ${lockKey})) IS NOT NULL${thread.where}
      ORDER BY place ON CONFLICT DO NOTHING RETURNING ${claiming === undefined ? 'id, run_id, owner, turn' : 'runs.*'}
    ), new_event AS (
      INSERT INTO $schema.events (run, seq, type, data)
      SELECT id, 0, event_type, event_data FROM new_run JOIN given USING (run_id)
    ), new_text AS (
      INSERT INTO $schema.run_texts (run, text, grams)
      SELECT id, search_text, grams::int2[] FROM new_run JOIN given USING (run_id)
    )${claiming?.after ?? ''}${thread.writes}
    SELECT new_run.*, ARRAY(SELECT channel FROM $schema.followers WHERE run = ${ALL_RUNS}) AS followers
    FROM new_run WHERE 1 / (new_run.id <= ${add(maxId)}::int8)::int4 = 1`
  return { sql, values }
}

/** Bounds of an insertion. */
interface InsertBounds {
  /** Key of the lock of creations. */
  readonly lockKey: number
  /** The greatest row id of a new run. */
  readonly maxId: number
  /** Claims the runs whose creations have a claimant. */
  readonly claims: PostgresClaims
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
