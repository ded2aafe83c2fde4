/** Costs of a claim and a renewal in a loaded database, in numbers that do not depend on the machine. */
import { beforeAll, describe, expect, it } from 'vitest'

import { ownDatabase } from '../../test/own-database.ts'
import { claimSql } from './claim-sql.ts'
import { postgresRunStorage } from './index.ts'
import { renewSql } from './leases.ts'

const database = ownDatabase()

const READY = 20_000
const PARKED = 20_000
const OWNED = 2_000
const ENDED = 100_000
const LIMIT = 10_000

const MAX_BUFFERS = 200

/** Time to load the database. */
const LONG = { timeout: 120_000 }

beforeAll(async () => {
  await (await open())[Symbol.asyncDispose]()
  await insertRuns('ended', ENDED, 'NULL')
  await insertRuns('ready', READY, `clock_timestamp() - interval '1 hour' + g * interval '1 ms'`)
  await insertRuns(
    'parked',
    PARKED,
    `CASE WHEN g % 2 = 0 THEN clock_timestamp() + interval '1 day' END`,
  )
  await insertRuns('owned', OWNED, 'NULL')
  await database.client.query(`
    INSERT INTO tutti.leases SELECT 'owner-' || g, clock_timestamp() + interval '1 day'
    FROM generate_series(0, 199) AS g;
    INSERT INTO tutti.slots SELECT g FROM generate_series(1, ${LIMIT}) AS g;
    UPDATE tutti.slots SET run = runs.id FROM (
      SELECT id, row_number() OVER () AS n FROM tutti.runs WHERE state = 'owned') AS runs
    WHERE slots.n = runs.n;
    UPDATE tutti.runs SET slot = slots.n FROM tutti.slots WHERE slots.run = runs.id;
  `)
  await database.client.query('VACUUM ANALYZE')
}, LONG.timeout)

describe('a claim next to 20,000 ready, 20,000 parked, 2,000 owned and 100,000 ended runs', () => {
  it.for([
    ['of runs of known ensembles', ['band', 'choir', 'duo'], false],
    ['of runs of all ensembles', null, true],
    ['without room', ['band'], false, OWNED],
    ['of runs of ensembles that have none', ['choir'], false],
  ] as const)('[RUNS-L3] %s reads few buffers', async ([, known, allEnsembles, limit = LIMIT]) => {
    const plan = await explainClaim({ known, allEnsembles, limit })
    const nodes = listNodes(plan)
    const scanned = nodes.filter((node) => node['Node Type'] === 'Seq Scan')
    expect(scanned.map((node) => node['Relation Name'])).not.toContain('runs')
    const sorted = nodes.filter((node) => String(node['Node Type']).includes('Sort'))
    expect(Math.max(0, ...sorted.map((node) => Number(node['Actual Rows'])))).toBeLessThanOrEqual(
      10,
    )
    const buffers = Number(plan['Shared Hit Blocks']) + Number(plan['Shared Read Blocks'])
    expect(buffers).toBeLessThanOrEqual(MAX_BUFFERS)
  })

  it(
    '[RUNS-L3] takes no advisory lock, and a full limit is exact for 64 claimants',
    LONG,
    async () => {
      const storages = await Promise.all(Array.from({ length: 8 }, () => open()))
      const limit = OWNED + 37
      const before = await advisoryLocks()
      const claims = await Promise.all(
        Array.from({ length: 64 }, async (_, n) => {
          const request = {
            owner: `new-${n}`,
            leaseMs: 600_000,
            wanted: 1,
            maxConcurrentRuns: limit,
          }
          return storages[n % 8]?.queue.claimNext(request)
        }),
      )
      expect(claims.flat()).toHaveLength(37)
      expect((await storages[0]?.queue.load())?.running).toBe(limit)
      expect(await advisoryLocks()).toBe(before)
      for (const storage of storages) await storage[Symbol.asyncDispose]()
    },
  )
})

describe('a renewal', () => {
  it(
    '[RUNS-L2] is one HOT update of one row, however many runs the process owns',
    LONG,
    async () => {
      const owner = { owner: 'owner-1', leaseMs: 86_400_000 }
      const leases = await updatesOf('leases')
      {
        await using storage = await open()
        for (let n = 0; n < 100; n += 1) {
          expect((await storage.queue.renew(owner)).length).toBeGreaterThanOrEqual(OWNED / 200)
        }
      }
      // A connection reports its counts when it is closed.
      await expect.poll(async () => (await updatesOf('leases')).total - leases.total).toBe(100)
      // A page without room for another version of a row is left for a new one, once.
      expect((await updatesOf('leases')).hot - leases.hot).toBeGreaterThanOrEqual(98)
    },
  )

  it('[RUNS-L2] of 1,000 processes every 3.3 s writes at most 100 kB/s of WAL', async () => {
    const renew = () =>
      explain('WAL', renewSql('tutti'), ['owner-2', 86_400_000, 86_400_000, true, ['band']])
    const changed = listNodes(await renew()).filter((node) => node['Node Type'] === 'ModifyTable')
    expect(changed.map((node) => node['Relation Name'])).toEqual(['leases'])
    // A renewal also removes earlier versions of rows on its page.
    let bytes = 0
    for (let n = 0; n < 100; n += 1) bytes += Number((await renew())['WAL Bytes'])
    const commitBytes = 55
    expect((bytes / 100 + commitBytes) * (1_000 / 3.3)).toBeLessThanOrEqual(100_000)
  })
})

function open() {
  return postgresRunStorage({ connectionString: database.url, maxConnections: 8 })
}

async function insertRuns(state: string, count: number, dueAt: string): Promise<void> {
  await database.client.query(`
    INSERT INTO tutti.runs (run_id, ensemble, workflow, status, inputs, tags, tag_index, task_count,
      created_at, state, owner, due_at, epoch)
    SELECT '${state}-' || g, 'band', 'SEQUENTIAL', 'RUNNING', '{"topic":"' || repeat('x', 200) || '"}',
      '{}', '{}', 2, 1.8e12 + g, '${state}',
      ${state === 'owned' ? `'owner-' || g % 200` : 'NULL'}, ${dueAt}, 1
    FROM generate_series(1, ${count}) AS g`)
}

type Plan = Readonly<Record<string, unknown>>

async function explainClaim(how: {
  readonly known: readonly string[] | null
  readonly allEnsembles: boolean
  readonly limit: number
}): Promise<Plan> {
  const sql = claimSql('tutti', { allEnsembles: how.allEnsembles })
  const values = ['new', 10_000, 1, how.limit, how.known, 0, 1, '-infinity', 0, 1, false, 10_000]
  return explain('BUFFERS', sql, values)
}

/** Runs a statement and returns its plan, with what it used, and rolls it back. */
async function explain(
  what: 'BUFFERS' | 'WAL',
  sql: string,
  values: readonly unknown[],
): Promise<Plan> {
  const { client } = database
  await client.query('BEGIN')
  const { rows } = await client.query<{ 'QUERY PLAN': readonly { Plan: Plan }[] }>(
    `EXPLAIN (ANALYZE, ${what}, FORMAT JSON) ${sql}`,
    [...values],
  )
  await client.query('ROLLBACK')
  return rows[0]?.['QUERY PLAN'][0]?.Plan ?? expect.fail('there is no plan')
}

function listNodes(plan: Plan): readonly Plan[] {
  // NOTE: this is the format of Postgres.
  const children = (plan['Plans'] ?? []) as readonly Plan[]
  return [plan, ...children.flatMap(listNodes)]
}

async function advisoryLocks(): Promise<number> {
  const { rows } = await database.client.query<{ total: string }>(
    `SELECT count(*) AS total FROM pg_locks WHERE locktype = 'advisory'
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  )
  return Number(rows[0]?.total)
}

async function updatesOf(table: string): Promise<{ total: number; hot: number }> {
  const { rows } = await database.client.query<{ total: string; hot: string }>(
    `SELECT n_tup_upd AS total, n_tup_hot_upd AS hot FROM pg_stat_user_tables
     WHERE relname = $1 AND schemaname = 'tutti'`,
    [table],
  )
  return { total: Number(rows[0]?.total), hot: Number(rows[0]?.hot) }
}
