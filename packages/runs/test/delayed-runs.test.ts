import { createRunService, sqliteRunStorage, type RunServiceOptions } from '@tutti/runs'
import { fakeClock, type FakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { temporaryDirectory, waitingEnsemble } from './waiting-ensemble.ts'

const INPUTS = { topic: 'Bach' }

async function setUp(path: string, options: RunServiceOptions = {}) {
  const clock = fakeClock()
  const band = waitingEnsemble()
  const storage = await sqliteRunStorage(path, { clock, ownThread: false })
  const service = createRunService(storage, [band.ensemble], { clock, ...options })
  await service.start()
  const statusOf = async (runId: string) => (await service.record(runId))?.status
  return { clock, band, storage, service, statusOf }
}

/** Lets the writes of runs happen, which wait for the clock. */
async function advanced<T>(clock: FakeClock, value: Promise<T>): Promise<T> {
  await clock.advance(100)
  return value
}

describe('a delayed run', () => {
  it('[RUNS-L18] A run with startAfterMs waits with its time, and starts then', async () => {
    using directory = temporaryDirectory()
    const { clock, band, service, statusOf } = await setUp(directory.path)
    band.play()
    const accepted = await service.submit({ inputs: INPUTS, startAfterMs: 60_000 })
    const { runId, createdAt } = accepted
    expect(accepted).toMatchObject({ status: 'ACCEPTED', startAt: createdAt + 60_000 })
    await clock.advance(59_000)
    expect(await service.record(runId)).toMatchObject({
      status: 'ACCEPTED',
      startAt: createdAt + 60_000,
    })
    expect(band.model.requests).toHaveLength(0)
    await clock.advance(3_000)
    await expect.poll(() => advanced(clock, statusOf(runId))).toBe('COMPLETED')
    await service.close({ drainTimeoutMs: 0 })
  })

  it('A run is delayed with startAt, and cancelled before it starts', async () => {
    using directory = temporaryDirectory()
    const { clock, band, service, statusOf } = await setUp(directory.path)
    const startAt = new Date(clock.now() + 3_600_000).toISOString()
    const { runId } = await service.submit({ inputs: INPUTS, startAt })
    const [queued] = await service.readEvents({ runId, from: 0, limit: 1 })
    expect(queued).toMatchObject({ type: 'run_queued', startAt })
    await service.send(runId, { kind: 'cancel' })
    expect(await statusOf(runId)).toBe('CANCELLED')
    await clock.advance(3_700_000)
    expect(band.model.requests).toHaveLength(0)
    await service.close({ drainTimeoutMs: 0 })
  })

  it('Two ways to delay a run, and a delay of more than 366 days, are refused', async () => {
    using directory = temporaryDirectory()
    const { clock, service } = await setUp(directory.path)
    const startAt = new Date(clock.now() + 367 * 86_400_000).toISOString()
    await expect(
      service.submit({ inputs: INPUTS, startAt, startAfterMs: 1 }),
    ).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      details: { problems: [{ path: '/startAt' }, { path: '/startAfterMs' }] },
    })
    await service.close({ drainTimeoutMs: 0 })
  })
})

describe('a run with maxQueueMs', () => {
  it('[RUNS-X12] A run that finds no slot in time fails with QUEUE_TIMEOUT, without a model call', async () => {
    using directory = temporaryDirectory()
    const { clock, band, service, statusOf } = await setUp(directory.path, { maxConcurrentRuns: 1 })
    const first = await service.submit({ inputs: INPUTS })
    await band.waiting(1)
    const calls = band.model.requests.length
    const { runId, createdAt } = await service.submit({ inputs: INPUTS, maxQueueMs: 5_000 })
    expect(await service.record(runId)).toMatchObject({ startBy: createdAt + 5_000 })
    await clock.advance(4_999)
    expect(await statusOf(runId)).toBe('ACCEPTED')
    await clock.advance(1_001)
    await expect.poll(() => advanced(clock, statusOf(runId))).toBe('FAILED')
    const events = await service.readEvents({ runId, from: 0, limit: 100 })
    expect(events.at(-1)).toMatchObject({ type: 'run_result', code: 'QUEUE_TIMEOUT' })
    expect((await service.record(runId))?.startedAt).toBeUndefined()
    expect(band.model.requests).toHaveLength(calls)
    expect(await statusOf(first.runId)).toBe('RUNNING')
    band.play()
    await expect.poll(() => advanced(clock, statusOf(first.runId))).toBe('COMPLETED')
    await service.close({ drainTimeoutMs: 0 })
  })

  it('[RUNS-L18] A run that has begun in time is not affected', async () => {
    using directory = temporaryDirectory()
    const { clock, band, service, statusOf } = await setUp(directory.path)
    const { runId } = await service.submit({ inputs: INPUTS, maxQueueMs: 1_000 })
    await band.waiting(1)
    await clock.advance(11_000)
    expect(await statusOf(runId)).toBe('RUNNING')
    band.play()
    await expect.poll(() => advanced(clock, statusOf(runId))).toBe('COMPLETED')
    await service.close({ drainTimeoutMs: 0 })
  })
})
