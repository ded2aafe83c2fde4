/** Creates a run, once. */
import { serializeOnce, toLoggedEvent } from '../../../log/serialize-once.ts'
import { readNewest, toSubmittedColumns } from '../../shared/record-fields.ts'
import {
  assertRoom,
  assertWithinQuota,
  followsNewest,
  idempotencyConflict,
  runExists,
} from '../../../domain/refusals.ts'
import { toSearchText } from '../../shared/search-text.ts'
import { prepareRows } from '../database/prepare-rows.ts'
import { copyLog } from '../log/copy-log.ts'
import { prepareDueChecker } from '../queue/due-runs.ts'
import { NEW_TOKEN, SELECT_RUNS } from '../rows/run-rows.ts'
import { sqliteRecords } from '../rows/rows.ts'
import { sqliteDialect } from '../schema/dialect.ts'
import { prepareActorCounter } from './count-actor-use.ts'

import type { Claimant, CreatedRun, CreateRunOptions } from '../../../ports/run-store.ts'
import type { NewRun, NewThreadRun, SubmissionKey } from '../../../domain/run-record.ts'
import type { LogInserters, WriteStorer } from '../log/store-write.ts'
import type { SqliteParts } from '../rows/parts.ts'
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'

/** Returns the function that creates runs. */
export function prepareRunCreator(
  parts: SqliteParts,
  store: WriteStorer,
  log: Pick<LogInserters, 'events'>,
): (run: NewRun, how: CreateRunOptions) => Promise<CreatedRun> {
  const { database, clock, rows, owned, inTurn, hub: board } = parts
  const byKey = prepareRows(database, `${SELECT_RUNS} WHERE idempotency_key = ?`)
  const byId = database.prepare('SELECT 1 FROM runs WHERE run_id = ?')
  const unfinished = database.prepare(
    `SELECT count(*) FILTER (WHERE state = 'owned') AS active, count(*) AS count FROM runs
     WHERE state = 'ready' OR (state = 'owned' AND NOT waiting)`,
  )
  const isAnyDue = prepareDueChecker(database)
  const insert = database.prepare(
    `INSERT INTO runs
       (run_id, ensemble, workflow, status, tags, task_count, created_at, last_seq, token,
        idempotency_key, fingerprint, cache_key, actor, webhooks,
        thread_id, state, epoch, owner, due_at, claimed_at, build, code, fixed)
     VALUES (?, ?, ?, 'ACCEPTED', ?, ?, ?, 0, ${NEW_TOKEN}, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const insertRequest = database.prepare(
    'INSERT INTO requests (run, inputs, request) VALUES (?, ?, ?)',
  )
  const insertText = database.prepare('INSERT INTO run_texts (run, text) VALUES (?, ?)')
  const thread = prepareThreadWriter(database)
  const countUse = prepareActorCounter(database)
  return async (run, { firstEvent, maxUnfinishedRuns, quota, claimant, fork, refusal }) => {
    const { runId, submission } = run
    const created = await inTurn((): CreatedRun => {
      const repeated = submission && findRepeatedRun(byKey, submission, run.actor)
      if (repeated !== undefined) return repeated
      if (refusal !== undefined) throw refusal
      if (byId.get(runId) !== undefined) throw runExists(runId)
      if (run.thread !== undefined && !thread.follows(run.thread)) return { kind: 'outdated' }
      const { count, active } = unfinished.get() ?? {}
      assertRoom(Number(count), maxUnfinishedRuns)
      if (quota !== undefined) assertWithinQuota(quota, countUse(quota))
      const now = clock.now()
      const isFree =
        claimant !== undefined &&
        fork === undefined &&
        Number(active) < claimant.maxConcurrentRuns &&
        !isAnyDue(now)
      const owner = isFree ? claimant : undefined
      const [request = null, ...submitted] = toSubmittedColumns(run)
      const values = [...toRunValues(run), ...submitted, run.thread?.threadId ?? null]
      const inserted = insert.run(...values, ...toQueueValues(run, owner, now))
      const id = Number(inserted.lastInsertRowid)
      insertRequest.run(id, JSON.stringify(run.inputs), request)
      insertText.run(id, toSearchText(run))
      log.events([[id, 0, firstEvent.type, serializeOnce(firstEvent), null]])
      if (fork !== undefined) copyLog(parts, store, { id, runId, fork })
      if (run.thread !== undefined) thread.add(run.thread, id, now)
      const event = toLoggedEvent(runId, 0, firstEvent)
      if (owner === undefined) return { kind: 'created', event }
      const row = rows.get(id)
      owned.rememberClaimed(row)
      return { kind: 'created', event, claim: { ...row, commands: [] } }
    })
    const waits = created.kind === 'created' && created.claim === undefined
    if (waits) board.notify([{ kind: 'ready' }])
    return created
  }
}

/** Returns the values of `state`, `epoch`, `owner`, `due_at`, `claimed_at`, `build`, `code` and `fixed`. */
function toQueueValues(
  { ensemble, code }: Pick<NewRun, 'ensemble' | 'code'>,
  owner: Claimant | undefined,
  now: number,
): readonly SQLInputValue[] {
  const build = owner?.code?.build ?? code?.build ?? null
  const digest = owner?.code?.codes[ensemble] ?? code?.code ?? null
  const chosen = [build, digest, code === undefined ? null : Number(code.isFixed)]
  if (owner === undefined) return ['ready', 0, null, now, null, ...chosen]
  const until = owner.leaseMs === Infinity ? null : Math.ceil(now + owner.leaseMs)
  return ['owned', 1, owner.owner, until, now, ...chosen]
}

function toRunValues(run: NewRun): readonly SQLInputValue[] {
  const { runId, ensemble, workflow, tags, taskCount, createdAt, submission } = run
  return [
    runId,
    ensemble,
    workflow,
    JSON.stringify(tags),
    taskCount,
    createdAt,
    submission === undefined ? null : JSON.stringify(submission.idempotencyKey),
    submission === undefined ? null : JSON.stringify(submission.fingerprint),
    run.cacheKey === undefined ? null : JSON.stringify(run.cacheKey),
  ]
}

/** Adds runs to their threads. The caller holds a transaction. */
interface ThreadWriter {
  /** @throws {TuttiError} as `followsNewest`. */
  follows(run: NewThreadRun): boolean
  add(run: NewThreadRun, id: number | bigint, now: number): void
}

function prepareThreadWriter(database: DatabaseSync): ThreadWriter {
  const newest = database.prepare(
    `SELECT coalesce(n, 0) AS number, coalesce(state, 'ended') AS state, run_id
     FROM threads LEFT JOIN thread_runs USING (thread_id) LEFT JOIN runs ON runs.id = run
     WHERE threads.thread_id = ? ORDER BY n DESC LIMIT 1`,
  )
  const insert = database.prepare(
    `INSERT INTO thread_runs (thread_id, n, run, user_message) VALUES (?, ?, ?, ?)`,
  )
  const touch = database.prepare(
    `UPDATE threads SET place = ${sqliteDialect.newPlace}, changed_at = ? WHERE thread_id = ?`,
  )
  return {
    follows(run) {
      const row = newest.get(run.threadId)
      return followsNewest(run, row && readNewest(row, String))
    },
    add({ threadId, number, userMessage }, id, now) {
      insert.run(threadId, number, id, JSON.stringify(userMessage))
      touch.run(now, threadId)
    },
  }
}

/** Finds the run of an earlier, equal submission. */
function findRepeatedRun(
  byKey: StatementSync,
  { idempotencyKey, fingerprint }: SubmissionKey,
  actor: string | undefined,
): CreatedRun | undefined {
  const row = byKey.get(JSON.stringify(idempotencyKey))
  if (row === undefined) return undefined
  if (row['fingerprint'] === JSON.stringify(fingerprint)) {
    return { kind: 'repeated', run: sqliteRecords.run(row) }
  }
  throw idempotencyConflict(idempotencyKey, actor)
}
