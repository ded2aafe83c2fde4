/** Reads what a write must know of its run. */
import { postgresRecords } from './rows.ts'
import type { StoredTask } from '../../../log/stored-task.ts'
import type { RowId } from '../../shared/read-records.ts'
import { toColumn } from '../database/text.ts'

import type { DatabaseSession } from '../database/database.ts'
import type { KnownRun } from '../../shared/log/owned-runs.ts'

/** Returns the rows and all tasks of those runs that exist, by id of the run. */
export async function readKnownRuns(
  session: DatabaseSession,
  runIds: readonly string[],
): Promise<ReadonlyMap<string, KnownRun>> {
  if (runIds.length === 0) return new Map()
  const { schema } = session
  const rows = await session.query(`SELECT * FROM ${schema}.runs WHERE run_id = ANY($1)`, [
    runIds.map(toColumn),
  ])
  const runs = rows.map((row) => postgresRecords.runRow(row))
  const begun = runs.filter(({ run }) => run.startedAt !== undefined).map(({ id }) => id)
  const tasks = new Map<RowId, Map<number, StoredTask>>()
  if (begun.length > 0) {
    const taskRows = await session.query(`SELECT * FROM ${schema}.tasks WHERE run = ANY($1)`, [
      begun,
    ])
    for (const row of taskRows) {
      const run = String(row['run'])
      const ofRun = tasks.get(run) ?? new Map<number, StoredTask>()
      tasks.set(run, ofRun.set(Number(row['task_index']), postgresRecords.storedTask(row)))
    }
  }
  return new Map(runs.map((row) => [row.run.runId, { row, tasks: tasks.get(row.id) ?? new Map() }]))
}
