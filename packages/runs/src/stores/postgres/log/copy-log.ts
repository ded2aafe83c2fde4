/** Copies the log of a run to a fork (RUNS-P17), within the transaction that creates the fork. */
import { parentNotFound, stepsNotRetained } from '../../../domain/refusals.ts'
import { postgresRecords } from '../rows/rows.ts'
import { prepareFork } from '../../shared/log/prepare-write.ts'
import { toForkWrite } from '../../shared/log/decide-write.ts'
import { storeWrites } from './store-writes.ts'
import { toColumn } from '../database/text.ts'

import type { DatabaseSession } from '../database/database.ts'
import type { ForkedLog } from '../../../ports/run-store.ts'

/** A new run, and the log that it begins with. */
export interface NewFork {
  readonly runId: string
  readonly fork: ForkedLog
}

/** Copies the log of its parent to a new run, then appends the fork's own events. */
export async function copyLog(
  session: DatabaseSession,
  { runId, fork }: NewFork,
  channel: string,
): Promise<void> {
  const { parent, copiedSteps, reviewIds } = fork
  const { schema, query } = session
  const [found] = await query(`SELECT id FROM ${schema}.runs WHERE run_id = $1 FOR KEY SHARE`, [
    toColumn(parent.runId),
  ])
  if (found === undefined) throw parentNotFound(parent.runId)
  const [copied] = await query(
    `WITH child AS (
       SELECT id FROM ${schema}.runs WHERE run_id = $1
     ), copied_events AS (
       INSERT INTO ${schema}.events (run, seq, type, data, bytes)
       SELECT child.id, seq, type,
         CASE type WHEN 'ensemble_started' THEN replace(data, $4, $5) ELSE data END, bytes
       FROM ${schema}.events, child WHERE run = $2::int8 AND seq BETWEEN 1 AND $3::int4 RETURNING 1
     ), copied_steps AS (
       INSERT INTO ${schema}.steps (run, n, seq, data, bytes)
       SELECT child.id, n, seq, data, bytes FROM ${schema}.steps, child
       WHERE run = $2::int8 AND seq <= $3::int4 RETURNING 1
     )
     UPDATE ${schema}.runs SET last_seq = $3::int4, parent = $6,
       next_step = (SELECT count(*) FROM copied_steps)
     FROM child WHERE runs.id = child.id
     RETURNING runs.*, (SELECT count(*) FROM copied_events) AS copied_events`,
    [
      toColumn(runId),
      found['id'],
      parent.at,
      `"ensembleId":${JSON.stringify(parent.runId)}`,
      `"ensembleId":${JSON.stringify(runId)}`,
      JSON.stringify(parent),
    ],
  )
  if (copied === undefined) throw new TypeError(`Run ${runId} does not exist`)
  const row = postgresRecords.runRow(copied)
  // The row of the parent is locked, but its steps are deleted before it.
  if (row.nextStep !== copiedSteps || Number(copied['copied_events']) !== parent.at) {
    throw stepsNotRetained(parent.runId)
  }
  for (const [before, after] of reviewIds) {
    await query(
      `WITH renamed AS (
         UPDATE ${schema}.steps SET data = replace(data, $2, $3)
         WHERE run = $1::int8 AND strpos(data, $2) > 0
       )
       UPDATE ${schema}.events SET data = replace(data, $2, $3)
       WHERE run = $1::int8 AND type = 'review_requested'`,
      [row.id, `"reviewId":${JSON.stringify(before)}`, `"reviewId":${JSON.stringify(after)}`],
    )
  }
  const write = toForkWrite(row, prepareFork(fork))
  const known = { row, tasks: new Map() }
  const { stored } = await storeWrites(session, [{ known, write }], channel)
  if (stored.length !== 1) throw new TypeError(`Run ${runId} changed during its creation`)
}
