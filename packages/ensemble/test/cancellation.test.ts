/** Tests of the state of a run after a cancel at each kind of work. */
import { defineTextTool } from '@tutti/core'
import { sleep } from '@tutti/core/internal'
import { beforeEach, describe, expect, it } from 'vitest'

import type { ChatModel } from '../src/adapter.ts'
import { ensemble, task, type Ensemble } from '../src/index.ts'
import { readPhasesAfter } from './task-phases.ts'
import { fakeClock, scriptedModel, type FakeClock } from './testing.ts'
import { timedModel } from './timed-model.ts'
import { eventsOf, nextTurn, watchRun, type WatchedRun } from './watch-run.ts'

import type { RunEvent } from '@tutti/protocol'

let clock: FakeClock
let controller: AbortController

beforeEach(() => {
  clock = fakeClock()
  controller = new AbortController()
})

function start(team: Ensemble, onEvent?: (event: RunEvent) => void): WatchedRun {
  const { signal } = controller
  return watchRun(team, { clock, signal, ...(onEvent === undefined ? {} : { onEvent }) })
}

/** Returns an ensemble of `before`, the work, and `after`. */
function teamAround(work: Partial<Parameters<typeof task>[0]> & { model: ChatModel }): Ensemble {
  const tasks = [
    task({ name: 'before', description: 'Begin', model: timedModel(clock, 100, 'begun') }),
    task({ name: 'work', description: 'Work', ...work }),
    task({ name: 'after', description: 'End', model: timedModel(clock, 100) }),
  ]
  return ensemble({ name: 'team', tasks })
}

function readPhases({ events }: WatchedRun): Readonly<Record<string, string>> {
  return Object.fromEntries(readPhasesAfter(events))
}

function calling(name: string, count = 1): ReturnType<typeof scriptedModel> {
  return scriptedModel([
    { toolCalls: Array.from({ length: count }, () => ({ name, arguments: { input: '' } })) },
    'never said',
  ])
}

const CUT_OFF = { before: 'completed', work: 'failed', after: 'skipped' }

it('[ENS-C1] A cancel reaches the model call of a task with a time limit', async () => {
  const run = start(teamAround({ model: timedModel(clock, 1_000), timeoutMs: 60_000 }))
  await clock.advance(150)
  controller.abort()
  expect((await run.ended).status).toBe('CANCELLED')
  expect(readPhases(run)).toEqual(CUT_OFF)
})

describe('[ENS-C1] a cancel before the start', () => {
  it('A cancel before the start starts no task, calls no model and skips each task', async () => {
    const model = timedModel(clock, 10)
    const tasks = ['a', 'b'].map((name) => task({ name, description: 'Do it', model }))
    controller.abort()
    const run = start(ensemble({ name: 'team', tasks }))
    expect(await run.ended).toMatchObject({ status: 'CANCELLED', output: '', tasks: [] })
    expect(run.events.map(({ type }) => type)).toEqual([
      'ensemble_started',
      'run_cancelling',
      'task_skipped',
      'task_skipped',
      'ensemble_completed',
      'run_result',
    ])
    expect(model.requests).toEqual([])
  })

  it('A cancel during the start prevents every task and model call, as one before the start', async () => {
    const model = timedModel(clock, 10)
    const tasks = [task({ name: 'a', description: 'Do it', model })]
    const run = start(ensemble({ name: 'team', tasks }), ({ type }) => {
      if (type === 'ensemble_started') controller.abort()
    })
    expect((await run.ended).status).toBe('CANCELLED')
    expect(readPhases(run)).toEqual({ a: 'skipped' })
  })
})

describe('[ENS-C2] a cancel while the model streams', () => {
  it('A cancel while the model streams aborts the call, and no token follows', async () => {
    const model = scriptedModel(['one two three four'], { clock, delayMs: 50 })
    const run = start(teamAround({ model }))
    await clock.advance(220)
    controller.abort()
    const result = await run.ended
    expect(result).toMatchObject({ status: 'CANCELLED', output: 'begun', durationMs: 220 })
    expect(readPhases(run)).toEqual(CUT_OFF)
    expect(eventsOf(run.events, 'token').map(({ token }) => token)).toEqual([
      'begun',
      'one',
      ' two',
    ])
    expect(clock.pending).toBe(0)
  })

  it('A cancel while the model streams emits no token although the model continues to stream', async () => {
    const stubborn: ChatModel = {
      provider: 'test',
      name: 'stubborn',
      async *stream() {
        for (const word of ['one', ' two', ' three']) {
          await sleep(clock, 50)
          yield { type: 'text', text: word }
        }
        yield { type: 'reply', reply: { text: 'one two three', toolCalls: [] } }
      },
    }
    const run = start(teamAround({ model: stubborn }))
    await clock.advance(170)
    controller.abort()
    await clock.advance(1_000)
    expect((await run.ended).durationMs).toBe(200)
    expect(readPhases(run)).toEqual(CUT_OFF)
    expect(eventsOf(run.events, 'token').map(({ token }) => token)).toEqual(['begun', 'one'])
  })

  it('A cancel while the model streams works from a listener at the first token', async () => {
    const model = scriptedModel(['one two three'])
    const run = start(teamAround({ model }), (event) => {
      if (event.type === 'token' && event.taskName === 'work') controller.abort()
    })
    await clock.advance(1_000)
    await run.ended
    expect(eventsOf(run.events, 'token').map(({ token }) => token)).toEqual(['begun', 'one'])
  })
})

describe('[ENS-C3] a cancel while a tool runs that obeys its signal', () => {
  it('A cancel while a tool runs that obeys its signal aborts the signal at once with the reason, and the run ends when the tool has stopped', async () => {
    const reasons: unknown[] = []
    const obedient = defineTextTool({
      name: 'obedient',
      description: 'Stops a moment after its signal aborts',
      async execute(_, { signal }) {
        await sleep(clock, 10_000, signal)
        reasons.push(signal.reason, clock.elapsed())
        await sleep(clock, 300)
        return 'cleaned up'
      },
    })
    const run = start(teamAround({ model: calling('obedient'), tools: [obedient] }))
    await clock.advance(500)
    const reason = new Error('The user left')
    controller.abort(reason)
    expect(reasons).toEqual([])
    await nextTurn()
    expect(reasons).toEqual([reason, 500])
    await clock.advance(299)
    expect(run.events.at(-1)?.type).not.toBe('run_result')
    await clock.advance(1)
    expect(await run.ended).toMatchObject({ status: 'CANCELLED', durationMs: 800 })
    expect(readPhases(run)).toEqual(CUT_OFF)
    expect(eventsOf(run.events, 'tool_called')).toMatchObject([
      { outcome: 'FAILURE', toolResult: 'Error: Tool "obedient" was cancelled', durationMs: 700 },
    ])
  })
})

describe('[ENS-C4] a cancel while a tool runs that ignores its signal', () => {
  it('A cancel while a tool runs that ignores its signal abandons the tool 5 s later, and its later actions are in no event', async () => {
    let finished = false
    const deaf = defineTextTool({
      name: 'deaf',
      description: 'Works for 20 s and ignores its signal',
      async execute() {
        await sleep(clock, 20_000)
        finished = true
        throw new Error('Must be ignored')
      },
    })
    const run = start(teamAround({ model: calling('deaf'), tools: [deaf] }))
    await clock.advance(1_000)
    controller.abort()
    await clock.advance(4_999)
    expect(run.events.at(-1)?.type).toBe('run_cancelling')
    await clock.advance(1)
    expect(await run.ended).toMatchObject({ status: 'CANCELLED', durationMs: 6_000 })
    expect(eventsOf(run.events, 'tool_called')).toMatchObject([
      { toolResult: 'Error: Tool "deaf" was abandoned: it ignored its signal' },
    ])
    const count = run.events.length
    await clock.advance(60_000)
    expect(finished).toBe(true)
    expect(run.events).toHaveLength(count)
    expect(clock.pending).toBe(0)
  })
})

describe('[ENS-C10] a cancel while a model answers that ignores its signal', () => {
  it('A cancel while a model answers that ignores its signal abandons the model 5 s later, and its later output is in no event', async () => {
    let finished = false
    const deaf: ChatModel = {
      provider: 'test',
      name: 'deaf',
      async *stream() {
        yield { type: 'text', text: 'one' }
        await sleep(clock, 20_000)
        finished = true
        yield { type: 'text', text: ' two' }
        throw new Error('Must be ignored')
      },
    }
    const run = start(teamAround({ model: deaf }))
    await clock.advance(1_000)
    controller.abort()
    await clock.advance(4_999)
    expect(run.events.at(-1)?.type).toBe('run_cancelling')
    await clock.advance(1)
    expect(await run.ended).toMatchObject({ status: 'CANCELLED', durationMs: 6_000 })
    expect(eventsOf(run.events, 'task_failed')).toMatchObject([
      { code: 'CANCELLED', reason: 'Model call was abandoned: it ignored its signal' },
    ])
    const count = run.events.length
    await clock.advance(60_000)
    expect(finished).toBe(true)
    expect(run.events).toHaveLength(count)
    expect(clock.pending).toBe(0)
  })
})

describe('[ENS-C6] a cancel during a guardrail', () => {
  it.each([
    ['obeys', 400, 'Guardrail was cancelled'],
    ['ignores', 5_100, 'Guardrail was abandoned: it ignored its signal'],
  ] as const)(
    'A cancel during a guardrail that %s its signal cancels the task',
    async (how, durationMs, reason) => {
      const slow = async (_: unknown, signal: AbortSignal): Promise<true> => {
        await sleep(clock, 60_000, how === 'obeys' ? signal : undefined)
        if (how === 'obeys') await sleep(clock, 300)
        return true
      }
      const guardrails = { input: [slow] }
      const tasks = [task({ name: 'a', description: 'A', guardrails, model: scriptedModel([]) })]
      const run = start(ensemble({ name: 'team', tasks }))
      await clock.advance(100)
      controller.abort(new Error('The user left'))
      await clock.advance(5_000)
      expect(await run.ended).toMatchObject({ status: 'CANCELLED', durationMs })
      expect(eventsOf(run.events, 'task_failed')).toMatchObject([{ code: 'CANCELLED', reason }])
      await clock.advance(60_000)
      expect(clock.pending).toBe(0)
    },
  )
})

it('[ENS-C5] A cancelled run retains only completed outputs', async () => {
  const run = start(teamAround({ model: timedModel(clock, 100) }))
  await clock.advance(150)
  controller.abort()
  const result = await run.ended
  expect(result.output).toBe('begun')
  expect(result.tasks).toMatchObject([{ taskName: 'before', output: 'begun', durationMs: 100 }])
  expect(eventsOf(run.events, 'run_result')[0]?.outputs).toEqual([
    { taskName: 'before', output: 'begun', durationMs: 100 },
  ])
})

it('[ENS-C6] An interrupted task fails with CANCELLED, and one that had not started is skipped', async () => {
  const run = start(teamAround({ model: timedModel(clock, 100) }))
  await clock.advance(150)
  controller.abort()
  await run.ended
  expect(eventsOf(run.events, 'task_failed')).toMatchObject([
    { taskName: 'work', code: 'CANCELLED', reason: 'Model call was cancelled', durationMs: 50 },
  ])
  expect(eventsOf(run.events, 'task_skipped')).toMatchObject([
    { taskName: 'after', taskIndex: 3, reason: 'The run was cancelled' },
  ])
})

describe('[ENS-C7] a cancel after the last task has completed', () => {
  it('A cancel after the last task has completed changes nothing, and the run is COMPLETED', async () => {
    const run = start(teamAround({ model: timedModel(clock, 100) }), (event) => {
      if (event.type === 'task_completed' && event.taskName === 'after') controller.abort()
    })
    await clock.advance(1_000)
    expect(await run.ended).toMatchObject({ status: 'COMPLETED', output: 'done' })
  })

  it('A cancel after the end of the run changes nothing', async () => {
    const run = start(teamAround({ model: timedModel(clock, 100) }))
    await clock.advance(1_000)
    await run.ended
    const count = run.events.length
    controller.abort()
    await clock.advance(10_000)
    expect(run.events).toHaveLength(count)
  })
})

it('[ENS-C8] Tool calls that wait for a slot never start', async () => {
  let started = 0
  const slow = defineTextTool({
    name: 'slow',
    description: 'Takes long',
    async execute(_, { signal }) {
      started += 1
      await sleep(clock, 10_000, signal)
      return 'done'
    },
  })
  const run = start(teamAround({ model: calling('slow', 20), tools: [slow] }))
  await clock.advance(1_000)
  controller.abort()
  expect((await run.ended).durationMs).toBe(1_000)
  expect(started).toBe(16)
  expect(eventsOf(run.events, 'tool_called')).toHaveLength(20)
})

it('[ENS-E4] All concurrent work stops, and the run ends with the last of it', async () => {
  const slowToStop = (ms: number): ReturnType<typeof defineTextTool> =>
    defineTextTool({
      name: 'slow_to_stop',
      description: 'Takes its time to stop',
      async execute(_, { signal }) {
        await sleep(clock, 10_000, signal)
        await sleep(clock, ms)
        return ''
      },
    })
  const tasks = [100, 900, 400].map((ms) =>
    task({
      name: `stops-in-${ms}`,
      description: 'Do it',
      model: calling('slow_to_stop'),
      tools: [slowToStop(ms)],
    }),
  )
  const run = start(ensemble({ name: 'team', tasks, workflow: 'PARALLEL' }))
  await clock.advance(50)
  controller.abort()
  await clock.advance(10_000)
  expect((await run.ended).durationMs).toBe(950)
  expect(eventsOf(run.events, 'task_failed').map(({ taskName }) => taskName)).toEqual([
    'stops-in-100',
    'stops-in-400',
    'stops-in-900',
  ])
})
