import { expect, it } from 'vitest'

import { ownDatabase } from '../../../../test/own-database.ts'
import {
  AT_MS,
  completed,
  result,
  reviewRequested,
  started,
  step,
} from '../../../testing/support/event-fixtures.ts'
import {
  claimRun,
  createRun,
  ownedRun,
  OWNER,
  readUnowned,
} from '../../../testing/support/run-fixtures.ts'
import { postgresRunStorage } from '../index.ts'
import { explainStatement } from '../testing/explain.ts'
import { activeRunsSql, actorUseSql } from './totals.ts'

import type { RunStorage } from '../../../ports/run-storage.ts'

const database = ownDatabase()

const ENDED = 50_000
const UNFINISHED = 5_000
const DAY_MS = 86_400_000
/** At most one for each of the 720 periods of a day, and those of the runs of one period. */
const MAX_BUFFERS = 900

it('[RUNS-P11] The totals equal counts while processes change runs concurrently', async () => {
  await using first = await open('equal')
  await using second = await open('equal')
  await using third = await open('equal')
  const storages = [first, second, third]
  await Promise.all(
    Array.from({ length: 60 }, async (_, n) => {
      const storage = storages[n % 3] ?? first
      const createdAt = AT_MS + (n % 5) * 60_000
      const actor = n % 4 === 0 ? {} : { actor: `actor-${n % 3}` }
      await createRun(storage, `run-${n}`, { createdAt, ...actor })
      await changeRun(storage, `run-${n}`, n % 7)
    }),
  )
  expect(await readTotals('equal')).toEqual(await countRuns('equal'))
  await first.runs.deleteEnded({ keep: 3, limit: 5 })
  await second.runs.deleteEnded({ keep: 3, limit: 99 })
  expect(await readTotals('equal')).toEqual(await countRuns('equal'))
  await database.client.query('DELETE FROM equal.runs')
  expect(await readTotals('equal')).toEqual([])
})

it('[RUNS-P11] The totals of parked runs and open reviews equal counts while processes change runs concurrently', async () => {
  await using first = await open('parked')
  await using second = await open('parked')
  await using third = await open('parked')
  const storages = [first, second, third]
  await Promise.all(
    Array.from({ length: 60 }, async (_, n) => {
      await changeParked(storages[n % 3] ?? first, n)
    }),
  )
  const counted = await countParked('parked')
  expect(counted).toHaveLength(5)
  expect(await readParkedTotals('parked')).toEqual(counted)
  await database.client.query('DELETE FROM parked.runs')
  expect(await readParkedTotals('parked')).toEqual([])
})

it('[RUNS-P11] A build that starts deletes the totals of codes without parked runs', async () => {
  await using storage = await open('gone')
  const code = { build: 'old', code: 'old', isFixed: false }
  await createRun(storage, 'run-a', { code, startAt: Date.now() + 1e6 })
  await createRun(storage, 'run-b', { startAt: Date.now() + 1e6 })
  await claimRun(storage, 'run-a', OWNER)
  expect(await countParkedRows()).toBe(2)
  await storage.builds.register({ build: 'new', share: 100, ensembles: [] })
  expect(await countParkedRows()).toBe(1)
  expect((await storage.queue.load()).parked).toBe(1)
})

it('[RUNS-P11] The totals delete the costs of periods without runs', async () => {
  await using storage = await open('empty')
  for (const runId of ['run-a', 'run-b', 'run-c']) {
    await createRun(storage, runId, { actor: 'ci' })
    await changeRun(storage, runId, 6)
  }
  await storage.runs.delete('run-a')
  await storage.runs.deleteEnded({ keep: 1, limit: 9 })
  expect(await countCosts()).toBeGreaterThan(0)
  await storage.runs.deleteEnded({ keep: 0, limit: 9 })
  expect(await countCosts()).toBe(0)
})

it('[RUNS-P11] A submit within a quota reads few buffers next to 50,000 ended runs of its actor', async () => {
  await using _ = await open('loaded')
  await insertRuns('loaded', 'ended', ENDED)
  await insertRuns('loaded', 'parked', UNFINISHED)
  await database.client.query('VACUUM ANALYZE')
  const since = AT_MS - DAY_MS + 60_000
  for (const [sql, values] of [
    [actorUseSql('loaded'), ['ci', since]],
    [`SELECT ${activeRunsSql('loaded')} AS active`, []],
  ] as const) {
    const { buffers, nodes } = await explainStatement(database.client, sql, values)
    expect(buffers).toBeLessThanOrEqual(MAX_BUFFERS)
    const scanned = nodes.filter((node) => node['Node Type'] === 'Seq Scan')
    expect(scanned.map((node) => node['Relation Name'])).not.toContain('runs')
  }
  const { rows } = await database.client.query(actorUseSql('loaded'), ['ci', since])
  const { rows: counted } = await database.client.query(
    `SELECT count(*)::float8 / 8 AS cost FROM loaded.runs WHERE created_at >= $1`,
    [since],
  )
  expect(Number(rows[0].unfinished)).toBe(UNFINISHED)
  expect(Number(rows[0].spent) + Number(rows[0].spent_before)).toBe(counted[0].cost)
})

function open(schema: string) {
  return postgresRunStorage({ connectionString: database.url, schema, maxConnections: 6 })
}

/** Brings a ready run into a state. */
async function changeRun(storage: RunStorage, runId: string, state: number): Promise<void> {
  if (state === 0) return
  const owner = await claimRun(storage, runId, OWNER)
  if (state === 1) return
  await owner.commit([started, ...(state > 4 ? [completed] : [])], { steps: [step(1)] })
  if (state === 2) await storage.queue.release(owner, { kind: 'parked' })
  if (state === 3) await storage.queue.release(owner, { kind: 'ready' })
  if (state === 4 || state === 5) await storage.queue.markWaiting(owner, 'reviews')
  if (state === 5) await storage.queue.release(owner, { kind: 'lost' })
  if (state === 6) await owner.commit([completed, result(runId)])
}

/** Parks a run, with a review or not, and brings most of them into another state. */
async function changeParked(storage: RunStorage, n: number): Promise<void> {
  const runId = `run-${n}`
  if (n % 6 === 0) {
    const code = { build: `build-${n % 4}`, code: 'code', isFixed: false }
    await createRun(storage, runId, { code, startAt: Date.now() + 1e6 })
    return
  }
  const owner = await ownedRun(storage, runId)
  await owner.commit([started, reviewRequested(`review-${n}`)])
  if (n % 6 === 1) return
  await storage.queue.release(owner, { kind: 'parked' })
  if (n % 6 === 2) return
  const again = n % 6 === 3 ? undefined : await claimRun(storage, runId, OWNER)
  if (again === undefined) await storage.builds.hold(await readUnowned(storage, runId))
  else if (n % 6 === 4) await storage.queue.release(again, { kind: 'parked' })
  else await again.commit([completed, result(runId)])
}

/** Inserts runs of an actor, created on one day up to `last`, with a task that costs 12.5 cents each. */
async function insertRuns(schema: string, state: string, count: number): Promise<void> {
  await database.client.query(`
    WITH added AS (
      INSERT INTO ${schema}.runs (run_id, ensemble, workflow, status, inputs, tags, tag_index, task_count,
        created_at, state, actor_index, cost_usd, due_at)
      SELECT '${state}-' || g, 'band', 'SEQUENTIAL', 'RUNNING', '{}', '{}', '{}', 1,
        ${AT_MS} - ${DAY_MS} / ${count} * (g - 1), '${state}', 'ci',
        ${state === 'ended' ? '0.125' : 'NULL'}, NULL
      FROM generate_series(1, ${count}) AS g RETURNING id
    )
    INSERT INTO ${schema}.tasks (run, task_index, name, description, agent_role, status, attempt, input_tokens,
      output_tokens, tool_call_count, earlier_input_tokens, earlier_output_tokens, earlier_tool_call_count, cost_usd)
    SELECT id, 1, 'play', '', '', 'COMPLETED', 1, 1, 1, 0, 0, 0, 0, 0.125 FROM added`)
}

async function readTotals(schema: string): Promise<readonly unknown[]> {
  const { rows } = await database.client.query(`
    SELECT kind, name, period::int, sum(amount)::float8 AS amount FROM ${schema}.totals
    GROUP BY 1, 2, 3 HAVING sum(amount) <> 0 ORDER BY 1, 2, 3`)
  return rows
}

/** Counts what the totals add up. */
async function countRuns(schema: string): Promise<readonly unknown[]> {
  const { rows } = await database.client.query(`
    SELECT 'active' AS kind, '' AS name, 0 AS period, count(*)::float8 AS amount FROM ${schema}.runs
      WHERE state = 'ready' OR (state = 'owned' AND NOT waiting)
    UNION ALL SELECT 'unfinished', actor_index, 0, count(*) FROM ${schema}.runs
      WHERE state <> 'ended' AND actor_index IS NOT NULL GROUP BY actor_index
    UNION ALL SELECT 'cost', actor_index, floor(created_at / 120000)::int,
        sum(coalesce(tasks.cost_usd, 0) + coalesce(earlier_cost_usd, 0))
      FROM ${schema}.runs JOIN ${schema}.tasks ON run = runs.id
      WHERE actor_index IS NOT NULL GROUP BY 2, 3
      HAVING sum(coalesce(tasks.cost_usd, 0) + coalesce(earlier_cost_usd, 0)) <> 0
    ORDER BY 1, 2, 3`)
  return rows
}

async function readParkedTotals(schema: string): Promise<readonly unknown[]> {
  const { rows } = await database.client.query(`
    SELECT ensemble, build, code, status, sum(amount)::int AS amount FROM ${schema}.parked_totals
    GROUP BY 1, 2, 3, 4 HAVING sum(amount) <> 0
    UNION ALL SELECT kind, name, '', '', sum(amount)::int FROM ${schema}.totals
    WHERE kind = 'reviews' GROUP BY 1, 2 HAVING sum(amount) <> 0 ORDER BY 1, 2, 3, 4`)
  return rows
}

/** Counts what the totals of parked runs and reviews add up. */
async function countParked(schema: string): Promise<readonly unknown[]> {
  const { rows } = await database.client.query(`
    SELECT ensemble, coalesce(build, '') AS build, coalesce(code, '') AS code, status,
      count(*)::int AS amount
    FROM ${schema}.runs WHERE state = 'parked' GROUP BY 1, 2, 3, 4
    UNION ALL SELECT 'reviews', kind, '', '', count(*)::int FROM ${schema}.reviews
    WHERE status = 'OPEN' GROUP BY 1, 2 ORDER BY 1, 2, 3, 4`)
  return rows
}

async function countParkedRows(): Promise<number> {
  const { rows } = await database.client.query(
    'SELECT count(*)::int AS count FROM gone.parked_totals',
  )
  return rows[0].count
}

async function countCosts(): Promise<number> {
  const { rows } = await database.client.query(
    `SELECT count(*)::int AS count FROM empty.totals WHERE kind = 'cost'`,
  )
  return rows[0].count
}
