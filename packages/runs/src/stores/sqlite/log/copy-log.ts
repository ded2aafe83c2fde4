/** Copies the log of a run to a fork (RUNS-P17). The caller holds a transaction. */
import { field } from '../../../domain/field.ts'
import { keySql, numberSql, ofRun } from '../schema/log-key.ts'
import { parentNotFound, stepsNotRetained } from '../../../domain/refusals.ts'

import type { ForkedLog } from '../../../ports/run-store.ts'
import type { Addition, Appended } from './append-events.ts'
import type { DatabaseSync } from 'node:sqlite'

/** Returns the function that copies the log of its parent to a new run, and then appends to it. */
export function prepareLogCopier(
  database: DatabaseSync,
  append: (addition: Addition) => Appended,
): (run: Pick<Addition, 'id' | 'runId'>, fork: ForkedLog) => void {
  const findParent = database.prepare('SELECT id FROM runs WHERE run_id = ?')
  const copyEvents = database.prepare(
    `INSERT INTO events (key, type, data, bytes)
     SELECT ${keySql('$id', numberSql())}, type, CASE type WHEN 'ensemble_started' THEN replace(data, $from, $to) ELSE data END,
       bytes
     FROM events WHERE ${ofRun('$parent', '1')} AND ${numberSql()} <= $at`,
  )
  const copySteps = database.prepare(
    `INSERT INTO steps (key, seq, data, bytes)
     SELECT ${keySql('$id', numberSql())}, seq, data, bytes FROM steps WHERE ${ofRun('$parent')} AND seq <= $at`,
  )
  const renameInEvents = database.prepare(
    `UPDATE events SET data = replace(data, $before, $after)
     WHERE ${ofRun('$id')} AND type = 'review_requested'`,
  )
  const renameInSteps = database.prepare(
    `UPDATE steps SET data = replace(data, $before, $after) WHERE ${ofRun('$id')}`,
  )
  return (
    { id, runId },
    { parent, changes, copiedSteps, reviewIds, events, steps, stepEvents },
  ) => {
    const row = findParent.get(parent.runId)
    if (row === undefined) throw parentNotFound(parent.runId)
    const range = { id, parent: Number(row['id']), at: parent.at }
    const from = `"ensembleId":${JSON.stringify(parent.runId)}`
    const to = `"ensembleId":${JSON.stringify(runId)}`
    const counts = [copyEvents.run({ ...range, from, to }).changes, copySteps.run(range).changes]
    if (Number(counts[0]) !== parent.at || Number(counts[1]) !== copiedSteps) {
      throw stepsNotRetained(parent.runId)
    }
    for (const [before, after] of reviewIds) {
      const names = { id, before: toReviewField(before), after: toReviewField(after) }
      renameInEvents.run(names)
      renameInSteps.run(names)
    }
    append({
      id,
      runId,
      lastSeq: parent.at,
      events,
      steps,
      ...field('stepEvents', stepEvents),
      changes,
      assignments: [
        ['last_seq = ?', parent.at + events.length],
        ['parent = ?', JSON.stringify(parent)],
      ],
    })
  }
}

function toReviewField(reviewId: string): string {
  return `"reviewId":${JSON.stringify(reviewId)}`
}
