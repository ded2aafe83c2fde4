/** Takes a run in, once. */
import { TuttiError } from '@tutti/core'

import { logged, toRun, type Row } from './rows.ts'

import type { CreatedRun, CreateOptions } from '../ports/run-store.ts'
import type { NewRun, Submission } from '../run-record.ts'
import type { Appended, Addition } from './append-events.ts'
import type { SqliteParts } from './sqlite-parts.ts'
import type { SQLInputValue } from 'node:sqlite'

/** How long a caller that was refused should wait, in milliseconds; AgentEnsemble's number. */
const RETRY_AFTER_MS = 5_000

/** Makes the function that takes runs in. */
export function runCreator(
  { database, clock, transaction, rows, board }: SqliteParts,
  append: (addition: Addition) => Appended,
): (run: NewRun, how: CreateOptions) => CreatedRun {
  const byKey = database.prepare('SELECT * FROM runs WHERE idempotency_key = ?')
  const unfinished = database.prepare(
    `SELECT count(*) AS count FROM runs WHERE state IN ('ready', 'owned')`,
  )
  const insert = database.prepare(
    `INSERT INTO runs
       (run_id, ensemble, workflow, status, inputs, tags, task_count, created_at, last_seq, state,
        due_at, idempotency_key, fingerprint)
     VALUES (?, ?, ?, 'ACCEPTED', ?, ?, ?, ?, 0, 'ready', ?, ?, ?)`,
  )
  return (run, { firstEvent, maxUnfinishedRuns }) => {
    const { runId, submission } = run
    const created = transaction((): CreatedRun => {
      const row = submission && byKey.get(JSON.stringify(submission.idempotencyKey))
      if (row !== undefined) return repeated(row, submission)
      if (rows.find(runId) !== undefined) {
        throw new TuttiError('RUN_EXISTS', `A run with ID ${runId} already exists`)
      }
      assertRoom(Number(unfinished.get()?.['count']), maxUnfinishedRuns)
      const { lastInsertRowid } = insert.run(...valuesOf(run, clock.now()))
      append({ id: Number(lastInsertRowid), runId, lastSeq: -1, events: [firstEvent], steps: [] })
      return { kind: 'created', event: logged(runId, 0, firstEvent) }
    })
    if (created.kind === 'created') board.tell([{ kind: 'ready' }])
    return created
  }
}

function valuesOf(run: NewRun, now: number): readonly SQLInputValue[] {
  const { runId, ensemble, workflow, inputs, tags, taskCount, createdAt, submission } = run
  return [
    runId,
    ensemble,
    workflow,
    JSON.stringify(inputs),
    JSON.stringify(tags),
    taskCount,
    createdAt,
    now,
    submission === undefined ? null : JSON.stringify(submission.idempotencyKey),
    submission === undefined ? null : JSON.stringify(submission.fingerprint),
  ]
}

function repeated(row: Row, submission: Submission | undefined): CreatedRun {
  if (row['fingerprint'] === JSON.stringify(submission?.fingerprint)) {
    return { kind: 'repeated', run: toRun(row) }
  }
  throw new TuttiError(
    'IDEMPOTENCY_CONFLICT',
    `The idempotency key "${submission?.idempotencyKey}" was used for another request`,
  )
}

function assertRoom(unfinished: number, maxUnfinishedRuns: number): void {
  if (unfinished < maxUnfinishedRuns) return
  throw new TuttiError(
    'CONCURRENCY_LIMIT',
    `So many runs (${unfinished}) wait or execute already. Retry later.`,
    { retryable: true, details: { retryAfterMs: RETRY_AFTER_MS } },
  )
}
