/**
 * Creates a run, once, within exact limits.
 *
 * While there is room for one more run per connection of the server, runs are created concurrently under a shared lock.
 * Otherwise, and after a collision of ids or keys, a run is created under an exclusive lock, which sees all others. If
 * the runs of the actor are limited, a second lock, one per actor, is taken after the first (RUNS-P11).
 */
import { DatabaseError } from 'pg'

import { toLoggedEvent, toSubmittedColumns } from '../record-fields.ts'
import { assertRoom, assertWithinQuota, idempotencyConflict, runExists } from '../refusals.ts'
import { toSearchText } from '../search-text.ts'
import { LOCKS, type PostgresRow, type DatabaseSession } from './database.ts'
import { ALL_RUNS } from './event-log.ts'
import { toGrams } from './grams.ts'
import { toRunRow } from './rows.ts'
import { toTagIndex, toColumn, toIndex } from './text.ts'
import { countActorUse } from './count-actor-use.ts'

import type { CreatedRun, CreateRunOptions } from '../ports/run-store.ts'
import type { NewRun } from '../run-record.ts'
import type { PostgresParts } from './postgres-parts.ts'

/** SQLSTATE of a second row with the same id or key. */
const UNIQUE_VIOLATION = '23505'

/** Creates a run; see `RunStore.create`. */
export async function createRun(
  { requests, notifications, sender, sharedChannel }: PostgresParts,
  run: NewRun,
  { firstEvent, maxUnfinishedRuns, quota }: CreateRunOptions,
): Promise<CreatedRun> {
  const event = JSON.stringify(firstEvent)
  let followers: readonly string[] = []
  const searchText = toSearchText(run)
  const create = async (session: DatabaseSession, room: Room): Promise<CreatedRun | undefined> => {
    const state = await readState(session, run)
    const repeated = findRepeatedRun(state.found, run)
    if (repeated !== undefined) return repeated
    if (room === 'roomy' && state.unfinished + state.connections >= maxUnfinishedRuns) return
    assertRoom(state.unfinished, maxUnfinishedRuns)
    if (quota !== undefined) assertWithinQuota(quota, await countActorUse(session, quota))
    const following = await session.query(insertSql(session.schema), [
      ...toRunValues(run),
      firstEvent.type,
      event,
      searchText,
      toGrams(searchText) ?? null,
    ])
    followers = following.map((row) => String(row['channel']))
    return { kind: 'created', event: toLoggedEvent(run.runId, 0, firstEvent) }
  }
  const alone = {
    lock: LOCKS.create,
    ...(quota?.maxUnfinishedRuns === undefined ? {} : { actor: quota.actor }),
  }
  const shared = { ...alone, shares: true }
  const created =
    (await requests.transaction(shared, (session) => create(session, 'roomy')).catch(retryAlone)) ??
    (await requests.transaction(alone, (session) => create(session, 'exact')))
  if (created === undefined) throw new TypeError('A run was neither created nor refused')
  if (created.kind === 'created') {
    notifications.notify([{ kind: 'ready' }])
    const written = { kind: 'events', runId: run.runId, from: 0, to: 0 } as const
    sender.send([
      { channel: sharedChannel, notification: { kind: 'ready' } },
      ...followers.map((channel) => ({ channel, notification: written })),
    ])
  }
  return created
}

/** Whether the count leaves room for concurrent creations, or is exact under an exclusive lock. */
type Room = 'roomy' | 'exact'

/** Ignores a collision with a concurrent creation: the next attempt, under the exclusive lock, reports it. */
function retryAlone(error: unknown): undefined {
  const isSame = error instanceof DatabaseError && error.code === UNIQUE_VIOLATION
  if (!isSame) throw error
}

/** State of the store for a run to create. */
interface State {
  /** Runs with its id or its key. */
  readonly found: readonly PostgresRow[]
  readonly unfinished: number
  /** Maximum number of connections of the server. */
  readonly connections: number
}

async function readState({ schema, query }: DatabaseSession, run: NewRun): Promise<State> {
  const { runId, submission } = run
  const rows = await query(
    `SELECT found.*, coalesce(idempotency_key = $2, false) AS has_key,
       (SELECT count(*) FROM ${schema}.runs WHERE state = 'ready' OR (state = 'owned' AND NOT waiting)
       ) AS unfinished,
       current_setting('max_connections') AS connections
     FROM (SELECT) AS one LEFT JOIN ${schema}.runs AS found
       ON run_id = $1 OR idempotency_key = $2`,
    [toColumn(runId), submission === undefined ? null : toIndex(submission.idempotencyKey)],
  )
  return {
    found: rows.filter((row) => row['id'] !== null),
    unfinished: Number(rows[0]?.['unfinished']),
    connections: Number(rows[0]?.['connections']),
  }
}

/** Returns the run of an earlier, equal submission. @throws {TuttiError} when the id or the key is taken. */
function findRepeatedRun(
  found: readonly PostgresRow[],
  { runId, submission }: NewRun,
): CreatedRun | undefined {
  const earlier = found.find((row) => row['has_key'] === true)
  if (earlier !== undefined && submission !== undefined) {
    const row = toRunRow(earlier)
    if (row.fingerprint === submission.fingerprint) return { kind: 'repeated', run: row.run }
    throw idempotencyConflict(submission.idempotencyKey)
  }
  if (found.length > 0) throw runExists(runId)
  return undefined
}

function insertSql(schema: string): string {
  return `
    WITH new_run AS (
      INSERT INTO ${schema}.runs (run_id, ensemble, workflow, inputs, tags, tag_index, task_count,
        created_at, idempotency_key, fingerprint, request, actor, webhooks, actor_index, cache_key)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) RETURNING id
    ), new_event AS (
      INSERT INTO ${schema}.events (run, seq, type, data) SELECT id, 0, $16, $17 FROM new_run
    ), new_text AS (
      INSERT INTO ${schema}.run_texts (run, text, grams) SELECT id, $18, $19 FROM new_run
    )
    SELECT channel FROM ${schema}.followers WHERE run = ${ALL_RUNS}`
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
