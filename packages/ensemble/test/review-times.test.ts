/** Tests of the time limits of reviews, their timeout actions, and the clocks that stop meanwhile. */
import { defineTextTool } from '@tutti/core'
import { sleep } from '@tutti/core/internal'
import { beforeEach, describe, expect, it } from 'vitest'

import { ensemble, task, type Ensemble } from '../src/index.ts'
import type { ReviewTimeoutAction } from '../src/internal.ts'
import { reviewedTeam, WORKFLOWS, type Work } from './reviewed-team.ts'
import { listClosings, readEnds, findOpenReview } from './read-run.ts'
import { fakeClock, scriptedModel, type FakeClock } from './testing.ts'
import { timedModel } from './timed-model.ts'
import { eventsOf, watchRun, type WatchedRun } from './watch-run.ts'

let clock: FakeClock

beforeEach(() => {
  clock = fakeClock()
})

function start(team: Ensemble): WatchedRun {
  return watchRun(team, { clock, decidable: true })
}

function approvedTool(onTimeout: ReviewTimeoutAction, timeoutMs: number): Work {
  const pay = defineTextTool({
    name: 'pay',
    description: 'Pays',
    async execute(sum, context) {
      await context.requestApproval('Pay', { timeoutMs, onTimeout })
      return `Paid ${sum}`
    },
  })
  const call = { toolCalls: [{ name: 'pay', arguments: { input: '5' } }] }
  return { tools: [pay], model: scriptedModel([call, 'done']) }
}

describe.each(WORKFLOWS)('[ENS-G2] a review that times out, in %s', (workflow) => {
  const isManaged = workflow === 'HIERARCHICAL'
  const after = isManaged ? 'completed' : 'skipped'

  it.each([
    ['CONTINUE', 'completed', 'completed', 'COMPLETED', undefined],
    ['EXIT_EARLY', 'skipped', 'skipped', 'COMPLETED', 'TIMEOUT'],
    ['FAIL', 'REVIEW_TIMEOUT', after, isManaged ? 'COMPLETED' : 'FAILED', undefined],
  ] as const)(
    'A review that times out before a task applies %s',
    async (onTimeout, work, last, status, exitReason) => {
      const run = start(
        reviewedTeam(workflow, { beforeReview: { timeoutMs: 2_000, onTimeout }, retries: 3 }),
      )
      await clock.advance(1_999)
      expect(findOpenReview(run)).toMatchObject({
        timeoutMs: 1,
        onTimeout,
        timing: 'BEFORE_EXECUTION',
      })
      await clock.advance(1)
      expect((await run.ended).status).toBe(status)
      expect(readEnds(run)).toMatchObject({ work, last })
      expect(listClosings(run)).toMatchObject([{ type: 'review_timed_out', action: onTimeout }])
      if (exitReason !== undefined) {
        expect(eventsOf(run.events, 'ensemble_completed')).toMatchObject([{ exitReason }])
      }
    },
  )

  it.each([
    ['CONTINUE', 'completed', 'completed', 'COMPLETED'],
    ['EXIT_EARLY', 'completed', 'skipped', 'COMPLETED'],
    ['FAIL', 'REVIEW_TIMEOUT', after, isManaged ? 'COMPLETED' : 'FAILED'],
  ] as const)(
    'A review that times out after a task applies %s',
    async (onTimeout, work, last, status) => {
      const run = start(
        reviewedTeam(workflow, { review: { timeoutMs: 2_000, onTimeout }, retries: 3 }),
      )
      await clock.advance(2_000)
      expect((await run.ended).status).toBe(status)
      expect(readEnds(run)).toMatchObject({ work, last })
      expect(listClosings(run)).toMatchObject([{ type: 'review_timed_out', action: onTimeout }])
      const reason = eventsOf(run.events, 'task_failed')[0]?.reason
      if (onTimeout === 'FAIL') expect(reason).toContain('No decision within 2000 ms')
    },
  )

  it.each([
    ['CONTINUE', 'completed', 'Paid 5'],
    ['EXIT_EARLY', 'EXIT_EARLY', 'Error: '],
    ['FAIL', 'completed', 'Error: '],
  ] as const)(
    'A review that times out during a tool call applies %s',
    async (onTimeout, work, result) => {
      const run = start(reviewedTeam(workflow, approvedTool(onTimeout, 2_000)))
      await clock.advance(1_999)
      expect(findOpenReview(run)).toMatchObject({
        timeoutMs: 1,
        onTimeout,
        timing: 'DURING_EXECUTION',
      })
      await clock.advance(1)
      await run.ended
      expect(readEnds(run)).toMatchObject({ work })
      expect(listClosings(run)).toMatchObject([{ type: 'review_timed_out', action: onTimeout }])
      const called = eventsOf(run.events, 'tool_called').find(({ toolName }) => toolName === 'pay')
      expect(called?.toolResult).toContain(result)
    },
  )
})

describe('[ENS-G2] several concurrent reviews', () => {
  const NAMES = ['a', 'b', 'c'] as const

  function three(settings: readonly object[]): Ensemble {
    const tasks = NAMES.map((name, index) =>
      task({
        name,
        description: name,
        review: { ...settings[index] },
        model: scriptedModel([`${name} done`]),
      }),
    )
    return ensemble({ name: 'team', tasks, workflow: 'PARALLEL' })
  }

  it.each([
    ['a', 'b', 'c'],
    ['c', 'b', 'a'],
    ['b', 'c', 'a'],
  ] as const)(
    'Several concurrent reviews are decided in any order: %s, %s, %s',
    async (...order) => {
      const run = start(three([{}, {}, {}]))
      await clock.advance(10)
      expect(run.handle.snapshot()).toMatchObject({
        status: 'WAITING_REVIEW',
        reviews: NAMES.map((taskName) => ({ taskName, taskOutput: `${taskName} done` })),
      })
      for (const name of order) {
        const text = `${name} edited`
        await run.handle.decide(findOpenReview(run, name).reviewId, { action: 'EDIT', text })
        await clock.advance(10)
      }
      expect((await run.ended).tasks.map(({ output }) => output)).toEqual([
        'a edited',
        'b edited',
        'c edited',
      ])
      expect(eventsOf(run.events, 'task_completed').map(({ taskName }) => taskName)).toEqual(order)
    },
  )

  it('Several concurrent reviews have their own time limits and actions', async () => {
    const run = start(
      three([
        { timeoutMs: 3_000, onTimeout: 'CONTINUE' },
        { timeoutMs: 1_000, onTimeout: 'FAIL' },
        { timeoutMs: Infinity },
      ]),
    )
    await clock.advance(1_000)
    expect(readEnds(run)).toEqual({ b: 'REVIEW_TIMEOUT' })
    await clock.advance(2_000)
    expect(readEnds(run)).toEqual({ a: 'completed', b: 'REVIEW_TIMEOUT' })
    await clock.advance(30 * 24 * 3_600_000)
    expect(findOpenReview(run)).toMatchObject({ taskName: 'c', timeoutMs: Infinity })
    await run.handle.decide(findOpenReview(run).reviewId, { action: 'CONTINUE' })
    expect((await run.ended).status).toBe('FAILED')
    expect(eventsOf(run.events, 'review_requested').map(({ timeoutMs }) => timeoutMs)).toEqual([
      3_000, 1_000, 0,
    ])
    expect(clock.pending).toBe(0)
  })
})

it('[ENS-G3] A decision after the timeout is rejected', async () => {
  const run = start(
    reviewedTeam('SEQUENTIAL', { review: { timeoutMs: 50, onTimeout: 'CONTINUE' } }),
  )
  await clock.advance(10)
  const { reviewId } = findOpenReview(run)
  await clock.advance(40)
  await run.ended
  await expect(run.handle.decide(reviewId, { action: 'REJECT' })).rejects.toMatchObject({
    code: 'REVIEW_RESOLVED',
  })
})

describe('[ENS-G5] an open review', () => {
  it.each(['beforeReview', 'review'] as const)(
    '[ENS-T6] An open review stops the time limit of the task (%s)',
    async (when) => {
      const work = { timeoutMs: 1_000, [when]: { timeoutMs: Infinity } }
      const run = start(reviewedTeam('SEQUENTIAL', { ...work, model: timedModel(clock, 900) }))
      await clock.advance(3_600_000)
      await run.handle.decide(findOpenReview(run).reviewId, { action: 'CONTINUE' })
      await clock.advance(10_000)
      expect((await run.ended).status).toBe('COMPLETED')
    },
  )

  it('[ENS-T6] An open review of a tool call stops the time limit of the task, and the rest of the time runs afterwards', async () => {
    const work = { ...approvedTool('FAIL', 3_600_000), timeoutMs: 1_000 }
    const slow = timedModel(clock, 600)
    const script = scriptedModel([
      { toolCalls: [{ name: 'pay', arguments: { input: '5' } }] },
      'done',
    ])
    const model = {
      ...slow,
      async *stream(...args: Parameters<typeof script.stream>) {
        await sleep(clock, 600, args[1].signal)
        args[1].signal.throwIfAborted()
        yield* script.stream(...args)
      },
    }
    const run = start(reviewedTeam('SEQUENTIAL', { ...work, model }))
    await clock.advance(600 + 60_000)
    await run.handle.decide(findOpenReview(run).reviewId, { action: 'CONTINUE' })
    await clock.advance(399)
    expect(readEnds(run)).toEqual({ first: 'completed' })
    await clock.advance(1)
    expect(readEnds(run)).toMatchObject({ work: 'TASK_TIMEOUT' })
    expect((await run.ended).durationMs).toBe(61_000)
  })

  it('[ENS-T6] An open review stops the time limit of its task until both reviews of the task are closed', async () => {
    const { tools = [] } = approvedTool('FAIL', Infinity)
    const call = { name: 'pay', arguments: { input: '5' } }
    const model = scriptedModel([{ toolCalls: [call, call] }, 'done'])
    const run = start(reviewedTeam('SEQUENTIAL', { tools, model, timeoutMs: 1_000 }))
    for (const left of [2, 1]) {
      await clock.advance(60_000)
      const { reviews } = run.handle.snapshot()
      expect(reviews).toHaveLength(left)
      await run.handle.decide(reviews[0]?.reviewId ?? '', { action: 'CONTINUE' })
    }
    expect((await run.ended).status).toBe('COMPLETED')
  })

  it('[ENS-B4] An open review stops the time of the run if nothing else runs', async () => {
    const team = reviewedTeam('SEQUENTIAL', { review: { timeoutMs: Infinity } })
    const run = watchRun(team, { clock, decidable: true, budget: { maxDurationMs: 1_000 } })
    await clock.advance(3_600_000)
    await run.handle.decide(findOpenReview(run).reviewId, { action: 'CONTINUE' })
    expect((await run.ended).status).toBe('COMPLETED')
    expect(clock.pending).toBe(0)
  })

  it('[ENS-B4] An open review stops the time of the run once the last other task has ended', async () => {
    const tasks = [
      task({ name: 'asks', description: 'A', review: { timeoutMs: Infinity } }),
      task({ name: 'quick', description: 'Q', model: timedModel(clock, 100) }),
    ]
    const budget = { maxDurationMs: 1_000 }
    const model = scriptedModel(['done'])
    const run = start(ensemble({ name: 'team', workflow: 'PARALLEL', tasks, budget, model }))
    await clock.advance(3_600_000)
    await run.handle.decide(findOpenReview(run).reviewId, { action: 'CONTINUE' })
    expect((await run.ended).status).toBe('COMPLETED')
  })

  it('[ENS-B4] An open review does not stop the time of the run while another task works, also one that starts meanwhile', async () => {
    const tasks = [
      task({ name: 'asks', description: 'Ask', review: true, model: scriptedModel(['done']) }),
      task({ name: 'quick', description: 'Quick', model: timedModel(clock, 100) }),
      task({ name: 'next', description: 'N', context: ['quick'], model: timedModel(clock, 2_000) }),
    ]
    const team = ensemble({ name: 'team', tasks, budget: { maxDurationMs: 1_000 } })
    const run = start(team)
    await clock.advance(999)
    expect(readEnds(run)).toEqual({ quick: 'completed' })
    await clock.advance(1)
    expect(await run.ended).toMatchObject({
      status: 'FAILED',
      durationMs: 1_000,
      error: { code: 'BUDGET_EXCEEDED', details: { limit: 'maxDurationMs' } },
    })
    expect(listClosings(run)).toMatchObject([{ type: 'review_withdrawn' }])
  })
})
