/** Tests of attempts at a task: retries, time limits and usage. */
import { defineTextTool, TuttiError } from '@tutti/core'
import { sleep } from '@tutti/core/internal'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { ensemble, task } from '../src/index.ts'
import { fakeClock, scriptedModel, type FakeClock } from './testing.ts'
import { eventsOf, listFailures, watchRun } from './watch-run.ts'

import type { ChatModel } from '../src/adapter.ts'
import type { RunOptions, TaskDefinition } from '../src/index.ts'

let clock: FakeClock

beforeEach(() => {
  clock = fakeClock()
  vi.spyOn(Math, 'random').mockReturnValue(1)
})

afterEach(() => {
  vi.restoreAllMocks()
})

const usage = { inputTokens: 100, outputTokens: 10 }

async function run(
  model: ChatModel,
  settings: Partial<TaskDefinition> = {},
  options: RunOptions = {},
) {
  const work = task({ name: 'work', description: 'Do the work', ...settings })
  const team = ensemble({ name: 'team', model, modelRetries: 0, tasks: [work] })
  const { events, ended } = watchRun(team, { clock, ...options })
  await clock.advance(300_000)
  return { events, result: await ended }
}

/** Returns a handler that fails `times` times, and the times of its calls. */
function failing(times: number, error: Error = new Error('Not yet')) {
  const asked: number[] = []
  const handler = (): string => {
    asked.push(clock.elapsed())
    if (asked.length <= times) throw error
    return 'done'
  }
  return { handler, asked }
}

async function runHandler(handler: () => string, settings: Partial<TaskDefinition> = {}) {
  const work = task({ name: 'work', description: 'Do the work', handler, ...settings })
  const { events, ended } = watchRun(ensemble({ name: 'team', tasks: [work] }), { clock })
  await clock.advance(300_000)
  return { events, result: await ended }
}

describe('[ENS-T5] a failed task', () => {
  it('A failed task is retried after a wait that doubles, up to 8 s', async () => {
    const { handler, asked } = failing(6)
    const { events, result } = await runHandler(handler, { retries: 6 })
    expect(result).toMatchObject({ status: 'COMPLETED', output: 'done', tasks: [{ attempt: 7 }] })
    expect(asked).toEqual([0, 500, 1_500, 3_500, 7_500, 15_500, 23_500])
    expect(eventsOf(events, 'task_started').map(({ attempt }) => attempt)).toEqual([
      1, 2, 3, 4, 5, 6, 7,
    ])
    expect(listFailures(events).every(({ willRetry }) => willRetry)).toBe(true)
  })

  it.each([
    [0, 1],
    [2, 3],
  ])(
    'A task with %i retries is tried %i times, and the last failure has no retry',
    async (retries, count) => {
      const { handler, asked } = failing(9)
      const { events, result } = await runHandler(handler, { retries })
      expect(asked).toHaveLength(count)
      expect(result.error).toMatchObject({ code: 'TASK_FAILED', message: 'Not yet' })
      expect(listFailures(events).map(({ willRetry }) => willRetry)).toEqual([
        ...Array.from({ length: count - 1 }, () => true),
        false,
      ])
    },
  )

  it.each([
    'CONFIG_INVALID',
    'TOOL_CONFIGURATION',
    'GUARDRAIL_VIOLATION',
    'CONSTRAINT_VIOLATION',
    'BUDGET_EXCEEDED',
  ] as const)(
    'A task that failed with %s is not retried, because that cannot help',
    async (code) => {
      const { handler, asked } = failing(9, new TuttiError(code, 'No use', { retryable: true }))
      await runHandler(handler, { retries: 3 })
      expect(asked).toHaveLength(1)
    },
  )

  it.each([
    [true, 2],
    [false, 1],
  ])(
    'A task that failed with a MODEL_FAILED that is retryable: %s is tried %i times',
    async (retryable, count) => {
      const error = new TuttiError('MODEL_FAILED', 'Overloaded', { retryable })
      const model = scriptedModel([error, 'done'])
      const { result } = await run(model, { retries: 1 })
      expect(model.requests).toHaveLength(count)
      expect(result.status).toBe(retryable ? 'COMPLETED' : 'FAILED')
    },
  )

  it('A failed task is not retried if the run is cancelled meanwhile', async () => {
    const controller = new AbortController()
    const { handler, asked } = failing(9)
    const work = task({ name: 'work', description: 'Do it', handler, retries: 3 })
    const { events, ended } = watchRun(ensemble({ name: 'team', tasks: [work] }), {
      clock,
      signal: controller.signal,
    })
    await clock.advance(100)
    controller.abort()
    expect((await ended).status).toBe('CANCELLED')
    expect(asked).toHaveLength(1)
    expect(clock.elapsed()).toBe(100)
    expect(listFailures(events).at(-1)).toMatchObject({ willRetry: false })
  })
})

it('[ENS-T5] An attempt starts a new conversation, with its tools and new keys', async () => {
  const keys: string[] = []
  const note = defineTextTool({
    name: 'note',
    description: 'Notes',
    execute(_, { idempotencyKey }) {
      keys.push(idempotencyKey)
      return 'noted'
    },
  })
  const noting = { toolCalls: [{ id: 'x', name: 'note', arguments: { input: '' } }] }
  const passing = new TuttiError('MODEL_FAILED', 'Overloaded', { retryable: true })
  const model = scriptedModel([noting, passing, noting, 'done'])
  await run(model, { retries: 1, tools: [note] }, { runId: 'r' })
  expect(model.requests.map(({ messages }) => messages.length)).toEqual([2, 4, 2, 4])
  expect(keys).toEqual(['r/work/1/0/x', 'r/work/2/0/x'])
})

describe('[ENS-T6] the time limit of a task', () => {
  const waiting = defineTextTool({
    name: 'wait',
    description: 'Waits for ever',
    timeoutMs: Infinity,
    async execute(_, { signal }) {
      await sleep(clock, Infinity, signal)
      return 'stopped'
    },
  })

  it('The time limit of a task stops the model in flight, and the next attempt has the whole time again', async () => {
    const model = scriptedModel(['one two three four', 'done now'], { clock, delayMs: 300 })
    const { events, result } = await run(model, { timeoutMs: 1_000, retries: 1 })
    expect(result).toMatchObject({ status: 'COMPLETED', output: 'done now' })
    expect(listFailures(events)).toMatchObject([
      {
        code: 'TASK_TIMEOUT',
        reason: 'Task "work" took longer than 1000 ms',
        durationMs: 1_000,
        willRetry: true,
        attempt: 1,
      },
    ])
    expect(result.durationMs).toBe(1_000 + 500 + 600)
    expect(eventsOf(events, 'llm_iteration_failed')).toEqual([])
  })

  it('The time limit of a task stops tools in flight', async () => {
    const model = scriptedModel([{ toolCalls: [{ name: 'wait', arguments: { input: '' } }] }, 'no'])
    const { events, result } = await run(model, { tools: [waiting], timeoutMs: 700 })
    expect(result.error).toMatchObject({ code: 'TASK_TIMEOUT' })
    expect(eventsOf(events, 'tool_called')).toMatchObject([{ outcome: 'FAILURE', durationMs: 700 }])
    expect(model.requests).toHaveLength(1)
  })

  it('The time limit of a task does not include the time between attempts', async () => {
    const { handler, asked } = failing(4)
    const { result } = await runHandler(handler, { retries: 4, timeoutMs: 100 })
    expect(result.status).toBe('COMPLETED')
    expect(asked.at(-1)).toBe(7_500)
  })

  it('The time limit of a task leaves no timer if it was not reached', async () => {
    await runHandler(() => 'done', { timeoutMs: 600_000 })
    expect(clock.pending).toBe(0)
  })
})

describe('[ENS-L9] the usage of attempts', () => {
  it('The usage of attempts is in their events and is summed for the run', async () => {
    const error = new TuttiError('MODEL_FAILED', 'Overloaded', { retryable: true })
    const echo = defineTextTool({ name: 'echo', description: 'Echoes', execute: (text) => text })
    const calls = { toolCalls: [{ name: 'echo', arguments: { input: 'x' } }], usage }
    const model = scriptedModel([calls, error, calls, calls, { text: 'done', usage }])
    const { events, result } = await run(model, { retries: 1, tools: [echo] })
    expect(listFailures(events)).toMatchObject([{ ...usage, toolCallCount: 1 }])
    expect(eventsOf(events, 'task_completed')).toMatchObject([
      { inputTokens: 300, outputTokens: 30, toolCallCount: 2 },
    ])
    expect(result.tasks).toMatchObject([{ inputTokens: 300, outputTokens: 30, toolCallCount: 2 }])
    expect(result.metrics).toMatchObject({ totalTokens: 440, totalToolCalls: 3 })
  })

  it('[ENS-T7] The usage of attempts counts for one budget, so that the second attempt has what the first one left', async () => {
    const error = new TuttiError('MODEL_FAILED', 'Overloaded', { retryable: true })
    const model = scriptedModel([error, error, 'never'])
    const { result } = await run(model, { retries: 5, budget: { maxModelCalls: 2 } })
    expect(model.requests).toHaveLength(2)
    expect(result.error).toMatchObject({ code: 'BUDGET_EXCEEDED' })
  })
})

describe('[ENS-L21] calls beyond a budget', () => {
  it('Calls beyond a budget are not made, and those before them are made in the requested order', async () => {
    const made: string[] = []
    const echo = defineTextTool({
      name: 'echo',
      description: 'Echoes',
      execute(text) {
        made.push(text)
        return text
      },
    })
    const toolCalls = ['a', 'b', 'c'].map((input) => ({ name: 'echo', arguments: { input } }))
    const model = scriptedModel([{ toolCalls }, 'never'])
    const { events, result } = await run(model, { tools: [echo], budget: { maxToolCalls: 2 } })
    expect(made).toEqual(['a', 'b'])
    expect(eventsOf(events, 'tool_called')).toHaveLength(2)
    expect(model.requests).toHaveLength(1)
    expect(result.error).toMatchObject({
      code: 'BUDGET_EXCEEDED',
      message: 'The budget of task "work" is used up: maxToolCalls is 2, used 2',
    })
    expect(result.metrics.totalToolCalls).toBe(2)
  })
})

it('[ENS-L15] At most maxConcurrentToolCalls of all tasks together run at the same time', async () => {
  let running = 0
  let most = 0
  const busy = defineTextTool({
    name: 'busy',
    description: 'Is busy',
    async execute() {
      running += 1
      most = Math.max(most, running)
      await sleep(clock, 100)
      running -= 1
      return 'done'
    },
  })
  const four = Array.from({ length: 4 }, () => ({ name: 'busy', arguments: { input: '' } }))
  const model = scriptedModel(({ messages }) =>
    messages.at(-1)?.role === 'tool' ? 'done' : { toolCalls: four },
  )
  const tasks = ['a', 'b', 'c'].map((name) => task({ name, description: 'Work', tools: [busy] }))
  const { ended } = watchRun(
    ensemble({ name: 't', model, tasks, workflow: 'PARALLEL', maxConcurrentToolCalls: 3 }),
    { clock },
  )
  await clock.advance(2_000)
  expect((await ended).durationMs).toBe(400)
  expect(most).toBe(3)
})
