import { describe, expect, it } from 'vitest'

import { ODD_TEXT } from '../testing/event-fixtures.ts'
import { createRun, endedRun } from '../testing/run-fixtures.ts'
import { postgresRunStorage } from './index.ts'
import { ownDatabase } from '../../test/own-database.ts'

const database = ownDatabase()

/** Text whose JSON has characters that Postgres refuses, and text that only looks like them. */
const ODDER_TEXT = `${ODD_TEXT} \u0000\u0001\udbff\udc00\ud800\ud800\u0000\\\u0000\\\\u0000 \\ud800 \\\\`

describe('a store of version 2', () => {
  it('finds its earlier runs by the values of their inputs and tags', async () => {
    {
      await using storage = await open('texts')
      await createRun(storage, 'run-1', { inputs: { topic: 'cheese' }, tags: { by: 'Ann' } })
      await endedRun(storage, 'run-2', { inputs: { [ODDER_TEXT]: ODDER_TEXT } })
      await createRun(storage, 'run-3', { inputs: {}, tags: {} })
    }
    const before = await texts()
    expect(before).toHaveLength(3)
    await database.client.query(
      `DROP FUNCTION texts.offer_run CASCADE; DROP TABLE texts.offers, texts.offering;
       DROP FUNCTION texts.count_run, texts.count_new_runs,
      texts.add_cost, texts.subtract_cost CASCADE;
       DROP FUNCTION texts.first_cost_period, texts.add_total; DROP TABLE texts.totals, texts.indexed_texts;
       DROP FUNCTION texts.set_review_since CASCADE;
       ALTER TABLE texts.runs DROP COLUMN review_since;
       ALTER TABLE texts.tasks DROP COLUMN finish_reason;
       ALTER TABLE texts.reviews DROP COLUMN kind;
       DROP TABLE texts.thread_runs, texts.threads, texts.builds, texts.build_shares, texts.manifests;
       DROP TABLE texts.memories, texts.reflections, texts.secrets, texts.followers,
         texts.deleted_runs; DROP TABLE texts.run_texts;
       ALTER TABLE texts.events DROP COLUMN bytes; ALTER TABLE texts.steps DROP COLUMN bytes, DROP COLUMN seq;
       DROP TABLE texts.trimmed_steps; ALTER TABLE texts.runs DROP COLUMN parent, DROP COLUMN fixed;
       ALTER TABLE texts.signals DROP COLUMN reply_channel;
       DROP INDEX texts.runs_cached, texts.runs_by_turn, texts.runs_waiting_for_build, texts.runs_by_owner, texts.runs_by_upper_id,
         texts.runs_by_ensemble_status, texts.runs_by_actor;
       DROP TABLE texts.leases, texts.slots; DROP FUNCTION texts.free_slot CASCADE;
       ALTER TABLE texts.runs DROP COLUMN waiting, DROP COLUMN claimed_at, DROP COLUMN cache_key,
         DROP COLUMN token, DROP COLUMN commands, DROP COLUMN slot, DROP COLUMN thread_id,
         DROP COLUMN build, DROP COLUMN code;
       UPDATE texts.schema_version SET version = 2`,
    )
    await using storage = await open('texts')
    // The case of letters beyond ASCII depends on the locale.
    expect((await texts()).map(ascii)).toEqual(before.map(ascii))
    const find = async (text: string) => {
      const { runs, total } = await storage.runs.list({ text, limit: 9, offset: 0 })
      return [...runs.map(({ runId }) => runId), total]
    }
    expect(await find('CHEES')).toEqual(['run-1', 1])
    expect(await find('ann')).toEqual(['run-1', 1])
    expect(await find('cheeseann')).toEqual([0])
    expect(await find('BELL')).toEqual(['run-2', 1])
  })
})

function open(schema: string) {
  return postgresRunStorage({ connectionString: database.url, schema, maxConnections: 4 })
}

async function texts(): Promise<readonly string[]> {
  const { rows } = await database.client.query('SELECT text FROM texts.run_texts ORDER BY run')
  return rows.map(({ text }) => String(text))
}

function ascii(text: string): string {
  return text.replaceAll(/[^\0-\u007f\ufffd]/g, '')
}
