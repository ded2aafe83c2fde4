/** Tests of ensembles as tasks. */
import { Type } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { agent, ensemble, task, type Ensemble, type Task } from '../src/index.ts'
import { applyToUnowned, describeCode, type RunStep } from '../src/internal.ts'
import type { ChatModel } from '../src/adapter.ts'
import { runToEnd, startRecorded } from './recorded-run.ts'
import { scriptedModel } from './testing.ts'
import { eventsOf, nextTurn, watchRun } from './watch-run.ts'

/** Returns a model that answers with the line of its task. */
function echo() {
  return scriptedModel(({ messages }) => {
    const text = messages.at(-1)?.content ?? ''
    return /^(?:Find|Write) .*/m.exec(text)?.[0] ?? 'nothing'
  })
}

const City = Type.Object({ name: Type.String(), country: Type.String() })
const pick = task({
  name: 'pick',
  description: 'Pick',
  output: City,
  handler: () => ({ name: 'Brest', country: 'France' }),
})

function createTrip(model = echo(), maxConcurrentTasks = 2) {
  const sights = task({ name: 'sights', description: 'Find sights of {city} in {country}' })
  const food = task({ name: 'food', description: 'Find food of {city.name} for {budget}' })
  const page = task({
    name: 'page',
    description: 'Join',
    context: [food, sights],
    output: Type.Object({ lines: Type.Array(Type.String()) }),
    handler: ({ context }) => ({
      lines: context.map(({ taskName, output }) => `${taskName}: ${output}`),
    }),
  })
  return ensemble({ name: 'trip', model, maxConcurrentTasks, tasks: [sights, food, page] })
}

describe('[ENS-P14] a task with an ensemble', () => {
  it('[ENS-P15] A task with an ensemble adds its tasks to the run, with inputs from outputs, texts and the run', async () => {
    const trip = task({
      ensemble: createTrip(),
      inputs: { city: pick, country: [pick, 'country'], budget: '{euros} euros' },
    })
    const last = task({
      name: 'last',
      description: 'End',
      context: [trip],
      handler: ({ context }) => context[0]?.output ?? '',
    })
    const team = ensemble({ name: 'team', tasks: [pick, trip, last] })
    const { events, ended } = watchRun(team, { inputs: { euros: '90' } })
    const result = await ended
    const lines = [
      'sights: Find sights of {"name":"Brest","country":"France"} in France',
      'food: Find food of Brest for 90 euros',
    ]
    expect(result.outputOf(trip)).toEqual({ lines })
    expect(result.output).toBe(JSON.stringify({ lines }))
    expect(result.tasks.map(({ taskName }) => taskName)).toEqual([
      'pick',
      'trip',
      'last',
      'trip/sights',
      'trip/food',
      'trip/page',
    ])
    const started = eventsOf(events, 'delegation_started')
    expect(started.map(({ taskName, workerTask }) => [taskName, workerTask])).toEqual([
      ['trip', 'trip/sights'],
      ['trip', 'trip/food'],
      ['trip', 'trip/page'],
    ])
    await expect(team.run({})).rejects.toMatchObject({
      code: 'INPUT_MISSING',
      details: { missing: ['euros'] },
    })
  })

  it('A failure in a sub-ensemble fails its task, and a retry repeats the tasks under other names', async () => {
    const log: string[] = []
    const work = (name: string, context: string[] = []) =>
      task({
        name,
        description: name,
        context,
        handler({ taskName }) {
          log.push(taskName)
          if (taskName === 'both/left') throw new Error('Left broke')
          return taskName
        },
      })
    const child = ensemble({
      name: 'both',
      tasks: [work('left'), work('right'), work('join', ['left', 'right'])],
    })
    const run = (definition: object) =>
      ensemble({ name: 'team', tasks: [task({ ensemble: child, ...definition })] }).run()
    const failed = await run({})
    expect(failed).toMatchObject({
      status: 'FAILED',
      error: { code: 'TASK_FAILED', message: 'Left broke' },
    })
    expect(log.splice(0)).toEqual(['both/left', 'both/right'])
    const second = await run({ retries: 1 })
    expect(second).toMatchObject({ status: 'COMPLETED', output: 'both/join#2' })
    expect(log).toEqual(['both/left', 'both/right', 'both/left#2', 'both/right#2', 'both/join#2'])
  })

  it('A retry of a handler in a sub-ensemble adds its tasks under other names, also if a key ends like the name of a retry', async () => {
    const leaf = task({ name: 'leaf', description: 'Leaf', handler: ({ taskName }) => taskName })
    const grow = task({
      name: 'grow',
      description: 'Grow',
      retries: 1,
      async handler({ map, attempt }) {
        const names = await map(['x', 'x#2'], leaf, { key: (key) => key })
        if (attempt === 1) throw new Error('Again')
        return names.join(' ')
      },
    })
    const child = ensemble({ name: 'inner', tasks: [grow] })
    const result = await ensemble({ name: 'team', tasks: [task({ ensemble: child })] }).run()
    expect(result.output).toBe('inner/grow/x#2#2 inner/grow/x#2#2#2')
  })

  it('With CONTINUE_ON_ERROR a sub-ensemble runs all tasks that do not wait for the failed one', async () => {
    const done: string[] = []
    const work = (name: string, context: string[] = []) =>
      task({
        name,
        description: name,
        context,
        handler() {
          if (name === 'a') throw new Error('A broke')
          done.push(name)
          return name
        },
      })
    const child = ensemble({
      name: 'child',
      errorStrategy: 'CONTINUE_ON_ERROR',
      maxConcurrentTasks: 1,
      tasks: [work('a'), work('b', ['a']), work('c'), work('d', ['c'])],
    })
    const result = await ensemble({ name: 'team', tasks: [task({ ensemble: child })] }).run()
    expect(result.error?.message).toBe('A broke')
    expect(done).toEqual(['c', 'd'])
  })

  it('The tasks of a sub-ensemble have its model and its reviews, and count for the budgets around it', async () => {
    const own = scriptedModel(() => 'own')
    const child = ensemble({
      name: 'child',
      model: own,
      reviewPolicy: 'AFTER_LAST_TASK',
      budget: { maxModelCalls: 1 },
      tasks: [
        task({ name: 'one', description: 'One' }),
        task({ name: 'two', description: 'Two', handler: () => 'two' }),
      ],
    })
    const model = scriptedModel(() => 'outer')
    const outer = task({ name: 'outer', description: 'Outer' })
    const open = (maxModelCalls = 9) =>
      ensemble({
        name: 'team',
        model,
        tasks: [task({ name: 'sub', ensemble: child, budget: { maxModelCalls } }), outer],
      })
    const reviewed: string[] = []
    const reviewer = {
      decide: async ({ taskName }: { readonly taskName: string }) => {
        reviewed.push(taskName)
        return { action: 'CONTINUE' } as const
      },
    }
    const result = await open().run({}, { reviewer })
    expect(result.tasks.map(({ output }) => output)).toEqual(['two', 'outer', 'own', 'two'])
    expect(reviewed).toEqual(['sub/two'])
    await expect(open().run()).rejects.toThrow('task "sub/two" needs a review')
    expect(open().tasks[0]?.budget).toEqual({ maxModelCalls: 1 })
    const again = ensemble({
      ...child,
      reviewPolicy: 'NEVER',
      tasks: [...child.tasks, task({ name: 'three', description: 'Three' })],
    })
    const tight = await ensemble({ name: 'team', tasks: [task({ ensemble: again })] }).run()
    expect(tight.error).toMatchObject({ code: 'BUDGET_EXCEEDED' })
    expect(tight.error?.message).toContain('task "child"')
  })

  it('A sub-ensemble with forEach runs once for each item, and maps its own lists', async () => {
    const child = ensemble({
      name: 'guide',
      tasks: [
        task({
          name: 'days',
          description: 'Days in {city}',
          output: Type.Array(Type.Integer()),
          handler: () => [1, 2],
        }),
        task({
          name: 'day',
          description: 'Day {item} in {city} for {who}',
          forEach: {
            over: task({ name: 'days', description: 'x', output: Type.Array(Type.Integer()) }),
          },
          handler: ({ description }) => description,
        }),
      ],
    })
    const guides = task({
      name: 'guides',
      ensemble: child,
      inputs: { city: '{item.name}' },
      forEach: { over: 'cities', key: (city: { name: string }) => city.name },
    })
    const team = ensemble({ name: 'team', tasks: [guides] })
    const result = await team.run({ cities: '[{"name":"Brest"},{"name":"Rome"}]', who: 'Ada' })
    expect(result.outputOf(guides)).toEqual([
      ['Day 1 in Brest for Ada', 'Day 2 in Brest for Ada'],
      ['Day 1 in Rome for Ada', 'Day 2 in Rome for Ada'],
    ])
    expect(result.tasks.map(({ taskName }) => taskName)).toContain('guides/Rome/day/1')
    await expect(team.run({})).rejects.toMatchObject({
      details: { missing: ['who', 'cities'] },
    })
  })

  it('A sub-ensemble continues after an interruption without repeating its completed tasks', async () => {
    const model = echo()
    const open = () => {
      const trip = task({
        ensemble: createTrip(model, 1),
        inputs: { city: pick, country: [pick, 'country'], budget: '9' },
      })
      return ensemble({ name: 'team', tasks: [pick, trip] })
    }
    const whole = startRecorded(open())
    const { output } = await whole.handle.result
    const calls = model.requests.length
    const first = whole.steps.findIndex(({ kind }) => kind === 'delegation_ended')
    const from = { events: [], steps: whole.steps.slice(0, first + 1) }
    const again = startRecorded(open(), { from })
    expect((await again.handle.result).output).toBe(output)
    expect(model.requests.length - calls).toBe(1)
  })

  it('A task that a handler of a sub-ensemble adds has the outputs of its context in the order of the plan', async () => {
    const names = ['slow', 'fast'] as const
    const parts = names.map((name) => task({ name, description: name, handler: () => name }))
    const read = task({
      name: 'read',
      description: 'Read',
      context: ['grow/first', 'fast', 'slow'],
      handler: ({ context }) => context.map(({ taskName }) => taskName).join(),
    })
    const first = task({ name: 'first', description: 'First', handler: () => 'first' })
    const grow = task({
      name: 'grow',
      description: 'Grow',
      context: [...parts],
      async handler({ task: add }) {
        await add(first)
        return add(read)
      },
    })
    const child = ensemble({ name: 'child', tasks: [...parts, grow] })
    const result = await ensemble({ name: 'team', tasks: [task({ ensemble: child })] }).run()
    expect(result.output).toBe('slow,fast,grow/first')
  })

  it('[ENS-E25] [ENS-P9] A replay of a run with a sub-ensemble makes no call, or only those of its models', async () => {
    const model = echo()
    const team = ensemble({
      name: 'team',
      tasks: [
        pick,
        task({
          ensemble: createTrip(model),
          inputs: { city: pick, country: [pick, 'country'], budget: '9' },
        }),
      ],
    })
    const whole = startRecorded(team)
    const result = await runToEnd(whole)
    const forked: RunStep = { kind: 'run_forked', runMs: 0, startedAt: 0 }
    const steps = [...whole.steps, forked]
    for (const [replay, calls] of [
      ['frozen', 0],
      ['models', 2],
    ] as const) {
      const count = model.requests.length
      const again = startRecorded(team, { resume: { steps, replay } })
      expect(await runToEnd(again)).toMatchObject({ status: 'COMPLETED', output: result.output })
      expect(model.requests.length - count).toBe(calls)
    }
  })

  it('[ENS-P8] A review in a sub-ensemble is decided without an owner, and the run continues', async () => {
    const child = ensemble({
      name: 'child',
      model: scriptedModel(() => '{"line":"x"}'),
      tasks: [
        task({
          name: 'write',
          description: 'Write',
          output: Type.Object({ line: Type.String() }),
          review: true,
        }),
      ],
    })
    const team = ensemble({
      name: 'team',
      tasks: [
        task({
          name: 'outer',
          ensemble: ensemble({ name: 'mid', tasks: [task({ ensemble: child })] }),
        }),
      ],
    })
    const first = startRecorded(team, { decidable: true })
    await nextTurn()
    await nextTurn()
    expect(first.waits.count).toBe(1)
    first.release()
    const [request] = eventsOf(first.events, 'review_requested')
    if (request === undefined) throw new Error('No review is open')
    expect(request.taskName).toBe('outer/child/write')
    const decide = (text: string) =>
      applyToUnowned(
        team,
        {
          runId: 'run-1',
          steps: first.steps,
          clock: first.clock,
          findRequest: async () => request,
        },
        { kind: 'decide', reviewId: request.reviewId, decision: { action: 'EDIT', text } },
      )
    await expect(decide('no JSON')).rejects.toMatchObject({ code: 'BAD_REQUEST' })
    const { steps } = await decide('{"line":"y"}')
    const from = { events: [], steps: [...first.steps, ...steps] }
    const second = startRecorded(team, { from, decidable: true })
    expect(await second.handle.result).toMatchObject({ output: '{"line":"y"}' })
  })

  it('[ENS-E21] The limits of texts apply to the texts of a sub-ensemble with its inputs', async () => {
    const child = ensemble({
      name: 'child',
      model: echo(),
      tasks: [task({ name: 'find', description: 'Find {a}{a}' })],
    })
    const run = (a: string, textLimits = {}) =>
      ensemble({ name: 'team', tasks: [task({ ensemble: child, inputs: { a } })] }).run(
        { x: '0123456789abcdef' },
        { textLimits },
      )
    await expect(run('{x}{x}', { maxTextBytes: 68 })).rejects.toMatchObject({
      code: 'INPUT_TOO_LARGE',
      message: expect.stringContaining('description of task "find" with its inputs would have 69'),
    })
    expect((await run('{x}{x}', { maxTextBytes: 69 })).status).toBe('COMPLETED')
  })

  it('[ENS-D1] A directive reaches a task of a sub-ensemble by the role of its agent', async () => {
    const model = echo()
    const guide = agent({ role: 'Guide', goal: 'Guide' })
    const child = ensemble({
      name: 'child',
      model,
      tasks: [task({ name: 'one', description: 'Find one', agent: guide })],
    })
    const team = ensemble({ name: 'team', tasks: [task({ ensemble: child })] })
    const handle = team.start()
    handle.inject({ content: 'Be brief', to: 'Guide' })
    expect(() => handle.inject({ content: 'x', to: 'Guides' })).toThrow('Guide')
    await handle.result
    expect(model.requests[0]?.messages.at(-1)?.content).toContain('Be brief')
  })

  it('[ENS-V2] The digest of an ensemble covers its sub-ensembles and the sources of their inputs', () => {
    const digestOf = (text: string, city = 'Brest'): string => {
      const child = ensemble({
        name: 'child',
        model: echo(),
        tasks: [task({ name: 'find', description: text })],
      })
      return describeCode(
        ensemble({ name: 'team', tasks: [task({ ensemble: child, inputs: { city } })] }),
      ).digest
    }
    expect(digestOf('Find {city}')).toBe(digestOf('Find {city}'))
    expect(digestOf('Look for {city}')).not.toBe(digestOf('Find {city}'))
    expect(digestOf('Find {city}', 'Rome')).not.toBe(digestOf('Find {city}'))
  })
})

describe('[ENS-P29] the chosen output of a task with an ensemble', () => {
  const Draft = Type.Object({ text: Type.String(), words: Type.Integer() })
  const draft = task({
    name: 'draft',
    description: 'Draft {tone}',
    output: Draft,
    handler: ({ inputs }) => ({ text: `draft ${inputs['tone']}`, words: 2 }),
  })
  const check = task({
    name: 'check',
    description: 'Check',
    context: [draft],
    handler: () => 'checked',
  })
  const letter = ensemble({ name: 'letter', tasks: [draft, check], inputs: ['tone'] })
  const write = task({ name: 'write', ensemble: letter, output: draft })

  it('A task has the output of the chosen task of its ensemble, after all tasks of the ensemble have ended', async () => {
    const read = task({
      name: 'read',
      description: 'Read {got.text}',
      handler: ({ inputs }) => inputs['got.text'] ?? '',
    })
    const next = task({
      name: 'next',
      ensemble: ensemble({ name: 'reader', tasks: [read] }),
      inputs: { got: write },
    })
    const each = task({
      name: 'each',
      ensemble: letter,
      output: draft,
      forEach: { over: 'tones', as: 'tone' },
    })
    const until = task({
      name: 'until',
      ensemble: letter,
      output: draft,
      loop: { max: 3, until: ({ words }) => words === 2 },
    })
    const team = ensemble({ name: 'team', tasks: [write, each, until, next] })
    const result = await team.run({ tone: 'kind', tones: '["dry","warm"]' })
    expect(result.error).toBeUndefined()
    expect(result.outputOf(write)).toEqual({ text: 'draft kind', words: 2 })
    expect(result.outputOf(next)).toBe('draft kind')
    expect(result.outputOf(each)?.map(({ text }) => text)).toEqual(['draft dry', 'draft warm'])
    expect(result.outputOf(until)?.words).toBe(2)
    const done = result.tasks.filter(({ output }) => output === 'checked')
    expect(done.map(({ taskName }) => taskName)).toEqual([
      'write/check',
      'each/0/check',
      'each/1/check',
      'until/1/check',
    ])
  })

  it('The failure of another task fails a task with a chosen output', async () => {
    const broken = task({
      ...check,
      name: 'check',
      handler: () => {
        throw new Error('Check broke')
      },
    })
    for (const errorStrategy of ['FAIL_FAST', 'CONTINUE_ON_ERROR'] as const) {
      const child = ensemble({ ...letter, errorStrategy, tasks: [draft, broken] })
      const sub = task({ name: 'sub', ensemble: child, output: draft })
      const result = await ensemble({ name: 'team', tasks: [sub] }).run({ tone: 'kind' })
      expect(result).toMatchObject({ status: 'FAILED', error: { message: 'Check broke' } })
      expect(result.outputOf(sub)).toBeUndefined()
    }
  })

  it('A run that ends early has no output of a task whose chosen task was completed', async () => {
    const reviewed = task({ ...draft, review: true })
    const child = ensemble({ ...letter, tasks: [reviewed, check] })
    const first = task({ name: 'first', description: 'First', handler: () => 'first' })
    const sub = task({ name: 'sub', ensemble: child, output: reviewed, context: [first] })
    const team = ensemble({ name: 'team', tasks: [first, sub] })
    const reviewer = { decide: async () => ({ action: 'EXIT_EARLY' }) as const }
    const result = await team.run({ tone: 'kind' }, { reviewer })
    expect(result.status).toBe('COMPLETED')
    expect(result.outputOf(sub)).toBeUndefined()
    expect(result.output).toBe('first')
    expect(result.tasks.map(({ taskName }) => taskName)).toEqual(['first', 'sub/draft'])
  })

  it('A chosen task that conditions skip fails its task, also if a later one has an output', async () => {
    const maybe = task({ ...draft, when: ({ inputs }) => inputs['tone'] === 'kind' })
    const child = ensemble({ ...letter, tasks: [maybe, task({ ...check, context: [] })] })
    const sub = task({ name: 'sub', ensemble: child, output: maybe })
    const team = ensemble({ name: 'team', tasks: [sub] })
    expect((await team.run({ tone: 'kind' })).outputOf(sub)?.words).toBe(2)
    const skipped = await team.run({ tone: 'dry' })
    const failed = skipped.tasks.find(({ taskName }) => taskName === 'sub/check')
    expect(failed?.output).toBe('checked')
    expect(skipped.error).toMatchObject({
      code: 'CONSTRAINT_VIOLATION',
      message: 'Ensemble "letter" has no output: conditions skip its task "draft"',
    })
  })

  it('The policy AFTER_LAST_TASK reviews the chosen task', async () => {
    const child = ensemble({ ...letter, reviewPolicy: 'AFTER_LAST_TASK' })
    const reviewed: string[] = []
    const reviewer = {
      decide: async ({ taskName }: { readonly taskName: string }) => {
        reviewed.push(taskName)
        return { action: 'CONTINUE' } as const
      },
    }
    const tasks = [
      task({ name: 'all', ensemble: child }),
      task({ name: 'chosen', ensemble: child, output: draft }),
    ]
    await ensemble({ name: 'team', tasks }).run({ tone: 'kind' }, { reviewer })
    expect(reviewed.toSorted()).toEqual(['all/check', 'chosen/draft'])
  })

  it('[ENS-V2] The code of a task with an ensemble has the task whose output it has', () => {
    const digestOf = (sub: Task) => describeCode(ensemble({ name: 'team', tasks: [sub] })).digest
    const whole = task({ name: 'write', ensemble: letter })
    expect(digestOf(write)).not.toBe(digestOf(whole))
    expect(digestOf(task({ name: 'write', ensemble: letter, output: check }))).toBe(digestOf(whole))
    const maybe = task({ ...check, when: () => true })
    const conditional = ensemble({ ...letter, tasks: [draft, maybe] })
    expect(digestOf(task({ name: 'write', ensemble: conditional, output: maybe }))).not.toBe(
      digestOf(task({ name: 'write', ensemble: conditional })),
    )
  })

  it('An output of another ensemble, of a copy and of a manager is refused', () => {
    const make = (output: unknown) => () =>
      task({ name: 'sub', ensemble: letter, output: output as Task })
    expect(make(pick)).toThrow(
      'Cannot create task "sub": output must be a task of ensemble "letter", got another task "pick". Available: [draft, check]',
    )
    expect(make(task({ ...draft, retries: 1 }))).toThrow('got another task "draft"')
    expect(make('draft')).toThrow('got "draft". Available: [draft, check]')
    expect(make(null)).toThrow('got null. Available: [draft, check]')
    const managed = ensemble({
      name: 'managed',
      model: echo(),
      workflow: 'HIERARCHICAL',
      tasks: [draft],
    })
    expect(() => task({ name: 'sub', ensemble: managed, output: draft })).toThrow(
      'output: the manager of ensemble "managed" has its output, so no other task can be chosen',
    )
  })
})

describe('[ENS-P30] the models of the tasks of a sub-ensemble', () => {
  /** Returns a model that answers with its name. */
  const say = (name: string) => scriptedModel(() => name, { name })
  const plain = task({ name: 'plain', description: 'Plain' })
  const own = task({ name: 'own', description: 'Own', model: say('own') })
  const acting = task({
    name: 'acting',
    description: 'Act',
    agent: agent({ role: 'Actor', goal: 'Act', model: say('agent') }),
  })
  const inner = ensemble({ name: 'inner', tasks: [plain, own, acting] })
  const middle = ensemble({ name: 'middle', tasks: [task({ name: 'sub', ensemble: inner })] })
  const outputsOf = async (team: Ensemble) => {
    const { tasks, error } = await team.run({ list: '[1]' })
    expect(error).toBeUndefined()
    return Object.fromEntries(tasks.map(({ taskName, output }) => [taskName, output]))
  }

  it("A task uses its own model, else its agent's, its ensemble's, or that of the nearest ensemble that uses it", async () => {
    const open = (model: ChatModel | undefined, between: ChatModel | undefined) =>
      ensemble({
        name: 'team',
        ...(model === undefined ? {} : { model }),
        tasks: [
          task({
            name: 'mid',
            ensemble: between === undefined ? middle : ensemble({ ...middle, model: between }),
          }),
        ],
      })
    const outer = await outputsOf(open(say('outer'), undefined))
    expect(outer).toMatchObject({
      'mid/sub/plain': 'outer',
      'mid/sub/own': 'own',
      'mid/sub/acting': 'agent',
    })
    for (const model of [say('outer'), undefined]) {
      const between = await outputsOf(open(model, say('between')))
      expect(between['mid/sub/plain']).toBe('between')
    }
  })

  it('A manager, items, rounds, and ensembles as tools or of handlers inherit the model', async () => {
    // The agent with the tool calls it once.
    const model = scriptedModel(({ tools, messages }) =>
      tools.some(({ name }) => name === 'inner') && messages.at(-1)?.role === 'user'
        ? { toolCalls: [{ name: 'inner', arguments: {} }] }
        : 'outer',
    )
    const managed = ensemble({ name: 'managed', workflow: 'HIERARCHICAL', tasks: [plain] })
    const tasks = [
      task({ name: 'managed', ensemble: managed }),
      task({ name: 'each', ensemble: inner, output: plain, forEach: { over: 'list' } }),
      task({ name: 'round', ensemble: inner, output: plain, loop: { max: 1 } }),
      task({ name: 'calling', description: 'Call it', tools: [inner.asTool()] }),
      task({
        name: 'grow',
        description: 'Grow',
        handler: ({ task: add }) => add(task({ name: 'added', ensemble: inner, output: plain })),
      }),
    ]
    const outputs = await outputsOf(ensemble({ name: 'team', model, tasks }))
    expect(outputs).toMatchObject({
      managed: 'outer',
      'each/0/plain': 'outer',
      'round/1/plain': 'outer',
      'grow/added/plain': 'outer',
    })
    expect(Object.entries(outputs)).toContainEqual([
      expect.stringMatching(/^calling\/.*\/plain$/),
      'outer',
    ])
  })

  it('An ensemble without a model is refused when it starts by itself, with all problems', async () => {
    const managed = ensemble({ name: 'managed', workflow: 'HIERARCHICAL', tasks: [plain] })
    const team = ensemble({
      name: 'team',
      tasks: [
        plain,
        task({ name: 'mid', ensemble: middle }),
        task({ name: 'led', ensemble: managed }),
      ],
    })
    const hint = 'set one for the task, its agent or the ensemble'
    const problems = [
      `task "plain" has no model: ${hint}`,
      `task "mid/sub/plain" has no model: ${hint}`,
      `task "led/plain" has no model: ${hint}`,
      'the manager of task "led" has no model: set model or managerModel of the ensemble',
    ]
    const error = {
      code: 'CONFIG_INVALID',
      message: `Cannot run "team": ${problems.join('; ')}`,
      details: { problems },
    }
    expect(() => team.start()).toThrow(expect.objectContaining(error))
    await expect(team.run()).rejects.toMatchObject(error)
    await expect(managed.run()).rejects.toThrow('the manager has no model')
  })

  it('A handler that adds an ensemble without a model fails before any task of it begins', async () => {
    const log: string[] = []
    const first = task({ name: 'first', description: 'First', handler: () => log.push('first') })
    const child = ensemble({ name: 'child', tasks: [first, plain] })
    const grow = task({
      name: 'grow',
      description: 'Grow',
      handler: ({ task: add }) => add(task({ ensemble: child })),
    })
    const { error } = await ensemble({ name: 'team', tasks: [grow] }).run()
    expect(error?.message).toContain('task "child/plain" has no model')
    expect(log).toEqual([])
  })

  it('[ENS-V2] The digest of the code has inherited models, and a limit on cost needs their prices', async () => {
    const open = (name: string) =>
      ensemble({
        name: 'team',
        model: scriptedModel([], { provider: 'cloud', name }),
        tasks: [task({ name: 'mid', ensemble: middle })],
      })
    expect(describeCode(open('a')).digest).toBe(describeCode(open('a')).digest)
    expect(describeCode(open('a')).digest).not.toBe(describeCode(open('b')).digest)
    await expect(open('a').run({}, { budget: { maxCostUsd: 1 } })).rejects.toThrow(
      'no price for model "cloud:a"',
    )
  })
})

describe('[ENS-P16] the checks of tasks that add tasks', () => {
  const lines = ensemble({
    name: 'lines',
    model: echo(),
    tasks: [
      task({ name: 'line', description: 'Write {item}', forEach: { over: 'list' } }),
      task({ name: 'end', description: 'Write {city.name} and {city.zip}, {tone}' }),
    ],
  })

  it('All problems of a sub-ensemble and the sources of its inputs are reported when the task is created', () => {
    expect(() =>
      task({
        name: 'sub',
        // @ts-expect-error -- the output of "pick" has no field "nam"
        ensemble: lines,
        inputs: { city: pick, tine: 'x', list: [pick, 'nam'], tone: [pick, 'country'] },
      }),
    ).toThrow(
      'Cannot create task "sub": inputs.tine is not a known input (known: list, city.name, city.zip, tone). ' +
        'Did you mean "tone"?; inputs.city reads the output of task "pick", which has no field "zip", but the ensemble needs ' +
        '{city.zip}; inputs.list reads the output of task "pick", which has no field "nam". Did you mean "name"?',
    )
    expect(() => task({ name: 'sub', ensemble: lines, inputs: { list: pick } })).toThrow(
      'inputs.list must be a list, because a task of the ensemble has a task for each of its items',
    )
    expect(() =>
      // @ts-expect-error -- an ensemble has a plan
      task({ name: 'sub', ensemble: { name: 'x', tasks: [] } }),
    ).toThrow('Cannot create task "sub": ensemble must be created with ensemble()')
  })

  it('The problems of a sub-ensemble, of its task and of forEach are reported together', () => {
    expect(() =>
      task({
        name: 'sub',
        ensemble: lines,
        inputs: { tine: 'x' },
        retries: -1,
        timeoutMs: 0,
        forEach: { over: 'list', maxItems: 0 },
      }),
    ).toThrow(
      'Cannot create task "sub": inputs.tine is not a known input (known: list, city.name, city.zip, tone). ' +
        'Did you mean "tone"?; forEach.maxItems must be an integer >= 1, got 0; ' +
        'retries must be an integer >= 0, got -1; timeoutMs must be > 0, got 0',
    )
    expect(() =>
      task({
        name: 'sub',
        // @ts-expect-error -- an ensemble has a plan
        ensemble: { name: 'x', tasks: [] },
        retries: -1,
      }),
    ).toThrow(
      'Cannot create task "sub": ensemble must be created with ensemble(); retries must be an integer >= 0, got -1',
    )
  })

  it('Ensembles nest 5 deep, and the error names the path of a deeper one', () => {
    let nested = task({ name: 'a', description: 'x', handler: () => 'end' })
    for (const name of ['b', 'c', 'd', 'e', 'f']) {
      nested = task({ name, ensemble: ensemble({ name: 'one', tasks: [nested] }) })
    }
    expect(() => task({ name: 'g', ensemble: ensemble({ name: 'one', tasks: [nested] }) })).toThrow(
      'Cannot create task "g": ensembles may nest 5 deep, but g/f/e/d/c/b has 6 levels',
    )
  })

  it('An ensemble reports names, lists and capture modes that do not fit its tasks together', () => {
    const quiet = ensemble({ ...lines, captureMode: 'OFF' })
    const many = task({
      name: 'many',
      description: 'List',
      output: Type.Array(Type.String(), { minItems: 5 }),
      handler: () => [],
    })
    const definition = {
      name: 'team',
      model: echo(),
      tasks: [
        many,
        task({ name: 'sub', ensemble: quiet }),
        task({ name: 'sub/line', description: 'Clash' }),
        task({ name: 'few', description: 'Do {item}', forEach: { over: many, maxItems: 4 } }),
        task({ name: 'pick', description: 'Pick', output: City }),
        task({
          name: 'each',
          description: 'Do {item}',
          // @ts-expect-error -- the output is not a list
          forEach: { over: pick },
        }),
      ],
    }
    expect(() => ensemble(definition)).toThrow(
      'Cannot create ensemble "team": task "sub/line": tasks that "sub" adds have such names; ' +
        'task "few": forEach.maxItems is 4, but the output of "many" has at least 5 items; ' +
        'task "each": forEach.over must have a list, but the output of "pick" is another value; ' +
        'task "sub": captureMode of ensemble "lines" is OFF, so it must be OFF here too',
    )
    const tasks = [many, task({ name: 'sub', ensemble: quiet })]
    expect(ensemble({ ...definition, captureMode: 'OFF', tasks }).plan.order).toHaveLength(2)
  })
})
