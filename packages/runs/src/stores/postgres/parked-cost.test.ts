/**
 * Costs of the statements that a process repeats, or that a request executes, while many runs are parked. They are the counts
 * of Postgres, so they do not depend on the machine, and the plans are those of the connections of a store.
 */
import { PERSON_REVIEW_KINDS } from '@tutti/protocol/internal'
import { beforeAll, describe, expect, it } from 'vitest'

import { queued } from '../../testing/support/event-fixtures.ts'
import { newRun } from '../../testing/support/run-fixtures.ts'
import { listClaimKeys } from '../../domain/claim-key.ts'
import { ownDatabase } from '../../../test/own-database.ts'
import { toAddress } from '../shared/schema/event-address.ts'
import { postgresRunStorage } from './index.ts'

import type { RunStorage } from '../../ports/run-storage.ts'

const database = ownDatabase({ isPrepared: true })

const FEW = 2_000
const MANY = 20_000

/** Number of runs that are inserted together: a total of reviews is changed once for each. */
const BATCH = 500

/** Time to load the database, in milliseconds. */
const LOAD_MS = 120_000

const LEASE = { owner: 'owner-1', leaseMs: 60_000 }
const CODES = { band: 'code-1' }
const KNOWN = { ensembles: listClaimKeys(CODES), othersAfterMs: 600_000 }
const CLAIM = { ...LEASE, wanted: 5, maxConcurrentRuns: 10, known: KNOWN }
const DAY_MS = 86_400_000

/** An event that many runs await, and one that none awaits. */
const SHARED = { name: 'approved' }
const UNKNOWN = { name: 'unknown' }

/** Repeated work of a process, and requests whose cost must not depend on the parked runs. */
type Work = (storage: RunStorage, n: number) => Promise<unknown>
const WORK: Readonly<Record<string, Work>> = {
  'a claim of due runs': ({ dispatcher }) => dispatcher.take(CLAIM),
  'a claim of due runs of all ensembles': ({ dispatcher }) =>
    dispatcher.take({ ...LEASE, wanted: 5, maxConcurrentRuns: 10 }),
  'a renewal of a lease': ({ queue }) => queue.renew({ ...LEASE, known: KNOWN }),
  'a search for expired runs': ({ queue }) => queue.findExpired(20),
  'a search for stranded runs': ({ builds }) =>
    builds.findStranded({ codes: CODES, limit: 500, includesHeld: false }),
  'a search for due schedules': ({ schedules }) => schedules.findDue(20),
  'a search for due deliveries': ({ outbox }) => outbox.claim({ limit: 20, claimMs: 10_000 }),
  'a sweep of external events': ({ externalEvents }) => externalEvents.assign(Date.now()),
  'a deletion of old events': ({ externalEvents }) => externalEvents.trim(DAY_MS, 100),
  'a deletion of ended runs': ({ runs }) => runs.deleteEnded({ keep: 10, limit: 100 }),
  'a deletion of steps': ({ runs }) => runs.deleteSteps({ maxAgeMs: DAY_MS, limit: 100 }),
  'a deletion of empty threads': ({ threads }) => threads.deleteEmpty({ keep: 10, limit: 100 }),
  'a poll of the events of all runs': ({ events }) => events.follow({ runIds: [], all: true }),
  'the load': ({ queue }) => queue.load(),
  'the metrics': ({ queue }) => queue.metrics(),
  'the builds with the numbers of their runs': ({ builds }) => builds.list(),
  'the living builds': ({ builds }) => builds.living(),
  'an inbox': ({ runs }) =>
    runs.reviews({ open: true, kinds: PERSON_REVIEW_KINDS, limit: 100, maxBytes: 1e6 }),
  'the number of open reviews': ({ runs }) =>
    runs.countReviews({ open: true, kinds: PERSON_REVIEW_KINDS }),
  'an event for one of the waiting runs': async ({ externalEvents }, n) => {
    await externalEvents.add({ id: `any-${n}`, ...SHARED, data: '{}' }, 1_000)
    const assigned = await externalEvents.assign(Date.now(), [SHARED])
    expect(assigned.map(({ id }) => id)).toContain(`any-${n}`)
  },
  'an event for a wanted run': async ({ externalEvents }, n) => {
    const runId = `run-${n - 2 - 5 * (n % 2)}`
    await externalEvents.add({ id: `wanted-${n}`, ...SHARED, runId, data: '{}' }, 1_000)
    const assigned = await externalEvents.assign(Date.now(), [SHARED])
    expect(assigned.map((event) => event.runId)).toContain(runId)
  },
  'an event for which no run waits': async ({ externalEvents }, n) => {
    await externalEvents.add({ id: `unknown-${n}`, ...UNKNOWN, data: '{}' }, 1_000)
    await externalEvents.assign(Date.now(), [UNKNOWN])
  },
  'a submission within a quota': async ({ runs }, n) => {
    const run = newRun(`new-${n}`, { actor: 'ci', startAt: Date.now() + DAY_MS })
    const quota = { actor: 'ci', maxUnfinishedRuns: 1e6 }
    await runs.create(run, { firstEvent: queued(run), maxUnfinishedRuns: 100, quota })
  },
}

/** The schemas, by their number of parked runs. */
const SCHEMAS = { few: FEW, many: MANY }
type Schema = keyof typeof SCHEMAS

beforeAll(async () => {
  // As in a store; a trigger whose plan was made while its tables were empty would read all of them.
  await database.client.query('SET enable_seqscan = off')
  for (const schema of ['few', 'many'] as const) {
    await (await open(schema))[Symbol.asyncDispose]()
    // Its counts would be among those of the work.
    await database.client.query(`
      DO $$ DECLARE one text; BEGIN
        FOR one IN SELECT tablename FROM pg_tables WHERE schemaname = '${schema}' LOOP
          EXECUTE format('ALTER TABLE ${schema}.%I SET (autovacuum_enabled = false)', one);
        END LOOP;
      END $$`)
    await insertParked(schema)
  }
  await vacuum()
}, LOAD_MS)

it.for(Object.entries(WORK))(
  '[RUNS-L19] %s reads no more rows next to 20,000 parked runs than next to 2,000, and few more pages',
  async ([, work]) => {
    const few = await measure('few', work)
    const many = await measure('many', work)
    expect(few.rows).toBeGreaterThan(0)
    expect(many.rows - few.rows).toBeLessThanOrEqual(MORE_ROWS)
    // Larger indexes are deeper.
    expect(many.pages - few.pages).toBeLessThanOrEqual(MORE_PAGES)
  },
)

describe('a store in which half of the parked runs have become due at once', () => {
  beforeAll(async () => {
    for (const schema of ['few', 'many'] as const) {
      await database.client.query(
        `UPDATE ${schema}.runs SET due_at = clock_timestamp() WHERE due_at IS NOT NULL`,
      )
    }
    await vacuum()
  }, LOAD_MS)

  it.for(Object.entries(WORK))(
    '[RUNS-L20] While 10,000 runs are due, %s reads no more rows than while 1,000 are, and few more pages',
    async ([, work]) => {
      const few = await measure('few', (storage, n) => work(storage, n + 1))
      const many = await measure('many', (storage, n) => work(storage, n + 1))
      expect(many.rows - few.rows).toBeLessThanOrEqual(MORE_ROWS)
      expect(many.pages - few.pages).toBeLessThanOrEqual(MORE_PAGES)
    },
  )
})

/** Cleans up after changes. The connection reports its own counts now, not within a later measurement. */
async function vacuum(): Promise<void> {
  await database.client.query('VACUUM ANALYZE')
  await database.client.query('SELECT pg_stat_force_next_flush()')
}

/** Differences that are not caused by parked runs, such as another row of a total after concurrent changes. */
const MORE_ROWS = 20
const MORE_PAGES = 60

/** Reads of a store with all of its connections. */
interface Cost {
  readonly rows: number
  readonly pages: number
}

/** Measures what a new store reads for the work, including its opening. */
async function measure(schema: Schema, work: Work): Promise<Cost> {
  const before = await readCosts(schema)
  {
    await using storage = await open(schema)
    await work(storage, SCHEMAS[schema])
  }
  // A connection reports its counts before it is gone.
  await expect.poll(countOthers).toBe(0)
  const after = await readCosts(schema)
  return { rows: after.rows - before.rows, pages: after.pages - before.pages }
}

async function readCosts(schema: Schema): Promise<Cost> {
  const { rows } = await database.client.query(
    `SELECT
       (SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) FROM pg_stat_user_tables
        WHERE schemaname = $1)
       + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE schemaname = $1) AS rows,
       (SELECT sum(heap_blks_hit + heap_blks_read + coalesce(idx_blks_hit + idx_blks_read, 0))
        FROM pg_statio_user_tables WHERE schemaname = $1) AS pages`,
    [schema],
  )
  return { rows: Number(rows[0].rows), pages: Number(rows[0].pages) }
}

async function countOthers(): Promise<number> {
  const { rows } = await database.client.query(
    `SELECT count(*)::int AS count FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  )
  return rows[0].count
}

function open(schema: Schema): Promise<RunStorage> {
  return postgresRunStorage({ connectionString: database.url, schema })
}

/**
 * Inserts parked runs. A quarter each waits for a person, for an event with its own key, for an event that many await, and for
 * the time of its start.
 */
async function insertParked(schema: Schema): Promise<void> {
  for (let first = 1; first <= SCHEMAS[schema]; first += BATCH) {
    await database.client.query(
      `WITH added AS (
         INSERT INTO ${schema}.runs (run_id, ensemble, build, code, workflow, status, inputs, tags,
           tag_index, task_count, created_at, start_at, start_by, state, due_at, epoch, actor,
           actor_index)
         SELECT 'run-' || g, 'band', 'build-1', 'code-1', 'SEQUENTIAL',
           CASE g % 4 WHEN 3 THEN 'ACCEPTED' ELSE 'WAITING_REVIEW' END, '{}', '{}', '{}', 1,
           1.8e12 + g, CASE g % 4 WHEN 3 THEN 9e12 END, CASE g % 4 WHEN 3 THEN 9e12 END, 'parked',
           CASE WHEN g % 4 IN (1, 3) THEN clock_timestamp() + interval '1 day' END,
           CASE g % 4 WHEN 3 THEN 0 ELSE 1 END, 'ci', 'ci'
         FROM generate_series($1::int, $2::int) AS g RETURNING id, run_id
       )
       INSERT INTO ${schema}.reviews (run, review_id, kind, status, request, opened_at, waits_for)
       SELECT id, 'review-' || run_id, CASE kind WHEN 0 THEN 'TOOL_CALL' ELSE 'EVENT' END, 'OPEN', '{}', 1.8e12,
         CASE kind WHEN 1 THEN json_build_array(md5(run_id)) WHEN 2 THEN json_build_array($3::text) END
       FROM (SELECT *, substr(run_id, 5)::int % 4 AS kind FROM added) AS each WHERE kind < 3`,
      [first, first + BATCH - 1, toAddress(SHARED)],
    )
  }
}
