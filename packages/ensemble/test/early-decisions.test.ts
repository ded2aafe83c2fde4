/** Decisions that come before their review is open again, late, or twice. */
import { describe, expect, it } from 'vitest'

import { ensemble, task, type Ensemble } from '../src/index.ts'
import { endOf, isSettled, joined, startKept, type KeptProcess, type KeptRun } from './kept-run.ts'
import { fakeClock, scriptedModel } from './testing.ts'
import { eventsOf, nextTurn } from './watch-run.ts'

function team(timeoutMs = Infinity): Ensemble {
  const review = { timeoutMs }
  const model = scriptedModel(() => 'done')
  return ensemble({ name: 'team', tasks: [task({ name: 'a', description: 'Do', model, review })] })
}

/** A run that was let go while its review was open. */
async function atGate(of: Ensemble): Promise<KeptRun & { readonly reviewId: string }> {
  const run = startKept(of)
  await nextTurn()
  run.letGo()
  const [request] = eventsOf(run.events, 'review_requested')
  return { ...joined(run), reviewId: request?.reviewId ?? '' }
}

const yes = { action: 'CONTINUE' } as const

async function decided(of: Ensemble, id: string): Promise<[KeptRun, string]> {
  const from = await atGate(of)
  const run = startKept(of, { from })
  await run.handle.decide(from.reviewId, { ...yes, id })
  run.letGo()
  return [joined(from, run), from.reviewId]
}

describe('[ENS-G12] a decision that comes before its review is open again', () => {
  it('waits for it, and decides it; the run is not told to wait meanwhile', async () => {
    const from = await atGate(team())
    const run = startKept(team(), { from })
    expect(run.handle.snapshot().reviews).toEqual([])
    await run.handle.decide(from.reviewId, { ...yes, decidedBy: 'Grace' })
    expect((await run.handle.result).status).toBe('COMPLETED')
    expect(eventsOf(run.events, 'review_decided')).toMatchObject([{ decidedBy: 'Grace' }])
    expect(run.waits.count).toBe(0)
  })

  it('is checked then; the review stays open, and the run waits', async () => {
    const from = await atGate(team())
    const run = startKept(team(), { from })
    await expect(
      run.handle.decide(from.reviewId, { action: 'EDIT', input: 1 }),
    ).rejects.toMatchObject({ code: 'BAD_REQUEST' })
    await nextTurn()
    expect(run.waits.count).toBe(1)
    await run.handle.decide(from.reviewId, yes)
    expect((await run.handle.result).status).toBe('COMPLETED')
  })

  it('comes too late when another came first', async () => {
    const from = await atGate(team())
    const run = startKept(team(), { from })
    const first = run.handle.decide(from.reviewId, yes)
    const second = run.handle.decide(from.reviewId, { action: 'REJECT' })
    await expect(second).rejects.toMatchObject({ code: 'REVIEW_RESOLVED' })
    await first
    expect((await run.handle.result).status).toBe('COMPLETED')
  })

  it('comes too late when the time of the review was over before', async () => {
    const from = await atGate(team(1_000))
    const clock = fakeClock(Date.UTC(2026, 0, 1) + 1_000)
    const run = startKept(team(1_000), { from, clock })
    await expect(run.handle.decide(from.reviewId, yes)).rejects.toMatchObject({
      code: 'REVIEW_RESOLVED',
    })
    await endOf(run)
    expect(eventsOf(run.events, 'review_timed_out')).toHaveLength(1)
  })

  it('is refused when the review never opens again, as the run is cancelled', async () => {
    const from = await atGate(team())
    const run = startKept(team(), { from })
    const early = run.handle.decide(from.reviewId, yes)
    run.handle.cancel()
    await expect(early).rejects.toMatchObject({ code: 'REVIEW_RESOLVED' })
    await run.handle.result
    await expect(run.handle.decide(from.reviewId, yes)).rejects.toMatchObject({
      code: 'REVIEW_RESOLVED',
    })
  })

  it('is refused when its run was ended early before it could open', async () => {
    const model = scriptedModel(() => 'done')
    const review = { timeoutMs: Infinity }
    const two = () =>
      ensemble({
        name: 'two',
        workflow: 'PARALLEL',
        tasks: ['a', 'b'].map((name) => task({ name, description: name, model, review })),
      })
    const from = await atGate(two())
    const [a, b] = eventsOf(from.events, 'review_requested')
    const run = startKept(two(), { from })
    const early = run.handle.decide(b?.reviewId ?? '', { ...yes, id: 'late' })
    const exit = run.handle.decide(a?.reviewId ?? '', { action: 'EXIT_EARLY' })
    await Promise.allSettled([early, exit])
    run.letGo()
    const last = startKept(two(), { from: joined(from, run) })
    await endOf(last)
    const closed = [...run.events, ...last.events].filter(({ type }) =>
      ['review_decided', 'review_withdrawn'].includes(type),
    )
    expect(closed).toHaveLength(2)
  })

  it('of a review that nobody knows is not waited for', async () => {
    const from = await atGate(team())
    const run = startKept(team(), { from })
    await expect(run.handle.decide('review-x', yes)).rejects.toMatchObject({
      code: 'REVIEW_NOT_FOUND',
    })
  })
})

describe('[ENS-G12] the decision that closed a review, sent again under its id', () => {
  async function opened(): Promise<[KeptProcess, string]> {
    const run = startKept(team())
    await nextTurn()
    return [run, run.handle.snapshot().reviews[0]?.reviewId ?? '']
  }

  it('is taken as the same, in the same process, once it is durable', async () => {
    const kept = Promise.withResolvers<void>()
    const run = startKept(team(), {
      journal: {
        emit: () => undefined,
        commit: ({ kind }) => (kind === 'gate_closed' ? kept.promise : Promise.resolve()),
      },
    })
    await nextTurn()
    const { reviewId = '' } = run.handle.snapshot().reviews[0] ?? {}
    const first = run.handle.decide(reviewId, { ...yes, id: 'd1' })
    const again = run.handle.decide(reviewId, { ...yes, id: 'd1' })
    expect(await isSettled(again)).toBe(false)
    const later = run.handle.decide(reviewId, { ...yes, id: 'd1' })
    expect(await isSettled(later)).toBe(false)
    kept.resolve()
    await Promise.all([first, again, later])
  })

  it.each([{ id: 'd2' }, {}])('is another under another id, or none: %j', async (identity) => {
    const [run, reviewId] = await opened()
    await run.handle.decide(reviewId, { ...yes, id: 'd1' })
    await expect(run.handle.decide(reviewId, { ...yes, ...identity })).rejects.toMatchObject({
      code: 'REVIEW_RESOLVED',
    })
  })

  it('is no other when none had an id', async () => {
    const [run, reviewId] = await opened()
    await run.handle.decide(reviewId, yes)
    await expect(run.handle.decide(reviewId, yes)).rejects.toMatchObject({
      code: 'REVIEW_RESOLVED',
    })
  })

  it('is taken as the same in another process; any other is refused', async () => {
    const [from, reviewId] = await decided(team(), 'd1')
    expect(from.steps).toContainEqual(
      expect.objectContaining({ kind: 'gate_closed', decision: { ...yes, id: 'd1' } }),
    )
    const run = startKept(team(), { from })
    await run.handle.decide(reviewId, { ...yes, id: 'd1' })
    await expect(run.handle.decide(reviewId, { ...yes, id: 'd2' })).rejects.toMatchObject({
      code: 'REVIEW_RESOLVED',
    })
    expect((await endOf(run)).status).toBe('COMPLETED')
    expect(eventsOf(run.events, 'review_decided')).toEqual([])
  })
})
