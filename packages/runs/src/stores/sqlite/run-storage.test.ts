import { spawn, spawnSync } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { MessageChannel } from 'node:worker_threads'

import { systemClock } from '@tutti/core'
import { silentLogger } from '@tutti/core/internal'
import { fakeClock } from '@tutti/testing'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { poison, result } from '../../testing/support/event-fixtures.ts'
import { dispatcherCases, newRun, queued, runStorageCases, token } from '../../testing/index.ts'
import {
  claimRun,
  createRun,
  endedRun,
  ownedRun,
  parkedRun,
  newUnownedWrite,
  readAll,
} from '../../testing/support/run-fixtures.ts'
import { currentSource } from '../../load/work-source.ts'
import { openSqliteStore } from './open-store.ts'
import { SQLITE_MIGRATIONS } from './schema/migrations.ts'
import { sqliteRunStorage, toRunStorage } from './run-storage.ts'
import { serveStore } from './thread/serve-store.ts'
import { ThreadClient, type StoreThread } from './thread/thread-client.ts'

import type { ThreadData } from './thread/messages.ts'
import type { StoreNotification } from '../../ports/notifications.ts'
import type { RunEvent } from '@tutti/protocol'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tutti-runs-'))
})

afterEach(() => {
  rmSync(directory, { recursive: true })
})

/** Serves the store as its own thread does, without the time that a thread needs to start. */
function serveHere(data: ThreadData): StoreThread {
  const { port1, port2 } = new MessageChannel()
  serveStore(port2, data)
  const ended = new EventEmitter()
  port1.on('close', () => ended.emit('exit', 0))
  return Object.assign(port1, {
    on(event: string, listener: (value: unknown) => void) {
      if (event === 'message') port1.addListener(event, listener)
      else ended.on(event, listener)
      return port1
    },
  }) as unknown as StoreThread
}

describe('the embedded storage', () => {
  for (const { name, run } of [...runStorageCases, ...dispatcherCases]) {
    it(name, async () => {
      const clock = fakeClock()
      await using storage = await sqliteRunStorage(directory, { clock, ownThread: false })
      await run({ storage, passTime: (ms) => clock.advance(ms) })
    })
  }

  for (const { name, run } of [...runStorageCases, ...dispatcherCases]) {
    it(`${name}, by messages to a thread`, async () => {
      const clock = fakeClock()
      const options = { directory, clock, synchronous: 'FULL', logger: silentLogger } as const
      const client = new ThreadClient(options, serveHere(options))
      await client.opened
      await using storage = toRunStorage(client, clock)
      await run({ storage, passTime: (ms) => clock.advance(ms) })
    })
  }

  it('The embedded storage retains everything when it is opened again', async () => {
    const run = newRun('run-a')
    {
      await using storage = await sqliteRunStorage(directory)
      await storage.runs.create(run, { firstEvent: queued(run), maxUnfinishedRuns: 1 })
    }
    await using storage = await sqliteRunStorage(directory)
    expect((await storage.runs.get('run-a'))?.inputs).toEqual(run.inputs)
    expect(await readAll(storage, 'run-a')).toHaveLength(1)
  })

  it('The embedded storage makes the runs of an earlier process ready on request', async () => {
    {
      await using storage = await sqliteRunStorage(directory)
      await ownedRun(storage, 'run-a')
    }
    await using storage = await sqliteRunStorage(directory)
    const request = { owner: 'owner-b', leaseMs: Infinity, wanted: 9, maxConcurrentRuns: 9 }
    expect(await storage.dispatcher.take(request)).toEqual([])
    expect(await storage.queue.reclaimAll()).toEqual(['run-a'])
    const claimed = (await storage.dispatcher.take(request)) ?? []
    expect(claimed.map(({ run, lostOwners }) => [run.epoch, lostOwners])).toEqual([[2, 1]])
  })

  it('The embedded storage is not shared, and is available', async () => {
    await using storage = await sqliteRunStorage(directory)
    expect([storage.isShared, storage.isAvailable]).toEqual([false, true])
  })

  it('The embedded storage sends no notifications of events, and others only after its caller has continued', async () => {
    await using storage = await sqliteRunStorage(directory)
    const notifications: StoreNotification[] = []
    storage.listen((notification) => notifications.push(notification))
    const run = newRun('run-a')
    const created = storage.runs.create(run, { firstEvent: queued(run), maxUnfinishedRuns: 1 })
    expect(notifications).toEqual([])
    await created
    const owner = await claimRun(storage, 'run-a')
    await owner.commit([token('x')])
    expect(notifications).toEqual([{ kind: 'ready' }])
  })

  it('The embedded storage sends notifications only of committed changes', async () => {
    await using storage = await sqliteRunStorage(directory)
    const owner = await ownedRun(storage, 'run-a')
    const other = await ownedRun(storage, 'run-b')
    const sent = await storage.commands.send('run-a', { kind: 'switch_model', model: 'm' })
    const commandId = sent?.kind === 'sent' ? sent.commandId : expect.fail('no signal was sent')
    await new Promise(setImmediate)
    const notifications: StoreNotification[] = []
    storage.listen((notification) => notifications.push(notification))
    await storage.runs.commit([
      owner.next([poison()], { answers: [{ commandId, ok: true }] }),
      other.next([token('x')]),
    ])
    const parked = await parkedRun(storage, 'run-c')
    await storage.runs.commitUnowned(newUnownedWrite(parked, 'ready', { events: [poison()] }))
    const ended = newUnownedWrite(parked, 'ready', { events: [result('run-c')] })
    expect((await storage.runs.commitUnowned(ended)).kind).toBe('written')
    const again = { firstEvent: queued(newRun('run-a')), maxUnfinishedRuns: 9 }
    await expect(storage.runs.create(newRun('run-a'), again)).rejects.toThrow('run-a')
    await storage.commands.send('run-c', { kind: 'switch_model', model: 'm' })
    await new Promise(setImmediate)
    // Only from the creation of the first run.
    expect(notifications).toEqual([{ kind: 'ready' }])
  })

  it('[RUNS-O3] The embedded storage stores the outcome of a delivery and its reason', async () => {
    {
      await using storage = await sqliteRunStorage(directory)
      await endedRun(storage, 'run-a', { webhooks: ['one', 'two', 'three'] })
      const [one, two, three] = await storage.outbox.claim({ limit: 9, claimMs: 1000 })
      if (one === undefined || two === undefined || three === undefined) expect.fail('too few')
      await storage.outbox.settle(one, { kind: 'done' })
      await storage.outbox.settle(two, { kind: 'given_up', reason: 'it is "gone"' })
      await storage.outbox.settle(three, { kind: 'retry', dueInMs: 1000, reason: 'away' })
    }
    const database = new DatabaseSync(join(directory, 'runs.sqlite'))
    const rows = database.prepare('SELECT outcome, reason FROM deliveries ORDER BY n').all()
    database.close()
    expect(rows.map((row) => [row['outcome'], row['reason']])).toEqual([
      ['done', null],
      ['given_up', '"it is \\"gone\\""'],
      [null, '"away"'],
    ])
  })

  it('The embedded storage deletes the oldest of the runs that ended at the same instant', async () => {
    const clock = fakeClock()
    await using storage = await sqliteRunStorage(directory, { clock })
    for (const runId of ['run-2', 'run-1', 'run-3']) await createRun(storage, runId)
    for (const runId of ['run-3', 'run-1', 'run-2']) {
      const owner = await claimRun(storage, runId)
      await owner.commit([result(runId)])
    }
    expect(await storage.runs.deleteEnded({ keep: 1, limit: 9 })).toEqual(['run-2', 'run-1'])
  })

  it('[RUNS-L4] The embedded storage claims the oldest of the runs that are due since the same instant first', async () => {
    const clock = fakeClock()
    await using storage = await sqliteRunStorage(directory, { clock })
    const owner = await ownedRun(storage, 'run-1')
    const parked = { kind: 'parked', wakeInMs: 1000 } as const
    expect(await storage.queue.release(owner, parked)).toBe('parked')
    await clock.advance(1000)
    await createRun(storage, 'run-2')
    const claimed =
      (await storage.dispatcher.take({
        owner: 'owner-b',
        leaseMs: Infinity,
        wanted: 9,
        maxConcurrentRuns: 9,
      })) ?? []
    expect(claimed.map(({ run }) => run.runId)).toEqual(['run-1', 'run-2'])
  })

  it('The embedded storage uses the clock of the machine unless it gets another', async () => {
    await using storage = await sqliteRunStorage(directory)
    await createRun(storage, 'run-a')
    await claimRun(storage, 'run-a', { owner: 'owner-a', leaseMs: -1 })
    const request = { owner: 'owner-b', leaseMs: 60_000, wanted: 9, maxConcurrentRuns: 9 }
    expect(await storage.dispatcher.take(request)).toHaveLength(1)
    expect(await storage.dispatcher.take(request)).toHaveLength(0)
  })

  it('The embedded storage continues after a failed transaction', async () => {
    await using storage = await sqliteRunStorage(directory)
    const run = newRun('run-a')
    const first = { ...queued(run), tags: { big: 1n } }
    // NOTE: a value that JSON cannot represent, to make the store fail.
    const firstEvent = first as unknown as RunEvent
    const made = storage.runs.create(run, { firstEvent, maxUnfinishedRuns: 1 })
    await expect(made).rejects.toThrow(/BigInt/)
    expect((await createRun(storage, 'run-a')).lastSeq).toBe(0)
  })

  it('The embedded storage returns the error of writes after it was closed', async () => {
    const storage = await sqliteRunStorage(directory)
    const owner = await ownedRun(storage, 'run-a')
    await storage[Symbol.asyncDispose]()
    expect((await owner.commit([token('x')])).kind).toBe('failed')
    await expect(storage.runs.get('run-a')).rejects.toThrow(/is not open/)
  })

  it('[RUNS-P1] The embedded storage accepts the submissions of one turn together, and refuses those over the limit', async () => {
    await using storage = await sqliteRunStorage(directory)
    const submission = { idempotencyKey: 'key', fingerprint: 'print' }
    const create = (runId: string, maxUnfinishedRuns: number, more = {}): Promise<unknown> => {
      const run = newRun(runId, more)
      return storage.runs.create(run, { firstEvent: queued(run), maxUnfinishedRuns })
    }
    const all = await Promise.allSettled([
      create('run-a', 9, { submission }),
      create('run-a', 9),
      create('run-b', 9, { submission }),
      create('run-b', 9, { submission: { ...submission, fingerprint: 'other' } }),
      create('run-b', 1),
      create('run-b', 2),
    ])
    expect(
      all.map((one) => (one.status === 'rejected' ? one.reason.code : one.value)),
    ).toMatchObject([
      { kind: 'created' },
      'RUN_EXISTS',
      { kind: 'repeated', run: { runId: 'run-a' } },
      'IDEMPOTENCY_CONFLICT',
      'CONCURRENCY_LIMIT',
      { kind: 'created' },
    ])
    expect((await storage.queue.load()).queued).toBe(2)
    expect(await readAll(storage, 'run-a')).toHaveLength(1)
  })

  it('The embedded storage stores waiting writes when it is closed', async () => {
    const storage = await sqliteRunStorage(directory)
    const made = ['run-a', 'run-b', 'run-c'].map((runId) => {
      const run = newRun(runId)
      return storage.runs.create(run, { firstEvent: queued(run), maxUnfinishedRuns: 2 })
    })
    const claimed = storage.dispatcher.take({
      owner: 'owner-a',
      leaseMs: Infinity,
      wanted: 1,
      maxConcurrentRuns: 9,
    })
    const [settled] = await Promise.all([Promise.allSettled(made), storage[Symbol.asyncDispose]()])
    await expect(createRun(storage, 'run-d')).rejects.toThrow(/is not open/)
    expect(settled).toMatchObject([
      { value: { kind: 'created' } },
      { value: { kind: 'created' } },
      { reason: { code: 'CONCURRENCY_LIMIT' } },
    ])
    expect((await claimed)?.map(({ run }) => run.runId)).toEqual(['run-a'])
    await using again = await sqliteRunStorage(directory)
    expect((await again.runs.list({ limit: 9, offset: 0 })).total).toBe(2)
  })

  it('The embedded storage writes commits to disk before they resolve, unless synchronous is NORMAL', async () => {
    for (const [synchronous, level] of [
      ['FULL', 2],
      ['NORMAL', 1],
    ] as const) {
      const prepare = vi.spyOn(DatabaseSync.prototype, 'prepare')
      const store = openSqliteStore(directory, {
        clock: systemClock,
        logger: silentLogger,
        source: currentSource,
        pause: 1,
        synchronous,
      })
      // NOTE: `prepare` is a method of databases, so its contexts are databases.
      const [database] = prepare.mock.contexts as DatabaseSync[]
      prepare.mockRestore()
      expect(database?.prepare('PRAGMA synchronous').get()).toEqual({ synchronous: level })
      store.close()
    }
    // NOTE: an invalid value from a caller without types.
    const wrong = { synchronous: 'OFF' as 'FULL' }
    await expect(sqliteRunStorage(directory, wrong)).rejects.toThrow(
      new RangeError(`synchronous must be 'FULL' or 'NORMAL', got "OFF"`),
    )
  })

  it('The embedded storage refuses a newer schema and names both versions', async () => {
    const database = new DatabaseSync(join(directory, 'runs.sqlite'))
    database.exec('PRAGMA user_version = 99')
    database.close()
    await expect(sqliteRunStorage(directory)).rejects.toThrow(
      expect.objectContaining({
        code: 'SCHEMA_TOO_NEW',
        message: expect.stringMatching(
          `version 99.*at most version ${SQLITE_MIGRATIONS.length}[.]`,
        ),
      }),
    )
  })

  it('The embedded storage names a directory that cannot be used', async () => {
    const file = join(directory, 'file')
    writeFileSync(file, '')
    await expect(sqliteRunStorage(join(file, 'below'))).rejects.toThrow(
      expect.objectContaining({
        code: 'STORE_UNAVAILABLE',
        message: expect.stringContaining(file),
      }),
    )
  })
})

describe('the lock of the embedded storage', () => {
  const source = fileURLToPath(new URL('run-storage.ts', import.meta.url))
  const script = `
    import { sqliteRunStorage } from ${JSON.stringify(source)}
    try { await sqliteRunStorage(process.argv[1]); console.log('open'); process.stdin.resume() }
    catch (error) { console.log(error.code + ' ' + error.message) }`
  const node = ['--conditions=@tutti/source', '--input-type=module', '--eval', script]

  it('The lock of the embedded storage refuses a second process with advice, and a second open in the same process', async () => {
    await using storage = await sqliteRunStorage(directory)
    const { stdout } = spawnSync(process.execPath, [...node, directory], { encoding: 'utf8' })
    expect(stdout).toMatch(
      new RegExp(`^STORE_LOCKED .*process ${process.pid} is using it.*TUTTI_DATA_DIR`),
    )
    await expect(sqliteRunStorage(directory)).rejects.toThrow(
      expect.objectContaining({ code: 'STORE_LOCKED' }),
    )
    expect(await storage.events.follow({ runIds: [], all: true })).toEqual([])
  })

  it('The lock of the embedded storage is released as soon as its owner is killed', async () => {
    const owner = spawn(process.execPath, [...node, directory], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const [output] = await once(owner.stdout, 'data')
    expect(String(output)).toBe('open\n')
    owner.kill('SIGKILL')
    await once(owner, 'exit')
    await using storage = await sqliteRunStorage(directory)
    expect(await storage.events.follow({ runIds: [], all: true })).toEqual([])
  })
})
