import { defineTextTool } from '@tutti/core'
import { silentLogger } from '@tutti/core/internal'
import { describe, expect, it, vi } from 'vitest'

import { readPhasesAfter } from '../../test/task-phases.ts'
import { timedModel } from '../../test/timed-model.ts'
import { fakeClock, scriptedModel, type FakeClock } from '../../test/testing.ts'
import {
  eventsOf,
  expectWireEvents,
  listNamesIn,
  watchRun,
  type WatchedRun,
} from '../../test/watch-run.ts'
import { ensemble } from '../ensemble.ts'
import type { EnsembleDefinition } from '../definition/ensemble-definition.ts'
import { task } from '../definition/define-task.ts'
import type { Task } from '../definition/task.ts'

import type { RunEvent } from '@tutti/protocol'

/** Context, duration and outcome of a task in a test. */
interface Timed {
  readonly context?: readonly string[]
  readonly ms: number
  readonly fails?: boolean
}

function timedTasks(clock: FakeClock, graph: Readonly<Record<string, Timed>>): readonly Task[] {
  return Object.entries(graph).map(([name, { context = [], ms, fails = false }]) =>
    task({
      name,
      description: `Do ${name}`,
      context,
      model: timedModel(clock, ms, fails ? new Error(`${name} broke`) : `${name} done`),
    }),
  )
}

/** Runs timed tasks to their end. */
async function runTimed(
  graph: Readonly<Record<string, Timed>>,
  settings: Partial<EnsembleDefinition> = {},
): Promise<WatchedRun & { readonly clock: FakeClock }> {
  const clock = fakeClock()
  const team = ensemble({ name: 'team', tasks: timedTasks(clock, graph), ...settings })
  const run = watchRun(team, { clock })
  await clock.advance(1_000_000)
  await run.ended
  return { ...run, clock }
}

/** Returns the start of each task in milliseconds since the start of the run, in the order of the starts. */
function listStarts(events: readonly RunEvent[]): readonly string[] {
  const begin = Date.parse(eventsOf(events, 'ensemble_started')[0]?.startedAt ?? '')
  return eventsOf(events, 'task_started').map(
    ({ taskName, startedAt }) => `${taskName} ${Date.parse(startedAt) - begin}`,
  )
}

const DIAMOND = {
  a: { ms: 100 },
  b: { ms: 300, context: ['a'] },
  c: { ms: 200, context: ['a'] },
  d: { ms: 50, context: ['b', 'c'] },
}

describe('[ENS-E1] missing inputs', () => {
  it('Missing inputs are all named, and nothing runs', async () => {
    const model = scriptedModel(() => 'done')
    const tasks = [
      task({ name: 'a', description: 'Go to {city}' }),
      task({ name: 'b', description: 'Stay', expectedOutput: '{nights} nights in {city}' }),
    ]
    const events: RunEvent[] = []
    const onEvent = (event: RunEvent): void => {
      events.push(event)
    }
    const running = ensemble({ name: 'trip', tasks, model }).run({}, { onEvent })
    await expect(running).rejects.toMatchObject({
      code: 'INPUT_MISSING',
      message: 'Cannot run "trip": missing inputs: city, nights',
      details: { missing: ['city', 'nights'] },
    })
    expect(events).toEqual([])
    expect(model.requests).toEqual([])
  })

  it('Missing inputs do not include variables in values, which are inserted unchanged and not expanded', async () => {
    const model = scriptedModel(() => 'done')
    const tasks = [task({ name: 'a', description: 'Say {text} about {{text}}' })]
    const team = ensemble({ name: 'team', tasks, model })
    await watchRun(team, { inputs: { text: '{text} {other}' } }).ended
    expect(model.requests[0]?.messages[1]?.content).toContain('Say {text} {other} about {text}\n')
  })
})

describe('[ENS-E2] a task', () => {
  it('A task starts as soon as all tasks that it waits for are completed', async () => {
    const { events, ended } = await runTimed(DIAMOND)
    expect(listStarts(events)).toEqual(['a 0', 'b 100', 'c 100', 'd 400'])
    expect((await ended).durationMs).toBe(450)
  })

  it('A task starts regardless of other running tasks', async () => {
    const { events } = await runTimed({
      slow: { ms: 1_000 },
      a: { ms: 10 },
      b: { ms: 10, context: ['a'] },
      c: { ms: 10, context: ['b'] },
    })
    expect(listStarts(events)).toEqual(['slow 0', 'a 0', 'b 10', 'c 20'])
  })

  it('[ENS-W2] A task starts also if it was declared before the tasks that it waits for', async () => {
    const { events } = await runTimed({ b: { ms: 10, context: ['a'] }, a: { ms: 10 } })
    expect(listStarts(events)).toEqual(['a 0', 'b 10'])
  })
})

it('[ENS-W1] SEQUENTIAL runs one task at a time in the order of declaration', async () => {
  const graph = { a: { ms: 10 }, b: { ms: 20 }, c: { ms: 30, context: ['a'] } }
  const { events } = await runTimed(graph, { workflow: 'SEQUENTIAL' })
  expect(listStarts(events)).toEqual(['a 0', 'b 10', 'c 30'])
})

it('[ENS-W4] At most maxConcurrentTasks run at the same time; ready tasks start in order', async () => {
  const graph = { a: { ms: 30 }, b: { ms: 10 }, c: { ms: 10 }, d: { ms: 10, context: ['c'] } }
  const two = await runTimed(graph, { maxConcurrentTasks: 2 })
  expect(listStarts(two.events)).toEqual(['a 0', 'b 0', 'c 10', 'd 20'])
  const one = await runTimed(graph, { maxConcurrentTasks: 1 })
  expect(listStarts(one.events)).toEqual(['a 0', 'b 30', 'c 40', 'd 50'])
})

it('[ENS-W5] A task receives its context in the order of declaration, each output once', async () => {
  const clock = fakeClock()
  const last = timedModel(clock, 1)
  const tasks = [
    ...timedTasks(clock, { slow: { ms: 500 }, quick: { ms: 10 }, other: { ms: 10 } }),
    task({ name: 'last', description: 'Sum up', model: last, context: ['quick', 'slow', 'quick'] }),
  ]
  const run = watchRun(ensemble({ name: 'team', tasks }), { clock })
  await clock.advance(1_000)
  await run.ended
  expect(last.requests[0]?.messages[1]?.content).toBe(
    [
      '## Context from Previous Tasks',
      '### Agent: Do slow',
      'slow done',
      '---',
      '### Agent: Do quick',
      'quick done',
      '---',
      '',
      '## Task',
      'Sum up',
      '',
      '## Expected Output',
      'A complete and accurate result of the task.',
    ].join('\n'),
  )
})

describe('[ENS-E3] FAIL_FAST', () => {
  it('FAIL_FAST starts nothing after a failure and lets running tasks finish', async () => {
    const { events, ended } = await runTimed({
      bad: { ms: 100, fails: true },
      slow: { ms: 300 },
      after: { ms: 10, context: ['slow'] },
    })
    expect(await ended).toMatchObject({
      status: 'FAILED',
      durationMs: 300,
      output: 'slow done',
      error: { code: 'MODEL_FAILED', message: 'bad broke' },
    })
    expect(listStarts(events)).toEqual(['bad 0', 'slow 0'])
    expect(eventsOf(events, 'task_skipped')).toMatchObject([
      {
        taskIndex: 3,
        taskName: 'after',
        taskDescription: 'Do after',
        skippedAt: '2026-01-01T00:00:00.100Z',
        reason: 'Task "bad" did not complete',
      },
    ])
  })

  it('FAIL_FAST reports the first failure as the error of the run', async () => {
    const graph = { late: { ms: 200, fails: true }, early: { ms: 100, fails: true } }
    const { ended } = await runTimed(graph, { workflow: 'PARALLEL' })
    expect((await ended).error?.message).toBe('early broke')
  })
})

describe('[ENS-W6] CONTINUE_ON_ERROR', () => {
  it('CONTINUE_ON_ERROR skips the tasks that wait for the failed one, directly or through others, and runs the rest', async () => {
    const { events, ended } = await runTimed(
      {
        bad: { ms: 100, fails: true },
        good: { ms: 50 },
        b: { ms: 10, context: ['bad', 'good'] },
        c: { ms: 10, context: ['b'] },
        d: { ms: 200, context: ['good'] },
      },
      { errorStrategy: 'CONTINUE_ON_ERROR' },
    )
    expect(await ended).toMatchObject({ status: 'FAILED', error: { message: 'bad broke' } })
    expect([...readPhasesAfter(events)]).toEqual([
      ['bad', 'failed'],
      ['good', 'completed'],
      ['b', 'skipped'],
      ['c', 'skipped'],
      ['d', 'completed'],
    ])
  })
})

it('[ENS-W7] A skipped task names the task that is the reason', async () => {
  const { events } = await runTimed(
    { bad: { ms: 1, fails: true }, b: { ms: 1, context: ['bad'] }, c: { ms: 1, context: ['b'] } },
    { errorStrategy: 'CONTINUE_ON_ERROR' },
  )
  expect(
    eventsOf(events, 'task_skipped').map(({ taskName, reason }) => [taskName, reason]),
  ).toEqual([
    ['b', 'Task "bad" did not complete'],
    ['c', 'Task "b" did not complete'],
  ])
})

describe('[ENS-E5] ensemble_completed and run_result', () => {
  const aborted = AbortSignal.abort()

  it.each([
    ['COMPLETED', 'COMPLETED', scriptedModel(() => 'done'), {}],
    ['FAILED', 'ERROR', scriptedModel(() => new Error('No')), {}],
    ['CANCELLED', 'CANCELLED', scriptedModel(() => 'done'), { signal: aborted }],
  ] as const)(
    'ensemble_completed and run_result are the last events, once each, of a run that ends %s',
    async (status, exitReason, model, options) => {
      const tasks = [task({ name: 'a', description: 'Do it' })]
      const { events, ended } = watchRun(ensemble({ name: 'team', tasks, model }), {
        ...options,
        runId: 'run-7',
      })
      const result = await ended
      expect(result).toMatchObject({ runId: 'run-7', status })
      expect(events.slice(-2)).toMatchObject([
        { type: 'ensemble_completed', ensembleId: 'run-7', exitReason },
        { type: 'run_result', runId: 'run-7', status },
      ])
      expect(eventsOf(events, 'ensemble_completed')).toHaveLength(1)
      expect(eventsOf(events, 'run_result')).toHaveLength(1)
      expect('error' in (events.at(-1) ?? {})).toBe(status === 'FAILED')
    },
  )
})

it('[ENS-E7] Every kind of event matches the wire schema and survives JSON unchanged', async () => {
  const clock = fakeClock()
  const echo = defineTextTool({ name: 'echo', description: 'Echoes', execute: (text) => text })
  const tasks = [
    task({
      name: 'ask',
      description: 'Ask',
      tools: [echo],
      model: scriptedModel([
        {
          text: 'Käse 🧀\u2028',
          toolCalls: [{ name: 'echo', arguments: '{"input":"\\ud800"}' }],
        },
        'done',
      ]),
    }),
    ...timedTasks(clock, { bad: { ms: 1, fails: true }, lost: { ms: 1, context: ['bad'] } }),
  ]
  const { events, ended } = watchRun(ensemble({ name: 'team', tasks }), { clock })
  await clock.advance(100)
  await ended
  expectWireEvents(events)
  expect([...new Set(events.map(({ type }) => type))].toSorted()).toEqual([
    'ensemble_completed',
    'ensemble_started',
    'llm_iteration_completed',
    'llm_iteration_failed',
    'llm_iteration_started',
    'metrics_snapshot',
    'run_result',
    'task_completed',
    'task_failed',
    'task_input',
    'task_skipped',
    'task_started',
    'token',
    'tool_called',
  ])
  const [first] = events
  expect(() => {
    expectWireEvents([{ ...first, type: 'run_result' }])
  }).toThrow('to deeply equal')
  expect(() => {
    expectWireEvents([{ ...first, extra: undefined }])
  }).toThrow('to strictly equal')
})

describe('[ENS-E8] a failing listener', () => {
  const tasks = [
    task({ name: 'a', description: 'Do it' }),
    task({ name: 'b', description: 'Go on', context: ['a'] }),
  ]
  const run = (
    onEvent: (event: RunEvent) => void,
  ): ReturnType<typeof watchRun> & { errors: number } => {
    const error = vi.fn<typeof silentLogger.error>()
    const run = watchRun(ensemble({ name: 'team', tasks, model: scriptedModel(() => 'done') }), {
      clock: fakeClock(),
      runId: 'run-1',
      logger: { ...silentLogger, error },
      onEvent,
    })
    return {
      ...run,
      get errors() {
        return error.mock.calls.length
      },
    }
  }

  it.each([
    [
      'throws',
      () => {
        throw new Error('Full disk')
      },
    ],
    ['rejects', () => Promise.reject(new Error('Full disk')) as never],
  ])(
    'A failing listener that %s changes neither the run nor its events nor its result',
    async (_how, onEvent) => {
      const quiet = run(() => undefined)
      const loud = run(onEvent)
      const { outputOf: _, ...result } = await loud.ended
      expect(await quiet.ended).toMatchObject(result)
      expect(loud.events).toEqual(quiet.events)
      expect(quiet.errors).toBe(0)
      expect(loud.errors).toBe(loud.events.length)
    },
  )
})

describe('[ENS-E10] a result', () => {
  it('A run result has the completed tasks in the order of declaration, and the output of the last one', async () => {
    const { events, ended } = await runTimed({
      a: { ms: 30 },
      b: { ms: 20 },
      c: { ms: 10 },
      d: { ms: 5, fails: true, context: ['a'] },
    })
    const result = await ended
    expect(result.tasks.map(({ taskName }) => taskName)).toEqual(['a', 'b', 'c'])
    expect(result.output).toBe('c done')
    expect(eventsOf(events, 'run_result')[0]?.outputs).toEqual([
      { taskName: 'a', output: 'a done', durationMs: 30 },
      { taskName: 'b', output: 'b done', durationMs: 20 },
      { taskName: 'c', output: 'c done', durationMs: 10 },
    ])
  })

  it('A run result is empty if no task completed', async () => {
    const { ended } = await runTimed({ a: { ms: 1, fails: true } })
    expect(await ended).toMatchObject({ output: '', tasks: [], metrics: { totalTokens: 0 } })
  })

  it('A run result sums the tokens and tool calls of its tasks; tokens are unknown if any count is', async () => {
    const echo = defineTextTool({ name: 'echo', description: 'Echoes', execute: (text) => text })
    const usage = { inputTokens: 10, outputTokens: 1 }
    const asking = { toolCalls: [{ name: 'echo', arguments: { input: 'x' } }], usage }
    const tasks = ['a', 'b'].map((name) =>
      task({
        name,
        description: 'Do it',
        tools: [echo],
        model: scriptedModel([asking, { text: 'done', usage }], { provider: 'acme' }),
      }),
    )
    const { events, ended } = watchRun(ensemble({ name: 'team', tasks }))
    const metrics = { totalTokens: 44, totalToolCalls: 2 }
    expect((await ended).metrics).toEqual(metrics)
    expect(eventsOf(events, 'ensemble_completed')[0]).toMatchObject(metrics)
    expect(eventsOf(events, 'run_result')[0]?.metrics).toEqual(metrics)

    const unreported = task({
      name: 'c',
      description: 'Do it',
      model: {
        ...scriptedModel([]),
        async *stream() {
          yield await Promise.resolve({ type: 'reply', reply: { text: 'done', toolCalls: [] } })
        },
      },
    })
    const known = task({ name: 'd', description: 'Do it', model: scriptedModel(['done']) })
    const run = watchRun(ensemble({ name: 'team', tasks: [unreported, known] }))
    expect((await run.ended).metrics.totalTokens).toBe(-1)
  })
})

it('[ENS-L9] The usage of failed tasks counts too', async () => {
  const echo = defineTextTool({ name: 'echo', description: 'Echoes', execute: (text) => text })
  const usage = { inputTokens: 10, outputTokens: 1 }
  const asking = { toolCalls: [{ name: 'echo', arguments: { input: 'x' } }], usage }
  const model = scriptedModel([asking, new Error('overloaded')], { provider: 'acme' })
  const { events, ended } = watchRun(
    ensemble({ name: 'team', tasks: [task({ description: 'Do it', tools: [echo] })], model }),
  )
  const metrics = { totalTokens: 11, totalToolCalls: 1 }
  expect(await ended).toMatchObject({ status: 'FAILED', tasks: [], metrics })
  expect(eventsOf(events, 'run_result')[0]?.metrics).toEqual(metrics)
})

describe('[ENS-E11] ensemble_started', () => {
  it('ensemble_started is the first event, with the whole plan and its rendered texts', async () => {
    const tasks = [
      task({ name: 'b', description: 'Write about {topic}', context: ['a'] }),
      task({ name: 'a', description: 'Research {topic}' }),
    ]
    const team = ensemble({ name: 'team', tasks, model: scriptedModel(() => 'done') })
    const { events, ended } = watchRun(team, {
      runId: 'run-9',
      clock: fakeClock(),
      inputs: { topic: 'jazz' },
    })
    await ended
    expect(events[0]).toEqual({
      type: 'ensemble_started',
      ensembleId: 'run-9',
      startedAt: '2026-01-01T00:00:00.000Z',
      totalTasks: 2,
      workflow: 'PARALLEL',
      ensemble: 'team',
      tasks: [
        {
          name: 'b',
          description: 'Write about jazz',
          agentRole: 'Writer',
          context: ['a'],
        },
        { name: 'a', description: 'Research jazz', agentRole: 'Researcher', context: [] },
      ],
      outputTask: 'a',
    })
    expect(
      eventsOf(events, 'task_started').map(({ taskName, taskIndex }) => [taskName, taskIndex]),
    ).toEqual([
      ['a', 2],
      ['b', 1],
    ])
  })
})

it('[ENS-E12] A run has a random id by default', async () => {
  const tasks = [task({ name: 'a', description: 'Do it' })]
  const { ended } = watchRun(ensemble({ name: 'team', tasks, model: scriptedModel(() => 'x') }))
  expect((await ended).runId).toMatch(/^run-[0-9a-z]{16}$/)
})

it('[ENS-E9] The events alone determine the phase of each task at every moment', async () => {
  const { events } = await runTimed(DIAMOND)
  const story = events.map((_, index) => [...readPhasesAfter(events.slice(0, index + 1)).values()])
  const steps = story
    .map((phases) => phases.map((phase) => phase.charAt(0)).join(''))
    .filter((step, index, all) => step !== all[index - 1])
  expect(steps).toEqual(['pppp', 'rppp', 'cppp', 'crpp', 'crrp', 'crcp', 'cccp', 'cccr', 'cccc'])
  expect(listNamesIn(readPhasesAfter(events), 'completed')).toEqual(['a', 'b', 'c', 'd'])
})
