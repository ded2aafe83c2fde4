/** Tests of the operations of handlers: tasks, maps, tool calls, steps and questions. */
import { defineTextTool, defineTool, ToolResult, Type } from '@tutti/core'
import { sleep } from '@tutti/core/internal'
import { describe, expect, it } from 'vitest'

import { agent, ensemble, task } from '../src/index.ts'
import { joinRuns, startRecorded, type RecordedRun, type RunProcess } from './recorded-run.ts'
import { fakeClock, scriptedModel } from './testing.ts'
import { eventsOf, listFailures, nextTurn, watchRun, type WatchOptions } from './watch-run.ts'

import type { EnsembleDefinition, HandlerContext, Task, TaskDefinition } from '../src/index.ts'
import { listReviewsOfFork, type RunStep } from '../src/internal.ts'

type Work = (context: HandlerContext) => unknown

/** Makes a team of one task with a handler. */
function team(
  work: Work,
  {
    with: settings = {},
    ...of
  }: Partial<TaskDefinition> & { with?: Partial<EnsembleDefinition> } = {},
) {
  const grow = task({ name: 'grow', description: 'Grow', handler: work, ...of })
  return ensemble({ name: 'team', model: echo(), ...settings, tasks: [grow] })
}

/** Returns a model that answers with the first line of its task in capitals. */
function echo() {
  return scriptedModel(({ messages }) => {
    const text = messages.at(-1)?.content ?? ''
    return (/^(?:Say|Break) .*/m.exec(text)?.[0] ?? 'nothing').toUpperCase()
  })
}

function say(what: string, { name = what, review = false } = {}): Task<string> {
  return task({ name, description: `Say ${what}`, review })
}

async function run(work: Work, options: Parameters<typeof team>[1] & { run?: WatchOptions } = {}) {
  const { run: runOptions = {}, ...of } = options
  const { events, ended } = watchRun(team(work, of), { ...runOptions })
  return { result: await ended, events }
}

/** Executes the run until it ends, and returns its log. */
async function record(work: Work, from?: RecordedRun, of: Parameters<typeof team>[1] = {}) {
  const started = startRecorded(team(work, of), from === undefined ? {} : { from })
  const result = await started.handle.result
  return { result, events: started.events, steps: started.steps }
}

/** Returns the run as it was after the first step for which `is` holds. */
function cutAfter({ events, steps }: RecordedRun, is: (step: RunStep) => boolean): RecordedRun {
  return { events: [...events], steps: steps.slice(0, steps.findIndex(is) + 1) }
}

const tasksOf = (result: { tasks: readonly { taskName: string; output: string }[] }) =>
  result.tasks.map(({ taskName, output }) => [taskName, output])

describe('a task that a handler adds', () => {
  it('[ENS-P5] A task that a handler adds has a name below its parent, and its output is returned by its schema', async () => {
    const Line = Type.Object({ line: Type.String() })
    const counted = task({
      name: 'counted',
      description: 'Count',
      output: Line,
      handler: () => ({ line: 'x' }),
    })
    const { result, events } = await run(async (context) => {
      const text = await context.task(say('{what}', { name: 'hello' }), { inputs: { what: 'hi' } })
      const value = await context.task(counted, { key: 'again' })
      return `${text} ${value.line}`
    })
    expect(result).toMatchObject({ status: 'COMPLETED', output: 'SAY HI x' })
    expect(tasksOf(result)).toEqual([
      ['grow', 'SAY HI x'],
      ['grow/hello', 'SAY HI'],
      ['grow/again', '{"line":"x"}'],
    ])
    expect(eventsOf(events, 'delegation_started')).toMatchObject([
      {
        taskName: 'grow',
        workerTask: 'grow/hello',
        workerTaskIndex: 2,
        taskDescription: 'Say hi',
        depth: 1,
      },
      { taskName: 'grow', workerTask: 'grow/again', workerTaskIndex: 3 },
    ])
  })

  it('[ENS-P5] A task that a handler adds can add tasks itself, whose handlers see their own inputs', async () => {
    const leaf = task({
      name: 'leaf',
      description: 'Leaf {n}',
      handler: ({ inputs }) => `leaf ${inputs['n']}`,
    })
    const branch = task({
      name: 'branch',
      description: 'Branch',
      handler: ({ task: add, inputs }) => add(leaf, { inputs: { n: `${inputs['n']}.1` } }),
    })
    const { result } = await run(({ task: add }) => add(branch, { inputs: { n: '7' } }))
    expect(tasksOf(result)).toEqual([
      ['grow', 'leaf 7.1'],
      ['grow/branch', 'leaf 7.1'],
      ['grow/branch/leaf', 'leaf 7.1'],
    ])
  })

  it('[ENS-P5] The failure of a task is thrown to the handler, which can continue', async () => {
    const broken = task({
      name: 'broken',
      description: 'Break',
      handler: () => ToolResult.failure('Broken'),
    })
    const caught = await run(async (context) => {
      const reason: unknown = await context.task(broken).catch((error: unknown) => error)
      return `caught ${(reason as Error).message}`
    })
    expect(caught.result).toMatchObject({ status: 'COMPLETED', output: 'caught Broken' })
    const thrown = await run((context) => context.task(broken))
    expect(thrown.result).toMatchObject({
      status: 'FAILED',
      error: { code: 'TASK_FAILED', message: 'Broken' },
    })
  })

  it('[ENS-P5] A task that a handler adds is retried and reviewed by its own settings', async () => {
    const flaky = task({
      name: 'flaky',
      description: 'Try',
      retries: 1,
      review: true,
      handler: ({ attempt }) => (attempt === 1 ? ToolResult.failure('Not yet') : `try ${attempt}`),
    })
    const clock = fakeClock()
    const { events, ended } = watchRun(
      team((context) => context.task(flaky)),
      {
        clock,
        reviewer: { decide: async () => Promise.resolve({ action: 'EDIT', text: 'edited' }) },
      },
    )
    await clock.advance(60_000)
    expect(await ended).toMatchObject({ status: 'COMPLETED', output: 'edited' })
    expect(eventsOf(events, 'task_attempt_failed')).toMatchObject([{ taskName: 'grow/flaky' }])
    expect(eventsOf(events, 'review_requested')).toMatchObject([
      { taskName: 'grow/flaky', attempt: 2 },
    ])
  })

  it('[ENS-P6] Tasks with problems are refused together before any of them begins', async () => {
    const { result, events } = await run(
      ({ map }) =>
        map(['a', 'b'], say('{item} {tone}', { name: 'x', review: true }), { key: () => 'same' }),
      { with: { model: undefined, workflow: 'PARALLEL' } as never },
    )
    expect(result.error).toMatchObject({
      code: 'CONFIG_INVALID',
      message:
        'Cannot add tasks: ' +
        ['', 'its key "same" is used twice: set another key; task "grow/same": ']
          .map(
            (first) =>
              `${first}missing inputs: tone; task "grow/same": has no model: set one for the task, its agent or the ensemble; ` +
              'task "grow/same": needs a review, but the run has no reviewer: set the option reviewer',
          )
          .map((text, index) =>
            index === 0 ? `task "grow/same": ${text}` : `task "grow/same": ${text}`,
          )
          .join('; '),
    })
    expect(eventsOf(events, 'delegation_started')).toEqual([])
  })

  it('[ENS-P6] A task cannot have the name of another task of the run', async () => {
    const other = task({ name: 'grow/x', description: 'Other', handler: () => 'other' })
    const grow = task({
      name: 'grow',
      description: 'Grow',
      handler: ({ task: add }) => add(say('x')),
    })
    const { ended } = watchRun(ensemble({ name: 'team', model: echo(), tasks: [grow, other] }))
    expect((await ended).error?.message).toContain('another task of the run has its name "grow/x"')
  })

  it('[ENS-P6] Tasks may not nest more than 16 deep', async () => {
    const deeper: Task = task({
      name: 'd',
      description: 'Deeper',
      handler: ({ task: add }: HandlerContext) => add(deeper),
    })
    const { result } = await run(({ task: add }) => add(deeper))
    expect(result.error?.message).toContain('tasks may nest 16 deep')
    expect(result.tasks).toEqual([])
  })

  it('[ENS-T7] A task that a handler adds counts for the budget of its parent', async () => {
    const { result } = await run(
      async ({ task: add }) => [await add(say('a')), await add(say('b')), await add(say('c'))],
      { budget: { maxModelCalls: 2 } },
    )
    expect(result.error).toMatchObject({
      code: 'BUDGET_EXCEEDED',
      details: { limit: 'maxModelCalls', max: 2 },
    })
    expect(tasksOf(result)).toEqual([
      ['grow/a', 'SAY A'],
      ['grow/b', 'SAY B'],
    ])
  })

  it('[ENS-P7] The end of a handler cancels its operations in flight and waits for them', async () => {
    const clock = fakeClock()
    const stopped: string[] = []
    const slow = task({
      name: 'slow',
      description: 'Wait',
      async handler({ signal }) {
        await sleep(clock, 60_000, signal)
        stopped.push(`slow at ${clock.elapsed()}`)
        return 'late'
      },
    })
    const { events, ended } = watchRun(
      team(async (context) => {
        void context.task(slow)
        void context.step('wait', async ({ signal }) => sleep(clock, 70_000, signal))
        await sleep(clock, 10)
        return 'done'
      }),
      { clock },
    )
    await clock.advance(100)
    expect(await ended).toMatchObject({ status: 'COMPLETED', output: 'done' })
    expect(stopped).toEqual(['slow at 10'])
    expect(listFailures(events)).toMatchObject([{ taskName: 'grow/slow', code: 'CANCELLED' }])
  })

  it('[ENS-C6] A cancel of the run stops the tasks of a handler first, then the handler', async () => {
    const clock = fakeClock()
    const deaf = task({
      name: 'deaf',
      description: 'Wait',
      handler: async () => sleep(clock, 60_000),
    })
    const { events, ended, handle } = watchRun(
      team(({ task: add }) => add(deaf)),
      { clock },
    )
    await clock.advance(10)
    void handle.cancel()
    await clock.advance(6_000)
    expect(await ended).toMatchObject({ status: 'CANCELLED' })
    expect(listFailures(events)).toMatchObject(
      [
        { taskName: 'grow/deaf', code: 'CANCELLED', durationMs: 5_010 },
        {
          taskName: 'grow',
          code: 'CANCELLED',
          reason: 'Handler was abandoned: it ignored its signal',
        },
      ].map(({ reason: _, ...event }) => event),
    )
  })
})

describe('a step of a handler', () => {
  it('[ENS-P1] A step whose result is recorded is not performed again, and the handler gets its result', async () => {
    const calls: string[] = []
    const work: Work = async ({ step }) => {
      const a = await step('a', ({ idempotencyKey }) => {
        calls.push(idempotencyKey)
        return { at: [1, 2] }
      })
      await step('b', () => {
        calls.push('b')
      })
      return a.at.length
    }
    const whole = await record(work)
    expect(whole.result.output).toBe('2')
    expect(calls).toEqual(['run-1/grow/1/handler/0', 'b'])
    const cut = cutAfter(whole, (step) => step.kind === 'handler_step')
    const again = await record(work, cut)
    expect(again.result.output).toBe('2')
    expect(calls).toEqual(['run-1/grow/1/handler/0', 'b', 'b'])
  })

  it('[ENS-P4] A failed step fails again after an interruption, and is performed again by a retry of the task', async () => {
    const attempts: number[] = []
    const work: Work = async ({ step, attempt }) => {
      await step('pay', () => {
        attempts.push(attempt)
        if (attempt === 1) throw new Error('No money')
      })
      return 'paid'
    }
    const clock = fakeClock()
    const first = startRecorded(team(work, { retries: 1 }), { clock })
    await clock.advance(60_000)
    expect((await first.handle.result).output).toBe('paid')
    expect(attempts).toEqual([1, 2])
    const cut = cutAfter(first, (step) => step.kind === 'handler_step')
    const second = startRecorded(team(work, { retries: 1 }), { clock, from: cut })
    await clock.advance(60_000)
    expect((await second.handle.result).output).toBe('paid')
    expect(attempts).toEqual([1, 2, 2])
    expect(eventsOf(second.events, 'task_attempt_failed')).toMatchObject([{ reason: 'No money' }])
  })

  it.each([
    ['a Date', new Date(0), '/when is a Date'],
    ['an infinite number', Infinity, '/when is Infinity'],
    ['a Map', new Map(), '/when is a Map'],
  ])(
    'A step with %s in its result fails, because the result must be JSON',
    async (_, when, fault) => {
      const { result } = await run(({ step }) => step('when', () => ({ when })))
      expect(result.error).toMatchObject({
        code: 'TASK_FAILED',
        message: `The result of Step "when" must be JSON, but ${fault}`,
      })
    },
  )
})

describe('a tool call of a handler', () => {
  const double = defineTool({
    name: 'double',
    description: 'Doubles',
    input: Type.Object({ n: Type.Integer() }),
    output: Type.Object({ n: Type.Integer() }),
    execute: ({ n }) => ({ n: n * 2 }),
  })

  it('[ENS-P1] A tool call of a handler returns a typed value, counts as a tool call, and is not repeated', async () => {
    const keys: string[] = []
    const shout = defineTextTool({
      name: 'shout',
      description: 'Shouts',
      execute(text, { idempotencyKey }) {
        keys.push(idempotencyKey)
        return text.toUpperCase()
      },
    })
    const work: Work = async ({ call }) => {
      const { n } = await call(double, { n: 4 })
      return `${await call(shout, 'hey')} ${n}`
    }
    const whole = await record(work)
    expect(whole.result).toMatchObject({ output: 'HEY 8', metrics: { totalToolCalls: 2 } })
    expect(eventsOf(whole.events, 'tool_called')).toMatchObject([
      { taskName: 'grow', toolName: 'double', outcome: 'SUCCESS', toolCallId: 'call-0' },
      { taskName: 'grow', toolName: 'shout', outcome: 'SUCCESS', toolCallId: 'call-1' },
    ])
    const last = whole.steps.findLastIndex(({ kind }) => kind === 'tool_ended')
    const again = await record(work, { events: [], steps: whole.steps.slice(0, last + 1) })
    expect(again.result).toMatchObject({ output: 'HEY 8', metrics: { totalToolCalls: 2 } })
    expect(keys).toEqual(['run-1/grow/1/handler/1'])
  })

  it('A failed tool call of a handler throws TOOL_FAILED with the reason', async () => {
    const { result } = await run(({ call }) => call(double, { n: 0.5 }))
    expect(result.error).toMatchObject({
      code: 'TOOL_FAILED',
      message: expect.stringContaining('"double"'),
    })
  })

  it('[ENS-L20] An interrupted call of a tool that is not idempotent throws INTERRUPTED and is not repeated', async () => {
    let count = 0
    const send = defineTextTool({
      name: 'send',
      description: 'Sends',
      idempotent: false,
      execute: () => {
        count += 1
        return 'sent'
      },
    })
    const work: Work = ({ call }) => call(send, 'x')
    const whole = await record(work)
    const again = await record(
      work,
      cutAfter(whole, ({ kind }) => kind === 'tool_begun'),
    )
    expect(again.result.error?.code).toBe('INTERRUPTED')
    expect(count).toBe(1)
  })

  it('A tool call of a handler that requires approval waits for a review', async () => {
    const pay = defineTextTool({
      name: 'pay',
      description: 'Pays',
      requireApproval: true,
      execute: (text) => `paid ${text}`,
    })
    const { result, events } = await run(({ call }) => call(pay, '5'), {
      run: {
        reviewer: { decide: () => Promise.resolve({ action: 'EDIT', input: { input: '3' } }) },
      },
    })
    expect(result.output).toBe('paid 3')
    expect(eventsOf(events, 'review_requested')).toMatchObject([
      { kind: 'TOOL_CALL', taskName: 'grow', toolName: 'pay' },
    ])
  })
})

describe('a question of a handler', () => {
  const work: Work = async ({ ask, step }) => {
    await step('before', () => 1)
    const size = await ask('How many?', {
      schema: Type.Object({ n: Type.Integer() }),
      timeoutMs: Infinity,
    })
    return size.answered ? size.value.n + 1 : 'none'
  }

  const openId = ({ handle }: RunProcess): string => handle.snapshot().reviews[0]?.reviewId ?? ''

  it('[ENS-P8] A run whose handler waits for an answer only waits, and another process continues it with the answer', async () => {
    const first = startRecorded(team(work))
    await nextTurn()
    await nextTurn()
    expect(first.waits.count).toBe(1)
    expect(eventsOf(first.events, 'review_requested')).toMatchObject([
      { kind: 'QUESTION', taskName: 'grow', prompt: 'How many?', timeoutMs: 0 },
    ])
    first.release()
    const second = startRecorded(team(work), { from: first })
    await nextTurn()
    await nextTurn()
    await expect(
      second.handle.decide(openId(second), { action: 'EDIT', input: { n: 'many' } }),
    ).rejects.toMatchObject({ code: 'BAD_REQUEST' })
    await second.handle.decide(openId(second), { action: 'EDIT', input: { n: 4 } })
    expect(await second.handle.result).toMatchObject({ status: 'COMPLETED', output: '5' })
    const { events } = joinRuns(first, second)
    expect(eventsOf(events, 'review_requested')).toHaveLength(1)
  })

  it.each([
    ['CONTINUE' as const, {}, { status: 'COMPLETED', output: 'none' }],
    [
      'REJECT' as const,
      { feedback: 'No' },
      { status: 'FAILED', error: { code: 'REVIEW_REJECTED' } },
    ],
    ['EXIT_EARLY' as const, {}, { status: 'COMPLETED', output: '' }],
  ])(
    'A question of a handler ends with %s as a review of a task does',
    async (action, fields, expected) => {
      const { result } = await run(work, {
        run: { reviewer: { decide: () => Promise.resolve({ action, ...fields }) } },
      })
      expect(result).toMatchObject(expected)
    },
  )

  it('[ENS-G16] A fork asks a question of a handler again, unless the output of the handler is recorded', async () => {
    const reviewer = { decide: () => Promise.resolve({ action: 'EDIT', input: { n: 4 } } as const) }
    const whole = startRecorded(team(work), { reviewer })
    expect((await whole.handle.result).output).toBe('5')
    const countAfter = (kind: RunStep['kind']): number =>
      listReviewsOfFork(cutAfter(whole, (step) => step.kind === kind).steps).length
    expect([countAfter('gate_closed'), countAfter('handler_ended')]).toEqual([1, 0])
  })

  it('A question of a handler without a reviewer fails its task', async () => {
    const { result } = await run(work)
    expect(result.error).toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('no reviewer'),
    })
  })

  it('[ENS-P8] [ENS-P22] A run only waits when all tasks of a map wait for reviews, also more than maxConcurrentTasks and after a resumption', async () => {
    const child = task({
      name: 'child',
      description: 'Do {item}',
      review: { timeoutMs: Infinity },
      handler: () => 'done',
    })
    const mapped: Work = ({ map }) => map(['a', 'b', 'c'], child)
    const first = startRecorded(team(mapped, { with: { maxConcurrentTasks: 2 } }))
    await nextTurn()
    await nextTurn()
    expect([first.waits.count, first.handle.snapshot().reviews.length]).toEqual([1, 3])
    expect(first.handle.snapshot().status).toBe('WAITING_REVIEW')
    first.release()
    const second = startRecorded(team(mapped, { with: { maxConcurrentTasks: 2 } }), { from: first })
    await nextTurn()
    await nextTurn()
    expect([second.waits.count, second.handle.snapshot().reviews.length]).toEqual([1, 3])
    for (let count = 0; count < 3; count += 1) {
      await nextTurn()
      await nextTurn()
      await second.handle.decide(openId(second), { action: 'CONTINUE' })
    }
    expect(await second.handle.result).toMatchObject({
      status: 'COMPLETED',
      output: '["done","done","done"]',
    })
    expect(second.waits.count).toBeGreaterThan(0)
  })
})

describe('[ENS-P2] a handler that asks for other operations than the recorded ones', () => {
  const shout = defineTextTool({ name: 'shout', description: 'Shouts', execute: (text) => text })
  const cases: readonly [string, Work, Work, string, string][] = [
    [
      'another step',
      ({ step }) => step('a', () => 1),
      ({ step }) => step('b', () => 1),
      'step "a"',
      'step "b"',
    ],
    [
      'a call in place of a step',
      ({ step }) => step('a', () => 1),
      ({ call }) => call(shout, 'x'),
      'step "a"',
      'a call of tool "shout"',
    ],
    [
      'a call with another input',
      ({ call }) => call(shout, 'x'),
      ({ call }) => call(shout, 'y'),
      'a call of tool "shout"',
      'a call of tool "shout"',
    ],
    [
      'another task',
      ({ task: add }) => add(say('a')),
      ({ task: add }) => add(say('b')),
      'task "grow/a"',
      'task "grow/b"',
    ],
    [
      'a task with another text',
      ({ task: add }) => add(say('a')),
      ({ task: add }) => add(say('b'), { key: 'a' }),
      'task "grow/a"',
      'task "grow/a"',
    ],
    [
      'fewer items',
      ({ map }) => map(['a', 'b'], say('{item}', { name: 'x' })),
      ({ map }) => map(['a'], say('{item}', { name: 'x' })),
      '2 tasks, the first of them "grow/x-0"',
      'task "grow/x-0"',
    ],
    ['nothing', ({ step }) => step('a', () => 1), () => 'x', 'step "a"', 'the end of the handler'],
    [
      'a step in place of a task',
      ({ task: add }) => add(say('a')),
      ({ step }) => step('a', () => 1),
      'task "grow/a"',
      'step "a"',
    ],
  ]

  it.each(cases)(
    'A handler that asks for %s fails the run with REPLAY_MISMATCH, also if it catches the error',
    async (_, before, after, recorded, asked) => {
      const whole = await record(before)
      const ends = ['handler_step', 'tool_ended', 'delegation_ended']
      const last = whole.steps.findLastIndex(({ kind }) => ends.includes(kind))
      const cut = { events: [], steps: whole.steps.slice(0, last + 1) }
      const caught: Work = async (context) => {
        try {
          return await after(context)
        } catch {
          return 'caught'
        }
      }
      for (const work of [after, caught]) {
        const { result } = await record(work, cut)
        expect(result.error).toMatchObject({
          code: 'REPLAY_MISMATCH',
          details: { taskName: 'grow', step: 'operation 0' },
        })
        expect(result.error?.details?.['recorded']).toContain(recorded)
        expect(result.error?.details?.['asked']).toContain(asked)
      }
    },
  )

  it('[ENS-P3] Concurrent code that continues in the order of its ends asks for the same operations again', async () => {
    const clock = fakeClock()
    const work: Work = async ({ step }) => {
      const chain = async (name: string, ms: number): Promise<string> => {
        await step(name, async () => sleep(clock, ms))
        return step(`after ${name}`, () => `${name} done`)
      }
      return Promise.all([chain('slow', 30), chain('fast', 10), chain('middle', 20)])
    }
    const first = startRecorded(team(work), { clock })
    await clock.advance(100)
    expect((await first.handle.result).output).toBe('["slow done","fast done","middle done"]')
    const names = first.steps.flatMap((step) => (step.kind === 'handler_step' ? [step.name] : []))
    expect(names).toEqual(['fast', 'after fast', 'middle', 'after middle', 'slow', 'after slow'])
    for (let count = 0; count <= first.steps.length; count += 1) {
      const cut = { events: [], steps: first.steps.slice(0, count) }
      const second = startRecorded(team(work), { clock, from: cut })
      for (let turn = 0; turn < 20; turn += 1) await clock.advance(100)
      expect((await second.handle.result).output).toBe('["slow done","fast done","middle done"]')
    }
  })
})

describe('a map of a handler', () => {
  const Sum = Type.Object({ sum: Type.Integer() })
  const add = task({
    name: 'add',
    description: 'Add {item.a} and {item.b}',
    output: Sum,
    handler: ({ inputs }) => {
      if (inputs['item.a'] === '0') throw new Error('Zero')
      return { sum: Number(inputs['item.a']) + Number(inputs['item.b']) }
    },
  })
  const items = [1, 0, 3].map((a) => ({ a, b: 1 }))

  it('A map returns the outputs in the order of the items, with a task for each', async () => {
    const { result, events } = await run(async ({ map }) => {
      const sums = await map([items[2], items[0]], add, {
        key: (item, index) => `${item?.a}@${index}`,
      })
      return sums.map(({ sum }) => sum)
    })
    expect(result.output).toBe('[4,2]')
    expect(tasksOf(result).slice(1)).toEqual([
      ['grow/3@0', '{"sum":4}'],
      ['grow/1@1', '{"sum":2}'],
    ])
    expect(eventsOf(events, 'task_started').map(({ taskDescription }) => taskDescription)).toEqual([
      'Grow',
      'Add 3 and 1',
      'Add 1 and 1',
    ])
  })

  it('A map can make a separate task for each item', async () => {
    const { result } = await run(({ map }) =>
      map(['a', 'b'], (item, index) => task({ name: item, description: `Say ${item} ${index}` }), {
        key: (item) => item,
      }),
    )
    expect(result.output).toBe('["SAY A 0","SAY B 1"]')
  })

  it('[ENS-P11] A map with fail throws the first failure and begins no other task', async () => {
    const { result, events } = await run(({ map }) => map(items, add, { maxParallel: 1 }))
    expect(result.error?.message).toBe('Zero')
    expect(eventsOf(events, 'delegation_started').map(({ workerTask }) => workerTask)).toEqual([
      'grow/add-0',
      'grow/add-1',
    ])
  })

  it('[ENS-P11] A map with continue leaves failures out, and with collect returns them', async () => {
    const left = await run(({ map }) => map(items, add, { onError: 'continue' }))
    expect(left.result.output).toBe('[{"sum":2},{"sum":4}]')
    const collected = await run(async ({ map }) => {
      const all = await map(items, add, { onError: 'collect' })
      return all.map((one) => (one.ok ? one.output.sum : `${one.key}: ${one.error.message}`))
    })
    expect(collected.result.output).toBe('[2,"add-1: Zero",4]')
  })

  it('[ENS-P11] A map fails as soon as more tasks have failed than maxFailures', async () => {
    const many = [items[1], items[0], items[1], items[2]]
    const { result, events } = await run(({ map }) =>
      map(many, add, { onError: 'continue', maxFailures: 1, maxParallel: 1 }),
    )
    expect(result.error).toMatchObject({
      code: 'TASK_FAILED',
      message: 'More than 1 tasks failed, and no more may; the first failure: Zero',
    })
    expect(eventsOf(events, 'delegation_started')).toHaveLength(3)
  })

  it('[ENS-P11] A map with until returns as soon as enough tasks are completed and cancels the others', async () => {
    const clock = fakeClock()
    const wait = task({
      name: 'wait',
      description: 'Wait {item}',
      async handler({ inputs, signal }) {
        await sleep(clock, Number(inputs['item']), signal)
        signal.throwIfAborted()
        return `after ${inputs['item']}`
      },
    })
    const work: Work = async ({ map, step }) => {
      const first = await map([50, 10, 90, 20], wait, { until: { succeeded: 2 } })
      await step('after', () => first.length)
      return first
    }
    const whole = startRecorded(team(work), { clock })
    await clock.advance(1_000)
    expect((await whole.handle.result).output).toBe('["after 10","after 20"]')
    expect(eventsOf(whole.events, 'task_failed')).toMatchObject([
      { taskName: 'grow/wait-0', code: 'CANCELLED' },
      { taskName: 'grow/wait-2', code: 'CANCELLED' },
    ])
    const cut = cutAfter(whole, ({ kind }) => kind === 'handler_step')
    const again = startRecorded(team(work), { clock, from: cut })
    await clock.advance(1_000)
    expect((await again.handle.result).output).toBe('["after 10","after 20"]')
    expect(eventsOf(again.events, 'task_started')).toEqual([])
  })

  it.each([
    [{ maxItems: 2 }, 'maxItems is 2, got 3 items'],
    [{ until: { succeeded: 4 } }, 'until.succeeded is 4, got 3 items'],
    [{ maxFailures: 1 }, "maxFailures needs onError 'continue' or 'collect'"],
    [{ maxParallel: 0 }, 'maxParallel must be an integer >= 1, got 0'],
  ])('[ENS-P10] A map with %j is refused before any task begins', async (options, problem) => {
    const { result, events } = await run(({ map }) => map(items, add, options))
    expect(result.error).toMatchObject({
      code: 'CONSTRAINT_VIOLATION',
      message: `Cannot map: ${problem}`,
    })
    expect(eventsOf(events, 'delegation_started')).toEqual([])
  })

  it('[ENS-P10] A map of agents is refused if the budget has no room for one call of each', async () => {
    const { result, events } = await run(
      ({ map }) =>
        map(
          ['a', 'b', 'c'],
          task({ name: 's', description: 'Say {item}', agent: agent({ role: 'R', goal: 'G' }) }),
        ),
      { with: { budget: { maxModelCalls: 2 } } },
    )
    expect(result.error).toMatchObject({
      code: 'BUDGET_EXCEEDED',
      message:
        'The budget of the run is too small for 3 more model calls: maxModelCalls is 2, used 0',
    })
    expect(eventsOf(events, 'delegation_started')).toEqual([])
  })
})
