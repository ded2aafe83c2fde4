/** Damaged rows, written around the stores. Each harms its own run only: every reader of many records still answers. */
import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'

import { sqliteRunStorage } from '@tutti/runs'
import type { RunStorage } from '@tutti/runs/adapter'
import { postgresRunStorage } from '@tutti/runs/postgres'
import { describe, expect, it } from 'vitest'

import { connectClient } from '../../../tooling/postgres/connect-client.ts'
import { testDatabase } from '../../../tooling/postgres/test-database.ts'
import {
  completed,
  reviewRequested,
  started,
  step,
  taskStarted,
} from '../src/testing/support/event-fixtures.ts'
import { claimDue, createRun, ownedRun, readAll } from '../src/testing/support/run-fixtures.ts'
import { temporaryDirectory } from './waiting-ensemble.ts'

interface Place extends AsyncDisposable {
  open(): Promise<RunStorage>
  /** Runs a statement on the tables, whose names follow `{}`. */
  damage(sql: string): Promise<void>
}

const STORES: Readonly<Record<string, () => Promise<Place>>> = {
  async embedded() {
    const directory = temporaryDirectory()
    return {
      open: async () => sqliteRunStorage(directory.path),
      async damage(sql) {
        const database = new DatabaseSync(join(directory.path, 'runs.sqlite'))
        // The embedded store has long columns of a run in a separate table.
        const separate = sql.replace(
          /runs SET (inputs|request) (.*) WHERE id/,
          'requests SET $1 $2 WHERE run',
        )
        database.exec(separate.replaceAll('{}', ''))
        database.close()
      },
      async [Symbol.asyncDispose]() {
        directory[Symbol.dispose]()
      },
    }
  },
  async postgres() {
    const database = await testDatabase()
    const client = await connectClient(database.url)
    return {
      open: () => postgresRunStorage({ connectionString: database.url, maxConnections: 4 }),
      async damage(sql) {
        await client.query(sql.replaceAll('{}', 'tutti.'))
      },
      async [Symbol.asyncDispose]() {
        await client.end()
        await database[Symbol.asyncDispose]()
      },
    }
  },
}

const ID = `(SELECT id FROM {}runs WHERE run_id = 'run-bad')`

/** Greater than any safe integer and any date, but storable in both stores. */
const FAR = '9223372036854774784'

const RUN_DAMAGE: readonly (readonly [string, string])[] = [
  ...['inputs', 'tags', 'request', 'actor', 'webhooks', 'parent'].flatMap((column) => [
    [`runs.${column}`, `UPDATE {}runs SET ${column} = '{"cut' WHERE id = ${ID}`] as const,
    [
      `runs.${column} of another type`,
      `UPDATE {}runs SET ${column} = '5' WHERE id = ${ID}`,
    ] as const,
  ]),
  ...['created_at', 'started_at', 'completed_at', 'duration_ms'].map(
    (column) =>
      [`runs.${column}`, `UPDATE {}runs SET ${column} = ${FAR} WHERE id = ${ID}`] as const,
  ),
  ...['started_at', 'completed_at', 'duration_ms', 'input_tokens', 'tool_call_count'].map(
    (column) =>
      [`tasks.${column}`, `UPDATE {}tasks SET ${column} = ${FAR} WHERE run = ${ID}`] as const,
  ),
  ...['name', 'description', 'agent_role', 'output', 'error'].map(
    (column) =>
      [`tasks.${column}`, `UPDATE {}tasks SET ${column} = '"\\u12' WHERE run = ${ID}`] as const,
  ),
  ...['opened_at', 'expires_at'].map(
    (column) =>
      [`reviews.${column}`, `UPDATE {}reviews SET ${column} = ${FAR} WHERE run = ${ID}`] as const,
  ),
  ['reviews.request', `UPDATE {}reviews SET request = '{"cut' WHERE run = ${ID}`],
  ['reviews.request of another type', `UPDATE {}reviews SET request = '[]' WHERE run = ${ID}`],
  ['deliveries.webhook', `UPDATE {}deliveries SET webhook = '"\\u12' WHERE run = ${ID}`],
]

const TAGS = { tags: { team: 'red' }, webhooks: ['hook'] }

/** Stores two runs with a task, a review, a delivery and a thread; both wait for an owner. */
async function fill(storage: RunStorage): Promise<void> {
  for (const runId of ['run-bad', 'run-good']) {
    const thread = { number: 1, userMessage: 'hi', threadId: `thread-${runId}` }
    await storage.threads.create({ threadId: thread.threadId, tags: {}, title: 'talk' })
    const owner = await ownedRun(storage, runId, { ...TAGS, thread })
    const review = reviewRequested(`review-${runId}`, { timeoutMs: 86_400_000 })
    await owner.commit([started, taskStarted(1), completed, review], { steps: [step(1)] })
    expect(await storage.queue.release(owner, { kind: 'ready' })).toBe('ready')
  }
}

/** Reads both runs in every way that reads several records. */
async function readEverything(storage: RunStorage): Promise<readonly string[]> {
  const { runs, threads, events, outbox, commands, queue, audit } = storage
  const listed = await runs.list({ limit: 10 })
  expect(listed.runs.map(({ runId }) => runId)).toEqual(['run-good', 'run-bad'])
  const byTag = await runs.list({ tag: { key: 'team', value: 'red' }, limit: 10 })
  expect(byTag.runs.map(({ runId }) => runId)).toContain('run-good')
  const changed = await runs.listByChange({
    ensembles: ['band'],
    group: { tag: 'team', value: 'red' },
    limit: 10,
  })
  expect(changed.runs.map(({ runId }) => runId)).toContain('run-good')
  const reviews = await runs.reviews({ open: true })
  expect(reviews.map(({ reviewId }) => reviewId)).toEqual(['review-run-bad', 'review-run-good'])
  expect(await runs.countReviews({ open: true })).toBe(2)
  const found = await threads.list({ limit: 10 })
  expect(found.map(({ threadId }) => threadId)).toEqual(['thread-run-good', 'thread-run-bad'])
  const ofThread = await threads.runs({ threadId: 'thread-run-bad', limit: 10, maxBytes: 1e6 })
  expect(ofThread.runs.map(({ runId }) => runId)).toEqual(['run-bad'])
  const bad = await runs.get('run-bad')
  const tasks = await runs.tasks('run-bad')
  expect(tasks).toHaveLength(2)
  expect(await readAll(storage, 'run-bad')).toHaveLength(5)
  expect((await events.read({ runId: 'run-good', from: 0, limit: 10 })).events).toHaveLength(5)
  const deliveries = await outbox.claim({ limit: 10, claimMs: 60_000 })
  expect(deliveries.map(({ runId }) => runId)).toContain('run-good')
  expect(await commands.pending(['run-bad', 'run-good'])).toEqual([])
  expect(await audit.list({ limit: 10 })).toEqual([])
  await queue.load()
  const [review] = reviews
  const records = [bad, listed.runs[1], ...tasks, review, ...found, ...ofThread.runs]
  return [
    ...records.flatMap((record) => record?.unreadable ?? []),
    ...(deliveries.length === 1 ? ['webhook'] : []),
  ]
}

describe.each(Object.keys(STORES))('a damaged record in the %s store', (store) => {
  it(
    '[RUNS-P14] A damaged record in the store is named and does not affect the reads and claims of others, in any column',
    { timeout: 300_000 },
    async () => {
      await using place = await (STORES[store] ?? expect.fail())()
      await using storage = await place.open()
      for (const [column, sql] of RUN_DAMAGE) {
        await fill(storage)
        await place.damage(sql)
        const named = await readEverything(storage)
        const name = column.replace(/^\w+\./, '').replace(/ .*/, '')
        expect(named.join('; '), column).toContain(name)
        const claimed = await claimDue(storage)
        expect(claimed.map(({ run }) => run.runId).toSorted(), column).toEqual([
          'run-bad',
          'run-good',
        ])
        await place.damage('DELETE FROM {}runs; DELETE FROM {}threads')
      }
    },
  )

  it.each([
    ['cut JSON', '{"type":"task_comp'],
    ['another type', '5'],
    ['a reference to an event that is missing', '["@77/output"]'],
  ])(
    '[RUNS-P14] A damaged record with %s as an event is read with a placeholder in its place',
    async (_, data) => {
      await using place = await (STORES[store] ?? expect.fail())()
      await using storage = await place.open()
      await fill(storage)
      const where = store === 'embedded' ? `key = ${ID} << 32 | 3` : `run = ${ID} AND seq = 3`
      await place.damage(`UPDATE {}events SET data = '${data}' WHERE ${where}`)
      const events = await readAll(storage, 'run-bad')
      expect(events.map(({ type, seq }) => [type, seq])).toEqual([
        ['run_queued', 0],
        ['ensemble_started', 1],
        ['task_started', 2],
        ['event_unreadable', 3],
        ['review_requested', 4],
      ])
      expect(events[3]).toMatchObject({ eventType: 'task_completed', id: 'run-bad:3' })
    },
  )

  it('[RUNS-P14] A log with a missing event is read without it', async () => {
    await using place = await (STORES[store] ?? expect.fail())()
    await using storage = await place.open()
    await fill(storage)
    const where = store === 'embedded' ? `key = ${ID} << 32 | 3` : `run = ${ID} AND seq = 3`
    await place.damage(`DELETE FROM {}events WHERE ${where}`)
    expect((await readAll(storage, 'run-bad')).map(({ seq }) => seq)).toEqual([0, 1, 2, 4])
    expect(await readAll(storage, 'run-good')).toHaveLength(5)
  })

  it('[RUNS-P14] A run with a damaged command leaves it out of claims and of pending commands', async () => {
    await using place = await (STORES[store] ?? expect.fail())()
    await using storage = await place.open()
    const owner = await ownedRun(storage, 'run-bad')
    await createRun(storage, 'run-good')
    await storage.commands.send('run-bad', { kind: 'switch_model', model: 'm' })
    await place.damage(`UPDATE {}commands SET command = '{"cut'`)
    expect(await storage.commands.pending(['run-bad'])).toEqual([])
    await storage.queue.release(owner, { kind: 'ready' })
    const claimed = await claimDue(storage)
    expect(claimed.map(({ run }) => run.runId).toSorted()).toEqual(['run-bad', 'run-good'])
  })

  it('[RUNS-P14] A run with damaged steps can still get a command', async () => {
    await using place = await (STORES[store] ?? expect.fail())()
    await using storage = await place.open()
    await fill(storage)
    await place.damage(
      store === 'embedded'
        ? `UPDATE steps SET data = '{"cut' WHERE key >> 32 = ${ID}`
        : `UPDATE {}steps SET data = '{"cut' WHERE run = ${ID}`,
    )
    const sent = await storage.commands.send('run-bad', { kind: 'cancel' })
    expect(sent).toMatchObject({
      kind: 'unowned',
      steps: [],
      unreadable: { code: 'RUN_UNREADABLE' },
    })
  })
})
