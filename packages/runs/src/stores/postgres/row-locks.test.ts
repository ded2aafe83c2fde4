import { describe, expect, it } from 'vitest'

import { result, started, step, token } from '../../testing/support/event-fixtures.ts'
import { endedRun, ownedRun } from '../../testing/support/run-fixtures.ts'
import { postgresRunStorage } from './index.ts'
import { ownDatabase } from '../../../test/own-database.ts'

const database = ownDatabase()

const BUILD = {
  build: 'v1',
  share: 100,
  ensembles: [
    { ensemble: 'band', code: 'aaaa', manifest: { name: 'band', settings: {}, tasks: {} } },
  ],
} as const

describe('concurrent changes of a run', () => {
  it('[RUNS-P2] A write during a claim is fenced', async () => {
    await using storage = await postgresRunStorage({ connectionString: database.url })
    const owner = await ownedRun(storage, 'run-a')
    await database.client.query(
      `BEGIN; UPDATE tutti.runs SET epoch = epoch + 1, token = gen_random_uuid()
       WHERE run_id = 'run-a'`,
    )
    const written = owner.commit([token('zombie')])
    await someoneWaits()
    await database.client.query('COMMIT')
    expect(await written).toEqual({ kind: 'fenced' })
    expect(await storage.runs.get('run-a')).toMatchObject({ epoch: 2, lastSeq: 0 })
  })

  it('[RUNS-P2] A write during another change of its row is stored', async () => {
    await using storage = await postgresRunStorage({ connectionString: database.url })
    const owner = await ownedRun(storage, 'run-f')
    await database.client.query(
      `BEGIN; UPDATE tutti.runs SET status = 'CANCELLING' WHERE run_id = 'run-f'`,
    )
    const written = owner.commit([started, token('x')], { steps: [step(1)] })
    await someoneWaits()
    await database.client.query('COMMIT')
    expect(await written).toMatchObject({ kind: 'written' })
    expect(await storage.runs.get('run-f')).toMatchObject({ status: 'CANCELLING', lastSeq: 2 })
    expect(await storage.runs.steps('run-f')).toEqual([step(1)])
  })

  it('[RUNS-W3] The end of a run answers a command that is queued during the write', async () => {
    await using storage = await postgresRunStorage({ connectionString: database.url })
    const owner = await ownedRun(storage, 'run-g')
    await owner.commit([token('x')])
    await database.client.query(
      `BEGIN; UPDATE tutti.runs SET commands = commands + 1 WHERE run_id = 'run-g';
       INSERT INTO tutti.commands (run, command_id, command, reply_channel)
       SELECT id, 'late', '{"kind":"cancel","mode":"abort"}', 'other' FROM tutti.runs WHERE run_id = 'run-g'`,
    )
    const written = owner.commit([result('run-g')])
    await someoneWaits()
    await database.client.query('COMMIT')
    expect(await written).toMatchObject({ kind: 'written', events: [{ seq: 2 }] })
    expect(await storage.commands.answer('late')).toMatchObject({
      error: { code: 'RUN_COMPLETED' },
    })
  })

  it('[RUNS-L5] A release during a command makes the run ready', async () => {
    await using storage = await postgresRunStorage({ connectionString: database.url })
    const owner = await ownedRun(storage, 'run-b')
    await database.client.query(
      `BEGIN; SELECT * FROM tutti.runs WHERE run_id = 'run-b' FOR UPDATE;
       INSERT INTO tutti.commands (run, command_id, command, reply_channel)
       SELECT id, 's', '{"kind":"cancel","mode":"abort"}', 'other' FROM tutti.runs WHERE run_id = 'run-b'`,
    )
    const released = storage.queue.release(owner, { kind: 'parked' })
    await someoneWaits()
    await database.client.query('COMMIT')
    expect(await released).toBe('ready')
  })

  it('[RUNS-W2] A command during a release returns the run to its sender', async () => {
    await using storage = await postgresRunStorage({ connectionString: database.url })
    await ownedRun(storage, 'run-c')
    await database.client.query(
      `BEGIN; UPDATE tutti.runs SET state = 'parked' WHERE run_id = 'run-c'`,
    )
    const sent = storage.commands.send('run-c', { kind: 'cancel', mode: 'abort' })
    await someoneWaits()
    await database.client.query('COMMIT')
    expect((await sent)?.kind).toBe('unowned')
  })
})

describe('concurrent changes of a delivery', () => {
  it('[RUNS-O2] A claim skips a delivery that another process is changing', async () => {
    await using storage = await postgresRunStorage({ connectionString: database.url })
    await endedRun(storage, 'run-d', { webhooks: ['one', 'two'] })
    await database.client.query(
      `BEGIN; UPDATE tutti.deliveries SET outcome = 'done', due_at = NULL WHERE webhook = 'one'`,
    )
    const deliveries = await storage.outbox.claim({ limit: 9, claimMs: 60_000 })
    expect(deliveries.map(({ webhook }) => webhook)).toEqual(['two'])
    await database.client.query('COMMIT')
    expect(await storage.outbox.claim({ limit: 9, claimMs: 60_000 })).toEqual([])
  })

  it('[RUNS-O4] An outcome during the claim of another process is ignored', async () => {
    await using storage = await postgresRunStorage({ connectionString: database.url })
    await endedRun(storage, 'run-e', { webhooks: ['hook'] })
    const [old = expect.fail('nothing is due')] = await storage.outbox.claim({
      limit: 9,
      claimMs: 0,
    })
    await database.client.query(
      `BEGIN; UPDATE tutti.deliveries SET attempt = 2 WHERE webhook = 'hook'`,
    )
    const settled = storage.outbox.settle(old, { kind: 'done' })
    await someoneWaits()
    await database.client.query('COMMIT')
    await settled
    const again = await storage.outbox.claim({ limit: 9, claimMs: 60_000 })
    expect(again.map(({ attempt }) => attempt)).toEqual([3])
  })
})

describe('concurrent starts of a build', () => {
  it('[RUNS-Z6] A process registers a build without waiting for another one that does', async () => {
    await using storage = await postgresRunStorage({ connectionString: database.url })
    await storage.builds.register(BUILD)
    await database.client.query(
      `BEGIN; UPDATE tutti.builds SET started_at = clock_timestamp(); SELECT FROM tutti.build_shares FOR UPDATE`,
    )
    await storage.builds.register(BUILD)
    await database.client.query('COMMIT')
    expect(await storage.builds.list()).toMatchObject([{ build: 'v1', ensemble: 'band' }])
  })

  it('[RUNS-Z6] A build that another process deletes meanwhile is stored again', async () => {
    await using storage = await postgresRunStorage({ connectionString: database.url })
    await storage.builds.register(BUILD)
    await database.client.query('BEGIN; DELETE FROM tutti.builds')
    const registered = storage.builds.register(BUILD)
    await someoneWaits()
    await database.client.query('COMMIT')
    await registered
    expect(await storage.builds.list()).toMatchObject([{ build: 'v1', ensemble: 'band' }])
  })
})

async function someoneWaits(): Promise<void> {
  await expect
    .poll(async () => {
      const { rowCount } = await database.client.query(
        `SELECT FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      )
      return rowCount
    })
    .toBeGreaterThan(0)
}
