/** Pure: what all stores do alike when they create a run. */
import { followsNewest, idempotencyConflict } from '../../../domain/refusals.ts'
import { readNewest } from '../record-fields.ts'

import type { NewRun, NewThreadRun } from '../../../domain/run-record.ts'
import type { CreatedRun } from '../../../ports/run-store.ts'
import type { StoredRow } from '../column-reader.ts'
import type { RecordReader } from '../read-records.ts'
import type { StoreDialect } from '../schema/dialect.ts'

/** Returns the values of `NEW_RUN_COLUMNS` and of `REQUEST_COLUMNS`. */
export function toNewRunRow({ submission, thread, code, webhooks = [], ...run }: NewRun) {
  return {
    ...run,
    ...submission,
    threadId: thread?.threadId,
    webhooks: webhooks.length === 0 ? undefined : webhooks,
    build: code?.build,
    code: code?.code,
    fixed: code?.isFixed,
  }
}

/** The fields of a new run that identify a repeated submission. */
export interface KeyedSubmission {
  readonly submission?: NewRun['submission'] | undefined
  readonly actor?: NewRun['actor'] | undefined
}

/** A run that was accepted before. */
export type RepeatedRun = Extract<CreatedRun, { kind: 'repeated' }>

/**
 * Returns the run of an earlier, equal submission, given the row with the idempotency key of a new one.
 *
 * @throws {TuttiError} IDEMPOTENCY_CONFLICT when the submission was another.
 */
export function toRepeatedRun(
  reader: RecordReader,
  row: StoredRow,
  { submission, actor }: KeyedSubmission,
): RepeatedRun | undefined {
  if (submission === undefined) return undefined
  const { fingerprint, run } = reader.runRow(row)
  if (fingerprint === submission.fingerprint) return { kind: 'repeated', run }
  throw idempotencyConflict(submission.idempotencyKey, actor)
}

/** Reads the newest run of thread `$1`. */
export const NEWEST_OF_THREAD = `
  SELECT coalesce(n, 0) AS number, coalesce(state, 'ended') AS state, run_id
  FROM $schema.threads AS thread LEFT JOIN $schema.thread_runs USING (thread_id)
    LEFT JOIN $schema.runs ON runs.id = run
  WHERE thread.thread_id = $1 ORDER BY n DESC NULLS LAST LIMIT 1`

/** Whether a run follows the newest one of its thread, a row of {@link NEWEST_OF_THREAD}. @throws as `followsNewest`. */
export function isNext(
  { texts }: StoreDialect,
  run: NewThreadRun,
  newest: StoredRow | undefined,
): boolean {
  return followsNewest(run, newest && readNewest(newest, (column) => String(texts.id(column))))
}
