import { describe, expect, it } from 'vitest'

import { ownDatabase } from '../../../../test/own-database.ts'
import {
  completed,
  result,
  reviewRequested,
  started,
  step,
  token,
} from '../../../testing/support/event-fixtures.ts'
import { claimRun, createRun, ownedRun } from '../../../testing/support/run-fixtures.ts'
import { postgresRunStorage } from '../index.ts'
import { recordStatements } from '../testing/record-statements.ts'

const database = ownDatabase()

describe('the round trips of a commit', () => {
  it('The round trips of a commit are one for all writes of all runs, from the claim of a new run to its end', async () => {
    await using storage = await postgresRunStorage({ connectionString: database.url })
    const owners = [
      await ownedRun(storage, 'run-a', { webhooks: ['hook'] }),
      await ownedRun(storage, 'run-b'),
    ]
    const sent = await storage.commands.send('run-a', { kind: 'cancel', mode: 'abort' })
    const commandId = sent?.kind === 'sent' ? sent.commandId : ''
    const trips: number[] = []
    const commit = async (...given: Parameters<(typeof owners)[number]['next']>) => {
      const { countTrips, stop } = recordStatements()
      const results = await storage.runs.commit(owners.map((owner) => owner.next(...given)))
      stop()
      expect(results.map(({ kind }) => kind)).toEqual(['written', 'written'])
      trips.push(countTrips())
    }
    await commit([started, token('x')], { steps: [step(1)] })
    await commit([reviewRequested('review-a'), completed], { answers: [{ commandId, ok: true }] })
    await commit([token('y')])
    expect(trips).toEqual([1, 1, 1])
  })

  it('The round trips of a commit are one for the end of a run without new commands, and three more after one', async () => {
    await using storage = await postgresRunStorage({ connectionString: database.url })
    const counts = []
    for (const hasCommand of [false, true]) {
      const owner = await ownedRun(storage, `run-${hasCommand}`)
      await owner.commit([started])
      if (hasCommand) {
        await storage.commands.send(owner.runId, { kind: 'switch_model', model: 'm' })
      }
      const { countTrips, stop } = recordStatements()
      expect((await owner.commit([result(owner.runId)])).kind).toBe('written')
      stop()
      counts.push(countTrips())
    }
    expect(counts).toEqual([1, 4])
  })

  it('The round trips of a commit include reads of the run and its tasks only for the first write after a takeover', async () => {
    await using storage = await postgresRunStorage({ connectionString: database.url })
    const first = await ownedRun(storage, 'run-c')
    await first.commit([started, token('x')])
    await storage.queue.release(first, { kind: 'ready' })
    const second = await claimRun(storage, 'run-c')
    const { countTrips, stop } = recordStatements()
    await second.commit([completed])
    const afterFirst = countTrips()
    await second.commit([token('y')])
    stop()
    expect([afterFirst, countTrips()]).toEqual([3, 4])
    expect(await storage.runs.tasks('run-c')).toMatchObject([{ status: 'COMPLETED' }, {}])
  })

  it('[RUNS-P7] A write of another process to the same run is found, and the write is stored once', async () => {
    await using storage = await postgresRunStorage({ connectionString: database.url })
    await using other = await postgresRunStorage({ connectionString: database.url })
    const owner = await ownedRun(storage, 'run-d')
    const write = owner.next([token('x')], { steps: [step(1)] })
    const results = await Promise.all([
      storage.runs.commit([write]),
      other.runs.commit([write]),
      other.runs.commit([write]),
    ])
    for (const [stored] of results) expect(stored).toMatchObject({ events: [{ seq: 1 }] })
    expect(await storage.runs.get('run-d')).toMatchObject({ lastSeq: 1 })
    expect((await owner.commit([token('y')])).kind).toBe('written')
    expect(await storage.runs.steps('run-d')).toHaveLength(1)
  })

  it('[RUNS-P8] The round trips of a commit are two for a write to an unowned run', async () => {
    await using storage = await postgresRunStorage({ connectionString: database.url })
    const run = await createRun(storage, 'run-e')
    const sent = await storage.commands.send('run-e', { kind: 'cancel', mode: 'abort' })
    const { countTrips, stop } = recordStatements()
    const written = await storage.runs.commitUnowned({
      runId: run.runId,
      token: sent?.kind === 'unowned' ? sent.token : '',
      lastSeq: run.lastSeq,
      events: [token('x')],
      steps: [],
      next: 'stay',
    })
    stop()
    expect(written.kind).toBe('written')
    expect(countTrips()).toBe(2)
  })
})
