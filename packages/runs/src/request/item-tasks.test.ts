/** Tests of `forEach` in requests. */
import { toolCatalog, defineTool, Type, type TuttiError } from '@tutti/core'
import { ensemble, modelCatalog, task, type Ensemble, type Task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { buildEnsemble, buildRequest } from './build-ensemble.ts'
import { assertRequiredReviews } from './required-reviews.ts'

import type { RequestedRun } from '../domain/run-record.ts'

const [main, opus] = ['main', 'opus'].map((name) => scriptedModel([], { name }))
if (!main || !opus) throw new Error('unreachable')
const search = defineTool({
  name: 'search',
  description: 'Searches',
  input: Type.Object({}),
  execute: () => 'found',
})
const catalogs = {
  tools: toolCatalog([search]),
  models: modelCatalog({ opus }),
  ensembles: new Map<string, Ensemble>(),
}

const topics = task({
  name: 'topics',
  description: 'List topics',
  output: Type.Array(Type.Object({ id: Type.String() })),
})
const write = task({
  name: 'write',
  description: 'Write about {topic.id}',
  review: { requiredRole: 'editor' },
  forEach: { over: topics, as: 'topic', key: ({ id }) => id, maxItems: 5 },
})
const team = ensemble({ name: 'team', tasks: [topics, write], model: main })

function build(request: RequestedRun, template: Ensemble = team): Ensemble {
  return buildEnsemble(template, request, catalogs)
}

function check(request: RequestedRun, template: Ensemble): void {
  assertRequiredReviews(template, request, buildRequest(template, request, catalogs))
}

type Tasks = NonNullable<RequestedRun['tasks']>

function problemsOf(request: RequestedRun): object {
  try {
    check(request, team)
  } catch (error) {
    const { code, message, details } = error as TuttiError
    return { code, message, ...details }
  }
  return { code: 'none' }
}

/** Returns the problems of a request as `path: message`. */
function textsOf(request: RequestedRun): readonly string[] {
  const problems: unknown = Reflect.get(problemsOf(request), 'problems')
  return Array.isArray(problems) ? problems.map(({ path, message }) => `${path}: ${message}`) : []
}

const LIST = { name: 'list', description: 'List', outputSchema: { type: 'array' } } as const

function each(forEach: NonNullable<Tasks[number]['forEach']>): Tasks[number] {
  return { name: 'each', description: 'Do {item}', forEach }
}

describe('a requested task with forEach', () => {
  it('[RUNS-T5] A requested task with forEach is a task with forEach of the engine', () => {
    const tasks: Tasks = [
      LIST,
      {
        name: 'each',
        description: 'Do {one.title}',
        tools: ['search'],
        model: 'opus',
        forEach: {
          over: '$list',
          as: 'one',
          key: 'id',
          maxItems: 9,
          maxParallel: 2,
          maxFailures: 1,
          until: { succeeded: 3 },
          onError: 'continue',
          collect: {
            reduce: { name: 'join', description: 'Join {parts}', outputSchema: { type: 'object' } },
            maxTokens: 50,
            as: 'parts',
          },
        },
      },
    ]
    const { tasks: built, plan } = build({ tasks })
    expect(plan.workflow).toBe('PARALLEL')
    expect(built[1]).toMatchObject({
      name: 'each',
      description: 'Do {{one.title}}',
      context: ['list'],
      outputReader: { schema: { type: 'object' } },
      forEach: {
        over: 'list',
        isInput: false,
        key: 'id',
        settings: {
          as: 'one',
          maxItems: 9,
          maxParallel: 2,
          maxFailures: 1,
          until: { succeeded: 3 },
          onError: 'continue',
        },
        template: { name: 'each', tools: [search], model: opus },
        reduce: { task: { name: 'join', description: 'Join {parts}' }, maxTokens: 50, as: 'parts' },
      },
    })
  })

  it('[RUNS-T5] A requested task with forEach collects the outputs by key', () => {
    const [built] = build({ tasks: [each({ over: 'list', key: 'id', collect: 'outputs' })] }).tasks
    expect(built?.forEach?.settings).toEqual({ collect: 'outputs' })
    expect(built?.outputReader?.schema).toMatchObject({ type: 'object' })
  })

  it('[RUNS-T5] All problems of forEach are reported at once with their paths', () => {
    const tasks: Tasks = [
      {
        name: 'each',
        description: 'Do {item}',
        tools: ['serch'],
        forEach: {
          over: '$lists',
          as: 'no name',
          key: 'a.',
          maxItems: 2,
          maxFailures: 1,
          until: { succeeded: 3 },
          collect: {
            reduce: { description: 'Join', model: 'gpt-4', outputSchema: { type: 'text' } },
            maxTokens: 1,
          },
        },
      },
      LIST,
      { description: 'Do', forEach: { over: 'not a name' } },
      { description: 'Do', forEach: { over: '$list', as: '?' } },
    ]
    expect(textsOf({ tasks })).toEqual([
      "/tasks/0/tools/0: Unknown tool 'serch'. Available: [search]. Did you mean 'search'?",
      "/tasks/0/forEach/over: Unknown task '$lists'. Available: [$each, $list, $do, $do-2]. Did you mean '$list'?",
      "/tasks/0/forEach/collect/reduce/model: Unknown model 'gpt-4'. Available: [opus]",
      '/tasks/0/forEach/collect/reduce/outputSchema: Invalid output schema: /type must be a JSON type or a list of them, got "text"',
      '/tasks/0/forEach/as: /tasks/0/forEach/as must be the name of a template variable, got "no name"',
      '/tasks/0/forEach/key: /tasks/0/forEach/key must be the path of a field, such as "author.id", got "a."',
      "/tasks/0/forEach/maxFailures: /tasks/0/forEach/maxFailures needs onError 'continue' or 'collect'",
      '/tasks/0/forEach/until/succeeded: /tasks/0/forEach/until/succeeded must be at most maxItems, which is 2, got 3',
      "/tasks/2/forEach/over: 'not a name' must be the name of an input, or of an earlier task such as '$topics'",
      '/tasks/3/forEach/as: /tasks/3/forEach/as must be the name of a template variable, got "?"',
    ])
  })

  it('[RUNS-T5] A reduction is refused with the failures of collect', () => {
    const collect = { reduce: { description: 'Join {items}' }, maxTokens: 9 }
    const forEach = { over: '$list', onError: 'collect', collect } as const
    expect(textsOf({ tasks: [LIST, { description: 'Do', forEach }] })).toEqual([
      "/tasks/1/forEach/collect: /tasks/1/forEach/collect cannot reduce with onError 'collect': use 'continue'",
    ])
  })

  const reduce = (outputSchema: object) => ({
    reduce: { description: 'Join {items}', outputSchema: { ...outputSchema } },
    maxTokens: 9,
  })
  const over = (outputSchema: object) => ({ name: 'a', description: 'A', outputSchema })

  it.each<[string, object, string | undefined]>([
    ['text', { name: 'a', description: 'A' }, 'it is text; set outputSchema to one of the type'],
    ['an object', over({ type: 'object' }), 'its outputSchema has the type "object"'],
    ['a number or null', over({ type: ['number', 'null'] }), 'has the type ["number","null"]'],
    ['a list', over({ type: 'array' }), undefined],
    ['a list or null', over({ type: ['array', 'null'] }), undefined],
    ['an unknown value', over({ anyOf: [{ type: 'array' }, { type: 'null' }] }), undefined],
    ['outputs of items', { ...each({ over: 'list' }), name: 'a' }, undefined],
    [
      'a reduction to an object',
      { ...each({ over: 'list', collect: reduce({ type: 'object' }) }), name: 'a' },
      'its outputSchema has the type "object"',
    ],
    [
      'a reduction to a list',
      { ...each({ over: 'list', collect: reduce({ type: 'array' }) }), name: 'a' },
      undefined,
    ],
  ])('[RUNS-T6] forEach over a task whose output is %s', (_, first, problem) => {
    const tasks = [first as Tasks[number], each({ over: '$0' })]
    const expected =
      problem === undefined
        ? []
        : [
            expect.stringMatching(
              /^\/tasks\/1\/forEach\/over: The output of task 'a' must be a list/,
            ),
          ]
    const texts = textsOf({ tasks })
    expect(texts).toEqual(expected)
    expect(texts.join('\n')).toContain(problem ?? '')
  })

  it('[RUNS-T7] A task is refused when its name may be that of a task for an item', () => {
    const tasks = [each({ over: 'list' }), { name: 'each/0', description: 'A' }]
    expect(textsOf({ tasks })).toEqual([
      "/tasks/1/name: 'each/0' may be the name of a task that 'each' adds: use another name",
    ])
    expect(
      textsOf({
        tasks: [
          { name: 'a', description: 'A' },
          { name: 'a/0', description: 'B' },
        ],
      }),
    ).toEqual([])
  })

  it('forEach over itself, or over a task that waits for it, is a cycle', () => {
    expect(problemsOf({ tasks: [each({ over: '$each' })] })).toMatchObject({
      code: 'CIRCULAR_DEPENDENCY',
      message: 'Tasks form a cycle: each → each',
    })
    const tasks = [{ ...LIST, context: ['$each'] }, each({ over: '$list' })]
    expect(problemsOf({ tasks })).toMatchObject({ code: 'CIRCULAR_DEPENDENCY' })
  })

  it('[RUNS-R5] A requested reduction cannot skip a review that the policy of the operator requires', () => {
    const strict = ensemble({ ...team, reviewPolicy: 'AFTER_EVERY_TASK' })
    const collect = {
      reduce: { name: 'join', description: 'Join', review: 'skip' },
      maxTokens: 9,
    } as const
    const request = { tasks: [each({ over: 'list', collect })] }
    expect(() => {
      check(request, strict)
    }).toThrow(
      '/tasks/0/forEach/collect/reduce/review must not be "skip": the operator requires a review of task "join"',
    )
  })
})

describe('an override of a task with forEach', () => {
  const changed = (override: object): Task | undefined =>
    build({ taskOverrides: { write: override } }).tasks[1]

  it('[RUNS-V5] An override of a task with forEach changes the task of each item', () => {
    const one = changed({
      description: 'Sing about {topic.id}',
      model: 'opus',
      maxIterations: 2,
      tools: { add: ['search'] },
    })
    expect(one).toMatchObject({
      name: 'write',
      description: 'Sing about {{topic.id}}',
      context: ['topics'],
      forEach: {
        over: 'topics',
        key: expect.any(Function),
        settings: { as: 'topic', maxItems: 5 },
        template: {
          name: 'write',
          description: 'Sing about {topic.id}',
          model: opus,
          maxIterations: 2,
          tools: [search],
          review: { requiredRole: 'editor' },
        },
      },
    })
    expect(team.tasks[1]?.forEach?.template.description).toBe('Write about {topic.id}')
  })

  it('[RUNS-V1] An override finds a task with forEach by the start of the description of its author', () => {
    const taskOverrides = { 'write about {topic': { maxIterations: 3 } }
    const [, one] = build({ taskOverrides }).tasks
    expect(one?.forEach?.template.maxIterations).toBe(3)
    const tasks = [each({ over: 'list', as: 'one' })].map((body) => ({
      ...body,
      description: 'Do {one.title} well',
    }))
    const own = build({ tasks, taskOverrides: { 'do {one.t': { model: 'opus' } } })
    expect(own.tasks[0]?.forEach?.template.model).toBe(opus)
  })

  it('[RUNS-V5] An override changes the limits of forEach, and a part that has no effect is refused', () => {
    expect(changed({ forEach: { maxItems: 50, maxParallel: 2 } })?.forEach?.settings).toEqual({
      as: 'topic',
      maxItems: 50,
      maxParallel: 2,
    })
    const taskOverrides = {
      topics: { forEach: { maxItems: 3 } },
      write: { forEach: { maxFailures: 3 } },
    }
    expect(textsOf({ taskOverrides })).toEqual([
      "/taskOverrides/topics/forEach: Task 'topics' has no forEach, so its limits have no effect",
      "/taskOverrides/write/forEach/maxFailures: /taskOverrides/write/forEach/maxFailures needs onError 'continue' or 'collect'",
    ])
  })

  it('[RUNS-R5] An override cannot skip a review that the operator requires of each item', () => {
    expect(textsOf({ taskOverrides: { write: { review: 'skip' } } })).toEqual([
      '/taskOverrides/write/review: /taskOverrides/write/review must not be "skip": the operator requires a review of task "write"',
    ])
  })
})
