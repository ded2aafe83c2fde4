/** Compensations of cancelled runs whose processes die, on real stores. */
import { ensemble, task, type Ensemble } from '@tutti/ensemble'
import { createRunService, type RunService, type RunServiceOptions } from '@tutti/runs'
import { fakeClock } from '@tutti/testing'
import type { RunStorage } from '@tutti/runs/adapter'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { until } from '../../../tooling/test-kit/wait.ts'
import { mortalStorage } from './mortal-storage.ts'
import { STORES, type TestStore } from './stores.ts'
import { allEvents } from './waiting-ensemble.ts'

type Store = keyof typeof STORES

/** Timers that end no lease and poll nothing during a test, apart from those that the store needs to expire a lease. */
const OPTIONS = { leaseMs: 1_000, pollMs: 20, maxLostOwners: 99 } satisfies RunServiceOptions

/** Deaths wait for the end of a lease, which the clock of the database measures. */
const LONG = { timeout: 120_000 }

interface Trip {
  readonly team: Ensemble
  /** Calls of the booking service, which acts once for each key, in the order in which it acted. */
  readonly calls: readonly string[]
  /** Resolves when the hotel is being booked, which lasts until it is cancelled. */
  readonly booking: Promise<void>
}

/** Books a flight and a hotel; the cancellation of each is added first. */
function createTrip(): Trip {
  const acted = new Map<string, string>()
  const booking = Promise.withResolvers<void>()
  const act = (what: string, key: string): void => {
    if (!acted.has(key)) acted.set(key, what)
  }
  const trip = task({
    name: 'trip',
    description: 'Book a trip',
    async handler({ step, compensate }) {
      for (const item of ['flight', 'hotel']) {
        compensate(`cancel ${item}`, ({ idempotencyKey }) => act(`cancel ${item}`, idempotencyKey))
        await step(`book ${item}`, async ({ idempotencyKey, signal }) => {
          act(`book ${item}`, idempotencyKey)
          if (item === 'flight') return
          booking.resolve()
          await new Promise((_, reject) => {
            signal.addEventListener('abort', () => reject(new Error('Stopped')), { once: true })
          })
        })
      }
    },
  })
  return {
    team: ensemble({ name: 'trips', tasks: [trip] }),
    get calls() {
      return [...acted.values()]
    },
    booking: booking.promise,
  }
}

const WHOLE = ['book flight', 'book hotel', 'cancel hotel', 'cancel flight']

describe.each(Object.keys(STORES) as Store[])('a cancelled run on the %s store', (kind) => {
  let place: TestStore
  let runs = 0

  beforeAll(async () => {
    place = await STORES[kind]()
  })

  afterAll(async () => {
    await place[Symbol.asyncDispose]()
  })

  /**
   * Cancels a run while it books the hotel; its process dies at that write after the cancel began. Returns whether it died.
   */
  async function die(write: number, when: 'before' | 'after'): Promise<boolean> {
    const runId = `run-${(runs += 1)}`
    const trip = createTrip()
    const { team } = trip
    const at = `${when} write ${write}`
    let died = false
    {
      const storage = await place.open()
      const mortal = mortalStorage(storage, async () => undefined)
      const service = createRunService(mortal.storage, [team], OPTIONS)
      await service.start()
      await service.submit({ runId })
      await trip.booking
      mortal.dieAt(write, when)
      const cancel = service.send(runId, { kind: 'cancel', mode: 'abort' })
      const ended = cancel.then(() => allEvents(service, runId))
      died = await Promise.race([mortal.died.then(() => true), ended.then(() => false)])
      if (died) {
        await mortal.settled()
        await storage[Symbol.asyncDispose]()
      } else {
        mortal.spare()
        await service.close({ drainTimeoutMs: 0 })
      }
    }
    await using storage = await place.open()
    const service = createRunService(storage, [team], OPTIONS)
    await service.start()
    // The caller of a process that died before the cancel was stored repeats it.
    if (write === 1 && when === 'before')
      await service.send(runId, { kind: 'cancel', mode: 'abort' })
    const events = await allEvents(service, runId)
    const record = await service.record(runId)
    expect([at, record?.status, record?.error]).toEqual([at, 'CANCELLED', undefined])
    expect([at, trip.calls]).toEqual([at, WHOLE])
    const undone = events.flatMap((event) =>
      event.type === 'handler_step_ended' && event.isCompensation === true ? [event.step] : [],
    )
    expect([at, undone]).toEqual([at, ['cancel hotel', 'cancel flight']])
    await service.close({ drainTimeoutMs: 0 })
    return died
  }

  it.each(['before', 'after'] as const)(
    '[ENS-P27] [ENS-P28] A cancelled run whose process dies %s any write undoes each booking once, and then is CANCELLED',
    LONG,
    async (when) => {
      let deaths = 0
      while (await die(deaths + 1, when)) deaths += 1
      // The cancel, its event, and the end of each compensation are written separately.
      expect(deaths).toBeGreaterThanOrEqual(4)
    },
  )
})

interface OrderOptions {
  /** Name of the process, which its compensation records. */
  readonly name: string
  readonly version?: string
  readonly release?: Promise<void>
}

describe('a cancel of a run without a process', () => {
  /** Returns an ensemble that waits for a payment, and whose compensation waits for `release`. */
  function createOrder(acted: string[], { name, version = '1', release }: OrderOptions): Ensemble {
    const order = task({
      name: 'order',
      description: 'Order',
      version,
      async handler({ compensate, step, ask }) {
        await step('reserve', () => undefined)
        compensate('release', async () => {
          acted.push(name)
          await release
        })
        await ask('Go on?')
      },
    })
    return ensemble({ name: 'orders', tasks: [order] })
  }

  /** Submits a run and waits until it is parked; `pass` lets time pass. */
  async function park(
    runs: RunService,
    storage: RunStorage,
    pass?: () => Promise<void>,
  ): Promise<void> {
    await runs.submit({ runId: 'run-1' })
    await until('the run is parked', async () => {
      await pass?.()
      return (await storage.queue.load()).parked === 1
    })
  }

  it('[RUNS-Q2] A cancel of a parked run is answered after a second while a compensation runs, and the run is CANCELLED after it', async () => {
    await using place = await (STORES['embedded'] ?? expect.fail())()
    await using storage = await place.open()
    const acted: string[] = []
    const release = Promise.withResolvers<void>()
    const clock = fakeClock()
    const team = createOrder(acted, { name: 'one', release: release.promise })
    const runs = createRunService(storage, [team], { clock, parkAfterMs: 10 })
    await runs.start()
    await park(runs, storage, () => clock.advance(10))
    const cancelling = runs.send('run-1', { kind: 'cancel', mode: 'abort' })
    await until('the compensation runs', () => acted.length > 0)
    await clock.advance(1_000)
    expect(await cancelling).toEqual({ status: 'CANCELLING' })
    expect((await runs.record('run-1'))?.status).toBe('CANCELLING')
    release.resolve()
    await allEvents(runs, 'run-1')
    expect((await runs.record('run-1'))?.status).toBe('CANCELLED')
    expect(acted).toEqual(['one'])
    await runs.close({ drainTimeoutMs: 0 })
  })

  it.each([
    ['of another build', { version: '2' }, { buildId: 'v2' }],
    ['that executes no runs', {}, { buildId: 'v1', executes: false }],
  ])(
    '[RUNS-Z9] [RUNS-Q2] A process %s that receives a cancel leaves the compensations to one with the code of the run',
    async (_, code, settings) => {
      await using place = await (STORES['postgres'] ?? expect.fail())()
      await using older = await place.open()
      await using newer = await place.open()
      const acted: string[] = []
      const options = { ...OPTIONS, parkAfterMs: 10 }
      // The process with the code claims the run only after the other one has answered.
      let turn = Promise.resolve()
      const slow = mortalStorage(older, () => turn)
      const one = createRunService(slow.storage, [createOrder(acted, { name: 'one' })], {
        ...options,
        buildId: 'v1',
      })
      await one.start()
      await park(one, older)
      const two = createRunService(newer, [createOrder(acted, { name: 'two', ...code })], {
        ...options,
        ...settings,
      })
      await two.start()
      const answered = Promise.withResolvers<void>()
      turn = answered.promise
      const reply = await two.send('run-1', { kind: 'cancel', mode: 'abort' })
      answered.resolve()
      expect(reply).toEqual({ status: 'CANCELLING' })
      await allEvents(two, 'run-1')
      expect((await two.record('run-1'))?.status).toBe('CANCELLED')
      expect(acted).toEqual(['one'])
      await one.close({ drainTimeoutMs: 0 })
      await two.close({ drainTimeoutMs: 0 })
    },
  )
})
