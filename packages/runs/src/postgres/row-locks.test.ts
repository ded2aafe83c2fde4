import { describe, expect, it } from 'vitest'

import { token } from '../testing/event-fixtures.ts'
import { ownedRun } from '../testing/run-fixtures.ts'
import { postgresRunStorage } from './index.ts'
import { ownDatabase } from '../../test/own-database.ts'

const database = ownDatabase()

describe('what happens to a run while somebody else changes it', () => {
  it('[P2] a write that meets a claim is fenced', async () => {
    await using storage = await postgresRunStorage({ connectionString: database.url })
    const owner = await ownedRun(storage, 'run-a')
    await database.client.query(
      `BEGIN; UPDATE tutti.runs SET epoch = epoch + 1 WHERE run_id = 'run-a'`,
    )
    const written = owner.commit([token('zombie')])
    await someoneWaits()
    await database.client.query('COMMIT')
    expect(await written).toEqual({ kind: 'fenced' })
    expect(await storage.runs.get('run-a')).toMatchObject({ epoch: 2, lastSeq: 0 })
  })

  it('[L5] a run that is given up meets a signal: it becomes ready', async () => {
    await using storage = await postgresRunStorage({ connectionString: database.url })
    const owner = await ownedRun(storage, 'run-b')
    await database.client.query(
      `BEGIN; SELECT * FROM tutti.runs WHERE run_id = 'run-b' FOR UPDATE;
       INSERT INTO tutti.signals (run, signal_id, wish)
       SELECT id, 's', '{"kind":"cancel","mode":"abort"}' FROM tutti.runs WHERE run_id = 'run-b'`,
    )
    const released = storage.queue.release(owner, { kind: 'parked' })
    await someoneWaits()
    await database.client.query('COMMIT')
    expect(await released).toBe('ready')
  })

  it('[W2] a signal meets an owner who gives up: its sender gets the run', async () => {
    await using storage = await postgresRunStorage({ connectionString: database.url })
    await ownedRun(storage, 'run-c')
    await database.client.query(
      `BEGIN; UPDATE tutti.runs SET state = 'parked' WHERE run_id = 'run-c'`,
    )
    const sent = storage.signals.send('run-c', { kind: 'cancel', mode: 'abort' })
    await someoneWaits()
    await database.client.query('COMMIT')
    expect((await sent)?.kind).toBe('at_rest')
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
