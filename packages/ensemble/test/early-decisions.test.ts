/** Tests of decisions that arrive before their review is open again, late, or twice. */
import { describe, expect, it } from 'vitest'

import { ensemble, task, type Ensemble } from '../src/index.ts'
import {
  runToEnd,
  isSettled,
  joinRuns,
  startRecorded,
  type RunProcess,
  type RecordedRun,
} from './recorded-run.ts'
import { fakeClock, scriptedModel } from './testing.ts'
import { eventsOf, nextTurn } from './watch-run.ts'

function team(timeoutMs = Infinity): Ensemble {
  const review = { timeoutMs }
  const model = scriptedModel(() => 'done')
  return ensemble({ name: 'team', tasks: [task({ name: 'a', description: 'Do', model, review })] })
}

/** Returns a run that was released while its review was open. */
async function releaseAtReview(of: Ensemble): Promise<RecordedRun & { readonly reviewId: string }> {
  const run = startRecorded(of)
  await nextTurn()
  run.release()
  const [request] = eventsOf(run.events, 'review_requested')
  return { ...joinRuns(run), reviewId: request?.reviewId ?? '' }
}

const yes = { action: 'CONTINUE' } as const

async function decided(of: Ensemble, id: string): Promise<[RecordedRun, string]> {
  const from = await releaseAtReview(of)
  const run = startRecorded(of, { from })
  await run.handle.decide(from.reviewId, { ...yes, id })
  run.release()
  return [joinRuns(from, run), from.reviewId]
}

describe('[ENS-G12] a decision that arrives before its review is open again', () => {
  it('A decision that arrives before its review is open again waits for the review and decides it, and the run is not reported as waiting', async () => {
    const from = await releaseAtReview(team())
    const run = startRecorded(team(), { from })
    expect(run.handle.snapshot().reviews).toEqual([])
    await run.handle.decide(from.reviewId, { ...yes, decidedBy: 'Grace' })
    expect((await run.handle.result).status).toBe('COMPLETED')
    expect(eventsOf(run.events, 'review_decided')).toMatchObject([{ decidedBy: 'Grace' }])
    expect(run.waits.count).toBe(0)
  })

  it('A decision that arrives before its review opens again is checked when it opens; if the decision is invalid, the review stays open and the run waits', async () => {
    const from = await releaseAtReview(team())
    const run = startRecorded(team(), { from })
    await expect(
      run.handle.decide(from.reviewId, { action: 'EDIT', input: 1 }),
    ).rejects.toMatchObject({ code: 'BAD_REQUEST' })
    await nextTurn()
    expect(run.waits.count).toBe(1)
    await run.handle.decide(from.reviewId, yes)
    expect((await run.handle.result).status).toBe('COMPLETED')
  })

  it('A decision that arrives before its review is open again is rejected if another decision came first', async () => {
    const from = await releaseAtReview(team())
    const run = startRecorded(team(), { from })
    const first = run.handle.decide(from.reviewId, yes)
    const second = run.handle.decide(from.reviewId, { action: 'REJECT' })
    await expect(second).rejects.toMatchObject({ code: 'REVIEW_RESOLVED' })
    await first
    expect((await run.handle.result).status).toBe('COMPLETED')
  })

  it('A decision that arrives before its review is open again is rejected if the review had already timed out', async () => {
    const from = await releaseAtReview(team(1_000))
    const clock = fakeClock(Date.UTC(2026, 0, 1) + 1_000)
    const run = startRecorded(team(1_000), { from, clock })
    await expect(run.handle.decide(from.reviewId, yes)).rejects.toMatchObject({
      code: 'REVIEW_RESOLVED',
    })
    await runToEnd(run)
    expect(eventsOf(run.events, 'review_timed_out')).toHaveLength(1)
  })

  it('A decision that arrives before its review is open again is rejected if the review never opens again because the run is cancelled', async () => {
    const from = await releaseAtReview(team())
    const run = startRecorded(team(), { from })
    const early = run.handle.decide(from.reviewId, yes)
    run.handle.cancel()
    await expect(early).rejects.toMatchObject({ code: 'REVIEW_RESOLVED' })
    await run.handle.result
    await expect(run.handle.decide(from.reviewId, yes)).rejects.toMatchObject({
      code: 'REVIEW_RESOLVED',
    })
  })

  it('A decision that arrives before its review is open again is rejected if the run was ended early before the review could open', async () => {
    const model = scriptedModel(() => 'done')
    const review = { timeoutMs: Infinity }
    const two = () =>
      ensemble({
        name: 'two',
        workflow: 'PARALLEL',
        tasks: ['a', 'b'].map((name) => task({ name, description: name, model, review })),
      })
    const from = await releaseAtReview(two())
    const [a, b] = eventsOf(from.events, 'review_requested')
    const run = startRecorded(two(), { from })
    const early = run.handle.decide(b?.reviewId ?? '', { ...yes, id: 'late' })
    const exit = run.handle.decide(a?.reviewId ?? '', { action: 'EXIT_EARLY' })
    await Promise.allSettled([early, exit])
    run.release()
    const last = startRecorded(two(), { from: joinRuns(from, run) })
    await runToEnd(last)
    const closed = [...run.events, ...last.events].filter(({ type }) =>
      ['review_decided', 'review_withdrawn'].includes(type),
    )
    expect(closed).toHaveLength(2)
  })

  it('A decision that arrives before its review is open again is rejected at once if the review is unknown', async () => {
    const from = await releaseAtReview(team())
    const run = startRecorded(team(), { from })
    await expect(run.handle.decide('review-x', yes)).rejects.toMatchObject({
      code: 'REVIEW_NOT_FOUND',
    })
  })
})

describe('[ENS-G12] the decision that closed a review, sent again', () => {
  async function opened(): Promise<[RunProcess, string]> {
    const run = startRecorded(team())
    await nextTurn()
    return [run, run.handle.snapshot().reviews[0]?.reviewId ?? '']
  }

  it('A repeated decision is accepted under its id in the same process once it is durable', async () => {
    const stored = Promise.withResolvers<void>()
    const run = startRecorded(team(), {
      journal: {
        emit: () => undefined,
        commit: ({ kind }) => (kind === 'gate_closed' ? stored.promise : Promise.resolve()),
      },
    })
    await nextTurn()
    const { reviewId = '' } = run.handle.snapshot().reviews[0] ?? {}
    const first = run.handle.decide(reviewId, { ...yes, id: 'd1' })
    const again = run.handle.decide(reviewId, { ...yes, id: 'd1' })
    expect(await isSettled(again)).toBe(false)
    const later = run.handle.decide(reviewId, { ...yes, id: 'd1' })
    expect(await isSettled(later)).toBe(false)
    stored.resolve()
    await Promise.all([first, again, later])
  })

  it.each([{ id: 'd2' }, {}])(
    'A repeated decision is rejected with another id or none: %j',
    async (identity) => {
      const [run, reviewId] = await opened()
      await run.handle.decide(reviewId, { ...yes, id: 'd1' })
      await expect(run.handle.decide(reviewId, { ...yes, ...identity })).rejects.toMatchObject({
        code: 'REVIEW_RESOLVED',
      })
    },
  )

  it('A repeated decision is rejected if it had no id', async () => {
    const [run, reviewId] = await opened()
    await run.handle.decide(reviewId, yes)
    await expect(run.handle.decide(reviewId, yes)).rejects.toMatchObject({
      code: 'REVIEW_RESOLVED',
    })
  })

  it('A repeated decision is accepted under its id in another process, which rejects any other decision', async () => {
    const [from, reviewId] = await decided(team(), 'd1')
    expect(from.steps).toContainEqual(
      expect.objectContaining({ kind: 'gate_closed', decision: { ...yes, id: 'd1' } }),
    )
    const run = startRecorded(team(), { from })
    await run.handle.decide(reviewId, { ...yes, id: 'd1' })
    await expect(run.handle.decide(reviewId, { ...yes, id: 'd2' })).rejects.toMatchObject({
      code: 'REVIEW_RESOLVED',
    })
    expect((await runToEnd(run)).status).toBe('COMPLETED')
    expect(eventsOf(run.events, 'review_decided')).toEqual([])
  })
})
