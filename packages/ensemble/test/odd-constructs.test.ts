/** Tests of tasks with conditions, switches, lists, loops and ensembles in each other, with odd values and names. */
import { Type } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { condition, ensemble, task, type Task, type TaskDefinition } from '../src/index.ts'
import { MANAGER } from '../src/internal.ts'
import { delegate, readToolResults, teamModel } from './team-model.ts'
import { eventsOf, watchRun } from './watch-run.ts'

function say(name: string, more: Partial<TaskDefinition> = {}): Task {
  return task({ name, description: `Say ${name}`, handler: () => name, ...more })
}

const no = () => false
const yes = () => true

/** Returns tasks. The last one needs a task that is skipped only after `good` has ended. */
function createLateRoute(): readonly Task[] {
  const good = say('good')
  return [
    good,
    say('off', { when: condition(good, no) }),
    say('follower', { context: ['off'] }),
    say('further', { context: ['follower'] }),
    say('last', { context: ['further', 'good'] }),
  ]
}

describe('skipped tasks after each other', () => {
  it('[ENS-X5] A task runs although the last of its context was skipped when no other task was running', async () => {
    const { events, ended } = watchRun(ensemble({ name: 'team', tasks: createLateRoute() }))
    expect(await ended).toMatchObject({ status: 'COMPLETED', output: 'last' })
    expect(
      eventsOf(events, 'task_skipped').map(({ taskName, reason }) => [taskName, reason]),
    ).toEqual([
      ['off', 'Its condition is false'],
      ['follower', 'Task "off" was skipped'],
      ['further', 'Task "follower" was skipped'],
    ])
  })

  it('[ENS-P14] [ENS-X5] A task of a sub-ensemble runs although the last of its context was skipped when no other task was running', async () => {
    const inner = ensemble({ name: 'inner', tasks: createLateRoute() })
    const result = await ensemble({ name: 'team', tasks: [task({ ensemble: inner })] }).run()
    expect(result).toMatchObject({ status: 'COMPLETED', output: 'last' })
  })

  it('[ENS-X2] [ENS-X5] A run whose tasks are all skipped after each other is completed', async () => {
    const off = say('off', { when: no, output: Type.Array(Type.String()), handler: () => ['a'] })
    const each = task({
      name: 'each',
      description: 'Do {item}',
      handler: () => 'x',
      // NOTE: say() hides the type of the output.
      forEach: { over: off as Task<string[]> },
      switch: 'way',
      when: yes,
    })
    const tasks = [
      off,
      each,
      say('other', { switch: 'way' }),
      say('last', { context: ['each', 'other'] }),
    ]
    const { events, ended } = watchRun(ensemble({ name: 'team', tasks }))
    expect(await ended).toMatchObject({ status: 'COMPLETED', output: '' })
    expect(eventsOf(events, 'task_skipped').at(-1)).toMatchObject({
      taskName: 'last',
      reason: 'Task "each" was skipped',
      cause: 'CONDITION',
    })
  })
})

describe('names of added tasks', () => {
  it.each([
    ['["a","a/find"]', 1],
    ['["a","a/find"]', 4],
    ['["a/find","a"]', 1],
    ['["a/find","a"]', 4],
  ])(
    '[ENS-P5] An item does not get the output of a task of another item that has its name: %s, %i at a time',
    async (items, maxParallel) => {
      const find = say('find', { handler: ({ inputs }) => `of ${inputs['item']}` })
      const inner = ensemble({ name: 'inner', tasks: [find] })
      const each = task({
        name: 'each',
        ensemble: inner,
        forEach: { over: 'items', key: String, maxParallel },
      })
      const result = await ensemble({ name: 'team', tasks: [each] }).run({ items })
      expect(result.error).toMatchObject({
        code: 'CONFIG_INVALID',
        message:
          'Cannot add tasks: task "each/a/find": another task of the run has its name "each/a/find"',
      })
    },
  )

  it('[ENS-P16] A name that another task of a sub-ensemble gets in a retry is refused', () => {
    const inner = ensemble({ name: 'inner', tasks: [say('page'), say('page#2'), say('b#2')] })
    expect(() => task({ ensemble: inner })).toThrow(
      'Cannot create task "inner": ensemble: task "page#2" has a name that a retry of task "page" gets: rename one of them',
    )
  })

  it('[ENS-P15] Inputs can have the names of members of objects', async () => {
    const show = say('show', {
      description: '{__proto__} {constructor}',
      handler: ({ description }) => description,
    })
    const inner = ensemble({ name: 'inner', tasks: [show] })
    const source = say('source')
    const inputs = Object.fromEntries([
      ['__proto__', source],
      ['constructor', 'text'],
    ])
    const nested = task({ ensemble: inner, inputs })
    const result = await ensemble({ name: 'team', tasks: [source, nested] }).run()
    expect(result.output).toBe('source text')
    const adding = say('adding', { handler: (context) => context.task(show) })
    const lacking = await ensemble({ name: 'team', tasks: [adding] }).run()
    expect(lacking.error?.message).toBe(
      'Cannot add tasks: task "adding/show": missing inputs: __proto__, constructor',
    )
  })
})

describe('lists of tasks', () => {
  it('[ENS-P12] A task that a manager delegates before the task of its list fails with the name of that task', async () => {
    const list = task({
      name: 'list',
      description: 'List',
      output: Type.Array(Type.String()),
      handler: () => ['a'],
    })
    const each = task({
      name: 'each',
      description: 'Do {item}',
      handler: () => 'x',
      forEach: { over: list },
    })
    const model = teamModel({ [MANAGER]: [delegate(['each', 'Do']), 'done'] })
    const team = ensemble({ name: 'team', model, workflow: 'HIERARCHICAL', tasks: [list, each] })
    await team.run()
    expect(readToolResults(model.requestsOf(MANAGER).at(-1))).toEqual([
      'Error: each failed: The output of task "list" is needed, but the task is not completed',
    ])
  })

  it('[ENS-P16] An item cannot have the name of the variable with the output for a judge', () => {
    const judge = task({
      name: 'judge',
      description: 'Judge',
      output: Type.Boolean(),
      handler: yes,
    })
    const each = { name: 'each', description: 'Do {output}', handler: () => 'x' }
    const forEach = { over: 'items', as: 'output' }
    expect(() => task({ ...each, forEach, loop: { max: 2, until: { judge } } })).toThrow(
      'forEach.as must not be "output", which the loop of the task fills in',
    )
    expect(task({ ...each, forEach, loop: { max: 2 } }).name).toBe('each')
  })
})

describe('conditions in plans', () => {
  it('[ENS-P16] A judge and a reduction with a condition are refused when the task is defined', () => {
    const judge = task({
      name: 'judge',
      description: 'Judge',
      output: Type.Boolean(),
      handler: yes,
      when: yes,
    })
    const message = 'must not have when or switch, which apply only to tasks of an ensemble'
    const text = { name: 'text', description: 'Write {item}', handler: () => 'x' }
    expect(() => task({ ...text, loop: { max: 2, until: { judge } } })).toThrow(
      `Cannot create task "text": loop.until.judge ${message}`,
    )
    const forEach = { over: 'items', collect: { reduce: say('all', { when: yes }), maxTokens: 9 } }
    expect(() => task({ ...text, forEach })).toThrow(
      `Cannot create task "text": forEach.collect.reduce ${message}`,
    )
  })

  it('[ENS-P19] [ENS-X1] A condition that changes the values that it reads changes no output', async () => {
    const Count = Type.Object({ counts: Type.Array(Type.Number()) })
    const count = task({
      name: 'count',
      description: 'Count {round}',
      output: Count,
      handler: ({ inputs }) => ({ counts: [2, Number(inputs['round'])] }),
      loop: {
        max: 2,
        result: 'all',
        until: ({ counts }, { outputs }) => {
          counts.length = 0
          return outputs.length > 2
        },
        onMax: 'accept',
      },
    })
    const clear = condition(count, (rounds = []) => {
      for (const { counts } of rounds) counts.length = 0
      return true
    })
    const full = condition(count, (rounds = []) => rounds[1]?.counts.length === 2)
    const tasks = [count, say('clear', { when: clear }), say('full', { when: full })]
    const result = await ensemble({ name: 'team', tasks }).run()
    expect(result.outputOf(count)).toEqual([{ counts: [2, 1] }, { counts: [2, 2] }])
    expect(result.output).toBe('full')
  })
})
