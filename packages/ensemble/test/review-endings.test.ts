/**
 * Tests of reviews without a decision: the run is cancelled or ended, the reviewer fails, the budget is
 * exhausted.
 */
import { defineTextTool } from '@tutti/core'
import { beforeEach, describe, expect, it } from 'vitest'

import { ensemble, task, type Ensemble, type RunReviewer } from '../src/index.ts'
import { reviewedTeam, WORKFLOWS } from './reviewed-team.ts'
import { listClosings, readEnds, findOpenReview } from './read-run.ts'
import { fakeClock, scriptedModel, scriptedReviewer, type FakeClock } from './testing.ts'
import { timedModel } from './timed-model.ts'
import { eventsOf, listFailures, watchRun, type WatchedRun } from './watch-run.ts'

let clock: FakeClock

beforeEach(() => {
  clock = fakeClock()
})

function start(team: Ensemble): WatchedRun {
  return watchRun(team, { clock, decidable: true })
}

const pay = defineTextTool({
  name: 'pay',
  description: 'Pays',
  requireApproval: true,
  execute: (sum) => `Paid ${sum}`,
})

const during = (): object => ({
  tools: [pay],
  model: scriptedModel([{ toolCalls: [{ name: 'pay', arguments: { input: '5' } }] }, 'done']),
})

describe.each(WORKFLOWS)('[ENS-C11] a cancel while a review waits, in %s', (workflow) => {
  it.each([
    ['before', { beforeReview: true }, 'skipped'],
    ['during', during(), 'CANCELLED'],
    ['after', { review: true }, 'CANCELLED'],
  ] as const)(
    'A cancel while a review waits closes, in mode abort, the review %s the task, which does not continue',
    async (_, work, end) => {
      const run = start(reviewedTeam(workflow, { ...work, ...(_ === 'during' ? during() : {}) }))
      await clock.advance(60_000)
      const { reviewId } = findOpenReview(run)
      expect(run.handle.cancel()).toBe(true)
      const result = await run.ended
      expect(result).toMatchObject({
        status: 'CANCELLED',
        output: 'first done',
        durationMs: 60_000,
      })
      expect(readEnds(run)).toMatchObject({ first: 'completed', work: end, last: 'skipped' })
      expect(listClosings(run)).toMatchObject([{ type: 'review_withdrawn', reviewId }])
      await expect(run.handle.decide(reviewId, { action: 'CONTINUE' })).rejects.toMatchObject({
        code: 'REVIEW_RESOLVED',
      })
      expect(clock.pending).toBe(0)
    },
  )

  it('[ENS-S1] A cancel while a review waits closes, in mode boundary, the review before a task, and no other task starts', async () => {
    const run = start(reviewedTeam(workflow, { beforeReview: true }))
    await clock.advance(10)
    run.handle.cancel({ mode: 'boundary' })
    await clock.advance(0)
    const managed = workflow === 'HIERARCHICAL'
    expect((await run.ended).status).toBe(managed ? 'COMPLETED' : 'CANCELLED')
    expect(readEnds(run)).toMatchObject({ first: 'completed', work: 'skipped', last: 'skipped' })
    expect(listClosings(run)).toMatchObject([
      { type: 'review_withdrawn', reason: 'The run was cancelled' },
    ])
  })

  it.each([
    ['during', during],
    ['after', () => ({ review: true })],
  ] as const)(
    '[ENS-S1] A cancel while a review waits leaves, in mode boundary, the review %s a task open, because the task runs',
    async (_, work) => {
      const run = start(reviewedTeam(workflow, work()))
      await clock.advance(10)
      run.handle.cancel({ mode: 'boundary' })
      await clock.advance(60_000)
      expect(run.handle.snapshot().status).toBe('CANCELLING')
      await run.handle.decide(findOpenReview(run).reviewId, { action: 'CONTINUE' })
      await run.ended
      expect(readEnds(run)).toMatchObject({ work: 'completed', last: 'skipped' })
    },
  )
})

describe('[ENS-G7] an early exit', () => {
  function pair(other: object): Ensemble {
    const tasks = [
      task({ name: 'asks', description: 'Ask', review: true, model: scriptedModel(['asked']) }),
      task({ name: 'other', description: 'Other', model: scriptedModel(['other']), ...other }),
      task({ name: 'last', description: 'L', context: ['other'], model: scriptedModel([]) }),
    ]
    return ensemble({ name: 'team', tasks })
  }

  it.each([
    ['before', { beforeReview: true }, 'skipped'],
    ['after', { review: true }, 'completed'],
    ['during', undefined, 'EXIT_EARLY'],
  ] as const)('An early exit closes the other open reviews: %s', async (_, other, end) => {
    const run = start(pair(other ?? during()))
    await clock.advance(10)
    const { reviewId } = findOpenReview(run, 'asks')
    await run.handle.decide(reviewId, { action: 'EXIT_EARLY' })
    expect(await run.ended).toMatchObject({ status: 'COMPLETED', durationMs: 10 })
    expect(readEnds(run)).toEqual({ asks: 'completed', other: end, last: 'skipped' })
    expect(listClosings(run)).toMatchObject([
      { type: 'review_decided', reviewId },
      { type: 'review_withdrawn', reason: 'The run ended early' },
    ])
  })

  it('An early exit opens no other review, and lets a running task finish', async () => {
    const run = start(pair({ review: true, model: timedModel(clock, 500, 'late') }))
    await clock.advance(10)
    await run.handle.decide(findOpenReview(run).reviewId, { action: 'EXIT_EARLY' })
    await clock.advance(490)
    expect(await run.ended).toMatchObject({ status: 'COMPLETED', output: 'late', durationMs: 500 })
    expect(eventsOf(run.events, 'review_requested')).toHaveLength(1)
  })
})

describe('a reviewer', () => {
  it.each([
    ['before', { beforeReview: true }],
    ['after', { review: true }],
  ] as const)(
    '[ENS-G1] A reviewer that throws, %s the task, fails it, because no answer never counts as approval',
    async (_, work) => {
      const reviewer = scriptedReviewer([new Error('The line is dead')])
      const model = scriptedModel(['done'])
      const run = watchRun(reviewedTeam('SEQUENTIAL', { ...work, model }), { clock, reviewer })
      const message = 'The reviewer of task "work" failed: The line is dead'
      expect(await run.ended).toMatchObject({
        status: 'FAILED',
        error: { code: 'TASK_FAILED', message },
      })
      expect(listClosings(run)).toMatchObject([{ type: 'review_withdrawn', reason: message }])
      expect(model.requests).toHaveLength('review' in work ? 1 : 0)
    },
  )

  it('[ENS-G8] A reviewer that throws before a task is not asked again by another attempt', async () => {
    const reviewer = scriptedReviewer([new Error('The line is dead'), 'CONTINUE'])
    const model = scriptedModel(() => 'done')
    const work = { beforeReview: true, retries: 2, model }
    const run = watchRun(reviewedTeam('SEQUENTIAL', work), { clock, reviewer })
    await clock.advance(600_000)
    expect((await run.ended).status).toBe('FAILED')
    expect(model.requests).toEqual([])
    expect(listFailures(run.events)).toMatchObject([{ willRetry: false }])
  })

  it('[ENS-G1] A reviewer that throws during a tool call prevents the call, and the model receives the reason', async () => {
    const reviewer = scriptedReviewer([new Error('The line is dead')])
    const run = watchRun(reviewedTeam('SEQUENTIAL', during()), { clock, reviewer })
    await run.ended
    const [called] = eventsOf(run.events, 'tool_called')
    expect(called).toMatchObject({ outcome: 'FAILURE' })
    expect(called?.toolResult).toContain('The line is dead')
  })

  it('[ENS-G4] A reviewer that decides invalidly fails the task', async () => {
    // NOTE: a reviewer in JavaScript can return this.
    const reviewer = { decide: () => Promise.resolve(undefined) } as unknown as RunReviewer
    const run = watchRun(reviewedTeam('SEQUENTIAL', { review: true }), { clock, reviewer })
    expect((await run.ended).status).toBe('FAILED')
    expect(listFailures(run.events)[0]?.reason).toContain(
      'action must be one of CONTINUE, EDIT, REJECT, EXIT_EARLY, got nothing',
    )
  })

  it('[ENS-G3] A reviewer that answers after another decision is ignored, and its signal is aborted', async () => {
    let answer = (): void => undefined
    let received: AbortSignal | undefined
    const reviewer: RunReviewer = {
      decide: (_, signal) =>
        new Promise((resolve) => {
          received = signal
          answer = () => {
            resolve({ action: 'REJECT' })
          }
        }),
    }
    const team = reviewedTeam('SEQUENTIAL', { review: true })
    const run = watchRun(team, { clock, reviewer, decidable: true })
    await clock.advance(10)
    await run.handle.decide(findOpenReview(run).reviewId, { action: 'EDIT', text: 'mine' })
    expect(received?.aborted).toBe(true)
    answer()
    expect((await run.ended).tasks[1]?.output).toBe('mine')
  })
})

it('[ENS-T7] A review stays open when the budget of its task is exhausted, so that the output can be accepted', async () => {
  const work = { review: true, budget: { maxModelCalls: 1, maxTokens: 1 } }
  const run = start(reviewedTeam('SEQUENTIAL', work))
  await clock.advance(10)
  await run.handle.decide(findOpenReview(run).reviewId, { action: 'REJECT', feedback: 'Again' })
  expect((await run.ended).status).toBe('FAILED')
  expect(readEnds(run)).toMatchObject({ work: 'BUDGET_EXCEEDED' })
  const accepted = start(reviewedTeam('SEQUENTIAL', work))
  await clock.advance(10)
  await accepted.handle.decide(findOpenReview(accepted).reviewId, { action: 'CONTINUE' })
  expect((await accepted.ended).status).toBe('COMPLETED')
})
