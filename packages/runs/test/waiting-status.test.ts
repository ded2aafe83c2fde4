/** Tests of the statuses of runs that wait: WAITING for events and times, WAITING_REVIEW for people and callers. */
import { ensemble, task, type Ensemble, type Task } from '@tutti/ensemble'
import { createRunService, type RunService } from '@tutti/runs'
import { describe, expect, it } from 'vitest'

import { cancel, decide } from './commands.ts'
import { STORES, type TestStore } from './stores.ts'
import { allEvents } from './waiting-ensemble.ts'

const HOUR_MS = 3_600_000

const close = { drainTimeoutMs: 1_000 }

/** A task that waits for a payment, and then for the test. */
function payment(gate: Promise<void> = Promise.resolve()): Task {
  return task({
    name: 'payment',
    description: 'Wait for the payment',
    async handler({ waitFor }) {
      await waitFor('paid')
      await gate
      return 'paid'
    },
  })
}

/** A task that sleeps. */
function nap(ms: number): Task {
  return task({
    name: 'nap',
    description: 'Sleep',
    async handler({ sleep }) {
      await sleep(ms)
      return 'slept'
    },
  })
}

const approval = task({
  name: 'approval',
  description: 'Approve',
  beforeReview: { timeoutMs: HOUR_MS },
  handler: () => 'approved',
})

/** One handler that waits for a person and a payment at the same time. */
const both = task({
  name: 'both',
  description: 'Wait for both',
  async handler({ waitFor }) {
    await Promise.all([waitFor('asked', { review: true }), waitFor('paid')])
    return 'done'
  },
})

const teamOf = (...tasks: readonly Task[]): Ensemble =>
  ensemble({ name: 'team', workflow: 'PARALLEL', tasks: [...tasks] })

/** Starts a service and a run of the team. */
async function start(place: TestStore, team: Ensemble, { parkAfterMs = 20 } = {}) {
  const service = createRunService(await place.open(), [team], { parkAfterMs, pollMs: 50 })
  await service.start()
  await service.submit({ runId: 'run-1' })
  return service
}

/** Waits until the run has the status, and is parked if `parked` is 1. */
async function expectWaiting(
  service: RunService,
  status: string,
  { runId = 'run-1', parked = 1, tasks = 0 } = {},
): Promise<void> {
  const read = async () => {
    const run = (await service.get(runId))?.run
    return [run?.status, run?.completedTasks, (await service.status.load()).parked]
  }
  await expect.poll(read, { timeout: 20_000 }).toEqual([status, tasks, parked])
}

async function approve(service: RunService): Promise<void> {
  const [review] = await service.reviews.open({ kinds: ['TASK_INPUT', 'QUESTION'] })
  await decide(service, review?.reviewId ?? '', { action: 'CONTINUE' })
}

async function statusAtEnd(service: RunService, runId = 'run-1'): Promise<string | undefined> {
  await allEvents(service, runId)
  return (await service.get(runId))?.run.status
}

describe.each(Object.entries(STORES))('the status of a waiting run (%s)', (_, make) => {
  it('[RUNS-L11] A run that sleeps is WAITING while it is owned', async () => {
    await using place = await make()
    const service = await start(place, teamOf(nap(HOUR_MS)), { parkAfterMs: HOUR_MS })
    await expectWaiting(service, 'WAITING', { parked: 0 })
    expect(await service.status.load()).toMatchObject({ running: 0, waiting: 1 })
    expect(await cancel(service, 'run-1')).toBe('CANCELLING')
    expect(await statusAtEnd(service)).toBe('CANCELLED')
    await service.close(close)
  })

  it('[RUNS-P4] A parked run that waits for an event is WAITING, then RUNNING, then COMPLETED', async () => {
    await using place = await make()
    const gate = Promise.withResolvers<void>()
    const service = await start(place, teamOf(payment(gate.promise)))
    await expectWaiting(service, 'WAITING')
    const { runs } = await service.list({ statuses: ['WAITING'], limit: 9 })
    expect(runs).toMatchObject([{ runId: 'run-1', openReviews: 0 }])
    expect((await service.list({ statuses: ['WAITING_REVIEW'], limit: 9 })).total).toBe(0)
    await service.externalEvents.receive({ name: 'paid', id: 'e-1' })
    await expectWaiting(service, 'RUNNING', { parked: 0 })
    gate.resolve()
    expect(await statusAtEnd(service)).toBe('COMPLETED')
    await service.close(close)
  })

  it.each([
    ['in two tasks', teamOf(approval, payment()), 1],
    ['in one handler', teamOf(both), 0],
  ])(
    '[RUNS-P4] A run that waits for a person and an event, %s, is WAITING_REVIEW, and WAITING after the decision',
    async (_where, team, tasks) => {
      await using place = await make()
      const service = await start(place, team)
      await expectWaiting(service, 'WAITING_REVIEW')
      await approve(service)
      await expectWaiting(service, 'WAITING', { tasks })
      await service.externalEvents.receive({ name: 'paid', id: 'e-1' })
      expect(await statusAtEnd(service)).toBe('COMPLETED')
      await service.close(close)
    },
  )

  it.each([
    ['while it is owned', HOUR_MS, 0],
    ['when it is parked', 60, 1],
  ])(
    '[RUNS-P4] A run that waits for a person stays WAITING_REVIEW after a sleep of another task, %s',
    async (_where, parkAfterMs, parked) => {
      await using place = await make()
      const service = await start(place, teamOf(approval, nap(100)), { parkAfterMs })
      await expectWaiting(service, 'WAITING_REVIEW', { parked, tasks: 1 })
      await approve(service)
      expect(await statusAtEnd(service)).toBe('COMPLETED')
      await service.close(close)
    },
  )

  it('[RUNS-P4] A parked WAITING run is cancelled, and its fork is WAITING until its own event', async () => {
    await using place = await make()
    const service = await start(place, teamOf(payment()))
    await expectWaiting(service, 'WAITING')
    const { length } = await service.readEvents({ runId: 'run-1', from: 0, limit: 100 })
    await service.forks.create('run-1', { at: length - 1, runId: 'fork' })
    await expectWaiting(service, 'WAITING', { runId: 'fork', parked: 2 })
    expect(await cancel(service, 'run-1')).toBe('CANCELLED')
    await service.externalEvents.receive({ name: 'paid', id: 'e-1' })
    expect(await statusAtEnd(service, 'fork')).toBe('COMPLETED')
    await service.close(close)
  })
})
