/** Tests of switching the model of a run or a task at every moment of a call. */
import { defineTextTool, TuttiError } from '@tutti/core'
import { sleep } from '@tutti/core/internal'
import { beforeEach, describe, expect, it } from 'vitest'

import type { ChatModel } from '../src/adapter.ts'
import { ensemble, modelCatalog, task, type Ensemble } from '../src/index.ts'
import { readEnds, listModelCalls } from './read-run.ts'
import { fakeClock, scriptedModel, type FakeClock } from './testing.ts'
import { eventsOf, watchRun, type WatchedRun } from './watch-run.ts'

let clock: FakeClock

beforeEach(() => {
  clock = fakeClock()
})

const overloaded = (): TuttiError =>
  new TuttiError('MODEL_FAILED', 'Overloaded', { retryable: true })
const broken = (): TuttiError => new TuttiError('MODEL_FAILED', 'No such key')

function named(name: string, script: Parameters<typeof scriptedModel>[0], delayMs = 0): ChatModel {
  return scriptedModel(script, { provider: 'test', name, clock, delayMs })
}

const CALL = { toolCalls: [{ name: 'slow', arguments: { input: '' } }] }

const slow = defineTextTool({
  name: 'slow',
  description: 'Takes 1 s',
  async execute() {
    await sleep(clock, 1_000)
    return 'slept'
  },
})

/** Returns an ensemble of two tasks that call a tool and then answer with the same model. */
function pair(model: ChatModel, rest: object = {}): Ensemble {
  const tasks = ['a', 'b'].map((name) => task({ name, description: name, tools: [slow] }))
  return ensemble({ name: 'team', workflow: 'PARALLEL', model, tasks, ...rest })
}

function one(model: ChatModel, rest: object = {}): Ensemble {
  return ensemble({
    name: 'team',
    model,
    tasks: [task({ name: 'a', description: 'A', tools: [slow] })],
    ...rest,
  })
}

function start(team: Ensemble): WatchedRun {
  const models = modelCatalog({
    fast: named('fast', () => 'fast'),
    deep: named('deep', () => 'deep'),
  })
  return watchRun(team, { clock, models })
}

describe('[ENS-S2] [ENS-L17] a switch', () => {
  it('A model switch of the run while a model streams applies after the call in flight', async () => {
    const old = named('old', [{ text: 'one two three', ...CALL }, 'never'], 50)
    const run = start(one(old))
    await clock.advance(60)
    expect(run.handle.switchModel('fast')).toEqual({ model: 'fast', previousModel: 'test:old' })
    await clock.advance(5_000)
    expect((await run.ended).output).toBe('fast')
    expect(listModelCalls(run)).toEqual(['test:old', 'fast'])
    const tokens = eventsOf(run.events, 'token').map(({ token }) => token)
    expect(tokens).toEqual(['one', ' two', ' three', 'fast'])
    expect(eventsOf(run.events, 'llm_iteration_completed').map(({ model }) => model)).toEqual([
      'test:old',
      'fast',
    ])
  })

  it('A model switch of the run while tools run applies to all its tasks', async () => {
    const run = start(pair(named('old', () => CALL)))
    await clock.advance(500)
    run.handle.switchModel('fast')
    await clock.advance(5_000)
    expect((await run.ended).tasks.map(({ output }) => output)).toEqual(['fast', 'fast'])
    expect(listModelCalls(run)).toEqual(['test:old', 'test:old', 'fast', 'fast'])
  })

  it('A model switch of one task, by name or by object, does not apply to the others', async () => {
    const old = named('old', ({ messages }) => (messages.length > 2 ? 'old' : CALL))
    const team = pair(old)
    const run = start(team)
    await clock.advance(500)
    run.handle.switchModel('fast', { task: 'a' })
    await clock.advance(5_000)
    expect((await run.ended).tasks.map(({ output }) => output)).toEqual(['fast', 'old'])
    const again = start(team)
    const [, second] = team.tasks
    if (second === undefined) throw new Error('There are two')
    again.handle.switchModel('deep', { task: second })
    await clock.advance(5_000)
    expect((await again.ended).tasks.map(({ output }) => output)).toEqual(['old', 'deep'])
  })

  it('A model switch is replaced by the last one, also one of a task by one of the run', async () => {
    const run = start(pair(named('old', () => CALL)))
    await clock.advance(500)
    expect(run.handle.switchModel('deep', { task: 'a' })).toEqual({
      model: 'deep',
      previousModel: 'test:old',
    })
    expect(run.handle.switchModel('fast')).toEqual({ model: 'fast', previousModel: 'test:old' })
    expect(run.handle.switchModel('deep', { task: 'b' })).toEqual({
      model: 'deep',
      previousModel: 'fast',
    })
    await clock.advance(5_000)
    expect((await run.ended).tasks.map(({ output }) => output)).toEqual(['fast', 'deep'])
    const switchedAt = new Date(clock.now() - 5_000).toISOString()
    expect(eventsOf(run.events, 'model_switched')).toEqual([
      {
        type: 'model_switched',
        model: 'deep',
        previousModel: 'test:old',
        taskName: 'a',
        switchedAt,
      },
      { type: 'model_switched', model: 'fast', previousModel: 'test:old', switchedAt },
      {
        type: 'model_switched',
        model: 'deep',
        previousModel: 'fast',
        taskName: 'b',
        switchedAt,
      },
    ])
  })

  it('A model switch to a model without an alias is labeled with provider and name', async () => {
    const run = start(one(named('old', [CALL])))
    await clock.advance(10)
    expect(run.handle.switchModel(named('own', ['own']))).toEqual({
      model: 'test:own',
      previousModel: 'test:old',
    })
    await clock.advance(5_000)
    expect((await run.ended).output).toBe('own')
  })

  it('A model switch applies to a task that has not begun', async () => {
    const tasks = ['a', 'b'].map((name) =>
      task({ name, description: name, model: named(`${name}-own`, ['own'], 100) }),
    )
    const run = start(ensemble({ name: 'team', tasks }))
    run.handle.switchModel('fast', { task: 'b' })
    await clock.advance(1_000)
    await run.ended
    expect(listModelCalls(run)).toEqual(['test:a-own', 'fast'])
  })
})

describe('[ENS-S2] [ENS-L16] a switch with failing calls', () => {
  it('A model switch with failing calls during the wait for a retry makes the retry use the new model, with all its retries', async () => {
    const run = start(one(named('old', overloaded)))
    await clock.advance(100)
    expect(eventsOf(run.events, 'llm_iteration_failed')).toHaveLength(1)
    run.handle.switchModel(named('new', [overloaded(), overloaded(), 'done']))
    await clock.advance(120_000)
    expect((await run.ended).output).toBe('done')
    expect(listModelCalls(run)).toEqual(['test:old', 'test:new', 'test:new', 'test:new'])
  })

  it('A model switch with failing calls before a call fails for good makes the new model follow', async () => {
    const dying: ChatModel = {
      ...named('old', []),
      async *stream() {
        yield { type: 'text', text: 'one' }
        await sleep(clock, 100)
        throw broken()
      },
    }
    const run = start(one(dying, { fallbackModels: [named('fallback', ['never'])] }))
    await clock.advance(50)
    run.handle.switchModel('fast')
    await clock.advance(10_000)
    expect((await run.ended).output).toBe('fast')
    expect(eventsOf(run.events, 'llm_iteration_failed')).toMatchObject([
      { model: 'test:old', nextModel: 'fast' },
    ])
  })

  it('A model switch with failing calls keeps the fallback models, which follow the new model', async () => {
    const fallback = named('fallback', () => 'saved')
    const run = start(one(named('old', [CALL]), { fallbackModels: [fallback] }))
    await clock.advance(10)
    run.handle.switchModel(named('new', broken))
    await clock.advance(10_000)
    expect((await run.ended).output).toBe('saved')
    expect(listModelCalls(run)).toEqual(['test:old', 'test:new', 'test:fallback'])
  })

  it('A model switch with failing calls replaces a fallback model in use, also when it is back to the failed model', async () => {
    const old = named('old', [broken(), 'old is back'])
    const fallback = named('fallback', () => CALL)
    const run = start(one(old, { fallbackModels: [fallback] }))
    await clock.advance(1_500)
    expect(listModelCalls(run)).toEqual(['test:old', 'test:fallback', 'test:fallback'])
    run.handle.switchModel(old)
    await clock.advance(10_000)
    expect((await run.ended).output).toBe('old is back')
  })

  it('A model switch with failing calls still applies when the task is retried', async () => {
    const tasks = [task({ name: 'a', description: 'A', retries: 1 })]
    const run = start(ensemble({ name: 'team', tasks, model: named('old', []), modelRetries: 0 }))
    run.handle.switchModel(named('new', [overloaded(), 'done']))
    await clock.advance(120_000)
    expect((await run.ended).tasks).toMatchObject([{ attempt: 2, output: 'done' }])
    expect(listModelCalls(run)).toEqual(['test:new', 'test:new'])
  })
})

describe('[ENS-S3] an invalid switch is rejected and changes nothing', () => {
  it('A model switch to an unknown alias is rejected with the known ones, and changes nothing', async () => {
    const run = start(one(named('old', ['old'], 10)))
    expect(() => run.handle.switchModel('fats')).toThrow(
      expect.objectContaining({
        code: 'INVALID_MODEL',
        message: expect.stringMatching(/fats.*(fast.*deep|deep.*fast)/),
      }),
    )
    await clock.advance(100)
    expect((await run.ended).output).toBe('old')
    expect(eventsOf(run.events, 'model_switched')).toEqual([])
  })

  it('A model switch by alias in a run without a catalog, or of an unknown task, is rejected', async () => {
    const run = watchRun(pair(named('old', () => 'old', 10)), { clock })
    expect(() => run.handle.switchModel('fast')).toThrow(
      "Unknown model 'fast': the run has no catalog of models",
    )
    expect(() => run.handle.switchModel(named('new', []), { task: 'c' })).toThrow(
      'Cannot switch the model: no task is named "c". Available: [a, b]',
    )
    await clock.advance(100)
    expect(readEnds(run)).toEqual({ a: 'completed', b: 'completed' })
    await run.ended
    expect(listModelCalls(run)).toEqual(['test:old', 'test:old'])
  })

  it('A model switch after the end of the run is rejected', async () => {
    const run = start(one(named('old', ['old'])))
    await run.ended
    expect(() => run.handle.switchModel('fast')).toThrow(
      expect.objectContaining({ code: 'RUN_COMPLETED' }),
    )
  })
})
