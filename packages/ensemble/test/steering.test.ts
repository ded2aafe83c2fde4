/** Tests of both modes of a cancel with tasks, tools and delegated work, and of commands after the end. */
import { defineTextTool } from '@tutti/core'
import { sleep } from '@tutti/core/internal'
import { beforeEach, describe, expect, it } from 'vitest'

import type { ChatModel } from '../src/adapter.ts'
import { agent, ensemble, task, type Ensemble } from '../src/index.ts'
import { reviewedTeam, WORKFLOWS } from './reviewed-team.ts'
import { readEnds } from './read-run.ts'
import { fakeClock, scriptedModel, type FakeClock } from './testing.ts'
import { timedModel } from './timed-model.ts'
import { eventsOf, listFailures, watchRun, type WatchedRun } from './watch-run.ts'

let clock: FakeClock

beforeEach(() => {
  clock = fakeClock()
})

const start = (team: Ensemble): WatchedRun => watchRun(team, { clock })

describe.each(WORKFLOWS)('[ENS-S1] a cancel through the handle, in %s', (workflow) => {
  it('A cancel through the handle sets CANCELLING at once, and CANCELLED when the work has stopped', async () => {
    const stubborn: ChatModel = {
      ...timedModel(clock, 1),
      async *stream() {
        await sleep(clock, 900)
        yield { type: 'text', text: 'late' }
      },
    }
    const run = start(reviewedTeam(workflow, { model: stubborn }))
    await clock.advance(500)
    expect(run.handle.cancel({ cause: 'DEADLINE', actor: 'ci' })).toBe(true)
    expect(run.handle.snapshot().status).toBe('CANCELLING')
    expect(run.events.at(-1)).toMatchObject({
      type: 'run_cancelling',
      mode: 'abort',
      cause: 'DEADLINE',
      actor: 'ci',
    })
    await clock.advance(399)
    expect(run.handle.snapshot().status).toBe('CANCELLING')
    await clock.advance(1)
    expect(await run.ended).toMatchObject({ status: 'CANCELLED', output: 'first done' })
    expect(run.handle.snapshot().status).toBe('CANCELLED')
    expect(eventsOf(run.events, 'run_result')).toMatchObject([
      { status: 'CANCELLED', cancel: { cause: 'DEADLINE', actor: 'ci' } },
    ])
    expect(readEnds(run)).toMatchObject({ first: 'completed', work: 'CANCELLED', last: 'skipped' })
    expect(clock.pending).toBe(0)
  })

  it('A cancel through the handle in mode boundary lets the running task finish and starts no other', async () => {
    const run = start(reviewedTeam(workflow, { model: timedModel(clock, 1_000, 'work done') }))
    await clock.advance(500)
    expect(run.handle.cancel({ mode: 'boundary' })).toBe(true)
    await clock.advance(500)
    const result = await run.ended
    expect(readEnds(run)).toMatchObject({ first: 'completed', work: 'completed', last: 'skipped' })
    expect(result.tasks.map(({ taskName }) => taskName)).toEqual(
      expect.arrayContaining(['first', 'work']),
    )
    // The manager is a running task too, and can combine the results so far.
    expect(result.status).toBe(workflow === 'HIERARCHICAL' ? 'COMPLETED' : 'CANCELLED')
  })

  it('A cancel through the handle can escalate but not be reduced', async () => {
    const run = start(reviewedTeam(workflow, { model: timedModel(clock, 10_000) }))
    await clock.advance(100)
    for (const mode of ['boundary', 'boundary', 'abort', 'boundary', 'abort'] as const) {
      expect(run.handle.cancel({ mode })).toBe(true)
    }
    expect(await run.ended).toMatchObject({ status: 'CANCELLED', durationMs: 100 })
    expect(eventsOf(run.events, 'run_cancelling').map(({ mode }) => mode)).toEqual([
      'boundary',
      'abort',
    ])
    expect(run.handle.cancel()).toBe(false)
  })
})

it('[ENS-S1] A cancel in mode boundary lets the running task finish, including its retries and delegations', async () => {
  const delegate = {
    toolCalls: [{ name: 'delegate_task', arguments: { agentRole: 'W', taskDescription: 'W' } }],
  }
  const tasks = [
    task({
      name: 'boss',
      description: 'B',
      agent: agent({ role: 'B', goal: 'Lead', allowDelegation: true }),
      model: scriptedModel(
        ['one two three'].flatMap(() => [delegate, 'done']),
        {
          clock,
          delayMs: 10,
        },
      ),
    }),
    task({
      name: 'w',
      description: 'W',
      agent: agent({ role: 'W', goal: 'Work' }),
      model: timedModel(clock, 300),
    }),
  ]
  const run = start(ensemble({ name: 'team', workflow: 'SEQUENTIAL', tasks }))
  await clock.advance(100)
  run.handle.cancel({ mode: 'boundary' })
  await clock.advance(1_000)
  expect((await run.ended).status).toBe('CANCELLED')
  expect(readEnds(run)).toEqual({ boss: 'completed', 'boss/W': 'completed', w: 'skipped' })
})

describe('[ENS-C12] a cancel while a delegated task works', () => {
  /** Returns an ensemble of a manager with one worker, or of an agent that delegates to a peer. */
  function delegating(workflow: 'HIERARCHICAL' | 'SEQUENTIAL', worker: object): Ensemble {
    const delegate = {
      toolCalls: [{ name: 'delegate_task', arguments: { agentRole: 'W', taskDescription: 'W' } }],
    }
    const w = task({
      name: 'w',
      description: 'W',
      ...worker,
      agent: { role: 'W', goal: 'Work', tools: [], ...worker },
    })
    if (workflow === 'HIERARCHICAL') {
      const managerModel = scriptedModel([delegate, 'never'])
      return ensemble({ name: 'team', workflow, tasks: [w], managerModel })
    }
    const boss = task({
      name: 'boss',
      description: 'B',
      agent: agent({ role: 'B', goal: 'Lead', allowDelegation: true }),
      model: scriptedModel([delegate, 'never']),
    })
    return ensemble({ name: 'team', workflow, tasks: [boss, w] })
  }

  const CASES = [
    ['HIERARCHICAL', 'w', 'Manager'],
    ['SEQUENTIAL', 'boss/W', 'boss'],
  ] as const

  function findEnd(run: WatchedRun, name: string): number {
    return run.events.findIndex((event) => event.type === 'task_failed' && event.taskName === name)
  }

  it.each(CASES)(
    'A cancel while a delegated task works stops it first, then the delegating task (%s)',
    async (workflow, child, parent) => {
      const run = start(delegating(workflow, { model: timedModel(clock, 10_000) }))
      await clock.advance(100)
      run.handle.cancel()
      expect((await run.ended).status).toBe('CANCELLED')
      expect(readEnds(run)).toMatchObject({ [child]: 'CANCELLED', [parent]: 'CANCELLED' })
      expect(findEnd(run, child)).toBeLessThan(findEnd(run, parent))
      expect(eventsOf(run.events, 'delegation_failed')).toHaveLength(1)
    },
  )

  it.each(CASES)(
    '[ENS-C4] A cancel while a delegated task works stops both also if a tool ignores its signal (%s)',
    async (workflow, child, parent) => {
      const deaf = defineTextTool({
        name: 'deaf',
        description: 'Works for a minute and ignores its signal',
        async execute() {
          await sleep(clock, 60_000)
          return 'heard nothing'
        },
      })
      const model = scriptedModel([{ toolCalls: [{ name: 'deaf', arguments: { input: '' } }] }])
      const run = start(delegating(workflow, { model, tools: [deaf] }))
      await clock.advance(100)
      run.handle.cancel()
      await clock.advance(4_999)
      expect(run.handle.snapshot().status).toBe('CANCELLING')
      await clock.advance(1)
      expect(await run.ended).toMatchObject({ status: 'CANCELLED', durationMs: 5_100 })
      expect(findEnd(run, child)).toBeGreaterThan(0)
      expect(findEnd(run, child)).toBeLessThan(findEnd(run, parent))
      const [failed] = listFailures(run.events)
      expect(failed?.reason).toBe('Tool "deaf" was abandoned: it ignored its signal')
      await clock.advance(60_000)
      expect(clock.pending).toBe(0)
    },
  )

  it('[ENS-T5] A delegated task is not retried after the time limit of its delegator', async () => {
    const tasks = [
      task({
        name: 'w',
        description: 'W',
        agent: { role: 'W', goal: 'Work', tools: [] },
        retries: 3,
        model: timedModel(clock, 10_000),
      }),
    ]
    const delegate = {
      toolCalls: [{ name: 'delegate_task', arguments: { agentRole: 'W', taskDescription: 'W' } }],
    }
    const managerModel = scriptedModel([delegate, 'never'])
    const team = ensemble({ name: 'team', workflow: 'HIERARCHICAL', tasks, managerModel })
    const { manager } = team
    if (manager === undefined) throw new Error('It has one')
    const run = start({ ...team, manager: { ...manager, timeoutMs: 500 } })
    await clock.advance(60_000)
    await run.ended
    expect(
      listFailures(run.events).map(({ taskName, code, willRetry }) => [taskName, code, willRetry]),
    ).toEqual([
      ['w', 'TASK_TIMEOUT', false],
      ['Manager', 'TASK_TIMEOUT', false],
    ])
  })
})

it('[ENS-S1] [ENS-E4] A cancel during the wait for another attempt ends the task at once', async () => {
  const handler = (): Promise<never> => Promise.reject(new Error('No'))
  const tasks = [task({ name: 'a', description: 'A', retries: 5, handler })]
  const run = start(ensemble({ name: 'team', tasks }))
  await clock.advance(1)
  expect(listFailures(run.events)).toMatchObject([{ attempt: 1, willRetry: true }])
  run.handle.cancel()
  expect(await run.ended).toMatchObject({ status: 'CANCELLED', durationMs: 1 })
  expect(readEnds(run)).toEqual({ a: 'CANCELLED' })
  expect(clock.pending).toBe(0)
})

describe('[ENS-S3] a command after the end of the run', () => {
  it('A command after the end of the run is rejected and changes nothing', async () => {
    const run = start(reviewedTeam('SEQUENTIAL', {}))
    await run.ended
    const count = run.events.length
    expect(run.handle.cancel()).toBe(false)
    expect(() => run.handle.inject('Hello')).toThrow(`Run ${run.handle.runId} has ended`)
    expect(() => run.handle.switchModel(timedModel(clock, 1))).toThrow('has ended')
    await expect(run.handle.decide('review-1', { action: 'CONTINUE' })).rejects.toMatchObject({
      code: 'REVIEW_NOT_FOUND',
    })
    expect(run.events).toHaveLength(count)
    expect(run.handle.snapshot().status).toBe('COMPLETED')
  })

  it('[ENS-C7] A command after the end of the run is rejected also from a listener of the end', async () => {
    const answers: unknown[] = []
    const run: WatchedRun = watchRun(reviewedTeam('SEQUENTIAL', {}), {
      clock,
      onEvent({ type }) {
        if (type === 'ensemble_completed') answers.push(run.handle.cancel())
      },
    })
    expect((await run.ended).status).toBe('COMPLETED')
    expect(answers).toEqual([false])
  })
})
