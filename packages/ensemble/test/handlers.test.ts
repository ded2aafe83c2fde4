/** Tests of tasks that code performs: functions and tools instead of an agent. */
import { defineTextTool, defineTool, ToolResult, Type } from '@tutti/core'
import { sleep } from '@tutti/core/internal'
import { beforeEach, describe, expect, it } from 'vitest'

import { agent, ensemble, memoryScope, inMemoryStore, rateLimit, task } from '../src/index.ts'
import { fakeClock, scriptedModel, type FakeClock } from './testing.ts'
import { eventsOf, listFailures, watchRun, type WatchOptions } from './watch-run.ts'

import type { HandlerContext, TaskDefinition } from '../src/index.ts'
import type { Handler } from '../src/internal.ts'

let clock: FakeClock

beforeEach(() => {
  clock = fakeClock()
})

/** Runs one task with a handler and without any model. */
async function run(
  handler: Handler,
  { options = {}, ...settings }: Partial<TaskDefinition> & { options?: WatchOptions } = {},
) {
  const work = task({ name: 'work', description: 'Count {what}', handler, ...settings })
  const { events, ended } = watchRun(ensemble({ name: 'team', tasks: [work] }), {
    clock,
    inputs: { what: 'sheep' },
    ...options,
  })
  await clock.advance(60_000)
  return { events, result: await ended, work }
}

const Count = Type.Object({ count: Type.Integer(), unit: Type.String({ default: 'sheep' }) })

describe('[ENS-T9] a handler', () => {
  it.each<[string, Handler, string]>([
    ['text', () => 'three', 'three'],
    ['a promise of text', async () => Promise.resolve('three'), 'three'],
    ['an empty text', () => '', ''],
    ['a result', () => ToolResult.success('three'), 'three'],
    ['a result with a value', () => ToolResult.success('three', { count: 3 }), '{"count":3}'],
    ['a value without a schema as JSON', () => ({ count: 3 }), '{"count":3}'],
    ['a number', () => 3, '3'],
  ])('A handler returns %s', async (_what, handler, output) => {
    const { result, events } = await run(handler)
    expect(result).toMatchObject({ status: 'COMPLETED', output })
    expect(result.metrics).toEqual({
      totalTokens: 0,
      totalToolCalls: 0,
      costEstimate: { inputCost: 0, outputCost: 0 },
      costUsd: 0,
    })
    expect(eventsOf(events, 'task_started')).toMatchObject([{ agentRole: '(deterministic)' }])
    expect(eventsOf(events, 'llm_iteration_started')).toEqual([])
  })

  it.each<[string, Handler]>([
    ['a value', () => ({ count: 3 })],
    ['text with JSON in it', () => 'Here: {"count": 3}'],
    ['a result with a value', () => ToolResult.success('three', { count: 3 })],
  ])(
    'A handler returns %s that matches the schema, with defaults filled in',
    async (_what, handler) => {
      const { result, work } = await run(handler, { output: Count })
      expect(result.output).toBe('{"count":3,"unit":"sheep"}')
      expect(result.outputOf(work)).toEqual({ count: 3, unit: 'sheep' })
    },
  )

  it.each<[string, Handler, string, string]>([
    ['throws', () => Promise.reject(new Error('No sheep')), 'TASK_FAILED', 'No sheep'],
    [
      'throws at once',
      () => {
        throw new Error('No sheep')
      },
      'TASK_FAILED',
      'No sheep',
    ],
    ['returns a failure', () => ToolResult.failure('No sheep'), 'TASK_FAILED', 'No sheep'],
    [
      'returns nothing',
      () => undefined,
      'TASK_FAILED',
      'The handler of task "work" returned nothing',
    ],
    [
      'returns null',
      async () => null,
      'TASK_FAILED',
      'The handler of task "work" returned nothing',
    ],
    [
      'returns a function',
      () => () => 3,
      'TASK_FAILED',
      'The handler of task "work" must return text or JSON, but the value is a function',
    ],
  ])('A handler that %s fails its task', async (_what, handler, code, message) => {
    const { result, events } = await run(handler)
    expect(result).toMatchObject({ status: 'FAILED', error: { code, message } })
    expect(listFailures(events)).toMatchObject([{ code, reason: message }])
  })

  it('A handler fails its task with every problem if its value does not match the schema', async () => {
    const { result } = await run(() => ({ count: 'many', unit: 3 }), { output: Count })
    expect(result.error).toMatchObject({
      code: 'OUTPUT_INVALID',
      message: expect.stringMatching(/handler of task "work".*\/count must .*\/unit must /),
    })
  })

  it('A handler receives its texts, inputs, context and key, and is retried', async () => {
    const given: HandlerContext[] = []
    const handler = (context: HandlerContext): string => {
      given.push(context)
      if (context.attempt === 1) throw new Error('Not yet')
      return 'done'
    }
    const first = task({ name: 'first', description: 'Say a', handler: () => 'a' })
    const second = task({
      name: 'second',
      description: 'Count {what}',
      expectedOutput: 'All {what}',
      context: [first],
      retries: 1,
      handler,
    })
    const { ended } = watchRun(ensemble({ name: 'team', tasks: [first, second] }), {
      clock,
      runId: 'run-1',
      inputs: { what: 'sheep' },
    })
    await clock.advance(5_000)
    expect((await ended).tasks).toMatchObject([{}, { output: 'done', attempt: 2 }])
    expect(given[1]).toMatchObject({
      runId: 'run-1',
      taskName: 'second',
      attempt: 2,
      description: 'Count sheep',
      expectedOutput: 'All sheep',
      inputs: { what: 'sheep' },
      context: [
        { taskName: 'first', agentRole: '(deterministic)', description: 'Say a', output: 'a' },
      ],
    })
    expect(given.map(({ idempotencyKey }) => idempotencyKey)).toEqual([
      'run-1/second/1/handler',
      'run-1/second/2/handler',
    ])
  })

  it('[ENS-C6] A handler fails with CANCELLED after a cancel, once it has stopped', async () => {
    const controller = new AbortController()
    let stoppedAt = -1
    const handler: Handler = async ({ signal }) => {
      await sleep(clock, 60_000, signal)
      stoppedAt = clock.elapsed()
      return 'too late'
    }
    clock.after(100, () => {
      controller.abort(new Error('Enough'))
    })
    const { result, events } = await run(handler, { options: { signal: controller.signal } })
    expect(result.status).toBe('CANCELLED')
    expect(stoppedAt).toBe(100)
    expect(listFailures(events)).toMatchObject([{ code: 'CANCELLED', durationMs: 100 }])
  })

  it('[ENS-C4] A handler is abandoned 5 s after the abort if it ignores its signal, with that reason', async () => {
    const handler: Handler = () => new Promise(() => undefined)
    const { result, events } = await run(handler, { timeoutMs: 1_000 })
    expect(result.error?.code).toBe('TASK_TIMEOUT')
    expect(listFailures(events)).toMatchObject([
      {
        reason:
          'Task "work" took longer than 1000 ms; Handler was abandoned: it ignored its signal',
        durationMs: 6_000,
      },
    ])
  })
})

describe('[ENS-T9] a tool as a handler', () => {
  const shout = defineTextTool({
    name: 'shout',
    description: 'Shouts',
    execute: (text) => text.toUpperCase(),
  })

  it('A tool as a handler receives the description and makes one tool call', async () => {
    const { result, events } = await run(shout)
    expect(result).toMatchObject({ output: 'COUNT SHEEP', metrics: { totalToolCalls: 1 } })
    expect(eventsOf(events, 'tool_called')).toMatchObject([
      { toolName: 'shout', outcome: 'SUCCESS', toolResult: 'COUNT SHEEP', taskName: 'work' },
    ])
  })

  it('A tool as a handler receives the last output of its context, which a tool with a schema parses as JSON', async () => {
    const double = defineTool({
      name: 'double',
      description: 'Doubles',
      input: Type.Object({ count: Type.Integer() }),
      output: Count,
      execute: ({ count }) => ({ count: count * 2, unit: 'goats' }),
    })
    const first = task({ name: 'first', description: 'Say', handler: () => 'not this' })
    const second = task({ name: 'second', description: 'Say', handler: () => ({ count: 4 }) })
    const third = task({
      name: 'third',
      description: 'Double',
      output: Count,
      handler: double,
      context: [first, second],
    })
    const { ended } = watchRun(ensemble({ name: 'team', tasks: [first, second, third] }), { clock })
    const result = await ended
    expect(result.outputOf(third)).toEqual({ count: 8, unit: 'goats' })
  })

  it('A tool as a handler fails the task if it fails or cannot read its input', async () => {
    const strict = defineTool({
      name: 'strict',
      description: 'Wants a number',
      input: Type.Object({ count: Type.Integer() }),
      execute: () => 'fine',
    })
    const { result } = await run(strict)
    expect(result.error).toMatchObject({
      code: 'TASK_FAILED',
      message: expect.stringContaining('"strict"'),
    })
  })

  it('[ENS-B1] A tool as a handler counts for the budget on tool calls', async () => {
    const first = task({ name: 'first', description: 'Say a', handler: shout })
    const second = task({ name: 'second', description: 'Say b', handler: shout })
    const team = ensemble({ name: 'team', tasks: [first, second], budget: { maxToolCalls: 1 } })
    const { ended } = watchRun(team, { clock })
    expect(await ended).toMatchObject({
      error: { code: 'BUDGET_EXCEEDED' },
      tasks: [{ taskName: 'first' }],
    })
  })
})

it('[ENS-W8] task() rejects every option of an agent in addition to a handler', () => {
  const tool = defineTextTool({ name: 't', description: 'T', execute: () => '' })
  const make = () =>
    task({
      name: 'work',
      description: 'Count',
      handler: () => 'three',
      agent: agent({ role: 'Counter', goal: 'Count' }),
      model: scriptedModel([]),
      fallbackModels: [scriptedModel([])],
      rateLimit: rateLimit({ requests: 1, intervalMs: 1 }),
      memory: [memoryScope({ name: 'm', store: inMemoryStore() })],
      reflection: true,
      tools: [tool],
    })
  const fields = ['model', 'fallbackModels', 'rateLimit', 'memory', 'reflection', 'tools', 'agent']
  expect(make).toThrow(
    `Cannot create task "work": ${fields.map((field) => `${field} does not apply to a task with a handler`).join('; ')}`,
  )
  const fine = task({ name: 'work', description: 'Count', handler: () => 'three', retries: 2 })
  expect(task({ ...fine, name: 'copy' })).toMatchObject({ name: 'copy', retries: 2 })
})
