/** Switching the model of a run or of a task, at every moment at which a call may be. */
import { defineTextTool, sleep, TuttiError } from '@tutti/core'
import { beforeEach, describe, expect, it } from 'vitest'

import { ensemble, modelCatalog, task, type ChatModel, type Ensemble } from '../src/index.ts'
import { endsOf, modelsAsked } from './read-run.ts'
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

/** Two tasks that call a tool, then answer, with one model for both. */
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

describe('[ENS-S2] [ENS-L17] a switch counts from the next model call on', () => {
  it('of the run, while a model streams: the call in flight ends with the old one', async () => {
    const old = named('old', [{ text: 'one two three', ...CALL }, 'never'], 50)
    const run = start(one(old))
    await clock.advance(60)
    expect(run.handle.switchModel('fast')).toEqual({ model: 'fast', previousModel: 'test:old' })
    await clock.advance(5_000)
    expect((await run.ended).output).toBe('fast')
    expect(modelsAsked(run)).toEqual(['test:old', 'fast'])
    const tokens = eventsOf(run.events, 'token').map(({ token }) => token)
    expect(tokens).toEqual(['one', ' two', ' three', 'fast'])
    expect(eventsOf(run.events, 'llm_iteration_completed').map(({ model }) => model)).toEqual([
      'test:old',
      'fast',
    ])
  })

  it('of the run, while tools run: all its tasks', async () => {
    const run = start(pair(named('old', () => CALL)))
    await clock.advance(500)
    run.handle.switchModel('fast')
    await clock.advance(5_000)
    expect((await run.ended).tasks.map(({ output }) => output)).toEqual(['fast', 'fast'])
    expect(modelsAsked(run)).toEqual(['test:old', 'test:old', 'fast', 'fast'])
  })

  it('of one task, by name or by object: the others keep theirs', async () => {
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

  it('the last one counts, also one of the run over one of a task', async () => {
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

  it('a model that has no alias goes by provider and name', async () => {
    const run = start(one(named('old', [CALL])))
    await clock.advance(10)
    expect(run.handle.switchModel(named('own', ['own']))).toEqual({
      model: 'test:own',
      previousModel: 'test:old',
    })
    await clock.advance(5_000)
    expect((await run.ended).output).toBe('own')
  })

  it('a task that has not begun begins with it', async () => {
    const tasks = ['a', 'b'].map((name) =>
      task({ name, description: name, model: named(`${name}-own`, ['own'], 100) }),
    )
    const run = start(ensemble({ name: 'team', tasks }))
    run.handle.switchModel('fast', { task: 'b' })
    await clock.advance(1_000)
    await run.ended
    expect(modelsAsked(run)).toEqual(['test:a-own', 'fast'])
  })
})

describe('[ENS-S2] [ENS-L16] when calls fail', () => {
  it('during the wait for a retry: the retry goes to the new model, with retries of its own', async () => {
    const run = start(one(named('old', overloaded)))
    await clock.advance(100)
    expect(eventsOf(run.events, 'llm_iteration_failed')).toHaveLength(1)
    run.handle.switchModel(named('new', [overloaded(), overloaded(), 'done']))
    await clock.advance(120_000)
    expect((await run.ended).output).toBe('done')
    expect(modelsAsked(run)).toEqual(['test:old', 'test:new', 'test:new', 'test:new'])
  })

  it('a call that fails for good after a switch is followed by the new model', async () => {
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

  it('the fallbacks come after the new model, as after the old one', async () => {
    const fallback = named('fallback', () => 'saved')
    const run = start(one(named('old', [CALL]), { fallbackModels: [fallback] }))
    await clock.advance(10)
    run.handle.switchModel(named('new', broken))
    await clock.advance(10_000)
    expect((await run.ended).output).toBe('saved')
    expect(modelsAsked(run)).toEqual(['test:old', 'test:new', 'test:fallback'])
  })

  it('a fallback stays until somebody switches, also back to the model that failed', async () => {
    const old = named('old', [broken(), 'old is back'])
    const fallback = named('fallback', () => CALL)
    const run = start(one(old, { fallbackModels: [fallback] }))
    await clock.advance(1_500)
    expect(modelsAsked(run)).toEqual(['test:old', 'test:fallback', 'test:fallback'])
    run.handle.switchModel(old)
    await clock.advance(10_000)
    expect((await run.ended).output).toBe('old is back')
  })

  it('a task that is tried again keeps what it was switched to', async () => {
    const tasks = [task({ name: 'a', description: 'A', retries: 1 })]
    const run = start(ensemble({ name: 'team', tasks, model: named('old', []), modelRetries: 0 }))
    run.handle.switchModel(named('new', [overloaded(), 'done']))
    await clock.advance(120_000)
    expect((await run.ended).tasks).toMatchObject([{ attempt: 2, output: 'done' }])
    expect(modelsAsked(run)).toEqual(['test:new', 'test:new'])
  })
})

describe('[ENS-S3] a switch that does not fit is refused and changes nothing', () => {
  it('to an alias that the catalog does not have: the known ones are named', async () => {
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

  it('by alias in a run that has no catalog, or for an unknown task', async () => {
    const run = watchRun(pair(named('old', () => 'old', 10)), { clock })
    expect(() => run.handle.switchModel('fast')).toThrow(
      "Unknown model 'fast': the run has no catalog of models",
    )
    expect(() => run.handle.switchModel(named('new', []), { task: 'c' })).toThrow(
      'Cannot switch the model: no task is named "c". Available: [a, b]',
    )
    await clock.advance(100)
    expect(endsOf(run)).toEqual({ a: 'completed', b: 'completed' })
    await run.ended
    expect(modelsAsked(run)).toEqual(['test:old', 'test:old'])
  })

  it('when the run is over', async () => {
    const run = start(one(named('old', ['old'])))
    await run.ended
    expect(() => run.handle.switchModel('fast')).toThrow(
      expect.objectContaining({ code: 'RUN_COMPLETED' }),
    )
  })
})
