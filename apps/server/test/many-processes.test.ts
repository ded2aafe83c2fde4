/** Tests several processes on one database: `api` accepts and shows runs, `worker` executes them. */
import { WebSocket } from 'ws'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { testDatabase, type TestDatabase } from '../../../tooling/postgres/test-database.ts'
import {
  recordSteps,
  readEvents,
  LEASE_MS,
  numbers,
  POLLING,
  submit,
  untilReviewed,
  type StepRecorder,
} from './recorded-steps.ts'

import type { LoggedRunEvent } from '@tutti/protocol'
import type { ServerProcess } from './server-process.ts'

const LIMIT_MS = 60_000

let database: TestDatabase

beforeAll(async () => {
  database = await testDatabase()
}, LIMIT_MS)

afterAll(async () => {
  await database[Symbol.asyncDispose]()
})

describe('one api process and two workers', { timeout: LIMIT_MS }, () => {
  it('One api process and two workers execute and stream a run that was submitted to another process', async () => {
    await using team = await started()
    const { api, workers } = team
    const socketEvents = await listening(api)
    const runId = await submit(api)
    const events = await readEvents(api, runId)
    expect(events.at(-1)).toMatchObject({ type: 'run_result', status: 'COMPLETED' })
    await expect.poll(() => socketEvents().length, POLLING).toBe(events.length)
    expect(socketEvents()).toEqual(events)
    const others = await Promise.all([1, 2, 3, 4].map(() => submit(api)))
    await Promise.all(others.map((other) => readEvents(api, other)))
    for (const id of [runId, ...others]) {
      const pids = new Set(team.steps(id).map(({ pid }) => pid))
      expect(pids.size).toBe(1)
      expect(workers.map(({ pid }) => pid)).toContain([...pids][0])
    }
    expect(await api.client().runs.get(runId)).toMatchObject({
      status: 'COMPLETED',
      tasks: [{ name: 'plan' }, { name: 'work', toolCallCount: 4 }],
    })
  })

  it('A worker serves only health and status', async () => {
    await using team = await started()
    const [worker] = team.workers
    const ask = async (path: string) => (await fetch(`${worker?.url}${path}`)).status
    for (const path of ['/api/health/live', '/api/health/ready', '/api/status']) {
      expect(await ask(path)).toBe(200)
    }
    expect(await ask('/api/runs')).toBe(404)
    expect(worker?.output).toBe(`Tutti ready on ${worker?.url}\n`)
  })

  it('One api process and two workers deliver cancels, model switches, directives and decisions to the worker that owns the run', async () => {
    await using team = await started()
    const { runs, reviews } = team.api.client()
    team.hold(2)
    const [steered, cancelled] = [await submit(team.api), await submit(team.api)]
    await Promise.all([steered, cancelled].map((runId) => team.untilBegun(runId, 2)))
    expect(await runs.switchModel(steered, 'second')).toMatchObject({ status: 'APPLIED' })
    const { directiveId } = await runs.inject(steered, 'Hurry', { target: 'work' })
    expect(await runs.cancel(cancelled)).toMatchObject({ status: 'CANCELLING' })
    expect((await readEvents(team.api, cancelled)).at(-1)).toMatchObject({ status: 'CANCELLED' })
    team.release(2)
    const events = await readEvents(team.api, steered)
    const asked = events.flatMap((event) =>
      event.type === 'llm_iteration_started' && event.taskName === 'work' ? [event.model] : [],
    )
    const [before, after] = ['first', 'second']
    expect(asked).toEqual([before, before, after, after, after])
    expect(events.find(({ type }) => type === 'directive_delivered')).toMatchObject({ directiveId })
    await expect(runs.switchModel(steered, 'second')).rejects.toMatchObject({
      code: 'RUN_COMPLETED',
    })
    const judged = await submit(team.api, 'panel')
    const { reviewId } = await openReview(team.api, judged)
    await reviews.decide(reviewId, { decision: 'EDIT', revisedOutput: 'Tea it is' })
    expect((await readEvents(team.api, judged)).at(-1)).toMatchObject({
      status: 'COMPLETED',
      outputs: [{ output: 'Tea it is' }],
    })
  })

  it('One api process and two workers continue a run in the other worker after kill -9, without repeating completed calls', async () => {
    await using team = await started()
    team.hold(2)
    const runId = await submit(team.api)
    const pid = await team.untilBegun(runId, 2)
    await team.worker(pid).end('SIGKILL')
    const killedAt = Date.now()
    team.release(2)
    const events = await readEvents(team.api, runId)
    const resumed = events.find((event) => event.type === 'run_resumed')
    expect(resumed).toMatchObject({ epoch: 2, completedTasks: ['plan'] })
    expect(Date.parse(resumed?.resumedAt ?? '') - killedAt).toBeLessThan(LEASE_MS + 15_000)
    expect(events.at(-1)).toMatchObject({ status: 'COMPLETED' })
    const steps = team.steps(runId)
    // The outcome of the call in flight is unknown, so it is repeated.
    expect(numbers(steps, 'begin')).toEqual([1, 2, 2, 3, 4])
    expect(numbers(steps, 'end')).toEqual([1, 2, 3, 4])
    expect(steps.filter((step) => step.pid === pid).map(({ n }) => n)).toEqual([1, 1, 2])
  })

  it('One api process and two workers hand a run over on SIGTERM after the call in flight has ended', async () => {
    await using team = await started()
    team.hold(2)
    const runId = await submit(team.api)
    const pid = await team.untilBegun(runId, 2)
    const ended = team.worker(pid).end('SIGTERM')
    await expect.poll(() => readiness(team.worker(pid)), POLLING).not.toBe(200)
    team.release(2)
    expect(await ended).toBe(0)
    const events = await readEvents(team.api, runId)
    expect(events.at(-1)).toMatchObject({ status: 'COMPLETED' })
    const steps = team.steps(runId)
    expect(numbers(steps, 'begin')).toEqual([1, 2, 3, 4])
    expect(numbers(steps, 'end')).toEqual([1, 2, 3, 4])
    expect(steps.findLast((step) => step.pid === pid)).toMatchObject({ what: 'end', n: 2 })
  })

  it('One api process and two workers reject writes of a worker that was suspended beyond its lease', async () => {
    await using team = await started()
    team.hold(2)
    const runId = await submit(team.api)
    const pid = await team.untilBegun(runId, 2)
    const paused = team.worker(pid)
    paused.signal('SIGSTOP')
    await team.untilBegun(runId, 2, [pid])
    paused.signal('SIGCONT')
    await expect.poll(() => paused.errors, POLLING).toMatch(/Lost the lease of a run|FENCED/)
    team.release(2)
    const events = await readEvents(team.api, runId)
    expect(events.at(-1)).toMatchObject({ status: 'COMPLETED' })
    // A drained worker executes no more calls.
    expect(await paused.end('SIGTERM')).toBe(0)
    const steps = team.steps(runId)
    expect(steps.filter((step) => step.pid === pid && step.n > 2)).toEqual([])
    const others = steps.filter((step) => step.pid !== pid)
    expect(numbers(others, 'end')).toEqual([2, 3, 4])
    expect(await readEvents(team.api, runId)).toEqual(events)
  })

  it('One api process and two workers retain an open review and its time limit over a restart of all processes', async () => {
    const earlier = await started()
    const runIds = [await submit(earlier.api, 'panel'), await submit(earlier.api, 'hasty-panel')]
    const [lasting, hasty] = await Promise.all(
      runIds.map((runId) => untilReviewed(earlier.api, runId)),
    )
    await earlier[Symbol.asyncDispose]()
    await using team = await started()
    const { reviews, runs } = team.api.client()
    expect((await reviews.list({ runId: lasting?.runId ?? '' })).reviews).toEqual([lasting])
    const events = await readEvents(team.api, hasty?.runId ?? '')
    expect(events.find(({ type }) => type === 'review_timed_out')).toMatchObject({
      action: 'CONTINUE',
    })
    // The time limit continued while no process was running.
    const end = Date.parse((await runs.get(hasty?.runId ?? '')).completedAt ?? '')
    expect(end).toBeGreaterThanOrEqual(Date.parse(hasty?.expiresAt ?? ''))
    expect(events.filter(({ type }) => type === 'review_requested')).toHaveLength(1)
    await reviews.decide(lasting?.reviewId ?? '', { decision: 'CONTINUE' })
    expect((await readEvents(team.api, lasting?.runId ?? '')).at(-1)).toMatchObject({
      status: 'COMPLETED',
    })
    await expect(
      reviews.decide(lasting?.reviewId ?? '', { decision: 'CONTINUE' }),
    ).rejects.toMatchObject({ code: 'REVIEW_RESOLVED' })
  })
})

interface Team extends StepRecorder, AsyncDisposable {
  readonly api: ServerProcess
  readonly workers: readonly ServerProcess[]
  worker(pid: number): ServerProcess
}

/** One api process and two workers, which are killed at the end. */
async function started(): Promise<Team> {
  const files = recordSteps()
  const start = (role: string) => files.start({ DATABASE_URL: database.url, TUTTI_ROLE: role })
  const [api, ...workers] = await Promise.all([start('api'), start('worker'), start('worker')])
  return {
    ...files,
    api,
    workers,
    worker(pid) {
      const found = workers.find((worker) => worker.pid === pid)
      if (found === undefined) throw new Error(`No worker is process ${pid}`)
      return found
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([api, ...workers].map((server) => server[Symbol.asyncDispose]()))
      files[Symbol.dispose]()
    },
  }
}

/** Returns the status of the readiness probe, or 0 when the process no longer responds. */
async function readiness({ url }: ServerProcess): Promise<number> {
  return fetch(`${url}/api/health/ready`).then(
    ({ status }) => status,
    () => 0,
  )
}

/** Waits for the open review of a run. */
async function openReview(server: ServerProcess, runId: string) {
  const { runs, reviews } = server.client()
  for await (const _ of runs.events(runId, { events: ['review_requested'] })) break
  const [review] = (await reviews.list({ runId })).reviews
  if (review === undefined) throw new Error('The run has opened a review, and none is listed')
  return review
}

/** Connects to a process, and collects its events. */
async function listening(server: ServerProcess): Promise<() => readonly LoggedRunEvent[]> {
  const socket = new WebSocket(`${server.url.replace(/^http/, 'ws')}/ws`)
  const greeted = Promise.withResolvers<void>()
  const events: LoggedRunEvent[] = []
  socket.on('error', () => undefined)
  socket.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString())
    if (message.type === 'hello') greeted.resolve()
    if ('seq' in message) events.push(message)
  })
  await greeted.promise
  return () => events
}
