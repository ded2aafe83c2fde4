import { cancel, decide, inject, switchModel } from './commands.ts'
import { createRunService, type RunService, type RunServiceOptions } from '@tutti/runs'
import { describe, expect, it } from 'vitest'

import { until } from '../../../tooling/test-kit/wait.ts'
import { allEvents } from './waiting-ensemble.ts'
import { reviewedEnsemble, type ReviewedEnsemble } from './reviewed-ensemble.ts'
import { STORES, type TestStore } from './stores.ts'

import type { ReviewAnswer } from '@tutti/ensemble'

const SOON = { parkAfterMs: 20, pollMs: 50 } as const

async function open(
  place: TestStore,
  { ensemble, models }: ReviewedEnsemble,
  options: RunServiceOptions = {},
): Promise<RunService> {
  const service = createRunService(await place.open(), [ensemble], { ...SOON, models, ...options })
  await service.start()
  return service
}

/** Submits a run, waits until it is parked, and returns its open review. */
async function parked(service: RunService, runId = 'run-1'): Promise<string> {
  await service.submit({ runId })
  await until('the run is parked', async () => (await service.status.load()).parked > 0)
  const [review] = await service.reviews.open({ runId })
  return review?.reviewId ?? ''
}

const close = { drainTimeoutMs: 1_000 }

describe.each(Object.entries(STORES))('a run that waits for a person (%s)', (kind, make) => {
  it('[RUNS-X5] A run that waits for a person is parked without an owner, and its review has the question', async () => {
    await using place = await make()
    const service = await open(place, reviewedEnsemble())
    const reviewId = await parked(service)
    expect(service.status.running).toBe(0)
    expect(await service.status.load()).toEqual({ running: 0, queued: 0, waiting: 0, parked: 1 })
    expect((await service.get('run-1'))?.run.status).toBe('WAITING_REVIEW')
    const [review] = await service.reviews.open()
    expect(review).toMatchObject({
      reviewId,
      runId: 'run-1',
      status: 'OPEN',
      request: { taskName: 'send', timing: 'AFTER_EXECUTION', taskOutput: 'main: sent hello' },
    })
    expect(review?.expiresAt).toBeUndefined()
    await service.close(close)
  })

  it('[RUNS-X1] [RUNS-W5] A run that waits for a person continues after a decision when everything was restarted', async () => {
    await using place = await make()
    const before = reviewedEnsemble()
    const first = await open(place, before)
    const reviewId = await parked(first)
    await first.close(close)
    const after = reviewedEnsemble()
    const second = await open(place, after)
    expect((await second.get('run-1'))?.run.status).toBe('WAITING_REVIEW')
    await decide(second, reviewId, { action: 'CONTINUE', decidedBy: 'ann' })
    const events = await allEvents(second, 'run-1')
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index))
    expect(events.at(-1)).toMatchObject({ status: 'COMPLETED' })
    expect(before.sent).toEqual(['hello'])
    expect(after.sent).toEqual([])
    expect(after.model.requests).toHaveLength(1)
    const requested = events.filter(({ type }) => type === 'review_requested')
    expect(requested).toHaveLength(1)
    expect(events.find(({ type }) => type === 'review_decided')).toMatchObject({
      reviewId,
      decision: 'CONTINUE',
      decidedBy: 'ann',
    })
    expect(await second.reviews.open()).toEqual([])
    await second.close(close)
  })

  it('[RUNS-W6] A run that waits for a person is decided by a process that does not execute, and continues when another starts', async () => {
    await using place = await make()
    const first = await open(place, reviewedEnsemble())
    const reviewId = await parked(first)
    await first.close(close)
    const api = await open(place, reviewedEnsemble(), { executes: false })
    await decide(api, reviewId, { action: 'EDIT', text: 'better' })
    await expect(decide(api, reviewId, { action: 'CONTINUE' })).rejects.toMatchObject({
      code: 'REVIEW_RESOLVED',
    })
    expect(await api.status.load()).toEqual({ running: 0, queued: 1, waiting: 0, parked: 0 })
    await api.close(close)
    const worker = await open(place, reviewedEnsemble())
    expect((await allEvents(worker, 'run-1')).at(-1)).toMatchObject({
      status: 'COMPLETED',
      outputs: [
        { taskName: 'draft' },
        { taskName: 'send', output: 'better' },
        { taskName: 'file' },
      ],
    })
    await worker.close(close)
  })

  it('[RUNS-S4] [RUNS-Q2] A run that waits for a person is cancelled at once', async () => {
    await using place = await make()
    const service = await open(place, reviewedEnsemble(), { maxConcurrentRuns: 1 })
    await parked(service)
    expect(await cancel(service, 'run-1')).toBe('CANCELLED')
    const events = await allEvents(service, 'run-1')
    expect(events.at(-1)).toMatchObject({ status: 'CANCELLED' })
    expect(events.map(({ type }) => type)).toContain('review_withdrawn')
    expect(await service.reviews.open()).toEqual([])
    await service.close(close)
  })

  it.each<[string, ReviewAnswer, object]>([
    ['EXIT_EARLY', { action: 'EXIT_EARLY' }, { status: 'COMPLETED', outputs: { length: 2 } }],
    ['REJECT', { action: 'REJECT', feedback: 'Be kind' }, { status: 'COMPLETED' }],
  ])('%s has the same effect as on a run in memory', async (action, decision, result) => {
    await using place = await make()
    const { model, ...rest } = reviewedEnsemble()
    const service = await open(place, { model, ...rest })
    const reviewId = await parked(service)
    await decide(service, reviewId, decision)
    if (action === 'REJECT') {
      await until('the second attempt is reviewed', async () => {
        const [next] = await service.reviews.open()
        return next !== undefined && next.reviewId !== reviewId
      })
      expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('Be kind')
      const [next] = await service.reviews.open()
      await decide(service, next?.reviewId ?? '', { action: 'CONTINUE' })
    }
    expect((await allEvents(service, 'run-1')).at(-1)).toMatchObject(result)
    await service.close(close)
  })

  it('[RUNS-W6] A run that waits for a person refuses an invalid decision, and the review stays open', async () => {
    await using place = await make()
    const service = await open(place, reviewedEnsemble())
    const reviewId = await parked(service)
    // NOTE: an invalid decision, which the types exclude.
    const wrong = { action: 'EDIT', input: {} } as unknown as ReviewAnswer
    await expect(decide(service, reviewId, wrong)).rejects.toMatchObject({ code: 'BAD_REQUEST' })
    const unknown = {
      kind: 'decide',
      reviewId: 'review-none',
      decision: { action: 'CONTINUE' },
    } as const
    await expect(service.send('run-1', unknown)).rejects.toMatchObject({ code: 'REVIEW_NOT_FOUND' })
    expect(await service.reviews.open()).toHaveLength(1)
    await service.close(close)
  })

  it('A run that waits for a person retains its time limit while it is unowned, also across a restart', async () => {
    await using place = await make()
    const review = { timeoutMs: 1_500, onTimeout: 'CONTINUE' } as const
    const first = await open(place, reviewedEnsemble({ review }))
    await parked(first)
    await first.close(close)
    const second = await open(place, reviewedEnsemble({ review }))
    const events = await allEvents(second, 'run-1')
    expect(events.find(({ type }) => type === 'review_timed_out')).toMatchObject({
      action: 'CONTINUE',
    })
    expect(events.at(-1)).toMatchObject({ status: 'COMPLETED' })
    await second.close(close)
  })

  it('A run that waits for a person calls a tool that waits for approval once, after the approval', async () => {
    await using place = await make()
    const before = reviewedEnsemble({ review: false, approval: true })
    const first = await open(place, before)
    const reviewId = await parked(first)
    const [review] = await first.reviews.open()
    expect(review?.request).toMatchObject({ timing: 'DURING_EXECUTION', toolName: 'mail' })
    await first.close(close)
    const after = reviewedEnsemble({ review: false, approval: true })
    const second = await open(place, after)
    await expect(
      decide(second, reviewId, { action: 'EDIT', input: { text: 'bye', other: 2 } }),
    ).resolves.toBeUndefined()
    expect((await allEvents(second, 'run-1')).at(-1)).toMatchObject({ status: 'COMPLETED' })
    expect([before.sent, after.sent]).toEqual([[], ['bye']])
    await second.close(close)
  })

  it('[RUNS-W6] A run that waits for a person accepts a model switch and a directive as well', async () => {
    await using place = await make()
    const mine = reviewedEnsemble()
    const service = await open(place, mine)
    const reviewId = await parked(service)
    await expect(switchModel(service, 'run-1', 'none')).rejects.toMatchObject({
      code: 'INVALID_MODEL',
    })
    expect(await switchModel(service, 'run-1', 'other')).toEqual({
      model: 'other',
      previousModel: expect.any(String),
    })
    expect(await switchModel(service, 'run-1', 'other')).toEqual({
      model: 'other',
      previousModel: 'other',
    })
    await expect(inject(service, 'run-1', { content: '', to: 'nobody' })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
    })
    expect(await inject(service, 'run-1', 'Use blue paper')).toEqual({ id: expect.any(String) })
    expect((await service.get('run-1'))?.run.status).toBe('WAITING_REVIEW')
    await decide(service, reviewId, { action: 'CONTINUE' })
    const events = await allEvents(service, 'run-1')
    expect(events.at(-1)).toMatchObject({ status: 'COMPLETED' })
    expect(mine.other.requests).toHaveLength(1)
    expect(JSON.stringify(mine.other.requests[0]?.messages)).toContain('Use blue paper')
    await service.close(close)
  })
})
