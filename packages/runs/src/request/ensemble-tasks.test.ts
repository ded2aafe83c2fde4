/** Tests of ensembles as tasks of requests. */
import { toolCatalog, Type, type TuttiError } from '@tutti/core'
import { ensemble, modelCatalog, task, type Ensemble } from '@tutti/ensemble'
import { findSubEnsemble } from '@tutti/ensemble/internal'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { RunEnsembles, type ReviewRules } from './run-ensembles.ts'
import { assertRequiredReviews } from './required-reviews.ts'

import type { RequestedRun } from '../domain/run-record.ts'

const model = scriptedModel([])

const sights = task({ name: 'sights', description: 'Find sights of {city.name}' })
const page = task({
  name: 'page',
  description: 'Write for {reader}',
  context: [sights],
  review: { requiredRole: 'editor' },
  output: Type.Object({ title: Type.String() }),
})
const trip = ensemble({ name: 'trip', model, tasks: [sights, page], inputs: ['tone'] })
const lists = ensemble({
  name: 'lists',
  model,
  tasks: [task({ name: 'each', description: 'Do {item}', forEach: { over: 'items' } })],
})
const secret = ensemble({ ...trip, name: 'secret', captureMode: 'OFF' })
const managed = ensemble({ ...trip, name: 'managed', workflow: 'HIERARCHICAL' })
const team = ensemble({
  name: 'team',
  model,
  tasks: [task({ name: 'own', description: 'Own' }), task({ name: 'inner', ensemble: trip })],
})

const ensembles = new RunEnsembles([team, trip, lists, secret, managed], {
  tools: toolCatalog([]),
  models: modelCatalog({}),
})

function build(request: RequestedRun): Ensemble {
  return ensembles.build({ ensemble: 'team', request })
}

/** Returns the code of a refused request and its problems as `path: message`. */
function problemsOf(request: RequestedRun): readonly string[] {
  try {
    assertRequiredReviews(team, request, ensembles.buildRequest({ ensemble: team.name, request }))
  } catch (error) {
    const { code, message, details = {} } = error as TuttiError
    const problems: unknown = details['problems']
    if (!Array.isArray(problems)) return [code, message]
    return [code, ...problems.map(({ path, message: text }) => `${path}: ${text}`)]
  }
  return []
}

const PICK = {
  name: 'pick',
  description: 'Pick',
  outputSchema: {
    type: 'object',
    properties: { name: { type: 'string' }, a: { type: 'array' } },
  },
} as const

describe('a requested task with an ensemble', () => {
  it('[RUNS-T11] [RUNS-T12] A requested task with an ensemble runs it with texts, outputs and fields as inputs', () => {
    const { tasks, plan } = build({
      tasks: [
        { name: 'a.b', description: 'A' },
        PICK,
        {
          ensemble: 'trip',
          description: 'Plan {days} days',
          inputs: { city: '$pick', reader: 'children of {age}', tone: '$$5' },
          context: ['$0'],
          review: 'required',
        },
        { ensemble: 'trip', inputs: { city: '$1', reader: '$pick.name', tone: '$a.b' } },
      ],
    })
    expect(plan.workflow).toBe('PARALLEL')
    expect(tasks.map(({ name, context }) => [name, context])).toEqual([
      ['a.b', []],
      ['pick', []],
      ['trip', ['a.b', 'pick']],
      ['trip-2', ['pick', 'a.b']],
    ])
    expect(tasks[2]).toMatchObject({ description: 'Plan {days} days', review: true })
    expect(tasks[2]?.outputReader).toBe(page.outputReader)
    expect(tasks.slice(2).map((one) => findSubEnsemble(one)?.inputs)).toEqual([
      { city: { task: 'pick' }, reader: 'children of {age}', tone: '$5' },
      {
        city: { task: 'pick' },
        reader: { task: 'pick', field: 'name' },
        tone: { task: 'a.b' },
      },
    ])
    expect(findSubEnsemble(tasks[2]!)?.definition).toBe(trip)
  })

  it('[RUNS-T11] All problems of ensembles as tasks are reported at once with their paths', () => {
    expect(
      problemsOf({
        tasks: [
          PICK,
          { name: 'text', description: 'Text' },
          { name: 'a', ensemble: 'tripp' },
          {
            name: 'b',
            ensemble: 'trip',
            inputs: { citty: 'x', city: '$text', reader: '$pick.nam', tone: '$pik' },
          },
          { name: 'c', ensemble: 'lists', inputs: { items: '$pick.name' } },
          {
            name: 'd',
            description: 'D',
            forEach: { over: 'list', collect: 'outputs' },
          },
          { name: 'e', ensemble: 'secret' },
          // @ts-expect-error -- a task without an ensemble has no inputs
          { name: 'b/page', description: 'B', inputs: {} },
          // @ts-expect-error -- a task with an ensemble has no model
          { name: 'f', ensemble: 'trip', model: 'x' },
          { name: 'g', description: 'G', forEach: { over: '$b' } },
          { name: 'h', description: 'H', forEach: { over: '$d' } },
          { name: 'i', ensemble: 'trip', output: 'pag' },
          // @ts-expect-error -- a task without an ensemble does not choose an output
          { name: 'j', description: 'J', output: 'page' },
          { name: 'k', ensemble: 'trip', output: 'sights' },
          { name: 'l', ensemble: 'trip', inputs: { reader: '$k.title', tone: '$k' } },
          { name: 'm', ensemble: 'managed', output: 'sights' },
        ],
      }),
    ).toEqual([
      'BAD_REQUEST',
      "/tasks/7/name: 'b/page' may be the name of a task that 'b' adds: use another name",
      "/tasks/2/ensemble: Unknown ensemble 'tripp'. Available: [team, trip, lists, secret, managed]. Did you mean 'trip'?",
      '/tasks/3/inputs/tone: Unknown task \'$pik\'. Available: [$pick, $text, $a, $b, $c, $d, $e, $b/page, $f, $g, $h, $i, $j, $k, $l, $m]. Did you mean \'$pick\'?; write "$$" for a text that begins with "$"',
      '/tasks/3/inputs/citty: /tasks/3/inputs/citty is not a known input (known: city.name, reader, tone)',
      '/tasks/3/inputs/city: /tasks/3/inputs/city reads the output of task "text", which has no field "name", but the ensemble needs {city.name}',
      '/tasks/3/inputs/reader: /tasks/3/inputs/reader reads the output of task "pick", which has no field "nam". Did you mean "name"?',
      '/tasks/4/inputs/items: /tasks/4/inputs/items must be a list, because a task of the ensemble has a task for each of its items',
      "/tasks/6/ensemble: captureMode of ensemble 'secret' is OFF, so it must be OFF for the run: set options.captureMode",
      "/tasks/7/inputs: Task 'b/page' runs no ensemble, so inputs has no effect on it",
      "/tasks/8/model: Task 'f' runs an ensemble, so model has no effect on it",
      '/tasks/9/forEach/over: The output of task \'b\' must be a list: its outputSchema has the type "object"',
      "/tasks/10/forEach/over: The output of task 'd' must be a list: it is an object with the outputs of its items by key",
      "/tasks/11/output: Unknown task 'pag'. Available: [sights, page]. Did you mean 'page'?",
      "/tasks/12/output: Task 'j' runs no ensemble, so output has no effect on it",
      '/tasks/14/inputs/reader: /tasks/14/inputs/reader reads the output of task "k", which has no field "title"',
      '/tasks/15/output: the manager of ensemble "managed" has its output, so no other task can be chosen',
    ])
  })

  it('[RUNS-T11] A requested task has the output of the task of its ensemble that it names, also after an override', () => {
    const request: RequestedRun = { tasks: [{ ensemble: 'trip', output: 'sights' }] }
    const planOf = ({ tasks: [one] }: Ensemble) => one && findSubEnsemble(one)?.definition.plan
    const chosen = { outputTask: 'sights', lastTasks: ['sights'] }
    const built = build(request)
    expect(planOf(built)).toMatchObject(chosen)
    expect(built.outputReader).toBeUndefined()
    const taskOverrides = { 'trip/page': { description: 'Rewrite' } }
    expect(planOf(build({ ...request, taskOverrides }))).toMatchObject(chosen)
    expect(planOf(build({ tasks: [{ ensemble: 'trip' }], taskOverrides }))).toMatchObject({
      outputTask: 'page',
    })
  })

  it('[RUNS-T11] [RUNS-R5] A requested task cannot avoid the review after the last task of its ensemble', () => {
    const reviewed = ensemble({ ...trip, name: 'reviewed', reviewPolicy: 'AFTER_LAST_TASK' })
    const known = new RunEnsembles([reviewed], {
      tools: toolCatalog([]),
      models: modelCatalog({}),
    })
    const submit = (output: string) => () =>
      known.build({
        ensemble: 'reviewed',
        request: { tasks: [{ ensemble: 'reviewed', output, inputs: { 'city.name': 'Rome' } }] },
      })
    expect(submit('sights')).toThrow(
      "must be 'page': the operator of ensemble 'reviewed' requires a review after its last task",
    )
    expect(submit('page')).not.toThrow()
  })

  it('[RUNS-T13] A sub-ensemble whose prompts are not stored is accepted in a run that stores none', () => {
    expect(
      problemsOf({ tasks: [{ ensemble: 'secret' }], options: { captureMode: 'OFF' } }),
    ).toEqual([])
  })

  it('[RUNS-T11] A requested task with an ensemble and forEach runs it for each item', () => {
    const { tasks } = build({
      tasks: [
        {
          name: 'guides',
          ensemble: 'trip',
          inputs: { reader: 'readers of {city.name}' },
          forEach: { over: 'cities', as: 'city', key: 'id' },
        },
      ],
    })
    const { template, key } = tasks[0]?.forEach ?? {}
    expect(key).toBe('id')
    expect(template && findSubEnsemble(template)).toMatchObject({
      definition: { name: 'trip' },
      inputs: { reader: 'readers of {city.name}' },
    })
  })

  it('[RUNS-R6] A task that can never run is refused with its path', () => {
    const tasks: RequestedRun['tasks'] = [
      { name: 'a', description: 'A', context: ['$b'] },
      { name: 'b', description: 'B {item}', forEach: { over: '$c' } },
      { name: 'c', description: 'C', outputSchema: { type: 'array' }, context: ['$a'] },
      { name: 'd', ensemble: 'trip', inputs: { reader: '$d' } },
    ]
    expect(problemsOf({ tasks })).toEqual([
      'CIRCULAR_DEPENDENCY',
      '/tasks/0/context/0: Tasks form a cycle: a → b → c → a',
      '/tasks/3/inputs/reader: Tasks form a cycle: d → d',
    ])
    expect(problemsOf({ tasks, options: { workflow: 'SEQUENTIAL' } })).toEqual([
      'BAD_REQUEST',
      "/tasks/0/context/0: Task 'a' can never run: with workflow SEQUENTIAL, 'b' must be before it",
      "/tasks/1/forEach/over: Task 'b' can never run: with workflow SEQUENTIAL, 'c' must be before it",
      "/tasks/3/inputs/reader: Task 'd' can never run: with workflow SEQUENTIAL, 'd' must be before it",
    ])
    expect(
      problemsOf({
        tasks: [
          { name: 'a', description: 'A' },
          { name: 'b', description: 'B', switch: 'way', when: "outputs.d == 'x'" },
          { name: 'c', description: 'C', switch: 'way', context: ['$a'] },
          { name: 'd', description: 'D', context: ['$c'] },
        ],
      }),
    ).toEqual(['CIRCULAR_DEPENDENCY', '/tasks/3/context/0: Tasks form a cycle: d → c → d'])
  })
})

describe('the models of sub-ensembles', () => {
  const inner = ensemble({ name: 'inner', tasks: [task({ name: 'own', description: 'Own' })] })
  const catalogs = { tools: toolCatalog([]), models: modelCatalog({}) }

  it('[ENS-P30] An ensemble without a model is refused when it is registered, and accepted inside one that has a model', () => {
    expect(() => new RunEnsembles([trip, inner], catalogs)).toThrow(
      'Cannot run "inner": task "own" has no model: set one for the task, its agent or the ensemble',
    )
    const sub = task({ name: 'sub', ensemble: inner })
    const outer = ensemble({ name: 'outer', model, tasks: [sub] })
    const registered = new RunEnsembles([outer], catalogs)
    const request: RequestedRun = { taskOverrides: { 'sub/own': { description: 'Changed' } } }
    const { tasks } = registered.build({ ensemble: 'outer', request })
    expect(tasks[0] && findSubEnsemble(tasks[0])?.definition.tasks[0]?.description).toBe('Changed')
    const other = ensemble({ ...outer, model: scriptedModel([], { name: 'other' }) })
    const digests = [registered, new RunEnsembles([other], catalogs)].map(
      ({ codes }) => codes['outer'],
    )
    expect(new Set(digests).size).toBe(2)
  })
})

describe('an override of a task that another task adds', () => {
  /** Returns the description and the review of a task of a sub-ensemble. */
  function nestedOf(one: Ensemble['tasks'][number] | undefined, name: string): unknown {
    const found = one && findSubEnsemble(one)?.definition.tasks.find((each) => each.name === name)
    return found && [found.description, found.review]
  }

  it('[RUNS-V7] An override of a task of a sub-ensemble changes that task, also in any case and in a requested task', () => {
    const { tasks } = build({ taskOverrides: { 'Inner/Page': { description: 'Rewrite' } } })
    expect(nestedOf(tasks[1], 'page')).toEqual(['Rewrite', { requiredRole: 'editor' }])
    expect(nestedOf(team.tasks[1], 'page')).toEqual([
      'Write for {reader}',
      { requiredRole: 'editor' },
    ])
    const requested = build({
      tasks: [{ name: 'plan', ensemble: 'trip', inputs: { reader: 'all' } }],
      taskOverrides: { 'plan/sights': { description: 'Look' } },
    })
    expect(nestedOf(requested.tasks[0], 'sights')).toEqual(['Look', undefined])
    expect(requested.tasks[0] && findSubEnsemble(requested.tasks[0])?.inputs).toEqual({
      reader: 'all',
    })
  })

  it('[RUNS-V5] [RUNS-V6] Overrides reach the task of all items, of one item, and of the sub-ensemble of one item', () => {
    const { tasks } = build({
      tasks: [
        {
          name: 'guides',
          ensemble: 'trip',
          forEach: { over: 'cities', as: 'city', key: 'id' },
        },
        { name: 'lines', description: 'Write {item}', forEach: { over: 'cities' } },
      ],
      taskOverrides: {
        'guides/sights': { description: 'Look in all' },
        'guides/brest/page': { description: 'Page of Brest' },
        lines: { expectedOutput: 'A line' },
        'lines/2': { description: 'The third' },
      },
    })
    const [guides, lines] = tasks.map(({ forEach }) => forEach)
    expect(nestedOf(guides?.template, 'sights')).toEqual(['Look in all', undefined])
    expect(nestedOf(guides?.template, 'page')?.[0 as never]).toBe('Write for {reader}')
    expect([...(guides?.children?.keys() ?? [])]).toEqual(['brest'])
    expect(nestedOf(guides?.children?.get('brest'), 'page')?.[0 as never]).toBe('Page of Brest')
    expect(nestedOf(guides?.children?.get('brest'), 'sights')).toEqual(['Look in all', undefined])
    expect(lines?.template).toMatchObject({
      description: 'Write {item}',
      expectedOutput: 'A line',
    })
    expect([...(lines?.children ?? [])]).toMatchObject([
      ['2', { description: 'The third', expectedOutput: 'A line' }],
    ])
  })

  it('[RUNS-V2] Overrides of tasks that cannot exist are refused, together with the problems of tasks', () => {
    const tasks: RequestedRun['tasks'] = [
      { name: 'plan', ensemble: 'trip' },
      { name: 'lines', description: 'Write {item}', forEach: { over: 'list', maxItems: 3 } },
      { name: 'bad', ensemble: 'tripp' },
      { name: 'plain', description: 'Plain' },
    ]
    const taskOverrides = {
      'plan/pge': { description: 'x' },
      'plan/page/0': { description: 'x' },
      'lines/3': { description: 'x' },
      'lines/fog': { description: 'x' },
      'lines/1': { forEach: { maxItems: 2 } },
      'bad/page': { description: 'x' },
      'plain/1': { description: 'x' },
      'plan/page': { model: 'x' },
      'PLAN/page': { description: 'y' },
    }
    expect(problemsOf({ tasks, taskOverrides })).toEqual([
      'INVALID_ENSEMBLE',
      "/tasks/2/ensemble: Unknown ensemble 'tripp'. Available: [team, trip, lists, secret, managed]. Did you mean 'trip'?",
      "/taskOverrides/plan~1pge: No task matching 'pge'. Available: [sights, page]. Did you mean 'page'?",
      "/taskOverrides/plan~1page~10: No task matching 'page/0'. Available: [sights, page]. Did you mean 'page'?",
      "/taskOverrides/plain~11: No task matching 'plain/1'. Available: [plan, lines, plain]. Did you mean 'plain'?",
      "/taskOverrides/PLAN~1page: 'PLAN/page' and 'plan/page' match the same task 'plan/page'",
      "/taskOverrides/plan~1page/model: This server offers no models, got 'x'",
      "/taskOverrides/lines~13: No item of task 'lines' can have the key '3': its keys are indexes from 0 to 2",
      "/taskOverrides/lines~1fog: No item of task 'lines' can have the key 'fog': its keys are indexes from 0 to 2",
      "/taskOverrides/lines~11/forEach: Task 'lines' has no forEach, so its limits have no effect",
    ])
  })

  it('[RUNS-R5] An override cannot weaken the reviews of a sub-ensemble, of the template or of the request', () => {
    const weaker = { review: 'skip' } as const
    const refusal = 'must not be "skip": the operator requires a review of task "page"'
    expect(problemsOf({ taskOverrides: { 'inner/page': weaker } })).toEqual([
      'BAD_REQUEST',
      `/taskOverrides/inner~1page/review: /taskOverrides/inner~1page/review ${refusal}`,
    ])
    expect(
      problemsOf({
        tasks: [{ name: 'plan', ensemble: 'trip', forEach: { over: 'cities' } }],
        taskOverrides: { 'plan/0/page': weaker, 'plan/page': weaker },
      }),
    ).toEqual([
      'BAD_REQUEST',
      ...['/taskOverrides/plan~10~1page/review', '/taskOverrides/plan~1page/review'].map(
        (path) => `${path}: ${path} ${refusal}`,
      ),
    ])
  })

  it('The reviews of the operator apply to the ensembles that requests add', () => {
    const reviews: ReviewRules = { timeoutMs: 5 }
    const strict = new RunEnsembles([team, trip], { tools: undefined, models: undefined }, reviews)
    const { tasks } = strict.build({
      ensemble: 'team',
      request: { tasks: [{ ensemble: 'trip' }] },
    })
    expect(tasks[0] && findSubEnsemble(tasks[0])?.definition.review).toEqual({ timeoutMs: 5 })
  })
})
