/** Tests of model tiers: switches by commands, directives and rules. */
import { defineTextTool, TuttiError } from '@tutti/core'
import { sleep } from '@tutti/core/internal'
import { runStateAfter } from '@tutti/protocol'
import { beforeEach, describe, expect, it } from 'vitest'

import type { ChatModel } from '../src/adapter.ts'
import { ensemble, modelCatalog, task, type ModelRule } from '../src/index.ts'
import { listModelCalls } from './read-run.ts'
import { fakeClock, scriptedModel, type FakeClock } from './testing.ts'
import { eventsOf, watchRun, type WatchedRun } from './watch-run.ts'

let clock: FakeClock

beforeEach(() => {
  clock = fakeClock()
})

function named(
  name: string,
  script?: Parameters<typeof scriptedModel>[0],
  delayMs = 10,
): ChatModel {
  return scriptedModel(script ?? (() => name), { provider: 'test', name, clock, delayMs })
}

const slow = defineTextTool({
  name: 'slow',
  description: 'Takes 1 s',
  async execute() {
    await sleep(clock, 1_000)
    return 'slept'
  },
})

const models = () =>
  modelCatalog(
    { quick: named('quick', undefined, 1_000), deep: named('deep') },
    { tiers: { fast: 'quick' } },
  )

/** Starts three tasks in sequence: two with the model of the ensemble, one with its own. */
function start(rest: object = {}): WatchedRun {
  const tasks = [
    task({ name: 'a', description: 'A' }),
    task({ name: 'b', description: 'B', model: named('own'), fallbackModels: [named('spare')] }),
    task({ name: 'c', description: 'C' }),
  ]
  const model = named('main')
  const fallbackModels = [named('reserve')]
  const team = ensemble({ name: 'team', model, fallbackModels, tasks, ...rest })
  return watchRun(team, {
    clock,
    models: models(),
    profiles: { night: { modelTier: 'fast' }, small: {} },
  })
}

async function end(run: WatchedRun): Promise<readonly string[]> {
  await clock.advance(120_000)
  await run.ended
  return listModelCalls(run)
}

describe('[ENS-S2] [ENS-S7] a switch to a tier', () => {
  it('A switch to a tier of the catalog uses one model for all tasks, by its alias, in any case of the name', async () => {
    const run = start()
    expect(run.handle.switchModel({ tier: 'FAST' })).toEqual({ model: 'quick', tier: 'fast' })
    expect(await end(run)).toEqual(['quick', 'quick', 'quick'])
    expect(eventsOf(run.events, 'model_switched')).toMatchObject([{ model: 'quick', tier: 'fast' }])
  })

  it('FALLBACK uses the first fallback model of each task, with one event per task', async () => {
    const run = start()
    expect(run.handle.switchModel({ tier: 'fallback' })).toEqual({
      model: 'FALLBACK',
      tier: 'FALLBACK',
    })
    expect(await end(run)).toEqual(['test:reserve', 'test:spare', 'test:reserve'])
    expect(eventsOf(run.events, 'model_switched')).toMatchObject([
      { taskName: 'a', model: 'test:reserve', previousModel: 'test:main', tier: 'FALLBACK' },
      { taskName: 'b', model: 'test:spare', previousModel: 'test:own', tier: 'FALLBACK' },
      { taskName: 'c', model: 'test:reserve', previousModel: 'test:main', tier: 'FALLBACK' },
    ])
  })

  it('PRIMARY returns each task to its own model', async () => {
    const run = start()
    run.handle.switchModel('deep')
    run.handle.switchModel({ tier: 'PRIMARY' })
    expect(await end(run)).toEqual(['test:main', 'test:own', 'test:main'])
  })

  it('PRIMARY also replaces a fallback model in use', async () => {
    const model = named('main', [new TuttiError('MODEL_FAILED', 'No such key'), 'again'])
    const call = { toolCalls: [{ name: 'slow', arguments: { input: '' } }] }
    const tasks = [task({ name: 'a', description: 'A', tools: [slow] })]
    const run = start({ model, tasks, fallbackModels: [named('reserve', () => call)] })
    await clock.advance(500)
    run.handle.switchModel({ tier: 'PRIMARY' })
    expect(await end(run)).toEqual(['test:main', 'test:reserve', 'test:main'])
  })

  it('A switch to a tier of one task does not change the others', async () => {
    const run = start()
    expect(run.handle.switchModel({ tier: 'FALLBACK' }, { task: 'b' })).toEqual({
      model: 'test:spare',
      previousModel: 'test:own',
      tier: 'FALLBACK',
    })
    expect(await end(run)).toEqual(['test:main', 'test:spare', 'test:main'])
  })

  it('A switch to a tier is shown with the run until the next switch of the run', async () => {
    const run = start()
    run.handle.switchModel({ tier: 'fast' })
    expect(runStateAfter(run.events)).toMatchObject({ model: 'quick', modelTier: 'fast' })
    run.handle.switchModel('deep')
    const state = runStateAfter(run.events)
    expect([state.model, state.modelTier]).toEqual(['deep', undefined])
    await end(run)
  })

  it.each([
    [
      'fats',
      {},
      "Unknown model tier 'fats'. Available: [PRIMARY, FALLBACK, fast] Did you mean 'fast'?",
    ],
    [
      'FALLBACK',
      { fallbackModels: [], tasks: [task({ name: 'a', description: 'A' })] },
      'no task has',
    ],
  ])(
    'The tier %s is rejected if it does not exist, with the available ones',
    async (tier, rest, message) => {
      const run = start(rest)
      expect(() => run.handle.switchModel({ tier })).toThrow(
        expect.objectContaining({
          code: 'INVALID_MODEL',
          message: expect.stringContaining(message),
        }),
      )
      await end(run)
      expect(eventsOf(run.events, 'model_switched')).toEqual([])
    },
  )
})

describe('[ENS-S6] a directive with an action', () => {
  it('SET_MODEL_TIER switches the tier and is recorded with its switch', async () => {
    const run = start()
    run.handle.inject({ action: 'SET_MODEL_TIER', value: 'fast', from: 'ops', actor: 'ci' })
    expect(await end(run)).toEqual(['quick', 'quick', 'quick'])
    expect(
      run.events.slice(-100).filter(({ type }) => /^(directive|model)_/.test(type)),
    ).toMatchObject([
      {
        type: 'directive_active',
        action: 'SET_MODEL_TIER',
        value: 'fast',
        from: 'ops',
        actor: 'ci',
      },
      { type: 'model_switched', model: 'quick', tier: 'fast', actor: 'ci' },
    ])
  })

  it('APPLY_PROFILE switches to the tier of the profile, and the run shows the profile', async () => {
    const run = start()
    run.handle.inject({ action: 'APPLY_PROFILE', value: 'night' })
    expect(runStateAfter(run.events)).toMatchObject({ profile: 'night', modelTier: 'fast' })
    expect(await end(run)).toEqual(['quick', 'quick', 'quick'])
  })

  it.each([
    [{ action: 'SET_MODEL_TEIR', value: 'fast' }, 'Did you mean "SET_MODEL_TIER"?'],
    [{ action: 'SET_MODEL_TIER' }, 'SET_MODEL_TIER needs a value'],
    [{ action: 'SET_MODEL_TIER', value: 'fast', content: 'Hurry' }, 'takes no content'],
    [{ action: 'SET_MODEL_TIER', value: 'fast', ttlMs: 5 }, 'takes no ttlMs'],
    [{ action: 'APPLY_PROFILE', value: 'nihgt' }, 'Did you mean "night"?'],
    [{ action: 'APPLY_PROFILE', value: 'small' }, 'has no modelTier'],
    [{ value: 'fast', content: 'Hurry' }, 'value needs an action'],
  ])(
    'A directive with an action is rejected and changes nothing if it is invalid: %j',
    async (input, message) => {
      const run = start()
      expect(() => run.handle.inject(input)).toThrow(
        expect.objectContaining({ code: 'BAD_REQUEST', message: expect.stringContaining(message) }),
      )
      await end(run)
      expect(eventsOf(run.events, 'directive_active')).toEqual([])
    },
  )
})

describe('[ENS-S8] a rule', () => {
  const busy = (): TuttiError => new TuttiError('MODEL_FAILED', 'Busy', { retryable: true })

  it('A tier rule on errors switches once, after the call with which its limit is exceeded', async () => {
    const modelRules: ModelRule[] = [{ metric: 'errorRate', above: 0.5, over: 2, tier: 'fast' }]
    const run = start({
      model: named('main', busy),
      modelRules,
      modelRetries: 5,
      fallbackModels: [],
    })
    const switches = () => eventsOf(run.events, 'model_switched')
    while (switches().length === 0) await clock.advance(100)
    await clock.advance(10_000)
    expect(await end(run)).toEqual(['test:main', 'test:main', 'quick', 'quick', 'quick'])
    expect(switches()).toMatchObject([
      { model: 'quick', tier: 'fast', rule: 'errorRate above 0.5 over 2 calls' },
    ])
  })

  it('A tier rule that has switched does not undo a later command', async () => {
    const modelRules: ModelRule[] = [{ metric: 'errorRate', above: 0.5, over: 1, tier: 'fast' }]
    const model = named('main', [busy(), busy(), busy(), 'a', 'c'])
    const run = start({ model, modelRules, modelRetries: 5, fallbackModels: [] })
    const switches = () => eventsOf(run.events, 'model_switched')
    while (switches().length === 0) await clock.advance(1)
    run.handle.switchModel({ tier: 'PRIMARY' })
    expect((await end(run)).filter((asked) => asked !== 'test:main')).toEqual(['test:own'])
    expect(switches().filter(({ rule }) => rule !== undefined)).toHaveLength(1)
  })

  it('A tier rule on cost counts all calls of the run', async () => {
    const modelRules: ModelRule[] = [{ metric: 'costUsd', above: 1.5, tier: 'fast' }]
    const run = start({ modelRules })
    expect(await end(run)).toHaveLength(3)
    expect(eventsOf(run.events, 'model_switched')).toEqual([])
  })

  it('A tier rule on latency uses the mean of the last calls', async () => {
    const modelRules: ModelRule[] = [{ metric: 'latencyMs', above: 400, over: 2, tier: 'FALLBACK' }]
    const run = start({ model: named('main', () => 'main', 500), modelRules })
    expect(await end(run)).toEqual(['test:main', 'test:own', 'test:main'])
    const slow = start({
      model: named('main', () => 'main', 500),
      modelRules,
      tasks: ['a', 'b', 'c'].map((name) => task({ name, description: name })),
    })
    expect(await end(slow)).toEqual(['test:main', 'test:main', 'test:reserve'])
  })

  it.each([
    [{ metric: 'errors', above: 1, tier: 'fast' }, 'modelRules[0].metric must be one of'],
    [{ metric: 'errorRate', above: 1, tier: 'fast' }, 'above must be a number >= 0 and < 1, got 1'],
    [{ metric: 'latencyMs', above: -1, tier: 'fast' }, 'above must be a number >= 0, got -1'],
    [{ metric: 'costUsd', above: 1, tier: ' ' }, 'tier must not be blank'],
    [
      { metric: 'latencyMs', above: 1, tier: 'fast', over: 0 },
      'over must be an integer >= 1, got 0',
    ],
    [{ metric: 'costUsd', above: 1, tier: 'fast', ovre: 3 }, 'modelRules[0]'],
  ])('A tier rule is rejected with its ensemble if it is invalid: %j', (rule, message) => {
    expect(() => start({ modelRules: [rule] })).toThrow(message)
  })

  it('A tier rule with an unknown tier is rejected before the run starts', () => {
    const modelRules: ModelRule[] = [{ metric: 'costUsd', above: 1, tier: 'best' }]
    expect(() => start({ modelRules })).toThrow("modelRules[0]: Unknown model tier 'best'")
  })
})

describe('modelCatalog', () => {
  it.each([
    [{ fast: 'quikc' }, 'the tier "fast" names the unknown model \'quikc\''],
    [{ Primary: 'quick' }, 'is reserved'],
    [{ fast: 'quick', FAST: 'quick' }, 'is defined twice'],
    [{ ' ': 'quick' }, 'must not be blank'],
  ])('modelCatalog rejects the tiers %j', (tiers, message) => {
    expect(() => modelCatalog({ quick: named('quick') }, { tiers })).toThrow(message)
  })
})
