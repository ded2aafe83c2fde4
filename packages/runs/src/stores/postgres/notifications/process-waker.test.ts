/** Fleets of real stores on one database. Their clocks do not move unless a test advances them, so nothing polls. */
import { fakeClock, type FakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { settle, until } from '../../../../../../tooling/test-kit/wait.ts'
import { ownDatabase } from '../../../../test/own-database.ts'
import { waitingEnsemble, type WaitingEnsemble } from '../../../../test/waiting-ensemble.ts'
import { createRunService } from '../../../service/create-run-service.ts'
import { claimDue, createRun } from '../../../testing/support/run-fixtures.ts'
import { postgresRunStorage } from '../index.ts'
import { ProcessWaker } from './process-waker.ts'
import { recordNotifications } from '../testing/record-notifications.ts'
import { recordStatements, type RecordedStatement } from '../testing/record-statements.ts'

import type { RunServiceOptions } from '../../../settings/options.ts'
import type { RunService } from '../../../service/run-service.ts'
import type { RunStorage } from '../../../ports/run-storage.ts'

const database = ownDatabase()

const INPUTS = { topic: 'Bach' }

const API = { executes: false }

let schemas = 0

describe('a fleet of idle workers', () => {
  it('[RUNS-L14] A fleet of idle workers makes at most 3 claims for a run that an API process accepts', async () => {
    await using fleet = openFleet()
    const api = await fleet.start(API)
    const bystander = await fleet.start(API)
    for (let n = 0; n < 20; n += 1) await fleet.start()
    fleet.band.play()
    const before = fleet.claims().length
    const submits = 5
    for (let n = 1; n <= submits; n += 1) {
      const { runId } = await api.submit({ inputs: INPUTS })
      await fleet.completed(bystander, runId)
    }
    // A worker claims again when its run has ended, which may be after the next submit.
    expect(fleet.claims().length - before).toBeLessThanOrEqual(3 * submits)
  })

  it('[RUNS-L14] A fleet of idle workers makes at most 2 claims for a run that a worker accepts, which executes it itself', async () => {
    await using fleet = openFleet()
    const workers = []
    for (let n = 0; n < 5; n += 1) workers.push(await fleet.start())
    const before = fleet.claims().length
    const { runId } = (await workers[3]?.submit({ inputs: INPUTS })) ?? expect.fail('is refused')
    await fleet.band.waiting(1)
    expect(workers.map(({ status }) => status.running)).toEqual([0, 0, 0, 1, 0])
    fleet.band.play()
    await fleet.completed(workers[0], runId)
    expect(fleet.claims().length - before).toBeLessThanOrEqual(2)
    expect(fleet.notified()).toBe(0)
  })

  it('[RUNS-L14] A fleet of idle workers wakes the only process that knows the ensemble', async () => {
    await using fleet = openFleet()
    const choir = waitingEnsemble({ name: 'choir' })
    const taker = await fleet.start({}, [fleet.band, choir])
    for (let n = 0; n < 5; n += 1) await fleet.start()
    const singer = await fleet.start({}, [choir])
    await fleet.close(taker)
    const api = await fleet.start(API, [fleet.band, choir])
    const before = fleet.claims().length
    const { runId } = await api.submit({ ensemble: 'choir', inputs: INPUTS })
    await choir.waiting(1)
    expect(singer.status.running).toBe(1)
    choir.play()
    await fleet.completed(api, runId)
    expect(fleet.claims().length - before).toBeLessThanOrEqual(3)
  })

  it('[RUNS-L14] A fleet of idle workers passes on the runs that a process has no slot for', async () => {
    await using fleet = openFleet()
    const one = { maxRunsPerProcess: 1 }
    const first = await fleet.start(one)
    const second = await fleet.start(one)
    await Promise.all([first.submit({ inputs: INPUTS }), first.submit({ inputs: INPUTS })])
    await fleet.band.waiting(2)
    expect([first.status.running, second.status.running]).toEqual([1, 1])
  })

  it('[RUNS-L14] A fleet of idle workers wakes no process while all are full; the first with a free slot claims', async () => {
    await using fleet = openFleet()
    const one = { maxRunsPerProcess: 1 }
    const workers = [await fleet.start(one), await fleet.start(one)]
    const api = await fleet.start(API)
    await api.submit({ inputs: INPUTS })
    await api.submit({ inputs: INPUTS })
    await fleet.band.waiting(2)
    await until('both are full', () => workers.every(({ status }) => status.running === 1))
    const full = { claims: fleet.claims().length, notified: fleet.notified() }
    const { runId } = await api.submit({ inputs: INPUTS })
    await until('the statement that wakes was sent', () => fleet.notified() > full.notified)
    expect(fleet.claims().length).toBe(full.claims)
    fleet.band.play()
    await fleet.completed(api, runId)
  })

  it('[RUNS-L14] A fleet of idle workers hands the runs of a process that stops to another one at once', async () => {
    await using fleet = openFleet()
    const first = await fleet.start()
    const { runId } = await first.submit({ inputs: INPUTS })
    await fleet.band.waiting(1)
    const second = await fleet.start()
    const closed = first.close({ drainTimeoutMs: 60_000 })
    fleet.band.play()
    await closed
    await fleet.completed(second, runId)
  })

  it('[RUNS-Q10] A fleet of idle workers executes at most 10 statements a second, and takes over a lost run within 2 s', async () => {
    await using fleet = openFleet()
    for (let n = 0; n < 24; n += 1) await fleet.start()
    await fleet.advance(10_000)
    const before = fleet.statements.length
    await fleet.advance(30_000)
    expect((fleet.statements.length - before) / 30).toBeLessThanOrEqual(10)
    await using storage = await fleet.open()
    await lostRun(storage, 'run-lost')
    await fleet.advance(2_000)
    await fleet.band.waiting(1)
  })
})

describe('ProcessWaker', () => {
  it('[RUNS-L14] ProcessWaker wakes two processes for each ensemble that a full process passes on', () => {
    const woken: (readonly string[])[] = []
    const waker = new ProcessWaker({
      notifications: { notify: () => undefined },
      sender: { send: (_others, ensembles) => woken.push(ensembles ?? []) },
    })
    waker.passOn(['band', 'choir'])
    expect(woken).toEqual([['band', 'band', 'choir', 'choir']])
  })

  it('[RUNS-L14] ProcessWaker wakes no other process for a run that this one has a slot for, since one of its runs ended', () => {
    const woken: (readonly string[])[] = []
    const waker = new ProcessWaker({
      notifications: {
        notify: (notifications) => woken.push(notifications.map(({ kind }) => kind)),
      },
      sender: { send: (_others, ensembles) => woken.push(ensembles ?? []) },
    })
    waker.setOwn({ hasFreeSlot: false, ensembles: ['band'] })
    waker.wake(['band'])
    waker.onRunEnded()
    waker.wake(['band'])
    waker.wake(['choir'])
    expect(woken).toEqual([['band'], ['ready'], [], ['choir']])
  })
})

describe('a store', () => {
  it('[RUNS-L14] A store whose process is full wakes another one for the runs of an expired lease that it finds', async () => {
    await using fleet = openFleet()
    await using full = await fleet.open()
    await using free = await fleet.open()
    const leaseOf = ({ processName }: RunStorage) => ({
      owner: `${processName}-1`,
      leaseMs: 60_000,
    })
    await claimDue(free, leaseOf(free))
    await lostRun(full, 'run-a')
    const notifications = recordNotifications(free.listen)
    await full.queue.renew(leaseOf(full))
    await notifications.first(({ kind }) => kind === 'ready')
  })

  it('[RUNS-L2] A store sets the lease of an owner without runs to its longer duration, and a claim sets it back', async () => {
    await using fleet = openFleet()
    await using storage = await fleet.open()
    const owner = { owner: 'owner-a', leaseMs: 60_000, idleLeaseMs: 600_000 }
    const lastsAbout = async (ms: number) => {
      const { rows } = await database.client.query<{ ms: number }>(
        `SELECT (extract(epoch FROM expires_at - clock_timestamp()) * 1000)::float8 AS ms
         FROM ${fleet.schema}.leases`,
      )
      expect(rows.map((row) => Math.round(row.ms / 60_000) * 60_000)).toEqual([ms])
    }
    await storage.queue.renew(owner)
    await lastsAbout(600_000)
    await claimDue(storage, owner)
    await lastsAbout(600_000)
    await createRun(storage, 'run-a')
    const [claimed] = await claimDue(storage, owner)
    await lastsAbout(60_000)
    await storage.queue.renew(owner)
    await claimDue(storage, owner)
    await lastsAbout(60_000)
    const held = { runId: 'run-a', token: claimed?.token ?? '' }
    expect(await storage.queue.release(held, { kind: 'parked' })).toBe('parked')
    await storage.queue.renew(owner)
    await lastsAbout(600_000)
    await storage.queue.claim('run-a', owner)
    await lastsAbout(60_000)
  })

  it('A store counts the living processes, and those with a free slot', async () => {
    await using fleet = openFleet()
    await using storage = await fleet.open()
    const lease = { leaseMs: 60_000 }
    await storage.queue.renew({ owner: 'api', ...lease })
    await storage.queue.renew({ owner: 'worker', ...lease, hasFreeSlot: true })
    await storage.queue.renew({ owner: 'dead', leaseMs: 0, hasFreeSlot: true })
    await claimDue(storage, { owner: 'other', ...lease })
    await claimDue(storage, { owner: 'other', ...lease })
    expect(storage.queue.fleet).toEqual({ processes: 3, pollers: 2 })
  })

  it('[RUNS-N5] No longer follows a run when its process has left or its lease has expired', async () => {
    await using fleet = openFleet()
    await using storage = await fleet.open()
    const left = await fleet.open()
    await using dead = await fleet.open()
    for (const one of [left, dead, storage]) {
      await one.events.follow({ runIds: [], all: true })
      const leaseMs = one === dead ? 0 : 60_000
      await one.queue.renew({ owner: `${one.processName}-1`, leaseMs })
    }
    await left[Symbol.asyncDispose]()
    await claimDue(storage, { owner: `${storage.processName}-1`, leaseMs: 60_000 })
    const { rows } = await database.client.query(
      `SELECT channel FROM ${fleet.schema}.followers UNION ALL
       SELECT owner FROM ${fleet.schema}.leases`,
    )
    const { processName } = storage
    expect(rows).toEqual([{ channel: processName }, { channel: `${processName}-1` }])
  })
})

/** Creates a run whose owner died, without waking another process. */
async function lostRun(storage: RunStorage, runId: string): Promise<void> {
  await claimDue(storage)
  await createRun(storage, runId, { ensemble: 'band', inputs: INPUTS })
  const [claimed] = await claimDue(storage, { owner: 'dead', leaseMs: 0 })
  expect(claimed?.run.runId).toBe(runId)
}

/** Opens a fleet with a separate schema. */
function openFleet() {
  schemas += 1
  const schema = `fleet_${schemas}`
  const clock: FakeClock = fakeClock()
  const band = waitingEnsemble()
  const services: RunService[] = []
  const { statements, areAnswered, stop } = recordStatements()
  const open = () =>
    postgresRunStorage({ connectionString: database.url, schema, maxConnections: 3 })
  const claims = (): readonly RecordedStatement[] =>
    statements.filter(({ text }) => text.includes('chosen AS MATERIALIZED'))
  return {
    schema,
    band,
    statements,
    open,
    claims,
    /** Number of statements that notified other processes. */
    notified: () => statements.filter(({ text }) => text.includes('pg_notify')).length,
    /** Starts a process; one that executes runs has made its first claim. */
    async start(
      options: RunServiceOptions = {},
      ensembles: readonly WaitingEnsemble[] = [band],
    ): Promise<RunService> {
      const storage = await open()
      const { fleet } = storage.queue
      const service = createRunService(
        storage,
        ensembles.map(({ ensemble }) => ensemble),
        { clock, maxConcurrentRuns: 100, parkAfterMs: 60_000, ...options },
      )
      await service.start()
      services.push(service)
      if (options.executes !== false) {
        // The answer to a claim counts the fleet.
        await until('its claim is answered', () => storage.queue.fleet !== fleet)
      }
      return service
    },
    close: (service: RunService) => service.close({ drainTimeoutMs: 0 }),
    async completed(service: RunService | undefined, runId: string): Promise<void> {
      await until('the run has ended', async () => {
        const run = await service?.record(runId)
        return run?.status === 'COMPLETED'
      })
    },
    /**
     * Moves the clock in steps, and lets the polls of each step end. Otherwise all could end, and be repeated, at about the
     * same time.
     */
    async advance(ms: number): Promise<void> {
      for (let passed = 0; passed < ms; passed += 100) {
        await clock.advance(100)
        await settle()
        await until('all statements are answered', areAnswered)
      }
    },
    async [Symbol.asyncDispose]() {
      stop()
      band.play()
      await Promise.all(services.map((service) => service.close({ drainTimeoutMs: 0 })))
    },
  }
}
