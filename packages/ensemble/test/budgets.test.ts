/** Tests of the hard limits of runs and tasks: what counts, when work stops, and how it is reported. */
import { defineTextTool, TuttiError } from '@tutti/core'
import { sleep } from '@tutti/core/internal'
import { beforeEach, describe, expect, it } from 'vitest'

import type { ChatModel, ModelUsage } from '../src/adapter.ts'
import {
  ensemble,
  priceList,
  task,
  type Budget,
  type Ensemble,
  type TaskDefinition,
} from '../src/index.ts'
import { readEnds, findOpenReview, listModelCalls } from './read-run.ts'
import { fakeClock, scriptedModel, type FakeClock } from './testing.ts'
import { timedModel } from './timed-model.ts'
import {
  eventsOf,
  listFailures,
  watchRun,
  type WatchedRun,
  type WatchOptions,
} from './watch-run.ts'

let clock: FakeClock
let toolCalls: number

beforeEach(() => {
  clock = fakeClock()
  toolCalls = 0
})

const work = defineTextTool({
  name: 'work',
  description: 'Works for 100 ms',
  async execute() {
    toolCalls += 1
    await sleep(clock, 100)
    return 'ok'
  },
})

/**
 * Returns a model that calls the tool `width` times per turn without end, with 30 input and 10 output tokens
 * per turn.
 */
function busy(width = 1, usage?: ModelUsage | null): ChatModel {
  const used = usage === undefined ? { inputTokens: 30, outputTokens: 10 } : usage
  const scripted = scriptedModel(
    () => ({
      text: 'x'.repeat(40),
      toolCalls: Array.from({ length: width }, () => ({
        name: 'work',
        arguments: { input: '' },
      })),
      ...(used === null ? {} : { usage: used }),
    }),
    { provider: 'test', name: 'busy' },
  )
  if (used !== null) return scripted
  return {
    ...scripted,
    async *stream(...args) {
      for await (const chunk of scripted.stream(...args)) {
        if (chunk.type !== 'reply') yield chunk
        else {
          const { usage: _, ...reply } = chunk.reply
          yield { type: 'reply', reply }
        }
      }
    },
  }
}

type Rest = Partial<Omit<TaskDefinition, 'output'>>

function one(model: ChatModel, rest: Rest = {}): Ensemble {
  const tasks = [task({ name: 'a', description: 'A', tools: [work], model, ...rest })]
  return ensemble({ name: 'team', tasks })
}

async function run(team: Ensemble, options: WatchOptions = {}): Promise<WatchedRun> {
  const watched = watchRun(team, { clock, ...options })
  await clock.advance(60_000)
  await watched.ended
  return watched
}

const PRICES = priceList({ 'test:busy': { inputPerMillion: 10, outputPerMillion: 20 } })

describe.each(['the run', 'the task'] as const)('[ENS-B1] a limit of %s', (whose) => {
  const label = whose === 'the run' ? 'the run' : 'task "a"'

  async function under(budget: Budget, model: ChatModel = busy()): Promise<WatchedRun> {
    return whose === 'the run'
      ? run(one(model), { budget, prices: PRICES })
      : run(one(model, { budget }), { prices: PRICES })
  }

  it.each([
    // Each turn uses 40 tokens and costs $0.0005.
    [{ maxTokens: 81 }, { turns: 3, tools: 2, limit: 'maxTokens', used: 120 }],
    [{ maxTokens: 80 }, { turns: 2, tools: 1, limit: 'maxTokens', used: 80 }],
    [{ maxCostUsd: 0.0011 }, { turns: 3, tools: 2, limit: 'maxCostUsd', used: 0.0015 }],
    [{ maxModelCalls: 3 }, { turns: 3, tools: 3, limit: 'maxModelCalls', used: 3 }],
    [{ maxToolCalls: 2 }, { turns: 3, tools: 2, limit: 'maxToolCalls', used: 2 }],
  ] as const)(
    'A budget limit stops %j at the first check after it is reached',
    async (budget, expected) => {
      const watched = await under(budget)
      const { turns, tools, limit, used } = expected
      expect(listModelCalls(watched)).toHaveLength(turns)
      expect(toolCalls).toBe(tools)
      const result = await watched.ended
      expect(result).toMatchObject({
        status: 'FAILED',
        error: { code: 'BUDGET_EXCEEDED', details: { limit, of: label } },
      })
      const [max] = Object.values(budget)
      const details = 'error' in result ? result.error.details : undefined
      expect(details).toMatchObject({ max, used: expect.closeTo(used, 9) })
      expect('error' in result && result.error.message).toContain(
        `The budget of ${label} is used up: ${limit} is ${max}, used `,
      )
      expect(listFailures(watched.events)).toMatchObject([{ willRetry: false }])
    },
  )

  it('[ENS-B4] A budget limit stops the work in flight when the time is reached', async () => {
    const watched = await under({ maxDurationMs: 250 }, timedModel(clock, 10_000))
    expect(await watched.ended).toMatchObject({
      status: 'FAILED',
      durationMs: 250,
      error: { code: 'BUDGET_EXCEEDED', details: { limit: 'maxDurationMs', of: label } },
    })
    expect(clock.pending).toBe(0)
  })

  it('[ENS-B4] A budget limit stops a tool when the time is reached', async () => {
    let stopped: unknown
    const long = defineTextTool({
      name: 'work',
      description: 'Long',
      async execute(_, { signal }) {
        await sleep(clock, 10_000, signal)
        stopped = signal.reason
        return ''
      },
    })
    const budget = { maxDurationMs: 250 }
    const watched =
      whose === 'the run'
        ? await run(one(busy(), { tools: [long] }), { budget })
        : await run(one(busy(), { tools: [long], budget }))
    expect((await watched.ended).durationMs).toBe(250)
    expect(stopped).toMatchObject({ code: 'BUDGET_EXCEEDED' })
  })

  it('[ENS-B3] A budget limit counts a call by its length if its provider does not report tokens', async () => {
    const watched = await under({ maxTokens: 100 }, busy(1, null))
    const shown = eventsOf(watched.events, 'llm_iteration_started').map(({ messages }) =>
      messages.reduce((sum, { content }) => sum + (content?.length ?? 0), 0),
    )
    const counted = shown.map((length) => Math.ceil((length + 40) / 4))
    const before = counted.slice(0, -1).reduce((sum, tokens) => sum + tokens, 0)
    const last = counted.at(-1) ?? 0
    expect(before).toBeLessThan(100)
    expect(before + last).toBeGreaterThanOrEqual(100)
    expect((await watched.ended).metrics).toMatchObject({ totalTokens: -1 })
  })

  it('[ENS-B3] [ENS-B5] A budget limit estimates its cost from the length, too', async () => {
    const watched = await under({ maxCostUsd: 0.0011 }, busy(1, null))
    expect(listModelCalls(watched).length).toBeLessThan(5)
    expect(await watched.ended).toMatchObject({ error: { details: { limit: 'maxCostUsd' } } })
  })
})

describe('[ENS-B1] the budget of a task', () => {
  it('[ENS-T7] The budget of a task covers all its attempts', async () => {
    const bad = scriptedModel(() => new TuttiError('MODEL_FAILED', 'No', { retryable: true }))
    const team = ensemble({
      ...one(bad, { retries: 9, budget: { maxModelCalls: 5 } }),
      modelRetries: 1,
    })
    const watched = await run(team)
    expect(listModelCalls(watched)).toHaveLength(5)
    expect(readEnds(watched)).toEqual({ a: 'BUDGET_EXCEEDED' })
    expect(listFailures(watched.events).map(({ code }) => code)).toEqual([
      'MODEL_FAILED',
      'MODEL_FAILED',
      'BUDGET_EXCEEDED',
    ])
  })

  it('[ENS-T7] The budget of a task covers the time of all its attempts and of the waits between them', async () => {
    const slowly = timedModel(clock, 400, new TuttiError('MODEL_FAILED', 'No', { retryable: true }))
    const budget = { maxDurationMs: 5_000 }
    const team = ensemble({ ...one(slowly, { retries: 99, budget }), modelRetries: 0 })
    const watched = await run(team)
    expect(await watched.ended).toMatchObject({ durationMs: 5_000 })
    expect(readEnds(watched)).toEqual({ a: 'BUDGET_EXCEEDED' })
  })

  it('The budget of a task covers each retry of a model call', async () => {
    const bad = scriptedModel(() => new TuttiError('MODEL_FAILED', 'No', { retryable: true }))
    const watched = await run(one(bad, { budget: { maxModelCalls: 2 } }))
    expect(listModelCalls(watched)).toHaveLength(2)
    expect(readEnds(watched)).toEqual({ a: 'BUDGET_EXCEEDED' })
    expect(eventsOf(watched.events, 'llm_iteration_failed')).toHaveLength(2)
  })

  it('[ENS-T7] [ENS-H3] The budget of a task covers the work that it delegates', async () => {
    const delegate = {
      toolCalls: [{ name: 'delegate_task', arguments: { agentRole: 'W', taskDescription: 'W' } }],
    }
    const agent = (role: string, allowDelegation: boolean): object => ({
      agent: { role, goal: 'Work', tools: [], allowDelegation },
    })
    const tasks = [
      task({
        name: 'boss',
        description: 'B',
        ...agent('B', true),
        budget: { maxModelCalls: 3 },
        model: scriptedModel([delegate, delegate, 'done']),
      }),
      task({ name: 'w', description: 'W', ...agent('W', false), model: scriptedModel(() => 'w') }),
    ]
    const watched = await run(ensemble({ name: 'team', workflow: 'SEQUENTIAL', tasks }))
    expect(readEnds(watched)).toMatchObject({ boss: 'BUDGET_EXCEEDED', w: 'skipped' })
    expect(listModelCalls(watched)).toHaveLength(3)
  })

  it('The budget of a task does not cover the time of reviews', async () => {
    const review = { timeoutMs: Infinity }
    const team = one(scriptedModel(['done']), { review, budget: { maxDurationMs: 100 } })
    const watched = watchRun(team, { clock, decidable: true })
    await clock.advance(3_600_000)
    await watched.handle.decide(findOpenReview(watched).reviewId, { action: 'CONTINUE' })
    expect((await watched.ended).status).toBe('COMPLETED')
  })
})

describe('[ENS-B2] [ENS-L21] concurrent work', () => {
  it('Concurrent work makes the calls of one turn up to the limit, in their order', async () => {
    const watched = await run(one(busy(5)), { budget: { maxToolCalls: 3 } })
    expect(toolCalls).toBe(3)
    expect(eventsOf(watched.events, 'tool_called').map(({ toolCallId }) => toolCallId)).toEqual([
      'call-1',
      'call-2',
      'call-3',
    ])
    expect(readEnds(watched)).toEqual({ a: 'BUDGET_EXCEEDED' })
  })

  it.each([
    ['maxModelCalls', 7],
    ['maxToolCalls', 7],
  ] as const)(
    'Concurrent work shares the limit of the run among tasks in PARALLEL: %s',
    async (limit, max) => {
      const tasks = ['a', 'b', 'c', 'd'].map((name) =>
        task({ name, description: name, tools: [work], model: busy(2) }),
      )
      const team = ensemble({ name: 'team', workflow: 'PARALLEL', tasks })
      const watched = await run(team, { budget: { [limit]: max } })
      const made = limit === 'maxToolCalls' ? toolCalls : listModelCalls(watched).length
      expect(made).toBe(max)
      expect((await watched.ended).status).toBe('FAILED')
    },
  )

  it('Concurrent work does not share the budget of one task with another', async () => {
    const tasks = ['a', 'b'].map((name) =>
      task({
        name,
        description: name,
        model: scriptedModel(['done']),
        budget: { maxModelCalls: 1 },
      }),
    )
    const watched = await run(ensemble({ name: 'team', workflow: 'PARALLEL', tasks }))
    expect(readEnds(watched)).toEqual({ a: 'completed', b: 'completed' })
  })
})

describe('[ENS-E15] an exhausted budget of the run', () => {
  const answering = (): ChatModel => scriptedModel(() => 'done')
  const handled = { name: 'h', description: 'H', handler: () => 'by hand' }

  it.each(['FAIL_FAST', 'CONTINUE_ON_ERROR'] as const)(
    'An exhausted budget of the run prevents every further task from starting, also tasks that need no budget (%s)',
    async (errorStrategy) => {
      const tasks = [
        task({ name: 'a', description: 'A', model: answering() }),
        task({ name: 'b', description: 'B', model: answering() }),
        task({ name: 'c', description: 'C', model: answering() }),
        task(handled),
      ]
      const team = ensemble({ name: 'team', workflow: 'SEQUENTIAL', errorStrategy, tasks })
      const watched = await run(team, { budget: { maxModelCalls: 1 } })
      expect(readEnds(watched)).toEqual({
        a: 'completed',
        b: 'BUDGET_EXCEEDED',
        c: 'skipped',
        h: 'skipped',
      })
      expect(await watched.ended).toMatchObject({ status: 'FAILED', output: 'done' })
      const message =
        errorStrategy === 'FAIL_FAST'
          ? 'Task "b" did not complete'
          : 'The budget of the run is used up: maxModelCalls is 1, used 1'
      expect(eventsOf(watched.events, 'task_skipped').map(({ reason }) => reason)).toEqual([
        message,
        message,
      ])
    },
  )

  it('An exhausted budget of the run is the error of the run, also after another failure', async () => {
    const tasks = [
      task({ name: 'a', description: 'A', model: scriptedModel([new Error('Broken')]) }),
      task({ name: 'b', description: 'B', model: answering() }),
      task(handled),
    ]
    const team = ensemble({
      name: 'team',
      workflow: 'SEQUENTIAL',
      errorStrategy: 'CONTINUE_ON_ERROR',
      modelRetries: 0,
      tasks,
    })
    const watched = await run(team, { budget: { maxModelCalls: 1 } })
    expect(readEnds(watched)).toEqual({ a: 'MODEL_FAILED', b: 'BUDGET_EXCEEDED', h: 'skipped' })
    expect(await watched.ended).toMatchObject({
      error: { code: 'BUDGET_EXCEEDED', details: { limit: 'maxModelCalls' } },
    })
  })

  it('An exhausted budget of the run ends only its task if it is the budget of a task', async () => {
    const tasks = [
      task({ name: 'a', description: 'A', tools: [work], model: busy(), budget: { maxTokens: 1 } }),
      task({ name: 'b', description: 'B', model: answering() }),
    ]
    const team = ensemble({ name: 'team', errorStrategy: 'CONTINUE_ON_ERROR', tasks })
    expect(readEnds(await run(team))).toEqual({ a: 'BUDGET_EXCEEDED', b: 'completed' })
  })

  it('A budget in the run options replaces that of the ensemble', async () => {
    const team = ensemble({ ...one(answering()), budget: { maxTokens: 1 } })
    const watched = await run(team, { budget: { maxModelCalls: 5 } })
    expect(readEnds(watched)).toEqual({ a: 'completed' })
  })
})

describe('[ENS-B5] a limit on cost', () => {
  it('A budget limit on cost accepts a price of the model itself', async () => {
    const price = { inputPerMillion: 0, outputPerMillion: 1_000_000 }
    const priced = { ...scriptedModel(() => 'done'), price }
    const result = await one(priced).run({}, { budget: { maxCostUsd: 99 } })
    expect(result).toMatchObject({
      status: 'COMPLETED',
      metrics: { costEstimate: { inputCost: 0 } },
    })
  })

  const cheap = (): ChatModel => scriptedModel(() => 'done', { provider: 'test', name: 'cheap' })

  it('A budget limit on cost rejects a run without prices, also for fallback models, and names every model', async () => {
    const budget = { maxCostUsd: 1 }
    await expect(one(cheap()).run({}, { budget })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message:
        'Cannot run "team": maxCostUsd cannot be enforced: no price for model "test:cheap"; pass the option ' +
        'prices: priceList({ "test:cheap": { inputPerMillion, outputPerMillion } })',
    })
    const team = one(busy(), { budget, fallbackModels: [cheap()] })
    await expect(team.run({}, { prices: PRICES })).rejects.toThrow('"test:cheap"')
  })

  it('A budget limit on cost fails the task after a switch to a model without a price', async () => {
    const watched = watchRun(one(busy()), { clock, prices: PRICES, budget: { maxCostUsd: 1 } })
    await clock.advance(50)
    watched.handle.switchModel(cheap())
    await clock.advance(1_000)
    expect(await watched.ended).toMatchObject({
      status: 'FAILED',
      error: {
        code: 'BUDGET_EXCEEDED',
        message: 'maxCostUsd cannot be enforced: no price for model "test:cheap"',
        details: { limit: 'maxCostUsd', model: 'test:cheap' },
      },
    })
    expect(listModelCalls(watched)).toEqual(['test:busy'])
  })
})

it('[ENS-B1] An invalid budget is rejected at the start with every problem', async () => {
  const bad = { maxTokens: 0, maxCalls: 3, maxToolCalls: Number.NaN }
  await expect(one(busy()).run({}, { budget: bad })).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringMatching(/maxTokens must be .* got 0; .*"maxCalls".*; .*maxToolCalls/),
  })
})
