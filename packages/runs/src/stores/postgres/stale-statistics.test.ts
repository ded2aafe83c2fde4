/** Costs of changes of one run while the statistics of the server are from a time with few unfinished runs. */
import { beforeAll, expect, it } from 'vitest'

import { connectClient } from '../../../../../tooling/postgres/connect-client.ts'
import { ownDatabase } from '../../../test/own-database.ts'
import { claimRun, createRun, ownedRun } from '../../testing/support/run-fixtures.ts'
import { postgresRunStorage } from './index.ts'

import type { HeldRun } from '../../ports/run-queue.ts'
import type { RunStorage } from '../../ports/run-storage.ts'

const database = ownDatabase({ isPrepared: true })

/** Runs of each state, and owners. */
const ENDED = 20_000
const OWNED = 3_000
const OWNERS = 60
const PARKED = 3_000

/** More than a store reads to claim one run by its id and to change it, and less than it has of any state. */
const MAX_ROWS = 100

const LEASE_MS = 600_000

/** Number of parked runs that a test has claimed. */
let claimed = 0
/** Number of leases that have expired. */
let expired = 0

beforeAll(async () => {
  {
    await using storage = await open()
    await ownedRun(storage, 'first-run')
    await createRun(storage, 'ready-run')
  }
  const insert = (state: string, count: number, owner: string): string => `
    INSERT INTO tutti.runs (run_id, ensemble, workflow, status, inputs, tags, tag_index, task_count,
      created_at, state, owner, due_at, epoch)
    SELECT '${state}-' || g, 'band', 'SEQUENTIAL', 'RUNNING', '{"topic":"' || repeat('x', 300) || '"}',
      '{}', '{}', 2, 1.8e12 + g, '${state}', ${owner}, NULL, 1 FROM generate_series(1, ${count}) AS g;`
  // A connection reports its counts when it is closed.
  const client = await connectClient(database.url)
  await client.query('ALTER TABLE tutti.runs SET (autovacuum_enabled = off)')
  await client.query(insert('ended', ENDED, 'NULL'))
  await client.query('VACUUM ANALYZE')
  await client.query(`
    ${insert('owned', OWNED, `'owner-' || g % ${OWNERS}`)}
    ${insert('parked', PARKED, 'NULL')}
    INSERT INTO tutti.leases SELECT 'owner-' || g, clock_timestamp() + interval '1 day'
    FROM generate_series(1, ${OWNERS - 1}) AS g;
    INSERT INTO tutti.leases VALUES ('owner-0', clock_timestamp() + interval '1 day')`)
  await client.end()
})

it.for<[string, (storage: RunStorage, held: HeldRun) => Promise<unknown>, unknown]>([
  ['a mark as waiting', (storage, held) => storage.queue.markWaiting(held, 'reviews'), true],
  ['a release', (storage, held) => storage.queue.release(held, { kind: 'ready' }), 'ready'],
  ['a park', (storage, held) => storage.queue.release(held, { kind: 'parked' }), 'parked'],
  ['a deletion', (storage, { runId }) => storage.runs.delete(runId), 'unfinished'],
  [
    'a claim by id',
    async (storage) =>
      (await storage.queue.claim(`parked-${PARKED}`, leaseOf(storage)))?.run.status,
    'RUNNING',
  ],
  [
    'the search for its build',
    async (storage) => (await storage.builds.findUnowned(`parked-${PARKED}`))?.runId,
    undefined,
  ],
  ['a renewal', async (storage) => (await storage.queue.renew(leaseOf(storage))).length, 1],
])('[RUNS-L3] %s reads few runs', async ([, change, expected]) => {
  const rows = await countRows(async (storage) => {
    const owner = await claimRun(storage, `parked-${(claimed += 1)}`, leaseOf(storage))
    expect(await change(storage, owner)).toBe(expected)
  })
  expect(rows).toBeLessThanOrEqual(MAX_ROWS)
})

it('[RUNS-L2] The runs of an expired lease are found without those of others', async () => {
  // Each attempt loses the runs of another owner.
  await database.client.query(
    `UPDATE tutti.leases SET expires_at = clock_timestamp() - interval '1 s' WHERE owner = $1`,
    [`owner-${(expired += 1)}`],
  )
  const rows = await countRows(async (storage) => {
    const lost = await storage.dispatcher.take({
      ...leaseOf(storage),
      wanted: 1,
      maxConcurrentRuns: Infinity,
    })
    expect(lost).toHaveLength(1)
  })
  // Each is read to be locked, to be changed and to be claimed.
  expect(rows).toBeLessThanOrEqual(MAX_ROWS + 5 * (OWNED / OWNERS))
})

function open() {
  return postgresRunStorage({ connectionString: database.url })
}

function leaseOf({ processName }: RunStorage) {
  return { owner: `${processName}-1`, leaseMs: LEASE_MS }
}

/** Returns the number of runs that a new store reads. */
async function countRows(use: (storage: RunStorage) => Promise<void>): Promise<number> {
  const before = await readRows()
  {
    await using storage = await open()
    await use(storage)
  }
  // A connection reports its counts when it is closed.
  await expect.poll(countConnections).toBe(0)
  return (await readRows()) - before
}

async function readRows(): Promise<number> {
  const { rows } = await database.client.query<{ total: string }>(
    `SELECT idx_tup_fetch + seq_tup_read AS total FROM pg_stat_user_tables
     WHERE relname = 'runs' AND schemaname = 'tutti'`,
  )
  return Number(rows[0]?.total)
}

async function countConnections(): Promise<number> {
  const { rows } = await database.client.query<{ total: string }>(
    `SELECT count(*) AS total FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`,
  )
  return Number(rows[0]?.total)
}
