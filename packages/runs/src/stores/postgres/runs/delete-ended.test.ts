import { describe, expect, it } from 'vitest'

import { createRun, endedRun, readAll } from '../../../testing/support/run-fixtures.ts'
import { hashName } from '../database/connections.ts'
import { LOCKS } from '../database/database.ts'
import { postgresRunStorage } from '../index.ts'
import { ownDatabase } from '../../../../test/own-database.ts'

const database = ownDatabase()
const open = (schema: string) =>
  postgresRunStorage({ connectionString: database.url, schema, maxConnections: 3 })

/** Makes a run long, and counts the events that each statement deletes. */
async function lengthen(schema: string, runId: string, events: number): Promise<void> {
  await database.client.query(`
    INSERT INTO ${schema}.events (run, seq, type, data)
      SELECT id, seq, 'token', '{}' FROM ${schema}.runs, generate_series(last_seq + 1, ${events - 1}) AS seq
      WHERE run_id = '${runId}';
    UPDATE ${schema}.runs SET last_seq = ${events - 1} WHERE run_id = '${runId}';
    CREATE TABLE IF NOT EXISTS ${schema}.counted (events int);
    CREATE OR REPLACE FUNCTION ${schema}.count_deleted() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN INSERT INTO ${schema}.counted SELECT count(*) FROM gone; RETURN NULL; END';
    CREATE OR REPLACE TRIGGER counts AFTER DELETE ON ${schema}.events
      REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION ${schema}.count_deleted()`)
}

async function count(sql: string): Promise<number> {
  const { rows } = await database.client.query(`SELECT count(*)::int AS count FROM ${sql}`)
  return Number(rows[0]?.count)
}

describe('deleting ended runs', () => {
  it('[RUNS-D7] The deletion of ended runs removes at most 10,000 events with one statement, of a long run and of many short ones', async () => {
    await using storage = await open('chunks')
    for (const runId of ['run-a', 'run-long', 'run-b', 'run-c']) await endedRun(storage, runId)
    await lengthen('chunks', 'run-long', 25_003)
    const deleted = await storage.runs.deleteEnded({ keep: 1, limit: 9 })
    expect(deleted).toEqual(['run-a', 'run-long', 'run-b'])
    const { rows } = await database.client.query(
      'SELECT events FROM chunks.counted WHERE events > 0',
    )
    expect(Math.max(...rows.map(({ events }) => Number(events)))).toBe(10_000)
    expect([await count('chunks.events'), await count('chunks.deleted_runs')]).toEqual([2, 0])
    expect(await storage.runs.delete('run-c')).toBe('deleted')
    expect([await count('chunks.events'), await count('chunks.run_texts')]).toEqual([0, 0])
  })

  it('[RUNS-D7] The deletion of ended runs also removes what a process that ended in between has left', async () => {
    await using storage = await open('rest')
    await endedRun(storage, 'run-a')
    await lengthen('rest', 'run-a', 12_000)
    // The run is gone, its events are not.
    await database.client.query(
      `WITH gone AS (DELETE FROM rest.runs RETURNING id, last_seq)
       INSERT INTO rest.deleted_runs SELECT id, last_seq FROM gone`,
    )
    await createRun(storage, 'run-a')
    expect(await readAll(storage, 'run-a')).toHaveLength(1)
    expect(await storage.runs.deleteEnded({ keep: 9, limit: 9 })).toEqual([])
    expect([await count('rest.events'), await count('rest.deleted_runs')]).toEqual([1, 0])
  })

  it('[RUNS-D7] A deletion of ended runs leaves the work to the process that is at it', async () => {
    await using storage = await open('alone')
    await endedRun(storage, 'run-a')
    await database.client.query('BEGIN; SELECT FROM alone.runs FOR UPDATE')
    const { rows } = await database.client.query(
      `SELECT pg_try_advisory_xact_lock(${LOCKS.retention}, key) AS is_free FROM (VALUES (${lockKey('alone')})) AS k (key)`,
    )
    expect(rows).toEqual([{ is_free: true }])
    expect(await storage.runs.deleteEnded({ keep: 0, limit: 9 })).toEqual([])
    await database.client.query('COMMIT')
    expect(await storage.runs.deleteEnded({ keep: 0, limit: 9 })).toEqual(['run-a'])
  })

  it.for([
    ['ended_at DESC, id DESC', ''],
    ['ended_at, id', `AND (ended_at, id) <= (now(), 5)`],
    ['ended_at, id', `AND ended_at < now()`],
  ] as const)('A query finds ended runs in the order %s by their index', async ([order, bound]) => {
    await using _ = await open('plans')
    await database.client.query('SET enable_seqscan = off; SET enable_sort = off')
    const { rows } = await database.client.query(
      `EXPLAIN SELECT id FROM plans.runs WHERE state = 'ended' ${bound} ORDER BY ${order} LIMIT 9`,
    )
    await database.client.query('RESET enable_seqscan; RESET enable_sort')
    expect(JSON.stringify(rows)).toContain('runs_ended')
    expect(JSON.stringify(rows)).not.toContain('Sort')
  })
})

function lockKey(schema: string): number {
  return hashName(schema).readInt32BE()
}
