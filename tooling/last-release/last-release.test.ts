/** Data and requests of the last release still work. `docs/versions.md` has the rules. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { decodeLoggedRunEvent, runStateAfter, type LoggedRunEvent } from '@tutti/protocol'
import { toolCatalog } from '@tutti/core'
import { modelCatalog } from '@tutti/ensemble'
import { describe, expect, it } from 'vitest'

import { connectClient } from '../postgres/connect-client.ts'
import { serveControlApi } from '../../packages/control-api/src/index.ts'
import { createRunService, sqliteRunStorage } from '../../packages/runs/src/index.ts'
import { postgresRunStorage } from '../../packages/runs/src/stores/postgres/index.ts'
import { testDatabase } from '../postgres/test-database.ts'
import { decideReview, readLog, STORED } from './scenes.ts'
import { createTeam } from './team.ts'

import type { createClient } from '../../packages/client/src/index.ts'
import type { RunStorage } from '../../packages/runs/src/adapter.ts'

const fixture = (name: string): URL => new URL(`fixtures/${name}`, import.meta.url)

const RUNS: readonly { runId: string; log: readonly unknown[]; state: unknown }[] = JSON.parse(
  readFileSync(fixture('logs.json'), 'utf8'),
)

interface StoredDatabase {
  readonly steps: readonly string[]
  readonly tables: Readonly<Record<string, readonly unknown[]>>
  readonly sequences: readonly { readonly name: string; readonly value: string }[]
}

const STORES: Readonly<Record<string, (stack: AsyncDisposableStack) => Promise<RunStorage>>> = {
  async embedded(stack) {
    const folder = mkdtempSync(join(tmpdir(), 'tutti-last-release-'))
    stack.defer(() => rmSync(folder, { recursive: true }))
    copyFileSync(fixture('runs.sqlite'), join(folder, 'runs.sqlite'))
    return sqliteRunStorage(folder)
  },
  async postgres(stack) {
    const database = stack.use(await testDatabase())
    await loadTables(database.url, JSON.parse(readFileSync(fixture('postgres.json'), 'utf8')))
    return postgresRunStorage({ connectionString: database.url })
  },
}

describe.each(Object.entries(STORES))('the %s store of the last release', (_, openStore) => {
  it('A store of the last release has its runs, and continues them without repeating calls', async () => {
    await using stack = new AsyncDisposableStack()
    const team = createTeam()
    const service = createRunService(await openStore(stack), [team.ensemble])
    const { runs } = await service.list({ limit: 50 })
    expect(Object.fromEntries(runs.map(({ runId, status }) => [runId, status]))).toEqual(STORED)
    const threads = await service.threads.runs({
      threadId: 'conversation',
      limit: 9,
      maxBytes: 1e6,
    })
    expect(threads.runs.map(({ runId }) => runId)).toEqual([
      'reviewed',
      'cancelled',
      'failed',
      'completed',
    ])
    await service.start()
    for (const runId of ['reviewed', 'forked', 'interrupted']) {
      await decideReview(service, runId)
      expect((await readLog(service, runId)).at(-1)).toMatchObject({ status: 'COMPLETED' })
    }
    await service.submit({ runId: 'new', inputs: { topic: 'clouds' } })
    await decideReview(service, 'new')
    // The tool call that the end of the process interrupted; all others were recorded.
    expect(team.lookedUp).toEqual(['an interruption', 'clouds'])
    await service.close({ drainTimeoutMs: 0 })
  })
})

it.each(RUNS)('A log of the last release leads to the same state: $runId', ({ log, state }) => {
  const events = log.map((event): LoggedRunEvent => {
    const decoded = decodeLoggedRunEvent(event)
    return decoded.ok ? decoded.value : expect.fail(JSON.stringify(decoded.problems))
  })
  expect(JSON.parse(JSON.stringify(runStateAfter(events)))).toEqual(state)
})

it('The client of the last release submits, follows, decides, lists and cancels', async () => {
  await using stack = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'tutti-last-release-'))
  stack.defer(() => rmSync(folder, { recursive: true }))
  const service = createRunService(await sqliteRunStorage(folder), [createTeam().ensemble])
  stack.defer(() => service.close({ drainTimeoutMs: 0 }))
  const server = await serveControlApi(
    { runs: service, tools: toolCatalog([]), models: modelCatalog({}) },
    { port: 0 },
  )
  stack.defer(() => server.close())
  await service.start()
  const module: { createClient: typeof createClient } = await import(fixture('client.mjs').href)
  const client = module.createClient({ baseUrl: server.url })
  const { runId } = await client.runs.submit({ inputs: { topic: 'tides' } })
  const types: string[] = []
  for await (const event of client.runs.events(runId)) {
    types.push(event.type)
    if (event.type === 'review_requested') {
      await client.reviews.decide(event.reviewId, { decision: 'CONTINUE' })
    }
  }
  expect(types).toEqual(expect.arrayContaining(['run_queued', 'tool_called', 'review_decided']))
  expect(types.at(-1)).toBe('run_result')
  const ended = await client.runs.result(runId)
  expect(ended).toMatchObject({ status: 'COMPLETED' })
  const other = await client.runs.submit({ inputs: { topic: 'ships' } })
  await client.runs.cancel(other.runId)
  const list = await client.runs.list()
  expect(list.runs.map((run) => run.runId)).toEqual([other.runId, runId])
})

/** Creates the schema of the last release with its rows. */
async function loadTables(
  url: string,
  { steps, tables, sequences }: StoredDatabase,
): Promise<void> {
  const client = await connectClient(url)
  await client.query('CREATE SCHEMA tutti; CREATE TABLE tutti.schema_version (version integer)')
  for (const step of steps) await client.query(step.replaceAll('$schema', 'tutti'))
  // Rows in any order, without the triggers that computed other rows of the fixture.
  await client.query(`SET session_replication_role = 'replica'`)
  await client.query(
    `TRUNCATE ${Object.keys(tables)
      .map((name) => `tutti.${name}`)
      .join()}`,
  )
  for (const [name, rows] of Object.entries(tables)) {
    await client.query(
      `INSERT INTO tutti.${name} OVERRIDING SYSTEM VALUE SELECT * FROM json_populate_recordset(NULL::tutti.${name}, $1)`,
      [JSON.stringify(rows)],
    )
  }
  for (const { name, value } of sequences) {
    await client.query(`SELECT setval('tutti.${name}', $1)`, [value])
  }
  await client.end()
}
