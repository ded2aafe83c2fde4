import { expect, it } from 'vitest'

import { ownDatabase } from '../../test/own-database.ts'
import { createRun } from '../testing/run-fixtures.ts'
import { postgresRunStorage } from './index.ts'

const database = ownDatabase()

/** Has more different grams than are indexed. */
const LONG = Array.from({ length: 9_000 }, (_, n) => String.fromCodePoint(0x4e00 + n)).join('')

it('[RUNS-P12] the texts of an earlier version are found, and indexed in the background', async () => {
  {
    await using storage = await open()
    for (let n = 0; n < 450; n += 1)
      await createRun(storage, `run-${n}`, { inputs: { n: `${n}!` } })
    await createRun(storage, 'run-long', { inputs: { long: LONG } })
  }
  await database.client.query('UPDATE tutti.run_texts SET grams = NULL')
  await using storage = await open()
  await using other = await open()
  for (;;) {
    for (const [text, total] of [
      ['123!', 1],
      ['7!', 45],
      ['?', 0],
      [LONG.slice(5_000, 5_002), 1],
    ] as const) {
      expect(await other.runs.list({ text, limit: 1 })).toMatchObject({ total })
    }
    if ((await countNotIndexed()) === 1) break
  }
  const { rows } = await database.client.query(
    'SELECT up_to = (SELECT max(run) FROM tutti.run_texts) AS has_all FROM tutti.indexed_texts',
  )
  expect(rows).toEqual([{ has_all: true }])
  expect(storage.isAvailable).toBe(true)
})

function open() {
  return postgresRunStorage({ connectionString: database.url, maxConnections: 4 })
}

async function countNotIndexed(): Promise<number> {
  const { rows } = await database.client.query(
    'SELECT count(*)::int AS count FROM tutti.run_texts WHERE grams IS NULL',
  )
  return rows[0].count
}
