/** Creates a run, once. */
import { isWholeCode, toClaimKey } from '../../../domain/claim-key.ts'
import { field } from '../../../domain/field.ts'
import { LEVELS } from '../../../domain/priority.ts'
import { assertRoom, assertWithinQuota, runExists } from '../../../domain/refusals.ts'
import { isNext, NEWEST_OF_THREAD, toRepeatedRun } from '../../shared/runs/new-run.ts'
import { listColumnNames } from '../../shared/schema/columns.ts'
import { copyParentLog } from '../log/copy-log.ts'
import { isAnyDue } from '../queue/due-runs.ts'
import { findTurn } from '../queue/new-runs.ts'
import { NEW_TOKEN, readRunRow, SELECT_RUNS } from '../rows/run-rows.ts'
import { sqliteRecords } from '../rows/rows.ts'
import { sqliteDialect } from '../schema/dialect.ts'
import { countActorUse } from './count-actor-use.ts'
import {
  CHOSEN_COLUMNS,
  type DecidingFields,
  type PreparedRun,
  type SqliteCreatedRun,
} from '../rows/prepared-run.ts'

import type { Claimant } from '../../../ports/run-store.ts'
import type { NewThreadRun } from '../../../domain/run-record.ts'
import type { LogInserters, WriteStorer } from '../log/store-write.ts'
import type { StoredRow } from '../../shared/column-reader.ts'
import type { SqliteStatements } from '../database/statements.ts'
import type { SqliteParts } from '../rows/parts.ts'

const { texts } = sqliteDialect

/** Returns the function that creates runs. */
export function prepareRunCreator(
  parts: SqliteParts,
  store: WriteStorer,
  log: Pick<LogInserters, 'events'>,
): (prepared: PreparedRun) => Promise<SqliteCreatedRun> {
  const { clock, owned, inTurn, hub: board, statements } = parts
  return async (prepared) => {
    const { run, firstEvent, maxUnfinishedRuns, quota, claimant, fork, isRefused } = prepared
    const { runId, submission, thread } = run
    const created = await inTurn((): SqliteCreatedRun => {
      const [earlier] =
        submission === undefined
          ? []
          : statements.run(`${SELECT_RUNS} WHERE idempotency_key = $1`, [
              texts.encode.key(submission.idempotencyKey),
            ])
      const repeated = earlier && toRepeatedRun(sqliteRecords, earlier, run)
      if (repeated !== undefined) return repeated
      if (isRefused) return { kind: 'refused' }
      const [taken] = statements.run('SELECT 1 FROM runs WHERE run_id = $1', [runId])
      if (taken !== undefined) throw runExists(runId)
      if (thread !== undefined) {
        const [newest] = statements.run(NEWEST_OF_THREAD, [thread.threadId])
        if (!isNext(sqliteDialect, thread, newest)) return { kind: 'outdated' }
      }
      const [{ count, active } = {}] = statements.run(
        `SELECT count(*) FILTER (WHERE state = 'owned') AS active, count(*) AS count FROM runs
         WHERE state = 'ready' OR (state = 'owned' AND NOT waiting)`,
      )
      assertRoom(Number(count), maxUnfinishedRuns)
      if (quota !== undefined) assertWithinQuota(quota, countActorUse(statements, quota))
      const now = clock.now()
      const isFree =
        claimant !== undefined &&
        fork === undefined &&
        run.startAt === undefined &&
        Number(active) < claimant.maxConcurrentRuns &&
        !isAnyDue(statements)
      const owner = isFree ? claimant : undefined
      const { id, inserted } = insertRun(
        statements,
        prepared,
        toQueueValues(statements, run, { owner, now }),
      )
      log.events([[id, 0, firstEvent.type, firstEvent.data, null]])
      if (fork !== undefined) copyParentLog(parts, store, { id, runId, fork })
      if (thread !== undefined) addToThread(statements, thread, id)
      if (owner === undefined) return { kind: 'created' }
      const row = readRunRow(inserted)
      owned.rememberClaimed(row)
      const { token, lostOwners } = row
      return { kind: 'created', claim: { run: row.run, token, lostOwners, commands: [] } }
    })
    const waits = created.kind === 'created' && created.claim === undefined
    if (waits) board.notify([{ kind: 'ready' }])
    return created
  }
}

const QUEUE_COLUMNS = ['state', 'epoch', 'owner', 'due_at', 'claimed_at', 'build', 'code', 'turn']

/** Returns the values of {@link QUEUE_COLUMNS}. */
function toQueueValues(
  statements: SqliteStatements,
  run: DecidingFields,
  { owner, now }: { readonly owner: Claimant | undefined; readonly now: number },
): readonly unknown[] {
  const { ensemble, code, startAt, priority, fairnessKey = run.actor } = run
  const build = owner?.code?.build ?? code?.build
  const own = owner?.code?.codes[ensemble]
  const digest = code !== undefined && isWholeCode(code.code) ? code.code : (own ?? code?.code)
  if (owner !== undefined) {
    const until = owner.leaseMs === Infinity ? null : Math.ceil(now + owner.leaseMs)
    return ['owned', 1, owner.owner, until, now, build, digest, 0]
  }
  const dueAt = Math.max(now, startAt ?? now)
  if (dueAt > now) return ['parked', 0, null, dueAt, null, build, digest, 0]
  const turn = findTurn(statements, {
    claimKey: toClaimKey({ ensemble, ...field('code', digest) }),
    level: LEVELS[priority ?? 'normal'],
    fairnessKey: texts.encode.id(fairnessKey ?? ''),
  })
  return ['ready', 0, null, dueAt, null, build, digest, turn]
}

const INSERTED = [...listColumnNames(CHOSEN_COLUMNS), 'tags', ...QUEUE_COLUMNS]

/** The values after those of the row are the columns of its request, so that the result is a row of `SELECT_RUNS`. */
const INSERT_RUN = `
  INSERT INTO runs (${INSERTED.join(', ')}, status, last_seq, token)
  VALUES (${INSERTED.map((_name, index) => `$${index + 1}`).join(', ')}, 'ACCEPTED', 0, ${NEW_TOKEN})
  RETURNING *, $${INSERTED.length + 1} AS inputs, $${INSERTED.length + 2} AS request, 0 AS next_step`

/** Inserts a run with its request, its text and its tags; returns its row as {@link SELECT_RUNS} reads it. */
function insertRun(
  statements: SqliteStatements,
  { row, request, text, tags }: PreparedRun,
  queueValues: readonly unknown[],
): { readonly id: number; readonly inserted: StoredRow } {
  const [inserted = {}] = statements.run(INSERT_RUN, [...row, ...queueValues, ...request])
  const id = Number(inserted['id'])
  statements.run('INSERT INTO requests (run, inputs, request) VALUES ($1, $2, $3)', [
    id,
    ...request,
  ])
  statements.run('INSERT INTO run_texts (run, text) VALUES ($1, $2)', [id, text])
  for (const tag of tags) {
    statements.run('INSERT INTO run_tags (tag, run) VALUES ($1, $2)', [tag, id])
  }
  return { id, inserted }
}

function addToThread(
  statements: SqliteStatements,
  { threadId, number, userMessage }: NewThreadRun,
  id: number,
): void {
  statements.run(
    'INSERT INTO thread_runs (thread_id, n, run, user_message) VALUES ($1, $2, $3, $4)',
    [threadId, number, id, texts.encode.text(userMessage)],
  )
  statements.run(
    `UPDATE threads SET place = ${sqliteDialect.newPlace}, changed_at = $now WHERE thread_id = $1`,
    [threadId],
  )
}
