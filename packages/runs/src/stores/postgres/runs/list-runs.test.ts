import { expect, it } from 'vitest'

import { createRun } from '../../../testing/support/run-fixtures.ts'
import { postgresRunStorage } from '../index.ts'
import { ownDatabase } from '../../../../test/own-database.ts'

const database = ownDatabase()

it('[RUNS-P13] A list counts at most 10,000 runs, and its pages continue beyond them', async () => {
  await using storage = await postgresRunStorage({ connectionString: database.url })
  await createRun(storage, 'first', { tags: { by: 'ci' } })
  await database.client.query(`
    INSERT INTO tutti.runs (run_id, ensemble, workflow, inputs, tags, tag_index, task_count, created_at)
      SELECT 'run-' || n, ensemble, workflow, inputs, tags, tag_index, task_count, created_at
      FROM tutti.runs, generate_series(1, 10001) AS n;
    INSERT INTO tutti.run_texts SELECT id, text, grams FROM tutti.run_texts, tutti.runs
      WHERE id > (SELECT min(id) FROM tutti.runs)`)
  for (const filter of [
    {},
    { statuses: ['ACCEPTED'] },
    { ensemble: 'band' },
    { tag: { key: 'by' } },
    { text: 'käse' },
    { text: 'run-' },
  ] as const) {
    const page = await storage.runs.list({ ...filter, limit: 2 })
    expect(page).toMatchObject({ total: 10_000, isCapped: true })
    expect(page.runs.map(({ runId }) => runId)).toEqual(['run-10001', 'run-10000'])
    const before = page.runs.at(-1)?.place
    const next = await storage.runs.list({ ...filter, before, limit: 1 })
    expect(next).toMatchObject({ total: 10_000, runs: [{ runId: 'run-9999' }] })
    const last = await storage.runs.list({ ...filter, offset: 10_000, limit: 9 })
    expect(last.runs.map(({ runId }) => runId).slice(0, 1)).toEqual(['run-1'])
  }
  expect(await storage.runs.list({ text: 'first', limit: 9 })).toMatchObject({
    total: 1,
    isCapped: false,
  })
})
