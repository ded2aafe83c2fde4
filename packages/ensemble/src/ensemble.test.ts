import { describe, expect, it } from 'vitest'

import { scriptedModel } from '../test/testing.ts'
import { agent } from './definition/agent.ts'
import { ensemble, run } from './ensemble.ts'
import { task } from './definition/define-task.ts'

const model = scriptedModel(() => 'done')
const first = task({ name: 'first', description: 'Do it' })
const second = task({ name: 'second', description: 'Go on', context: [first] })

describe('ensemble', () => {
  it('ensemble() fills in defaults', () => {
    expect(ensemble({ name: 'pair', tasks: [first], model })).toMatchObject({
      name: 'pair',
      description: '',
      plan: { workflow: 'SEQUENTIAL', order: ['first'] },
      errorStrategy: 'FAIL_FAST',
      maxConcurrentTasks: 16,
      maxToolOutputLength: 100_000,
    })
  })

  it('[ENS-W3] ensemble() infers its workflow unless it is set', () => {
    const tasks = [first, second]
    expect(ensemble({ name: 'pair', tasks, model }).plan.workflow).toBe('PARALLEL')
    const workflow = 'SEQUENTIAL'
    expect(ensemble({ name: 'pair', tasks, model, workflow }).plan.workflow).toBe(workflow)
  })

  it('ensemble() accepts a copy of an ensemble with a change, without its inferred values', async () => {
    const pair = ensemble({ name: 'pair', tasks: [first, second], model, maxConcurrentTasks: 2 })
    const other = scriptedModel(() => 'done by another')
    const copy = ensemble({ ...pair, tasks: [first], model: other })
    expect(copy).toMatchObject({ name: 'pair', maxConcurrentTasks: 2, plan: { order: ['first'] } })
    expect(copy.plan.workflow).toBe('SEQUENTIAL')
    expect((await copy.run()).output).toBe('done by another')
    expect((await pair.run()).tasks).toHaveLength(2)
    const explicit = ensemble({ ...pair, workflow: 'SEQUENTIAL' })
    expect(ensemble({ ...explicit, name: 'duo' }).plan.workflow).toBe('SEQUENTIAL')
  })

  it('ensemble() needs no model if every task has one', () => {
    const tasks = [
      task({ description: 'Do it', model }),
      task({ description: 'Go on', agent: agent({ role: 'Writer', goal: 'Write', model }) }),
    ]
    const made = ensemble({ name: 'pair', tasks })
    expect(made).not.toHaveProperty('model')
  })

  it('[ENS-W8] ensemble() rejects an invalid definition with every problem at once', () => {
    const make = (): unknown =>
      ensemble({
        name: ' ',
        tasks: [
          task({ name: 'a', description: 'Do it', context: ['b', 'x'] }),
          task({ name: 'b', description: 'Do it', context: ['a'], model }),
          task({ name: 'b', description: 'Do it', model }),
        ],
        maxConcurrentTasks: 0,
      })
    const problems = [
      'two tasks are named "b"',
      'task "a": context names an unknown task "x". Available: [a, b]',
      'name must not be blank',
      'maxConcurrentTasks must be an integer >= 1, got 0',
    ]
    expect(make).toThrow(`Cannot create ensemble " ": ${problems.join('; ')}`)
    expect(make).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID', details: { problems } }))
  })

  it('[ENS-W8] ensemble() rejects a cycle with the message of the cycle alone', () => {
    const tasks = [
      task({ name: 'a', description: 'Do it', context: ['b'] }),
      task({ name: 'b', description: 'Do it', context: ['a'] }),
    ]
    const make = (): unknown => ensemble({ name: 'pair', tasks, model })
    expect(make).toThrow(/^Tasks form a cycle: a → b → a$/)
    expect(make).toThrow(expect.objectContaining({ code: 'CIRCULAR_DEPENDENCY' }))
    expect(() => ensemble({ name: '', tasks, model })).toThrow(
      'Cannot create ensemble "": Tasks form a cycle: a → b → a; name must not be blank',
    )
  })

  it.each([0, -1, 1.5, Number.NaN])(
    'ensemble() rejects a maxConcurrentTasks of %d',
    (maxConcurrentTasks) => {
      expect(() => ensemble({ name: 'one', tasks: [first], model, maxConcurrentTasks })).toThrow(
        `maxConcurrentTasks must be an integer >= 1, got ${maxConcurrentTasks}`,
      )
    },
  )

  it('ensemble() can run several times independently', async () => {
    const team = ensemble({ name: 'pair', tasks: [first, second], model })
    const [one, two] = await Promise.all([team.run(), team.run()])
    expect(one).toMatchObject({ status: 'COMPLETED', output: 'done' })
    expect(two).toMatchObject({ status: 'COMPLETED', output: 'done' })
    expect(one.runId).not.toBe(two.runId)
  })
})

describe('run', () => {
  it('run() runs a text with a model', async () => {
    const model = scriptedModel(() => 'Tides rise and fall.')
    const { status, output } = await run(model, 'Explain {topic}', { inputs: { topic: 'tides' } })
    expect([status, output]).toEqual(['COMPLETED', 'Tides rise and fall.'])
    expect(JSON.stringify(model.requests[0]?.messages)).toContain('Explain tides')
  })

  it('run() runs several tasks in order', async () => {
    const find = task({ name: 'find', description: 'Find it' })
    const sum = task({ name: 'sum', description: 'Sum up', context: [find] })
    const result = await run(
      scriptedModel(() => 'done'),
      [find, sum],
    )
    expect(result.tasks.map(({ taskName }) => taskName)).toEqual(['find', 'sum'])
  })

  it('run() rejects an unknown option and a missing input', async () => {
    const model = scriptedModel(() => 'done')
    await expect(run(model, 'Explain {topic}')).rejects.toThrow('missing inputs: topic')
    await expect(run(model, 'Explain', { input: {} } as never)).rejects.toThrow('unknown option')
  })
})
