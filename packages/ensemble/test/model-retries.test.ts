/** Tests of failed model calls: retries, fallback models, and their events. */
import { defineTextTool, TuttiError } from '@tutti/core'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { agent, ensemble, modelCatalog, priceList, rateLimit, task } from '../src/index.ts'
import { fakeClock, scriptedModel, type FakeClock } from './testing.ts'
import { eventsOf, listFailures, watchRun } from './watch-run.ts'

import type { ChatModel } from '../src/adapter.ts'
import type { EnsembleDefinition, RunOptions, TaskDefinition } from '../src/index.ts'
import type { RunEvent } from '@tutti/protocol'

let clock: FakeClock

beforeEach(() => {
  clock = fakeClock()
  vi.spyOn(Math, 'random').mockReturnValue(1)
})

afterEach(() => {
  vi.restoreAllMocks()
})

function overloaded(details?: Record<string, unknown>): TuttiError {
  return new TuttiError('MODEL_FAILED', 'Overloaded', {
    retryable: true,
    ...(details === undefined ? {} : { details }),
  })
}

const refused = new TuttiError('MODEL_FAILED', 'Bad key')

/** Runs one task on `model` and advances the clock until it has ended. */
async function run(
  model: ChatModel,
  settings: Partial<TaskDefinition> = {},
  { options = {}, ...team }: Partial<EnsembleDefinition> & { options?: RunOptions } = {},
) {
  const work = task({ name: 'work', description: 'Do the work', ...settings })
  const { events, ended, handle } = watchRun(
    ensemble({ name: 'team', model, tasks: [work], ...team }),
    { clock, ...options },
  )
  await clock.advance(600_000)
  return { events, result: await ended, handle }
}

/** Returns a model that records the time of each of its calls in milliseconds. */
function createAsked(
  clockOf: () => number,
  name = 'model',
  script: Parameters<typeof scriptedModel>[0],
) {
  const times: number[] = []
  const model = scriptedModel(script, { name })
  const timed: ChatModel = {
    ...model,
    stream(request, options) {
      times.push(clockOf())
      return model.stream(request, options)
    },
  }
  return { model: timed, times, requests: model.requests }
}

function listIterations(events: readonly RunEvent[]): readonly unknown[] {
  return events.flatMap((event) => {
    switch (event.type) {
      case 'llm_iteration_started':
        return [['started', event.iterationIndex, event.model]]
      case 'llm_iteration_failed':
        return [['failed', event.iterationIndex, event.model, event.retryInMs, event.nextModel]]
      case 'llm_iteration_completed':
        return [['completed', event.iterationIndex, event.model]]
      default:
        return []
    }
  })
}

describe('[ENS-L16] a model call that failed for a transient reason', () => {
  it('A model call that failed for a transient reason is repeated twice after a growing wait', async () => {
    const { model, times } = createAsked(clock.elapsed, 'a', [overloaded(), overloaded(), 'done'])
    const { events, result } = await run(model)
    expect(result).toMatchObject({ status: 'COMPLETED', output: 'done' })
    expect(times).toEqual([0, 500, 1_500])
    expect(listIterations(events)).toEqual([
      ['started', 0, 'scripted:a'],
      ['failed', 0, 'scripted:a', 500, undefined],
      ['started', 0, 'scripted:a'],
      ['failed', 0, 'scripted:a', 1_000, undefined],
      ['started', 0, 'scripted:a'],
      ['completed', 0, 'scripted:a'],
    ])
  })

  it('A model call that failed for a transient reason waits up to a quarter less, so that many processes do not retry at the same time', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5)
    const { model, times } = createAsked(clock.elapsed, 'a', [overloaded(), overloaded(), 'done'])
    await run(model)
    expect(times).toEqual([0, 438, 438 + 875])
  })

  it('A model call that failed for a transient reason waits as long as the provider requests', async () => {
    const script = [overloaded({ retryAfterMs: 12_000 }), overloaded({ retryAfterMs: 0 }), 'done']
    const { model, times } = createAsked(clock.elapsed, 'a', script)
    await run(model)
    expect(times).toEqual([0, 12_000, 12_000])
  })

  it('A model call is not repeated if the provider requests a delay of more than a minute, and the next model is called', async () => {
    const first = createAsked(clock.elapsed, 'a', [overloaded({ retryAfterMs: 60_001 })])
    const second = createAsked(clock.elapsed, 'b', ['done'])
    const { result } = await run(first.model, { fallbackModels: [second.model] })
    expect(result.output).toBe('done')
    expect([first.times, second.times]).toEqual([[0], [0]])
  })

  it.each([
    [0, 1],
    [1, 2],
    [4, 5],
  ])(
    'A model call with modelRetries %i is made %i times, then the task fails',
    async (modelRetries, count) => {
      const { model, times } = createAsked(clock.elapsed, 'a', () => overloaded())
      const { events, result } = await run(model, {}, { modelRetries })
      expect(times).toHaveLength(count)
      expect(result.error).toMatchObject({ code: 'MODEL_FAILED', message: 'Overloaded' })
      expect(eventsOf(events, 'llm_iteration_failed').map(({ retryInMs }) => retryInMs)).toEqual(
        [500, 1_000, 2_000, 4_000].slice(0, modelRetries).concat(undefined as never),
      )
    },
  )

  it('A model call that failed for a transient reason has all its retries again in the next turn', async () => {
    const look = defineTextTool({ name: 'look', description: 'Looks', execute: () => 'seen' })
    const calls = { toolCalls: [{ name: 'look', arguments: { input: '' } }] }
    const script = [overloaded(), overloaded(), calls, overloaded(), overloaded(), 'done']
    const { model, times } = createAsked(clock.elapsed, 'a', script)
    const { result } = await run(model, { tools: [look] })
    expect(result.status).toBe('COMPLETED')
    expect(times).toEqual([0, 500, 1_500, 1_500, 2_000, 3_000])
  })

  it('A model call that failed for a transient reason sends the same conversation again', async () => {
    const model = scriptedModel([overloaded(), 'done'])
    await run(model)
    expect(model.requests[1]).toEqual(model.requests[0])
  })
})

it('[ENS-L1] A turn starts again after text was streamed, and its last tokens concatenate to the answer', async () => {
  const script = scriptedModel(['Half an', 'A whole answer'])
  const model: ChatModel = {
    ...script,
    async *stream(request, options) {
      const isFirst = script.requests.length === 0
      for await (const chunk of script.stream(request, options)) {
        if (isFirst && chunk.type === 'reply') throw overloaded()
        yield chunk
      }
    },
  }
  const { events, result } = await run(model)
  expect(result.output).toBe('A whole answer')
  const seen = events.flatMap((event) => {
    if (event.type === 'token') return [event.token]
    return event.type.startsWith('llm_iteration') ? [event.type] : []
  })
  expect(seen).toEqual([
    'llm_iteration_started',
    'Half',
    ' an',
    'llm_iteration_failed',
    'llm_iteration_started',
    'A',
    ' whole',
    ' answer',
    'llm_iteration_completed',
  ])
  expect(eventsOf(events, 'token').every(({ iterationIndex }) => iterationIndex === 0)).toBe(true)
})

it('[ENS-L16] A permanent failure is not retried', async () => {
  const { model, times } = createAsked(clock.elapsed, 'a', () => refused)
  const { result } = await run(model)
  expect(times).toEqual([0])
  expect(result.error).toMatchObject({ code: 'MODEL_FAILED', message: 'Bad key' })
})

describe('[ENS-L16] fallback models', () => {
  it('Fallback models are tried in order, each with its own retries, and events name the next one', async () => {
    const first = createAsked(clock.elapsed, 'a', () => overloaded())
    const second = createAsked(clock.elapsed, 'b', () => overloaded())
    const third = createAsked(clock.elapsed, 'c', ['done'])
    const { events, result } = await run(
      first.model,
      {},
      { modelRetries: 1, fallbackModels: [second.model, third.model] },
    )
    expect(result.output).toBe('done')
    expect([first.times, second.times, third.times]).toEqual([[0, 500], [500, 1_000], [1_000]])
    expect(listIterations(events).filter((one) => (one as unknown[])[0] === 'failed')).toEqual([
      ['failed', 0, 'scripted:a', 500, undefined],
      ['failed', 0, 'scripted:a', undefined, 'scripted:b'],
      ['failed', 0, 'scripted:b', 500, undefined],
      ['failed', 0, 'scripted:b', undefined, 'scripted:c'],
    ])
  })

  it('Fallback models are used for the rest of the attempt, and the next attempt starts with the first model again', async () => {
    const look = defineTextTool({ name: 'look', description: 'Looks', execute: () => 'seen' })
    const calls = { toolCalls: [{ name: 'look', arguments: { input: '' } }] }
    const first = scriptedModel([refused, 'done at last'], { name: 'a' })
    const second = scriptedModel([calls, overloaded(), overloaded(), overloaded()], { name: 'b' })
    const { result } = await run(first, { tools: [look], fallbackModels: [second], retries: 1 })
    expect(result).toMatchObject({ status: 'COMPLETED', output: 'done at last' })
    expect([first.requests.length, second.requests.length]).toEqual([2, 4])
  })

  it('Fallback models of a task replace those of the ensemble', async () => {
    const own = scriptedModel(['own'])
    const shared = scriptedModel(['shared'])
    const { result } = await run(
      scriptedModel([refused]),
      { fallbackModels: [own] },
      { fallbackModels: [shared] },
    )
    expect(result.output).toBe('own')
    expect(shared.requests).toEqual([])
  })

  it('[ENS-L10] Fallback models fail the task with the error of the last one if all fail', async () => {
    const last = scriptedModel([new TuttiError('MODEL_FAILED', 'No credit')])
    const { events, result } = await run(scriptedModel([refused]), { fallbackModels: [last] })
    expect(result).toMatchObject({ status: 'FAILED', error: { message: 'No credit' } })
    expect(listFailures(events)).toMatchObject([
      { code: 'MODEL_FAILED', reason: 'No credit', willRetry: false },
    ])
  })
})

it('[ENS-L17] A switch during a call that fails for good makes the turn continue with the new model', async () => {
  const spare = scriptedModel(['done by the new one'], { name: 'new' })
  const broken = scriptedModel(() => {
    watched.handle.switchModel(spare)
    return refused
  })
  const watched = watchRun(
    ensemble({ name: 'team', model: broken, tasks: [task({ description: 'Do it' })] }),
    { clock },
  )
  expect(await watched.ended).toMatchObject({ status: 'COMPLETED', output: 'done by the new one' })
  expect(eventsOf(watched.events, 'llm_iteration_failed')).toMatchObject([
    { model: 'scripted:model', nextModel: 'scripted:new' },
  ])
})

it('[ENS-L17] Every event of a call names its model in the same way as a switch', async () => {
  const broken = (name: string) => scriptedModel(() => refused, { name })
  const [main, spare, nameless] = [broken('a'), broken('b'), broken('c')]
  const last = scriptedModel(() => 'done', { name: 'd' })
  const models = modelCatalog({ main, spare, big: last, large: last })
  const { events, handle, ended } = watchRun(
    ensemble({
      name: 'team',
      model: main,
      fallbackModels: [spare, nameless, last],
      tasks: [task({ name: 'one', description: 'One' }), task({ name: 'two', description: 'Two' })],
    }),
    {
      clock,
      models,
      onEvent(event) {
        if (event.type === 'task_completed' && event.taskName === 'one') handle.switchModel('large')
      },
    },
  )
  await clock.advance(600_000)
  await ended
  expect(listIterations(events)).toEqual([
    ['started', 0, 'main'],
    ['failed', 0, 'main', undefined, 'spare'],
    ['started', 0, 'spare'],
    ['failed', 0, 'spare', undefined, 'scripted:c'],
    ['started', 0, 'scripted:c'],
    ['failed', 0, 'scripted:c', undefined, 'big'],
    ['started', 0, 'big'],
    ['completed', 0, 'big'],
    ['started', 0, 'large'],
    ['completed', 0, 'large'],
  ])
  expect(eventsOf(events, 'model_switched')).toMatchObject([
    { model: 'large', previousModel: 'main' },
  ])
})

it('[ENS-L17] A switch while a call waits for its rate limit applies to that call', async () => {
  const limit = rateLimit({ requests: 1, intervalMs: 1_000 })
  await limit.take({ clock })
  const old = scriptedModel(['old'])
  const { handle, ended } = watchRun(
    ensemble({
      name: 'team',
      model: old,
      rateLimit: limit,
      tasks: [task({ description: 'Do it' })],
    }),
    { clock },
  )
  await clock.advance(500)
  handle.switchModel(scriptedModel(['new']))
  await clock.advance(1_000)
  expect((await ended).output).toBe('new')
  expect(old.requests).toEqual([])
})

describe('[ENS-L5] a cancel', () => {
  it('A cancel during the wait for a retry ends the wait at once, and no call follows', async () => {
    const controller = new AbortController()
    const { model, times } = createAsked(clock.elapsed, 'a', () => overloaded())
    const { events, ended } = watchRun(
      ensemble({ name: 'team', model, tasks: [task({ description: 'Do it' })] }),
      { clock, signal: controller.signal },
    )
    await clock.advance(100)
    controller.abort()
    expect((await ended).status).toBe('CANCELLED')
    expect(clock.elapsed()).toBe(100)
    expect(times).toEqual([0])
    expect(listFailures(events)).toMatchObject([{ code: 'CANCELLED' }])
    expect(clock.pending).toBe(0)
  })

  it('A cancel while a turn is recorded prevents the next call', async () => {
    const controller = new AbortController()
    const model = scriptedModel(['no JSON', 'never'])
    const { events, ended } = watchRun(
      ensemble({
        name: 'team',
        model,
        tasks: [task({ description: 'Do it', output: { type: 'object' } })],
      }),
      {
        clock,
        signal: controller.signal,
        onEvent: ({ type }) => {
          if (type === 'metrics_snapshot') controller.abort()
        },
      },
    )
    expect((await ended).status).toBe('CANCELLED')
    expect(model.requests).toHaveLength(1)
    expect(eventsOf(events, 'llm_iteration_started')).toHaveLength(1)
  })
})

describe('the budget and the usage', () => {
  it('[ENS-B2] The budget and the usage count each try of a model call', async () => {
    const { model, times } = createAsked(clock.elapsed, 'a', () => overloaded())
    const { result } = await run(model, { budget: { maxModelCalls: 2 } })
    expect(times).toEqual([0, 500])
    expect(result.error).toMatchObject({
      code: 'BUDGET_EXCEEDED',
      details: { limit: 'maxModelCalls', of: 'task "work"' },
    })
  })

  it('[ENS-L9] The budget and the usage do not count failed calls, and use the price of the model that answered', async () => {
    const usage = { inputTokens: 1_000, outputTokens: 100 }
    const cheap = scriptedModel([refused], { name: 'cheap' })
    const dear = scriptedModel([{ text: 'done', usage }], { name: 'dear' })
    const prices = priceList({
      'scripted:cheap': { inputPerMillion: 1, outputPerMillion: 1 },
      'scripted:dear': { inputPerMillion: 10, outputPerMillion: 100 },
    })
    const { result } = await run(cheap, { fallbackModels: [dear] }, { options: { prices } })
    expect(result.metrics).toMatchObject({
      totalTokens: 1_100,
      costEstimate: { inputCost: 0.01, outputCost: 0.01 },
    })
  })
})

describe('[ENS-L16] a rate limit', () => {
  it('A rate limit spaces the calls of all tasks that share it, including retries', async () => {
    const { model, times } = createAsked(clock.elapsed, 'a', [overloaded(), 'one', 'two'])
    const limit = rateLimit({ requests: 1, intervalMs: 2_000 })
    const tasks = ['one', 'two'].map((name) => task({ name, description: 'Do it' }))
    const team = ensemble({ name: 'team', model, tasks, rateLimit: limit, workflow: 'PARALLEL' })
    const { ended } = watchRun(team, { clock })
    await clock.advance(10_000)
    expect((await ended).status).toBe('COMPLETED')
    expect(times).toEqual([0, 2_000, 4_000])
  })

  it('A rate limit of the task takes precedence over that of its agent, which takes precedence over that of the ensemble', async () => {
    const limits = [1_000, 2_000, 4_000].map((intervalMs) => rateLimit({ requests: 1, intervalMs }))
    const [ofTask, ofAgent, ofTeam] = limits
    if (ofTask === undefined || ofAgent === undefined || ofTeam === undefined) throw new Error()
    for (const limit of limits) await limit.take({ clock })
    const { model, times } = createAsked(clock.elapsed, 'a', ['1', '2', '3'])
    const limited = agent({ role: 'Worker', goal: 'Work', rateLimit: ofAgent })
    const tasks = [
      task({ name: 'a', description: 'Do it', agent: limited, rateLimit: ofTask }),
      task({ name: 'b', description: 'Do it', agent: limited }),
      task({ name: 'c', description: 'Do it' }),
    ]
    const team = ensemble({ name: 't', model, tasks, rateLimit: ofTeam, workflow: 'PARALLEL' })
    const { ended } = watchRun(team, { clock })
    await clock.advance(10_000)
    await ended
    expect(times).toEqual([1_000, 2_000, 4_000])
  })

  it('A rate limit can be shared by two runs', async () => {
    const { model, times } = createAsked(clock.elapsed, 'a', ['1', '2'])
    const limit = rateLimit({ requests: 1, intervalMs: 3_000 })
    const team = ensemble({
      name: 't',
      model,
      rateLimit: limit,
      tasks: [task({ description: 'Go' })],
    })
    const runs = [watchRun(team, { clock }), watchRun(team, { clock })]
    await clock.advance(10_000)
    await Promise.all(runs.map(({ ended }) => ended))
    expect(times).toEqual([0, 3_000])
  })

  it('A rate limit without a turn in time fails the attempt without a model call, and another attempt follows', async () => {
    const limit = rateLimit({ requests: 1, intervalMs: 1_000, maxWaitMs: 900 })
    await limit.take({ clock })
    const { model, times } = createAsked(clock.elapsed, 'a', ['done'])
    const { events, result } = await run(model, { rateLimit: limit, retries: 1 })
    expect(result).toMatchObject({ status: 'COMPLETED', tasks: [{ attempt: 2 }] })
    expect(listFailures(events)).toMatchObject([{ code: 'RATE_LIMIT_TIMEOUT', willRetry: true }])
    expect(listIterations(events)).toHaveLength(2)
    expect(times).toEqual([1_000])
  })
})
