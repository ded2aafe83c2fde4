/** Costs of a claim and a renewal in a loaded database, in numbers that do not depend on the machine. */
import { silentLogger } from '@tutti/core/internal'
import { beforeAll, describe, expect, it } from 'vitest'

import { connectClient } from '../../../../../../tooling/postgres/connect-client.ts'
import { ownDatabase } from '../../../../test/own-database.ts'
import { claimSql, type ClaimForm } from './claim-sql.ts'
import { Database, PLAN_ONCE } from '../database/database.ts'
import { postgresRunStorage } from '../index.ts'
import { renewSql } from './leases.ts'

import type { Client } from 'pg'

const database = ownDatabase({ isPrepared: true })

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

// First, because connections report their counts some time after what they did.
describe('a renewal', () => {
  it(
    '[RUNS-L2] A lease renewal is one HOT update of one row, however many runs the process owns',
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

  it('[RUNS-L2] A lease renewal of 1,000 processes every 3.3 s writes at most 70 kB/s of WAL', async () => {
    const renew = () =>
      explain('WAL', renewSql('tutti'), ['owner-2', 86_400_000, 86_400_000, true, ['band'], null])
    const changed = listNodes(await renew()).filter((node) => node['Node Type'] === 'ModifyTable')
    expect(changed.map((node) => node['Relation Name'])).toEqual(['leases'])
    // While another connection holds a snapshot, such as an automatic ANALYZE, earlier versions fill the page, and each
    // renewal adds an entry to the index.
    await expect.poll(countOtherSnapshots).toBe(0)
    await database.client.query('VACUUM tutti.leases')
    // The median, because a few renewals remove earlier versions from the page: here more, as each is rolled back.
    const sizes: number[] = []
    for (let n = 0; n < 101; n += 1) sizes.push(Number((await renew())['WAL Bytes']))
    const bytes = sizes.toSorted((a, b) => a - b)[50] ?? Number.NaN
    const commitBytes = 55
    expect((bytes + commitBytes) * (1_000 / 3.3)).toBeLessThanOrEqual(70_000)
  })
})

describe('a claim next to 20,000 ready, 20,000 parked, 2,000 owned and 100,000 ended runs', () => {
  it.for([
    ['of runs of known ensembles', ['band', 'choir', 'duo'], false],
    ['of runs of all ensembles', null, true],
    ['without room', ['band'], false, OWNED],
    ['of runs of ensembles that have none', ['choir'], false],
  ] as const)(
    '[RUNS-L3] A claim %s reads few buffers',
    async ([, known, looksAtAll, limit = LIMIT]) => {
      const plan = await explainClaim({ known, looksAtAll, allEnsembles: looksAtAll, limit })
      const nodes = listNodes(plan)
      const scanned = nodes.filter((node) => node['Node Type'] === 'Seq Scan')
      expect(scanned.map((node) => node['Relation Name'])).not.toContain('runs')
      const sorted = nodes.filter((node) => String(node['Node Type']).includes('Sort'))
      expect(Math.max(0, ...sorted.map((node) => Number(node['Actual Rows'])))).toBeLessThanOrEqual(
        10,
      )
      expect(readBuffers(plan)).toBeLessThanOrEqual(MAX_BUFFERS)
    },
  )

  it.for([
    ['as many slots as runs are due', 'duo', 2],
    ['no slot while no run is due', 'choir', 0],
  ] as const)(
    '[RUNS-L3] A claim next to many ready, parked, owned and ended runs locks %s, however many it wants',
    async ([, ensemble, due]) => {
      await database.client.query(
        `UPDATE tutti.runs SET ensemble = 'duo' WHERE run_id IN ('ready-1', 'ready-2')`,
      )
      const sql = claimSql('tutti', { looksAtAll: false, allEnsembles: false })
      const values = claimValues({ known: [ensemble], limit: LIMIT, wanted: 50 })
      const nodes = listNodes(await explain('BUFFERS', sql, values))
      const locked = nodes.filter((node) => node['Node Type'] === 'LockRows')
      const rows = locked.map((node) => Number(node['Actual Rows']))
      // Slots and runs.
      expect(rows).toEqual([due, due])
    },
  )

  it(
    '[RUNS-L3] A claim next to many ready, parked, owned and ended runs takes no advisory lock, and a full limit is exact for 64 claimants',
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
          return storages[n % 8]?.dispatcher.take(request)
        }),
      )
      expect(claims.flat()).toHaveLength(37)
      expect((await storages[0]?.queue.load())?.running).toBe(limit)
      expect(await advisoryLocks()).toBe(before)
      for (const storage of storages) await storage[Symbol.asyncDispose]()
    },
  )
})

describe('claims of many processes', () => {
  it(
    '[RUNS-L3] Claims of many processes by 64 claimants at once read few buffers each',
    LONG,
    async () => {
      const before = await buffersOfClaims()
      const claimed = await claimAtOnce({ claimants: 64, each: 4 })
      // A connection reports its counts when it is closed.
      await expect.poll(buffersOfClaims).toBeGreaterThan(before)
      expect(claimed).toBe(256)
      expect((await buffersOfClaims()) - before).toBeLessThanOrEqual(256 * MAX_BUFFERS)
    },
  )

  it(
    '[RUNS-L3] Claims of many processes read few more buffers when a snapshot keeps what they replaced',
    LONG,
    async () => {
      await using stack = new AsyncDisposableStack()
      const holder = await connectClient(database.url)
      stack.defer(() => holder.end())
      await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM tutti.leases LIMIT 1')
      await claimAtOnce({ claimants: 4, each: 5 })
      const first = readBuffers(await explainNextClaim())
      expect(await claimAtOnce({ claimants: 4, each: 250 })).toBe(1_000)
      const last = readBuffers(await explainNextClaim())
      // Updates of 1,000 leases would leave a dozen pages, which a claim would read several times.
      expect(last).toBeLessThanOrEqual(first + 10)
    },
  )
})

describe('a claim on a new connection of the queue', () => {
  it('[RUNS-L3] A claim on a new connection of the queue is planned once, with indexes, for all values', async () => {
    const queue = new Database({
      connectionString: database.url,
      schema: 'tutti',
      maxConnections: 1,
      preparedStatements: true,
      isPooled: false,
      planner: PLAN_ONCE,
      logger: silentLogger,
      onLost: () => undefined,
    })
    const sql = claimSql('"tutti"', { looksAtAll: false, allEnsembles: false })
    for (let claims = 0; claims < 7; claims += 1) {
      await queue.query(sql, claimValues({ known: ['choir', `${claims}`], limit: LIMIT }))
    }
    const plans = await queue.query(
      `SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE statement = $1`,
      [sql],
    )
    await queue.close()
    expect(plans).toEqual([{ generic_plans: '7', custom_plans: '0' }])
  })
})

function open() {
  return postgresRunStorage({ connectionString: database.url, maxConnections: 8 })
}

/** Claims runs one by one, by several owners at once. Returns the number of claimed runs. */
async function claimAtOnce(how: { claimants: number; each: number }): Promise<number> {
  await using stack = new AsyncDisposableStack()
  const storages = await Promise.all(Array.from({ length: 4 }, () => open()))
  for (const storage of storages) stack.use(storage)
  const claim = async (claimant: number): Promise<number> => {
    let claimed = 0
    for (let n = 0; n < how.each; n += 1) {
      const runs = await storages[claimant % storages.length]?.dispatcher.take({
        owner: `claimant-${claimant}`,
        leaseMs: 600_000,
        wanted: 1,
        maxConcurrentRuns: LIMIT,
        known: { ensembles: ['band'], othersAfterMs: 600_000 },
      })
      claimed += runs?.length ?? 0
    }
    return claimed
  }
  const counts = await Promise.all(Array.from({ length: how.claimants }, (_, n) => claim(n)))
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Returns the plan of the claim of a process that claimed the last of the claimed runs. */
async function explainNextClaim(): Promise<Plan> {
  const { rows } = await database.client.query<{ turn: string; slot: string }>(
    `SELECT min(turn)::text AS turn, (SELECT min(n) FROM tutti.slots WHERE run IS NULL)::text AS slot
     FROM tutti.runs WHERE state = 'ready'`,
  )
  const [next] = rows
  const sql = claimSql('tutti', { looksAtAll: false, allEnsembles: false })
  const after = { ensemble: 'band', class: 4, turn: Number(next?.turn), due_at: '-infinity', id: 0 }
  const place = { owner: 'claimant-1', after, slot: Number(next?.slot) }
  return explain('BUFFERS', sql, claimValues({ known: ['band'], limit: LIMIT, ...place }))
}

/** Returns the number of other connections to the database that hold a snapshot. */
async function countOtherSnapshots(): Promise<number> {
  const { rows } = await database.client.query<{ total: string }>(
    `SELECT count(*) AS total FROM pg_stat_activity
     WHERE datname = current_database() AND backend_xmin IS NOT NULL AND pid <> pg_backend_pid()`,
  )
  return Number(rows[0]?.total)
}

/** Returns the number of buffers of the tables of claims, with their indexes, that all connections have read. */
async function buffersOfClaims(): Promise<number> {
  const { rows } = await database.client.query<{ total: string }>(
    `SELECT sum(heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read) AS total
     FROM pg_statio_user_tables WHERE relname IN ('runs', 'slots', 'leases', 'commands')
       AND schemaname = 'tutti'`,
  )
  return Number(rows[0]?.total)
}

async function insertRuns(state: string, count: number, dueAt: string): Promise<void> {
  await database.client.query(`
    INSERT INTO tutti.runs (run_id, ensemble, workflow, status, inputs, tags, tag_index, task_count,
      created_at, state, owner, due_at, epoch, turn)
    SELECT '${state}-' || g, 'band', 'SEQUENTIAL', 'RUNNING', '{"topic":"' || repeat('x', 200) || '"}',
      '{}', '{}', 2, 1.8e12 + g, '${state}',
      ${state === 'owned' ? `'owner-' || g % 200` : 'NULL'}, ${dueAt}, ${state === 'ready' ? '0, 1.8e12::int8 + g' : '1, 0'}
    FROM generate_series(1, ${count}) AS g`)
}

type Plan = Readonly<Record<string, unknown>>

/** A value of a statement. */
type Value = string | number | boolean | readonly string[] | null

interface ClaimValues {
  readonly known: readonly string[] | null
  readonly limit: number
  readonly owner?: string
  /** Position after which new runs are searched. @default all */
  readonly after?: object
  /** First slot to use. @default 1 */
  readonly slot?: number
  /** @default 1 */
  readonly wanted?: number
}

function claimValues(how: ClaimValues): readonly Value[] {
  const { known, limit, owner = 'new', after, slot = 1, wanted = 1 } = how
  const positions = JSON.stringify(after === undefined ? [] : [after])
  return [
    owner,
    600_000,
    wanted,
    limit,
    known,
    0,
    1,
    positions,
    true,
    slot,
    false,
    600_000,
    null,
    null,
  ]
}

async function explainClaim(how: ClaimValues & ClaimForm): Promise<Plan> {
  const sql = claimSql('tutti', how)
  return explain('BUFFERS', sql, claimValues(how))
}

/** Runs a statement as the queue does and returns its plan, with what it used, and rolls it back. */
async function explain(
  what: 'BUFFERS' | 'WAL',
  sql: string,
  values: readonly Value[],
): Promise<Plan> {
  await using stack = new AsyncDisposableStack()
  const client = await connectClient({ connectionString: database.url, options: PLAN_ONCE })
  stack.defer(() => client.end())
  await client.query('BEGIN')
  await client.query(`PREPARE explained AS ${sql}`)
  const literals = values.map((value) => toLiteral(client, value)).join(', ')
  const { rows } = await client.query<{ 'QUERY PLAN': readonly { Plan: Plan }[] }>(
    `EXPLAIN (ANALYZE, ${what}, FORMAT JSON) EXECUTE explained (${literals})`,
  )
  await client.query('ROLLBACK')
  return rows[0]?.['QUERY PLAN'][0]?.Plan ?? expect.fail('there is no plan')
}

function toLiteral(client: Client, value: Value): string {
  if (value === null) return 'NULL'
  if (typeof value !== 'object') return client.escapeLiteral(String(value))
  return `ARRAY[${value.map((item) => client.escapeLiteral(item)).join(', ')}]`
}

function readBuffers(plan: Plan): number {
  return Number(plan['Shared Hit Blocks']) + Number(plan['Shared Read Blocks'])
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
