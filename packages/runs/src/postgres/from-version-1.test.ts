import { describe, expect, it } from 'vitest'

import { result, reviewDecided, token } from '../testing/event-fixtures.ts'
import { newRun, queued } from '../testing/index.ts'
import { newUnownedWrite, readUnowned } from '../testing/run-fixtures.ts'
import { readEverything, goOnAs, keepRunsInFlight } from '../testing/runs-in-flight.ts'
import { postgresRunStorage } from './index.ts'
import { POSTGRES_MIGRATIONS } from './migrations.ts'
import { ownDatabase } from '../../test/own-database.ts'

const database = ownDatabase()

/** Removes the additions of later versions; dropping a column drops its indexes. */
function toVersion1(schema: string): string {
  return `
    DROP FUNCTION ${schema}.offer_run CASCADE; DROP TABLE ${schema}.offers, ${schema}.offering;
    DROP FUNCTION ${schema}.free_slot CASCADE;
    DROP FUNCTION ${schema}.set_review_since CASCADE;
    ALTER TABLE ${schema}.runs DROP COLUMN review_since;
    DROP FUNCTION ${schema}.count_run, ${schema}.count_new_runs,
      ${schema}.add_cost, ${schema}.subtract_cost CASCADE;
    DROP FUNCTION ${schema}.first_cost_period, ${schema}.add_total; DROP TABLE ${schema}.totals, ${schema}.indexed_texts;
    DROP TABLE ${schema}.thread_runs, ${schema}.threads;
    DROP TABLE ${schema}.memories, ${schema}.reflections, ${schema}.followers;
    ALTER TABLE ${schema}.events DROP COLUMN bytes; ALTER TABLE ${schema}.steps DROP COLUMN bytes, DROP COLUMN seq;
    DROP TABLE ${schema}.trimmed_steps; ALTER TABLE ${schema}.runs DROP COLUMN parent;
    ALTER TABLE ${schema}.signals DROP COLUMN reply_channel;
    ALTER TABLE ${schema}.tasks DROP COLUMN finish_reason;
    ALTER TABLE ${schema}.reviews DROP COLUMN kind;
    DROP TABLE ${schema}.secrets, ${schema}.deleted_runs;
    DROP TABLE ${schema}.run_texts;
    DROP TABLE ${schema}.deliveries;
    DROP TABLE ${schema}.audit;
    DROP INDEX ${schema}.runs_by_actor;
    DROP TABLE ${schema}.builds, ${schema}.build_shares, ${schema}.manifests;
    DROP INDEX ${schema}.runs_by_turn, ${schema}.runs_waiting_for_build;
    ALTER TABLE ${schema}.runs DROP COLUMN build, DROP COLUMN code, DROP COLUMN fixed;
    ALTER TABLE ${schema}.runs DROP COLUMN request, DROP COLUMN actor, DROP COLUMN webhooks,
      DROP COLUMN actor_index, DROP COLUMN cost_usd, DROP COLUMN claimed_at,
      DROP COLUMN cache_key, DROP COLUMN waiting, DROP COLUMN commands, DROP COLUMN token,
      DROP COLUMN slot, DROP COLUMN thread_id;
    DROP TABLE ${schema}.leases, ${schema}.slots;
    DROP INDEX ${schema}.runs_by_owner, ${schema}.runs_by_upper_id,
      ${schema}.runs_by_ensemble_status;
    UPDATE ${schema}.schema_version SET version = 1`
}

describe('a store of version 1', () => {
  it('is created by the first migration step', async () => {
    const schema = 'shape'
    await using _ = await open(schema)
    await database.client.query(toVersion1(schema))
    await database.client.query('CREATE SCHEMA first')
    const [first] = POSTGRES_MIGRATIONS
    const sql = typeof first === 'string' ? first : ''
    await database.client.query(sql.replaceAll('$schema', () => 'first'))
    expect(await readShape(schema)).toEqual(await readShape('first'))
  })

  it('retains all data, and its runs in flight continue', async () => {
    let owner
    let before
    {
      await using storage = await open('flight')
      owner = await keepRunsInFlight(storage)
      before = await readEverything(storage)
    }
    await database.client.query(toVersion1('flight'))
    await using storage = await open('flight')
    expect(await readEverything(storage)).toEqual(before)
    const present = await goOnAs(owner, storage, 1)
    expect((await present.commit([token('x')])).kind).toBe('written')
    expect((await present.commit([result('run-owned')])).kind).toBe('written')
    const parked = await readUnowned(storage, 'run-parked')
    const decided = newUnownedWrite(parked, 'ready', { events: [reviewDecided('review-a', 'ann')] })
    expect((await storage.runs.commitUnowned(decided)).kind).toBe('written')
    expect(await storage.outbox.claim({ limit: 9, claimMs: 1 })).toEqual([])
    expect(await storage.audit.list({ limit: 9 })).toEqual([])
  })

  it('accepts runs with an actor and webhooks, and counts no earlier run for the actor', async () => {
    {
      await using storage = await open('actors')
      await keepRunsInFlight(storage)
    }
    await database.client.query(toVersion1('actors'))
    await using storage = await open('actors')
    const run = newRun('run-a', { actor: 'ci', webhooks: ['hook'] })
    const quota = { actor: 'ci', maxUnfinishedRuns: 1, spend: { maxCostUsd: 0.1, since: 0 } }
    await storage.runs.create(run, { firstEvent: queued(run), maxUnfinishedRuns: 9, quota })
    const again = newRun('run-b', { actor: 'ci' })
    await expect(
      storage.runs.create(again, { firstEvent: queued(again), maxUnfinishedRuns: 9, quota }),
    ).rejects.toMatchObject({ code: 'CONCURRENCY_LIMIT' })
    expect(await storage.runs.delete('run-ended')).toBe('deleted')
    expect(await storage.runs.delete('run-parked')).toBe('unfinished')
  })

  it('[RUNS-D3] is migrated while a process continues its runs', async () => {
    await using storage = await open('rolling')
    const owner = await keepRunsInFlight(storage)
    await database.client.query(toVersion1('rolling'))
    const opened = Promise.all([open('rolling'), open('rolling')])
    await using _ = (await opened)[0]
    await using __ = (await opened)[1]
    const present = await goOnAs(owner, storage, 1)
    expect((await present.commit([token('x')])).kind).toBe('written')
    expect(storage.isAvailable).toBe(true)
    const { rows } = await database.client.query('SELECT version FROM rolling.schema_version')
    expect(rows).toEqual([{ version: POSTGRES_MIGRATIONS.length }])
  })
})

function open(schema: string) {
  return postgresRunStorage({ connectionString: database.url, schema, maxConnections: 4 })
}

/** Returns the columns and indexes of a schema. */
async function readShape(schema: string): Promise<unknown> {
  const columns = await database.client.query(
    `SELECT table_name, column_name, data_type, is_nullable, column_default
     FROM information_schema.columns
     WHERE table_schema = $1 AND table_name <> 'schema_version' ORDER BY 1, 2`,
    [schema],
  )
  const indexes = await database.client.query(
    'SELECT indexname FROM pg_indexes WHERE schemaname = $1 ORDER BY 1',
    [schema],
  )
  return { columns: columns.rows, indexes: indexes.rows }
}
