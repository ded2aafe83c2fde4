import { describe, expect, it } from 'vitest'

import { testServer } from '../../../../../tooling/postgres/test-database.ts'
import { queued, token } from '../../testing/support/event-fixtures.ts'
import { newRun, ownedRun, OWNER, type Owner } from '../../testing/support/run-fixtures.ts'
import { postgresRunStorage } from './index.ts'
import { recordNotifications } from './testing/record-notifications.ts'
import { StubbornWriters } from './testing/stubborn-writers.ts'
import { ownDatabase } from '../../../test/own-database.ts'

const database = ownDatabase()

describe('a server that restarts', () => {
  it('[RUNS-P7] A server that restarts loses no writes, and stores none twice', async () => {
    await using server = await testServer()
    await using storage = await postgresRunStorage({ connectionString: server.url })
    await using other = await postgresRunStorage({ connectionString: server.url })
    const recorded = recordNotifications(storage.listen)
    const owners: Owner[] = []
    for (let index = 0; index < 8; index += 1) owners.push(await ownedRun(storage, `run-${index}`))
    const work = new StubbornWriters(owners)
    const writing = work.write(storage)
    for (const down of [server.stop, server.kill] as const) {
      await work.more()
      await down()
      await expect.poll(() => storage.isAvailable).toBe(false)
      const error = { code: 'STORE_UNAVAILABLE', retryable: true }
      await expect(storage.runs.get('run-0')).rejects.toMatchObject(error)
      await expect(storage.queue.load()).rejects.toMatchObject(error)
      await expect(storage.commands.answer('x')).rejects.toMatchObject(error)
      recorded.clear()
      await server.start()
      await recorded.first(
        (notification) => notification.kind === 'availability' && notification.isAvailable,
      )
      await recorded.first(({ kind }) => kind === 'missed')
      await expect.poll(() => other.isAvailable).toBe(true)
      expect(storage.isAvailable).toBe(true)
    }
    await work.more()
    work.isDone = true
    await writing
    expect(work.unavailable).toBeGreaterThan(0)
    for (const [index, owner] of owners.entries()) {
      const { events } = await other.events.read({ runId: owner.runId, from: 1, limit: 100_000 })
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1))
      const texts = events.flatMap((event) => (event.type === 'token' ? [event.token] : []))
      expect(texts).toEqual(Array.from({ length: work.written[index] ?? -1 }, (_, n) => `${n}`))
    }
  })

  it('A server that restarts closes within a second while the server is down', async () => {
    await using server = await testServer()
    const storage = await postgresRunStorage({ connectionString: server.url })
    const owner = await ownedRun(storage, 'run-a')
    await server.stop()
    expect((await owner.commit([token('x')])).kind).toBe('unavailable')
    const pending = storage.runs.get('run-a').catch(({ code }: { code: string }) => code)
    const start = performance.now()
    await storage[Symbol.asyncDispose]()
    await storage[Symbol.asyncDispose]()
    expect(performance.now() - start).toBeLessThan(1000)
    expect(await pending).toBe('STORE_UNAVAILABLE')
  })
})

describe('connections that are closed', () => {
  it('[RUNS-D1] [RUNS-P7] A commit whose connection is lost is sent again and stored once', async () => {
    await using storage = await postgresRunStorage({
      connectionString: database.url,
      schema: 'cut',
      maxConnections: 3,
    })
    const owners: Owner[] = []
    for (let index = 0; index < 4; index += 1) owners.push(await ownedRun(storage, `run-${index}`))
    const work = new StubbornWriters(owners)
    const writing = work.write(storage)
    while (work.unavailable < 4) {
      await work.more()
      await database.client.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid() AND random() < 0.7`,
      )
    }
    work.isDone = true
    await writing
    for (const [index, owner] of owners.entries()) {
      const { events } = await retried(() =>
        storage.events.read({ runId: owner.runId, from: 1, limit: 100_000 }),
      )
      const texts = events.flatMap((event) => (event.type === 'token' ? [event.token] : []))
      expect(texts).toEqual(Array.from({ length: work.written[index] ?? -1 }, (_, n) => `${n}`))
    }
  })
})

describe('a busy database', () => {
  it('[RUNS-D2] [RUNS-D5] A busy database reports a lock timeout and a slow read, and not a lost database', async () => {
    await using storage = await postgresRunStorage({
      connectionString: database.url,
      schema: 'busy',
      maxConnections: 3,
      queryLimitMs: 200,
    })
    const owner = await ownedRun(storage, 'run-a')
    const recorded = recordNotifications(storage.listen)
    await database.client.query('BEGIN; LOCK TABLE busy.runs')
    const [written, read, listed, created] = await Promise.all([
      owner.commit([token('x')]),
      storage.runs.get('run-a').catch((error: unknown) => error),
      storage.runs.list({ limit: 1, offset: 0 }).catch((error: unknown) => error),
      storage.runs
        .create(newRun('run-b'), { firstEvent: queued(newRun('run-b')), maxUnfinishedRuns: 9 })
        .catch((error: unknown) => error),
    ])
    await database.client.query('COMMIT')
    expect(written).toMatchObject({
      kind: 'unavailable',
      error: { code: 'STORE_UNAVAILABLE', message: expect.stringContaining('lock timeout') },
    })
    expect([read, listed]).toMatchObject([
      { code: 'QUERY_TOO_SLOW', retryable: true },
      { code: 'QUERY_TOO_SLOW', retryable: true },
    ])
    expect(created).toMatchObject({ code: 'STORE_UNAVAILABLE' })
    expect([storage.isAvailable, recorded.all]).toEqual([true, []])
    const [again] = await storage.runs.commit([
      { runId: 'run-a', token: owner.token, writeNo: 1, events: [token('x')], steps: [] },
    ])
    expect(again?.kind).toBe('written')
  })

  let attempts = 0

  it.for(['direct', 'pooled'] as const)(
    '[RUNS-D5] A busy database with 30 slow searches over %s connections takes no lease away, and the searches end on the server',
    async (kind) => {
      // A repetition needs a database without the runs and locks of the first attempt.
      attempts += 1
      const schema = `${kind}_${attempts}`
      await using storage = await postgresRunStorage({
        connectionString: database.url,
        ...(kind === 'pooled' ? { listenConnectionString: database.url } : {}),
        schema,
        queryLimitMs: 100,
      })
      const owner = await ownedRun(storage, 'run-a')
      const recorded = recordNotifications(storage.listen)
      await database.client.query(`BEGIN; LOCK TABLE ${schema}.run_texts`)
      try {
        const searches = Array.from({ length: 30 }, () =>
          storage.runs.list({ text: 'x', limit: 1, offset: 0 }).catch((error: unknown) => error),
        )
        expect(await storage.queue.renew(OWNER)).toMatchObject([{ runId: 'run-a' }])
        expect((await owner.commit([token('x')])).kind).toBe('written')
        expect(await storage.runs.get('run-a')).toMatchObject({ runId: 'run-a' })
        const ends = await Promise.all(searches)
        // A session becomes idle shortly after its client has the error.
        await expect.poll(() => countSearches(schema)).toBe(0)
        expect(ends).toMatchObject(ends.map(() => ({ code: 'QUERY_TOO_SLOW', retryable: true })))
      } finally {
        await database.client.query('ROLLBACK')
      }
      expect([storage.isAvailable, recorded.all]).toEqual([true, []])
      const after = await storage.runs.list({ text: 'x', limit: 1, offset: 0 })
      expect(after.total).toBe(0)
    },
  )
})

async function countSearches(schema: string): Promise<number> {
  const { rows } = await database.client.query(
    `SELECT count(*)::int AS count FROM pg_stat_activity
     WHERE query LIKE '%${schema}%run_texts%' AND state = 'active' AND pid <> pg_backend_pid()`,
  )
  return rows[0].count
}

async function retried<T>(ask: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask()
    } catch (error) {
      if (attempt === 20) throw error
    }
  }
}
