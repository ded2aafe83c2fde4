/** Tests of handlers, maps and lists with unusual items, keys, options, errors and results. */
import { defineTextTool, TuttiError } from '@tutti/core'
import { sleep } from '@tutti/core/internal'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { agent, ensemble, task } from '../src/index.ts'
import { startRecorded, type RunProcess } from './recorded-run.ts'
import { fakeClock, scriptedModel, type FakeClock } from './testing.ts'
import { eventsOf, nextTurn, watchRun, type WatchOptions } from './watch-run.ts'

import type { RunEvent } from '@tutti/protocol'
import type { EnsembleDefinition, HandlerContext, Task, TaskDefinition } from '../src/index.ts'
import type { RunStep } from '../src/internal.ts'

type Work = (context: HandlerContext) => unknown

interface TeamOptions extends Partial<TaskDefinition> {
  readonly with?: Partial<EnsembleDefinition>
}

function team(work: Work, { with: settings = {}, ...of }: TeamOptions = {}) {
  const grow = task({ name: 'grow', description: 'Grow', handler: work, ...of })
  return ensemble({ name: 'team', model: scriptedModel(() => 'said'), ...settings, tasks: [grow] })
}

async function run(work: Work, { run: options, ...of }: TeamOptions & { run?: WatchOptions } = {}) {
  const { events, ended } = watchRun(team(work, of), options)
  return { result: await ended, events }
}

/** Lets time pass until a handler has its recorded results, and all that follows has happened. */
async function restore(clock: FakeClock): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await clock.advance(10_000)
}

const child = task({
  name: 'child',
  description: 'Do {item}',
  handler: ({ inputs }) => `did ${inputs['item']}`,
})

/** Promises that rejected without a listener; each is a crash of the process. */
const unhandled: unknown[] = []
const note = (reason: unknown): void => void unhandled.push(reason)

beforeAll(() => {
  process.on('unhandledRejection', note)
})

afterAll(() => {
  process.off('unhandledRejection', note)
})

describe('items of a map', () => {
  it('The text of an item that is not JSON is its JSON form', async () => {
    class Point {
      readonly #x = 3
      get x(): number {
        return this.#x
      }
    }
    const items = [new Map([['a', 1]]), new Set([1]), 10n ** 20n, Number.NaN, new Point(), null]
    const { result } = await run(({ map }) => map(items, child))
    expect(JSON.parse(result.output)).toEqual([
      'did {"a":1}',
      'did [1]',
      'did 100000000000000000000',
      'did NaN',
      'did {"x":3}',
      'did null',
    ])
  })

  const loop: { self?: unknown } = {}
  loop.self = loop

  it.each([
    ['undefined', undefined, 'it is undefined'],
    ['a function', { load: () => 1 }, '/load is a function'],
    ['itself', loop, '/self contains itself'],
    ['a promise', Promise.resolve(1), 'the value is a Promise'],
  ])(
    '[ENS-P10] An item that is or contains %s is refused before any task begins',
    async (_, item, problem) => {
      const { result, events } = await run(({ map }) => map(['a', item], child))
      expect(result.error).toMatchObject({
        code: 'CONSTRAINT_VIOLATION',
        message: `Cannot map: item 1 must be JSON, but ${problem}`,
      })
      expect(eventsOf(events, 'delegation_started')).toEqual([])
    },
  )

  it('An item of any kind can have its own task', async () => {
    const items = [loop, { load: () => 7 }, undefined]
    const { result } = await run(({ map }) =>
      map(items, (item, index) =>
        task({
          name: 'own',
          description: 'Own',
          handler: () => `${index} ${typeof item} ${item === loop}`,
        }),
      ),
    )
    expect(result.output).toBe('["0 object true","1 object false","2 undefined false"]')
  })

  it.each([
    ['a text', 'ab', '"ab"'],
    ['a Set', new Set(['a']), '{}'],
    ['undefined', undefined, 'undefined'],
    ['an object with a length', { length: 1 }, '{"length":1}'],
  ])('[ENS-P10] A map over %s is refused', async (_, items, shown) => {
    const { result } = await run(({ map }) => map(items as never, child))
    expect(result.error).toMatchObject({
      code: 'CONSTRAINT_VIOLATION',
      message: `Cannot map: the items must be a list, got ${shown}`,
    })
    const reduced = await run(({ reduce }) => reduce(items as never, child, { maxTokens: 9 }))
    expect(reduced.result.error?.message).toContain(`the items must be a list, got ${shown}`)
  })

  it('A map works on the items of its start, and a hole in the list is undefined', async () => {
    const items = ['a', 'b']
    const { result } = await run(async ({ map }) => {
      const mapped = map(items, child)
      items.length = 0
      return mapped
    })
    expect(result.output).toBe('["did a","did b"]')
    // oxlint-disable-next-line no-sparse-arrays -- plain JavaScript can contain them
    const holed = await run(({ map }) => map([, 'b'], child))
    expect(holed.result.error?.message).toContain('item 0 must be JSON, but it is undefined')
  })

  it('[ENS-E21] A text with a large item is refused before it is rendered', async () => {
    const wide = task({ name: 'wide', description: '{item}'.repeat(1_000), handler: () => 'x' })
    const { result, events } = await run(
      ({ map }) => map(['x'.repeat(1_000), 'é'.repeat(1_000)], wide),
      {
        run: { textLimits: { maxTextBytes: 1_500_000 } },
      },
    )
    expect(result.error).toMatchObject({
      code: 'CONFIG_INVALID',
      message:
        'Cannot add tasks: task "grow/wide-1": its description with its inputs would have 2000000 bytes, at most 1500000 are allowed (maxTextBytes)',
    })
    expect(eventsOf(events, 'delegation_started')).toEqual([])
  })

  it('[ENS-P10] A list of 20,000 items is refused in time that does not depend on its tasks', async () => {
    let made = 0
    const { result } = await run(({ map }) =>
      map(Array.from({ length: 20_000 }, String), () => {
        made += 1
        return child
      }),
    )
    expect(result.error?.message).toBe('Cannot map: maxItems is 100, got 20000 items')
    expect(made).toBe(0)
  })
})

describe('options of operations', () => {
  it.each([
    [{ maxItems: 0 }, 'maxItems must be an integer >= 1, got 0'],
    [{ maxItems: Number.NaN }, 'maxItems must be an integer >= 1, got NaN'],
    [
      { maxItems: -1, maxParallel: 1.5 },
      'maxItems must be an integer >= 1, got -1; maxParallel must be an integer >= 1, got 1.5',
    ],
    [{ until: { succeeded: 0 } }, 'until.succeeded must be an integer >= 1, got 0'],
    [{ maxParalel: 2 }, 'unknown option "maxParalel" (did you mean "maxParallel"?)'],
    [
      { inputs: { itme: 'a' } },
      'unknown option "inputs" (known options: as, key, maxItems, maxParallel, maxFailures, until, onError, collect)',
    ],
    [{ as: 'not a name' }, 'as must be the name of a template variable, got "not a name"'],
    [{ key: 7 }, 'key must be a function or the path of a field, got 7'],
    [{ onError: 'ignore' }, 'onError must be one of fail, continue, collect, got "ignore"'],
    [{ collect: 'sets' }, 'collect must be one of list, outputs, got "sets"'],
  ])('[ENS-P10] A map with the options %j is refused', async (options, problem) => {
    const { result } = await run(({ map }) => map(['a'], child, options as never))
    expect(result.error).toMatchObject({
      code: 'CONSTRAINT_VIOLATION',
      message: `Cannot map: ${problem}`,
    })
  })

  const about = task({ name: 'about', description: 'Write about {topic}' })

  it.each([
    [{ input: { topic: 'tea' } }, 'unknown option "input" (did you mean "inputs"?)'],
    [
      { inputs: { tpoic: 'tea' } },
      'inputs.tpoic is not a known input (known: topic). Did you mean "topic"?',
    ],
  ])(
    '[ENS-P6] A task that a handler adds with the options %j is refused',
    async (options, problem) => {
      const { result, events } = await run(({ task: add }) => add(about, options as never), {
        run: { inputs: { topic: 'coffee' } },
      })
      expect(result.error).toMatchObject({
        code: 'CONFIG_INVALID',
        message: `Cannot add tasks: task "about": ${problem}`,
      })
      expect(eventsOf(events, 'delegation_started')).toEqual([])
    },
  )

  it('[ENS-P6] A task that a handler adds accepts any inputs if its code can read them', async () => {
    const { result } = await run(({ task: add }) =>
      add(child, { inputs: { item: 'a', more: 'b' } }),
    )
    expect(result.output).toBe('did a')
  })

  it('[ENS-P13] A reduce with an unknown option is refused', async () => {
    const options = { maxTokens: 9, maxToken: 8 }
    const { result } = await run(({ reduce }) => reduce(['a'], child, options))
    expect(result.error).toMatchObject({
      code: 'CONSTRAINT_VIOLATION',
      message: 'Cannot reduce: unknown option "maxToken" (did you mean "maxTokens"?)',
    })
  })

  it.each([
    [{ over: 42 }, 'forEach.over must be a task or the name of an input, got 42'],
    [{ over: ' ' }, 'forEach.over must be a task or the name of an input, got " "'],
    [
      { over: { name: 'topics' } },
      'forEach.over must be a task or the name of an input, got {"name":"topics"}',
    ],
    [{ over: 'list', key: 7 }, 'forEach.key must be a function or the path of a field, got 7'],
    [
      { over: 'list', maxitems: 5 },
      'unknown option "maxitems" of forEach (did you mean "maxItems"?)',
    ],
    [
      { over: 'list', collect: 'lists' },
      `forEach.collect must be 'list', 'outputs' or { reduce: task, maxTokens }, got "lists"`,
    ],
    [
      { over: 'list', collect: null },
      "forEach.collect must be 'list', 'outputs' or { reduce: task, maxTokens }, got null",
    ],
    [
      { over: 'list', collect: { reduce: 'child', maxTokens: 9 } },
      'forEach.collect.reduce must be created with task()',
    ],
    [
      { over: 'list', collect: { reduce: child, maxTokens: 9, As: 'parts' } },
      'unknown option "As" of forEach.collect (did you mean "as"?)',
    ],
    [
      { over: 'list', collect: { reduce: child, maxTokens: Number.NaN } },
      'forEach.collect.maxTokens must be a number >= 1, got NaN',
    ],
    [
      { over: 'list', onError: 'collect', collect: { reduce: child, maxTokens: 9 } },
      "forEach.collect cannot reduce with onError 'collect'",
    ],
  ])('[ENS-W8] A task with the list %j is refused when it is created', (forEach, problem) => {
    expect(() => task({ name: 'x', description: 'Do', forEach: forEach as never })).toThrow(
      `Cannot create task "x": ${problem}`,
    )
  })

  it.each([
    [undefined, 'undefined'],
    [{ name: 'x', description: 'X' }, '{"name":"x","description":"X"}'],
  ])('[ENS-P6] A handler cannot add %j in place of a task', async (template, shown) => {
    for (const work of [
      ({ task: add }: HandlerContext) => add(template as never, { key: 'k' }),
      ({ map }: HandlerContext) => map(['a'], template as never),
    ]) {
      const { result } = await run(work)
      expect(result.error).toMatchObject({
        code: 'CONFIG_INVALID',
        message: `Cannot add a task: it must be created with task(), got ${shown}`,
      })
    }
  })

  it.each([
    [{ timeoutMs: Number.NaN }, 'ask.timeoutMs must be > 0, got NaN'],
    [{ timeoutMs: -1 }, 'ask.timeoutMs must be > 0, got -1'],
    [{ requiredRole: ' ' }, 'ask.requiredRole must be a name, got " "'],
    [{ timeout: 9 }, 'unknown option "timeout" (did you mean "timeoutMs"?)'],
  ])('A question with the options %j is refused and opens no review', async (options, problem) => {
    const { result, events } = await run(({ ask }) => ask('Well?', options as never), {
      run: { reviewer: { decide: () => Promise.resolve({ action: 'CONTINUE' }) } },
    })
    expect(result.error).toMatchObject({
      code: 'CONFIG_INVALID',
      message: `Cannot ask a question: ${problem}`,
    })
    expect(eventsOf(events, 'review_requested')).toEqual([])
  })
})

describe('keys of added tasks', () => {
  it('[ENS-P5] A key can have any characters, and is part of the name unchanged', async () => {
    const keys = ['a/b', '..', '../x', 'nul\0', '\ud800', '#2', 'grow', 'é', 'e\u0301', '__proto__']
    const { result } = await run(({ map }) => map(keys, child, { key: (key) => key }))
    expect(result.status).toBe('COMPLETED')
    expect(result.tasks.slice(1).map(({ taskName }) => taskName)).toEqual(
      keys.map((key) => `grow/${key}`),
    )
  })

  it.each([
    ['', 'its key must have 1 to 200 characters that are not all blank'],
    [' \n', 'its key must have 1 to 200 characters that are not all blank'],
    ['x'.repeat(201), 'its key must have 1 to 200 characters that are not all blank'],
    [7, 'its key must be text, got 7'],
    [undefined, 'its key must be text, got undefined'],
  ])('[ENS-P6] The key %j is refused', async (key, problem) => {
    const { result, events } = await run(({ map }) =>
      map(['a'], child, { key: () => key as never }),
    )
    expect(result.error?.code).toBe('CONFIG_INVALID')
    expect(result.error?.message).toContain(problem)
    expect(eventsOf(events, 'delegation_started')).toEqual([])
  })

  it('[ENS-P6] An input of an added task that is not text is refused', async () => {
    const { result, events } = await run(({ task: add }) =>
      add(child, { inputs: { item: 3 as never } }),
    )
    expect(result.error).toMatchObject({
      code: 'CONFIG_INVALID',
      message: 'Cannot add tasks: task "child": its input "item" must be text, got 3',
    })
    expect(eventsOf(events, 'delegation_started')).toEqual([])
  })

  it('[ENS-P6] An added task cannot have another added task in its context', async () => {
    const later = task({
      name: 'later',
      description: 'Use it',
      context: [child],
      handler: () => '',
    })
    const { result } = await run(async ({ task: add }) => {
      await add(child, { inputs: { item: 'a' } })
      return add(later)
    })
    expect(result.error).toMatchObject({
      code: 'CONFIG_INVALID',
      message:
        'Cannot add tasks: task "grow/later": its context must be completed tasks of the ensemble, and these are not: child. ' +
        'Pass outputs of added tasks as inputs',
    })
  })

  it('[ENS-P5] A retry adds its tasks under other names, also if a key ends like the name of a retry', async () => {
    const clock = fakeClock()
    const work: Work = async ({ map, attempt, step }) => {
      const done = await map(['x', 'x#2'], child, { key: (key) => key })
      await step('count', () => done.length)
      if (attempt === 1) throw new Error('Again')
      return done
    }
    const first = startRecorded(team(work, { retries: 1 }), { clock })
    await clock.advance(60_000)
    const result = await first.handle.result
    expect(result).toMatchObject({ status: 'COMPLETED', output: '["did x","did x#2"]' })
    expect(result.tasks.map(({ taskName }) => taskName)).toEqual([
      'grow',
      'grow/x',
      'grow/x#2',
      'grow/x#2#2',
      'grow/x#2#2#2',
    ])
    for (let count = 0; count <= first.steps.length; count += 1) {
      const from = { events: [], steps: first.steps.slice(0, count) }
      const second = startRecorded(team(work, { retries: 1 }), { clock, from })
      await restore(clock)
      expect((await second.handle.result).tasks).toHaveLength(5)
    }
  })
})

describe('failures of added tasks', () => {
  it.each([
    ['a text', 'Broken', 'Broken'],
    ['undefined', undefined, 'Unknown error'],
    ['an object', { code: 'E_BAD' }, 'Error E_BAD'],
    ['a symbol', Symbol('s'), 'Symbol(s)'],
  ])('A task and a step that throw %s fail with a message', async (_, thrown, message) => {
    const bad = task({
      name: 'bad',
      description: 'Break',
      handler() {
        throw thrown
      },
    })
    const caught: Work = async ({ task: add, step }) => {
      const reasons: unknown[] = []
      await add(bad).catch((error: unknown) => reasons.push(error))
      await step('s', () => {
        throw thrown
      }).catch((error: unknown) => reasons.push(error))
      return reasons.map((reason) => (reason as TuttiError).message)
    }
    const { result } = await run(caught)
    expect(JSON.parse(result.output)).toEqual([message, message])
  })

  it('[ENS-P4] An error with details that are not JSON is recorded with their JSON form, or without them', async () => {
    const loop: Record<string, unknown> = {}
    loop['self'] = loop
    const fail = (details: Record<string, unknown>): never => {
      throw new TuttiError('TASK_FAILED', 'Broken', { details })
    }
    const work: Work = async ({ step, task: add }) => {
      await step('large', () => fail({ n: 10n ** 20n + 1n, at: new Map([['a', 1]]) })).catch(
        () => 0,
      )
      await step('loop', () => fail(loop)).catch(() => 0)
      const bad = task({ name: 'bad', description: 'Break', handler: () => fail({ n: 1n }) })
      await add(bad).catch(() => 0)
      return 'caught'
    }
    const { handle, steps } = startRecorded(team(work))
    expect((await handle.result).output).toBe('caught')
    const errors = steps.flatMap((step) =>
      step.kind === 'handler_step' || step.kind === 'task_failed' ? [step.error] : [],
    )
    expect(JSON.parse(JSON.stringify(errors))).toMatchObject([
      { message: 'Broken', details: { n: '100000000000000000001', at: { a: 1 } } },
      { message: 'Broken' },
      { message: 'Broken', details: { n: 1 } },
    ])
    expect(errors[1]).not.toHaveProperty('details')
  })

  it('[ENS-P11] A task that fails as cancelled by itself has failed, and no item gets lost', async () => {
    const moody = task({
      name: 'moody',
      description: 'Do {item}',
      handler({ inputs }) {
        if (inputs['item'] === 'b') throw new TuttiError('CANCELLED', 'The other side cancelled')
        return 'done'
      },
    })
    const failed = await run(({ map }) => map(['a', 'b', 'c'], moody))
    expect(failed.result).toMatchObject({
      status: 'FAILED',
      error: { message: 'The other side cancelled' },
    })
    const collected = await run(({ map }) => map(['a', 'b', 'c'], moody, { onError: 'collect' }))
    expect(JSON.parse(collected.result.output)).toMatchObject([
      { ok: true },
      { key: 'moody-1', ok: false },
      { ok: true },
    ])
  })

  it('[ENS-P11] An interrupted map distinguishes failed tasks from those that it has cancelled, as before', async () => {
    const clock = fakeClock()
    const wait = task({
      name: 'wait',
      description: 'Wait {item}',
      async handler({ inputs, signal }) {
        const ms = Number(inputs['item'])
        await sleep(clock, Math.abs(ms), signal)
        signal.throwIfAborted()
        if (ms < 0) throw new TuttiError('CANCELLED', `Cancelled after ${-ms}`)
        return 'done'
      },
    })
    const work: Work = async ({ map, step }) => {
      const reason: unknown = await map([50, 40, -10], wait).catch((error: unknown) => error)
      await step('after', () => 1)
      return (reason as Error).message
    }
    const whole = startRecorded(team(work), { clock })
    await clock.advance(1_000)
    expect((await whole.handle.result).output).toBe('Cancelled after 10')
    for (let count = 0; count <= whole.steps.length; count += 1) {
      const from = { events: [], steps: whole.steps.slice(0, count) }
      const again = startRecorded(team(work), { clock, from })
      await restore(clock)
      expect((await again.handle.result).output).toBe('Cancelled after 10')
    }
  })

  it('[ENS-P10] [ENS-E16] An interrupted map whose budget is used up between its tasks ends as without the interruption', async () => {
    const twice = scriptedModel(({ messages }) =>
      messages.at(-1)?.role === 'tool' ? 'done' : { toolCalls: [{ name: 'look', arguments: {} }] },
    )
    const look = defineTextTool({ name: 'look', description: 'Looks', execute: () => 'seen' })
    const asked = task({
      name: 'asked',
      description: 'Look at {item}',
      tools: [look],
      agent: agent({ role: 'R', goal: 'G' }),
    })
    const work: Work = async ({ map, step }) => {
      const all = await map(['a', 'b', 'c', 'd'], asked, { onError: 'collect', maxParallel: 1 })
      await step('after', () => 1)
      return all.map((one) => (one.ok ? 'ok' : one.error.code))
    }
    const start = (from?: Parameters<typeof startRecorded>[1]) =>
      startRecorded(
        team(work, { budget: { maxModelCalls: 5 }, with: { model: twice, modelRetries: 0 } }),
        from,
      )
    const whole = start()
    const { output } = await whole.handle.result
    expect(JSON.parse(output)).toEqual(['ok', 'ok', 'BUDGET_EXCEEDED', 'BUDGET_EXCEEDED'])
    for (let count = 0; count <= whole.steps.length; count += 1) {
      const again = start({ from: { events: [], steps: whole.steps.slice(0, count) } })
      // A call in flight is made again, and counts again.
      const repeated = JSON.parse((await again.handle.result).output)
      expect(repeated).toHaveLength(4)
      expect(repeated.slice(0, 2)).toContain('ok')
    }
  })

  it('[ENS-P1] A retry performs its tasks again, and completed tasks of the failed attempt keep their results', async () => {
    const clock = fakeClock()
    let calls = 0
    const counted = task({
      name: 'counted',
      description: 'Count {item}',
      handler: () => {
        calls += 1
        return `call ${calls}`
      },
    })
    const { events, ended } = watchRun(
      team(
        async ({ map, attempt }) => {
          const all = await map(['a', 'b'], counted)
          if (attempt === 1) throw new Error('Again')
          return all
        },
        { retries: 1 },
      ),
      { clock },
    )
    await clock.advance(60_000)
    expect((await ended).output).toBe('["call 3","call 4"]')
    expect(
      eventsOf(events, 'task_completed').map(({ taskName, output }) => [taskName, output]),
    ).toEqual([
      ['grow/counted-0', 'call 1'],
      ['grow/counted-1', 'call 2'],
      ['grow/counted-0#2', 'call 3'],
      ['grow/counted-1#2', 'call 4'],
      ['grow', '["call 3","call 4"]'],
    ])
  })
})

describe('results of steps', () => {
  const loop: { self?: unknown } = {}
  loop.self = loop

  it.each([
    ['a bigint', 1n, 'the value is a bigint'],
    ['a function', () => 1, 'the value is a function'],
    ['a list with undefined', [undefined], '/0 is undefined'],
    ['itself', loop, 'the value contains itself, or is nested too deeply'],
  ])('A step whose result is or contains %s fails', async (_, value, fault) => {
    const { result } = await run(async ({ step }) => {
      await step('odd', () => value)
    })
    expect(result.error).toMatchObject({
      code: 'TASK_FAILED',
      message: `The result of Step "odd" must be JSON, but ${fault}`,
    })
  })

  it('A step returns the same value before and after an interruption', async () => {
    const odd = {
      text: 'nul \0 \ud800 "',
      none: undefined,
      zero: -0,
      __proto__: null,
      deep: [[{}]],
    }
    const got: unknown[] = []
    const work: Work = async ({ step }) => {
      got.push(await step('odd', () => odd), await step('none', () => undefined))
      return 'x'
    }
    const whole = startRecorded(team(work))
    await whole.handle.result
    const steps = whole.steps.filter(
      ({ kind }) => kind !== 'handler_ended' && kind !== 'task_completed',
    )
    await startRecorded(team(work), { from: { events: [], steps } }).handle.result
    expect(got[0]).toEqual({ text: odd.text, zero: 0, deep: [[{}]] })
    expect(got.slice(2)).toEqual(got.slice(0, 2))
  })

  it('[ENS-P2] A step cannot use operations of its handler, because a recorded step does not ask for them again', async () => {
    const { result } = await run(({ step }) => step('outer', async () => step('inner', () => 1)))
    expect(result.error).toMatchObject({
      code: 'CONFIG_INVALID',
      message:
        'Step "outer" cannot use operations of its handler, because its code does not run again: use them after the step',
    })
  })
})

describe('operations whose results are not awaited', () => {
  it('[ENS-P7] A rejected operation is not an unhandled rejection', async () => {
    const bad = task({
      name: 'bad',
      description: 'Break {items}',
      handler() {
        throw new Error('Broken')
      },
    })
    const work: Work = async (context) => {
      void context.step('s', () => {
        throw new Error('Broken')
      })
      void context.reduce(['a'], bad, { maxTokens: 9 })
      void context.reduce([], bad, { maxTokens: 9 })
      void context.map('x' as never, bad)
      await Promise.all([
        context.step('t', () => Promise.reject(new Error('First'))),
        context.step('u', () => Promise.reject(new Error('Second'))),
      ])
    }
    const { result } = await run(work)
    expect(result.error?.message).toBe('First')
    await nextTurn()
    expect(unhandled).toEqual([])
  })

  it.each([
    ['one that used none', () => 'done'],
    ['one that waited', async () => Promise.resolve('done')],
    ['one that used some', async ({ step }: HandlerContext) => step('early', () => 'done')],
  ])('[ENS-P7] An operation after the end of its handler is refused: %s', async (_, work) => {
    let late: HandlerContext | undefined
    const performed: string[] = []
    const { handle, steps } = startRecorded(
      team((context) => {
        late = context
        return work(context)
      }),
    )
    expect((await handle.result).output).toBe('done')
    const count = steps.length
    await expect(late?.step('late', () => performed.push('late'))).rejects.toThrow(
      'The handler of task "grow" has ended',
    )
    expect([steps.length, performed]).toEqual([count, []])
  })

  it('[ENS-P7] [ENS-C4] A handler that ignores its signal is abandoned after its tasks have stopped, and can begin no other', async () => {
    const clock = fakeClock()
    let late: Promise<unknown> | undefined
    const slow = task({
      name: 'slow',
      description: 'Wait',
      handler: async ({ signal }) => sleep(clock, 60_000, signal),
    })
    const { ended, handle } = watchRun(
      team(async ({ map, task: add }) => {
        await map(['a', 'b'], slow, { onError: 'collect' }).catch(() => 0)
        await sleep(clock, 90_000)
        late = add(slow, { key: 'late' })
        return 'never'
      }),
      { clock },
    )
    await clock.advance(10)
    void handle.cancel()
    await clock.advance(5_001)
    expect((await ended).status).toBe('CANCELLED')
    await clock.advance(100_000)
    await expect(late).rejects.toThrow('The handler of task "grow" has ended')
  })
})

describe('questions and approvals', () => {
  it('[ENS-P1] [ENS-P8] Equal questions and approvals of concurrent operations wait apart, and each gets its own answer after an interruption anywhere', async () => {
    const paid: string[] = []
    const pay = defineTextTool({
      name: 'pay',
      description: 'Pays',
      requireApproval: { timeoutMs: Infinity },
      idempotent: false,
      execute(text) {
        paid.push(text)
        return `paid ${text}`
      },
    })
    const work: Work = async ({ ask, call }) => {
      const options = { timeoutMs: Infinity } as const
      const [first, second, third, fourth] = await Promise.all([
        ask('Which?', options),
        call(pay, '5'),
        ask('Which?', options),
        call(pay, '5'),
      ])
      return [first.answered && first.value, second, third.answered && third.value, fourth]
    }
    const expected = '["a0","paid 1","a2","paid 3"]'
    /** Answers each open review by the order in which the reviews were opened. */
    const answer = async (run: RunProcess, ids: readonly string[]): Promise<void> => {
      for (const { reviewId, kind } of run.handle.snapshot().reviews) {
        const at = ids.indexOf(reviewId)
        const input = kind === 'QUESTION' ? `a${at}` : { input: String(at) }
        await run.handle.decide(reviewId, { action: 'EDIT', input })
      }
    }
    const first = startRecorded(team(work))
    await nextTurn()
    await nextTurn()
    expect(first.waits.count).toBe(1)
    const ids = eventsOf(first.events, 'review_requested').map(({ reviewId }) => reviewId)
    expect(ids).toHaveLength(4)
    await answer(first, ids)
    expect((await first.handle.result).output).toBe(expected)
    expect(paid.toSorted()).toEqual(['1', '3'])
    const opened = first.steps.findLastIndex(({ kind }) => kind === 'gate_opened') + 1
    for (let count = opened; count < first.steps.length; count += 1) {
      const steps = first.steps.slice(0, count)
      // A call that began and has no end must not be made again.
      const begun = steps.filter(({ kind }) => kind === 'tool_begun').length
      if (begun > steps.filter(({ kind }) => kind === 'tool_ended').length) continue
      const again = startRecorded(team(work), { from: { events: [], steps } })
      for (let turn = 0; turn < 20; turn += 1) await nextTurn()
      await answer(again, ids)
      expect((await again.handle.result).output).toBe(expected)
    }
  })
})

describe('a cancel', () => {
  const reviewed: Task = task({
    name: 'reviewed',
    description: 'Do {item}',
    beforeReview: { timeoutMs: Infinity },
    review: { timeoutMs: Infinity },
    handler: () => 'done',
  })

  it.each([
    ['abort' as const, 'while tasks wait for the reviews before them', 0],
    ['abort' as const, 'while tasks wait for the reviews after them', 1],
    ['boundary' as const, 'while tasks wait for the reviews before them', 0],
  ])(
    '[ENS-C11] A cancel with %s %s withdraws every review and begins nothing else',
    async (mode, _, rounds) => {
      const { events, ended, handle } = watchRun(
        team(({ map }) => map(['a', 'b', 'c'], reviewed), { with: { maxConcurrentTasks: 2 } }),
        { decidable: true },
      )
      await nextTurn()
      for (let round = 0; round < rounds; round += 1) {
        for (const { reviewId } of handle.snapshot().reviews) {
          await handle.decide(reviewId, { action: 'CONTINUE' })
        }
        await nextTurn()
      }
      void handle.cancel({ mode })
      const result = await ended
      expect(result.status).toBe('CANCELLED')
      const count = (type: 'review_requested' | 'review_decided' | 'review_withdrawn'): number =>
        eventsOf(events, type).length
      expect(count('review_withdrawn')).toBe(count('review_requested') - count('review_decided'))
      expect(eventsOf(events, 'delegation_started')).toHaveLength(3)
    },
  )

  it('[ENS-C6] A cancel while tasks wait for a slot begins none of them', async () => {
    const clock = fakeClock()
    const slow = task({
      name: 'slow',
      description: 'Wait',
      handler: async ({ signal }) => sleep(clock, 60_000, signal),
    })
    const nested = task({
      name: 'nested',
      description: 'Map {item}',
      handler: ({ map }) => map(['x', 'y', 'z'], slow, { maxParallel: 1 }),
    })
    const { events, ended, handle } = watchRun(
      team(({ map }) => map(['a', 'b', 'c'], nested, { maxParallel: 2 })),
      { clock },
    )
    await clock.advance(10)
    void handle.cancel()
    await clock.advance(10)
    expect((await ended).status).toBe('CANCELLED')
    expect(eventsOf(events, 'delegation_started').map(({ workerTask }) => workerTask)).toEqual([
      'grow/nested-0',
      'grow/nested-0/slow-0',
      'grow/nested-1',
      'grow/nested-1/slow-0',
    ])
  })

  const said = (name: string): Task =>
    task({
      name,
      description: 'Say {item}',
      beforeReview: { timeoutMs: Infinity },
      review: { timeoutMs: Infinity },
    })
  const model = scriptedModel(() => 'said')

  it.each([
    [
      'a handler',
      task({
        name: 'nested',
        description: 'Map {item}',
        handler: ({ map }) => map(['x', 'y'], said('said')),
      }),
    ],
    [
      'a sub-ensemble',
      task({ ensemble: ensemble({ name: 'nested', model, tasks: [said('x'), said('y')] }) }),
    ],
  ])(
    '[ENS-C6] [ENS-C12] [ENS-G1] [ENS-H2] A cancel after an interruption anywhere ends every task that %s added and that began, its review and its delegation',
    async (_, nested: Task) => {
      const grown = team(({ map }) => map(['a', 'b'], nested))
      const writes: { readonly event: RunEvent | undefined; readonly step: RunStep | undefined }[] =
        []
      const whole = startRecorded(grown, {
        reviewer: { decide: async () => nextTurn().then(() => ({ action: 'CONTINUE' })) },
        journal: {
          emit: (event, step) => void writes.push({ event, step }),
          commit: (step, event) => Promise.resolve(void writes.push({ event, step })),
        },
      })
      expect((await whole.handle.result).status).toBe('COMPLETED')
      for (let count = 1; count < writes.length; count += 1) {
        const durable = writes.slice(0, count)
        const steps = durable.flatMap(({ step }) => (step === undefined ? [] : [step]))
        const before = durable.flatMap(({ event }) => (event === undefined ? [] : [event]))
        const again = startRecorded(grown, {
          from: { events: [], steps },
          signal: AbortSignal.abort(),
          decidable: true,
        })
        const result = await again.handle.result
        const events = [...before, ...again.events]
        const idsOf = (...types: readonly RunEvent['type'][]): readonly string[] =>
          eventsOf(events, ...types).map((event) =>
            'reviewId' in event
              ? event.reviewId
              : 'delegationId' in event
                ? event.delegationId
                : '',
          )
        expect(idsOf('review_decided', 'review_timed_out', 'review_withdrawn').toSorted()).toEqual(
          idsOf('review_requested').toSorted(),
        )
        expect(idsOf('delegation_completed', 'delegation_failed').toSorted()).toEqual(
          idsOf('delegation_started').toSorted(),
        )
        const started = eventsOf(events, 'task_started').map(({ taskName }) => taskName)
        const skipped = eventsOf(events, 'task_skipped').map(({ taskName }) => taskName)
        expect(skipped.filter((name) => started.includes(name))).toEqual([])
        const tokens = eventsOf(before, 'llm_iteration_completed').reduce(
          (sum, { inputTokens, outputTokens }) => sum + inputTokens + outputTokens,
          0,
        )
        expect(result.metrics.totalTokens).toBe(tokens)
      }
    },
  )
})
