/** Tests of external events: from their sender to the waits of runs. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

import { Type } from '@tutti/core'
import { ensemble, task, type Ensemble } from '@tutti/ensemble'
import { createRunService, sqliteRunStorage, type RunService } from '@tutti/runs'
import { fakeClock, scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { until } from '../../../tooling/test-kit/wait.ts'
import { SWEEP_EVENTS_MS } from '../src/service/external-events.ts'
import { decide } from './commands.ts'
import { STORES, type TestStore } from './stores.ts'
import { allEvents, temporaryDirectory } from './waiting-ensemble.ts'

import type { LoggedRunEvent } from '@tutti/protocol'

const Payment = Type.Object({ amount: Type.Integer() })

const wait = task({
  name: 'wait',
  description: 'Wait for {order}',
  waitFor: { event: 'paid', key: '{order}', schema: Payment },
})

const TEAM = ensemble({ name: 'team', model: scriptedModel(['-']), tasks: [wait] })

const close = { drainTimeoutMs: 1_000 }

async function open(place: TestStore, team: Ensemble = TEAM): Promise<RunService> {
  const service = createRunService(await place.open(), [team], { parkAfterMs: 20, pollMs: 50 })
  await service.start()
  return service
}

/** Submits a run and waits until it is parked. */
async function parked(service: RunService, runId = 'run-1', order = 'o-1'): Promise<void> {
  const before = (await service.status.load()).parked
  await service.submit({ runId, inputs: { order } })
  await until('the run is parked', async () => (await service.status.load()).parked > before)
}

async function outcome(service: RunService, runId = 'run-1'): Promise<unknown> {
  await allEvents(service, runId)
  const output = (await service.get(runId))?.tasks[0]?.output
  return output === undefined ? undefined : JSON.parse(output)
}

describe.each(Object.entries(STORES))('external events (%s)', (_, make) => {
  it('[RUNS-EV8] An event decides the wait of a parked run, and counts once under its id', async () => {
    await using place = await make()
    const service = await open(place)
    await parked(service)
    expect(await service.reviews.open({ kinds: ['EVENT'] })).toHaveLength(1)
    const event = { name: 'paid', key: 'o-1', id: 'e-1', data: { amount: 5 }, sender: 'shop' }
    const [review] = await service.reviews.open({ runId: 'run-1' })
    const delivered = {
      id: 'e-1',
      state: { kind: 'delivered', runId: 'run-1', reviewId: review?.reviewId },
    }
    expect(await service.externalEvents.receive(event)).toEqual(delivered)
    expect(await service.externalEvents.receive(event)).toEqual(delivered)
    await expect(
      service.externalEvents.receive({ ...event, data: { amount: 6 } }),
    ).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' })
    expect(await outcome(service)).toEqual({
      arrived: true,
      data: { amount: 5 },
      name: 'paid',
      eventId: 'e-1',
    })
    const events = await allEvents(service, 'run-1')
    expect(events.filter(({ type }) => type === 'review_decided')).toMatchObject([
      { decidedBy: 'shop', event: { id: 'e-1', name: 'paid' } },
    ])
    await service.close(close)
  })

  it('[RUNS-EV10] A stored event goes to the wait that opens later; one with other data is refused', async () => {
    await using place = await make()
    const service = await open(place)
    const send = (id: string, data: unknown) =>
      service.externalEvents.receive({ name: 'paid', key: 'o-1', id, data })
    expect(await send('early-1', { amount: 'x' })).toMatchObject({ state: { kind: 'free' } })
    expect(await send('early-2', { amount: 2 })).toMatchObject({ state: { kind: 'free' } })
    await service.submit({ runId: 'run-1', inputs: { order: 'o-1' } })
    expect(await outcome(service)).toMatchObject({ data: { amount: 2 }, eventId: 'early-2' })
    await expect(send('early-1', { amount: 'x' })).rejects.toMatchObject({ code: 'EVENT_REFUSED' })
    await parked(service, 'run-2')
    await expect(send('late', { amount: 'y' })).rejects.toMatchObject({
      code: 'EVENT_REFUSED',
      message: expect.stringContaining('data/amount'),
    })
    // The sender corrects the data.
    expect(await send('late', { amount: 3 })).toMatchObject({ state: { kind: 'delivered' } })
    await service.close(close)
  })

  it('[RUNS-EV3] An event, a timer and a person race for a wait with one winner in every order', async () => {
    await using place = await make()
    const racing = task({
      name: 'wait',
      description: 'Wait for {order}',
      waitFor: { event: 'paid', key: '{order}', schema: Payment, timeoutMs: 120, review: true },
    })
    const team = ensemble({ name: 'team', model: scriptedModel(['-']), tasks: [racing] })
    const service = await open(place, team)
    const winners = new Map<string, number>()
    const race = async (n: number): Promise<void> => {
      const runId = `run-${n}`
      await service.submit({ runId, inputs: { order: `o-${n}` } })
      let reviewId = ''
      await until('the wait is open', async () => {
        const [review] = await service.reviews.open({ runId })
        reviewId = review?.reviewId ?? ''
        return reviewId !== '' || (await service.get(runId))?.run.status === 'COMPLETED'
      })
      const person = async () =>
        decide(service, reviewId, { action: 'EDIT', input: { amount: 1 } }).then(
          () => 'person',
          () => undefined,
        )
      const event = async () =>
        service.externalEvents
          .receive({ name: 'paid', key: `o-${n}`, id: `e-${n}`, data: { amount: 2 } })
          .then(({ state }) => (state.kind === 'delivered' ? 'event' : undefined))
      const rivals = [person, event, event, person].slice(n % 3, (n % 3) + 2)
      const won = await Promise.all(rivals.map((rival) => rival()))
      const end = await outcome(service, runId)
      const events = await allEvents(service, runId)
      const ends = events.filter(({ type }) => isEnd(type))
      expect(ends).toHaveLength(1)
      const winner = readWinner(ends[0])
      winners.set(winner, (winners.get(winner) ?? 0) + 1)
      const expected: Readonly<Record<string, unknown>> = {
        person: { data: { amount: 1 } },
        event: { eventId: `e-${n}` },
        timer: { arrived: false },
      }
      expect(end).toMatchObject(expected[winner] as object)
      expect([...new Set(won.filter((who) => who !== undefined))]).toEqual(
        winner === 'timer' ? [] : [winner],
      )
    }
    await Promise.all(Array.from({ length: 9 }, (_, n) => race(n)))
    expect([...winners.values()].reduce((sum, count) => sum + count, 0)).toBe(9)
    await service.close(close)
  })

  it('[RUNS-E9] [ENS-G19] A fork keeps the event of a wait that it copies, and gets it again for a wait that it repeats', async () => {
    await using place = await make()
    const twice = task({
      name: 'wait',
      description: 'Wait for {order}',
      async handler({ waitFor, sleep, inputs }) {
        await sleep(5)
        const key = inputs['order'] ?? ''
        const early = await waitFor('checked', { key: 'all' })
        const paid = await waitFor('paid', { key, schema: Payment, timeoutMs: 60_000 })
        const person = await waitFor('asked', { review: true, schema: Payment })
        return { early, paid, person }
      },
    })
    const team = ensemble({ name: 'team', model: scriptedModel(['-']), tasks: [twice] })
    const service = await open(place, team)
    const send = (name: string, key: string, id: string) =>
      service.externalEvents.receive({ name, key, id, data: { amount: 1 } })
    const answer = async (runId: string, amount: number): Promise<void> => {
      await until('the question is open', async () => {
        return (await service.reviews.open({ runId, kinds: ['QUESTION'] })).length > 0
      })
      const [review] = await service.reviews.open({ runId, kinds: ['QUESTION'] })
      await decide(service, review?.reviewId ?? '', { action: 'EDIT', input: { amount } })
    }
    await service.submit({ runId: 'run-1', inputs: { order: 'o-1' } })
    await send('checked', 'all', 'e-1')
    await send('paid', 'o-1', 'e-2')
    await answer('run-1', 7)
    const whole = await outcome(service)
    expect(whole).toMatchObject({ early: { eventId: 'e-1' }, paid: { eventId: 'e-2' } })
    const log = await allEvents(service, 'run-1')
    const ends = log.filter(({ type }) => isEnd(type)).map(({ seq }) => seq)
    // Before each end, and after the last event.
    for (const [n, at] of [0, ...ends.map((seq) => seq - 1), ends[2] ?? 0].entries()) {
      const runId = `fork-${n}`
      await service.forks.create('run-1', { at, runId })
      await answer(runId, n)
      expect(await outcome(service, runId)).toEqual({
        ...(whole as object),
        person: { arrived: true, data: { amount: n } },
      })
    }
    // Another key is another wait.
    await service.forks.create('run-1', { at: 0, runId: 'other', inputs: { order: 'o-2' } })
    await until('the payment is awaited', async () => {
      const [review] = await service.reviews.open({ runId: 'other', kinds: ['EVENT'] })
      return review?.request.waitsFor?.[0]?.key === 'o-2'
    })
    await send('paid', 'o-2', 'e-3')
    await answer('other', 0)
    expect(await outcome(service, 'other')).toMatchObject({ paid: { eventId: 'e-3' } })
    await service.close(close)
  })
})

function isEnd(type: LoggedRunEvent['type']): boolean {
  return ['review_decided', 'review_timed_out', 'review_withdrawn'].includes(type)
}

function readWinner(end: LoggedRunEvent | undefined): string {
  if (end?.type !== 'review_decided') return 'timer'
  return end.event === undefined ? 'person' : 'event'
}

it('[RUNS-S4] A cancel at a boundary ends a parked run that waits for an event', async () => {
  using directory = temporaryDirectory()
  const service = createRunService(await sqliteRunStorage(directory.path), [TEAM])
  await service.start()
  await service.submit({ runId: 'run-1', inputs: { order: 'o-1' } })
  await until('the run is parked', async () => {
    return (await service.get('run-1'))?.run.status === 'WAITING'
  })
  await service.send('run-1', { kind: 'cancel', mode: 'boundary' })
  await until('the run is cancelled', async () => {
    return (await service.get('run-1'))?.run.status === 'CANCELLED'
  })
  await service.close(close)
})

it('[RUNS-EV9] A sweep delivers an event that a process stored before it was killed', async () => {
  using directory = temporaryDirectory()
  const clock = fakeClock()
  await using storage = await sqliteRunStorage(directory.path, { clock })
  const service = createRunService(storage, [TEAM], { clock })
  await service.start()
  await service.submit({ runId: 'run-1', inputs: { order: 'o-1' } })
  await until('the wait is open', async () => {
    return (await service.reviews.open({ kinds: ['EVENT'] })).length > 0
  })
  const event = { id: 'e-1', name: 'paid', key: 'o-1', data: '{"amount":5}' }
  await storage.externalEvents.add(event, 9)
  await clock.advance(SWEEP_EVENTS_MS)
  expect(await outcome(service)).toMatchObject({ arrived: true, eventId: 'e-1' })
  await service.close(close)
})

describe('a process that is killed while it delivers', () => {
  const CHILD = fileURLToPath(new URL('fixtures/delivering-process.ts', import.meta.url))

  it.each(['add', 'assign', 'send'])(
    '[RUNS-EV9] A process that is killed after "%s" loses no event, and the wait gets it once',
    async (point) => {
      using directory = temporaryDirectory()
      const child = spawn(
        process.execPath,
        ['--conditions=@tutti/source', CHILD, directory.path, point],
        { stdio: ['ignore', 'ignore', 'inherit'] },
      )
      const [, signal] = (await once(child, 'exit')) as [number | null, string | null]
      expect(signal).toBe('SIGKILL')
      const service = createRunService(await sqliteRunStorage(directory.path), [TEAM])
      await service.start()
      // The sender repeats its request; the sweep would find the event without it.
      const { state } = await service.externalEvents.receive({
        name: 'paid',
        key: 'o-1',
        id: 'e-1',
        data: { amount: 5 },
      })
      expect(state).toMatchObject({ kind: 'delivered', runId: 'run-1' })
      expect(await outcome(service)).toMatchObject({ arrived: true, eventId: 'e-1' })
      const events = await allEvents(service, 'run-1')
      expect(events.filter(({ type }) => isEnd(type))).toHaveLength(1)
      await service.close(close)
    },
    120_000,
  )
})
