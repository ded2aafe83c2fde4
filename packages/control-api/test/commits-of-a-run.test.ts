/** The number of transactions that a run over HTTP takes in the embedded store: each one waits for the disk. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { toolCatalog } from '@tutti/core'
import { ensemble, modelCatalog, task } from '@tutti/ensemble'
import { createRunService, sqliteRunStorage } from '@tutti/runs'
import { scriptedModel } from '@tutti/testing'
import { expect, it } from 'vitest'

import { serveControlApi } from '@tutti/control-api'
import { until } from '../../../tooling/test-kit/wait.ts'

/**
 * Counts the transactions in a write-ahead log: the frames with the size of the database after a commit, in its current
 * generation.
 *
 * @see https://sqlite.org/fileformat2.html#walformat
 */
function countCommits(directory: string): number {
  const log = readFileSync(join(directory, 'runs.sqlite-wal'))
  const salts = log.subarray(16, 24)
  const frame = 24 + log.readUInt32BE(8)
  let commits = 0
  for (let at = 32; at + frame <= log.length; at += frame) {
    if (!log.subarray(at + 8, at + 16).equals(salts)) break
    if (log.readUInt32BE(at + 4) > 0) commits += 1
  }
  return commits
}

it('[RUNS-U8] A run alone over HTTP takes at most 3 transactions, with its entry in the audit log', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'tutti-commits-'))
  const model = scriptedModel(() => 'Played it')
  const band = ensemble({ name: 'band', tasks: [task({ description: 'Play {piece}' })], model })
  const storage = await sqliteRunStorage(directory)
  const runs = createRunService(storage, [band])
  const server = await serveControlApi(
    { runs, tools: toolCatalog([]), models: modelCatalog({ house: model }) },
    { port: 0 },
  )
  await runs.start()
  const countEntries = async () => (await storage.audit.list({ limit: 9 })).length
  const commits: number[] = []
  for (let run = 1; run <= 6; run += 1) {
    const response = await fetch(`${server.url}/api/runs?wait=30`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ inputs: { piece: 'Bach' } }),
    })
    expect(await response.json()).toMatchObject({ status: 'COMPLETED' })
    await until('the entry is stored', async () => (await countEntries()) === run)
    commits.push(countCommits(directory))
  }
  // An entry that no write has joined for 50 ms gets a separate transaction, as on a busy machine.
  const ofEach = commits.slice(1).map((count, index) => count - (commits[index] ?? 0))
  expect(Math.min(...ofEach)).toBeGreaterThan(0)
  expect(Math.min(...ofEach)).toBeLessThanOrEqual(3)
  await server.close()
  await runs.close({ drainTimeoutMs: 0 })
  rmSync(directory, { recursive: true })
})
