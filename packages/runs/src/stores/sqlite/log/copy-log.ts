/** Copies the log of a run to a fork (RUNS-P17). The caller holds a transaction. */
import { toForkWrite } from '../../shared/log/decide-write.ts'
import { keySql, numberSql, ofRun } from '../schema/log-key.ts'
import { parentNotFound, stepsNotRetained } from '../../../domain/refusals.ts'

import type { SqliteParts } from '../rows/parts.ts'
import type { PreparedFork } from '../rows/prepared-run.ts'
import type { WriteStorer } from './store-write.ts'

/** Copies the log of its parent to the new run with the row id `id`, and then appends the own events of the fork. */
export function copyParentLog(
  { rows, statements }: Pick<SqliteParts, 'rows' | 'statements'>,
  store: WriteStorer,
  { id, runId, fork }: NewFork,
): void {
  const { parent, copiedSteps, reviewIds } = fork
  const found = rows.find(parent.runId)
  if (found === undefined) throw parentNotFound(parent.runId)
  const range = [id, found.id, parent.at]
  const events = statements.count(
    `INSERT INTO events (key, type, data, bytes)
     SELECT ${keySql('$1', numberSql())}, type,
       CASE type WHEN 'ensemble_started' THEN replace(data, $4, $5) ELSE data END, bytes
     FROM events WHERE ${ofRun('$2', '1')} AND ${numberSql()} <= $3`,
    [
      ...range,
      `"ensembleId":${JSON.stringify(parent.runId)}`,
      `"ensembleId":${JSON.stringify(runId)}`,
    ],
  )
  const steps = statements.count(
    `INSERT INTO steps (key, seq, data, bytes)
     SELECT ${keySql('$1', numberSql())}, seq, data, bytes FROM steps
     WHERE ${ofRun('$2')} AND seq <= $3`,
    range,
  )
  if (events !== parent.at || steps !== copiedSteps) {
    throw stepsNotRetained(parent.runId)
  }
  for (const [before, after] of reviewIds) {
    const names = [id, toReviewField(before), toReviewField(after)]
    statements.run(
      `UPDATE events SET data = replace(data, $2, $3)
       WHERE ${ofRun('$1')} AND type = 'review_requested'`,
      names,
    )
    statements.run(`UPDATE steps SET data = replace(data, $2, $3) WHERE ${ofRun('$1')}`, names)
  }
  statements.run('UPDATE runs SET last_seq = $1, parent = $2 WHERE id = $3', [
    parent.at,
    JSON.stringify(parent),
    id,
  ])
  const row = rows.get(id)
  store({
    known: { row, tasks: new Map() },
    write: toForkWrite(row, fork.prepared),
    isRead: true,
  })
}

/** A new run, and the log that it begins with. */
interface NewFork {
  readonly id: number
  readonly runId: string
  readonly fork: PreparedFork
}

function toReviewField(reviewId: string): string {
  return `"reviewId":${JSON.stringify(reviewId)}`
}
