/** Tests of `loop` in requests. */
import { toolCatalog, defineTool, Type, type TuttiError } from '@tutti/core'
import { ensemble, modelCatalog, task, type Ensemble, type Task } from '@tutti/ensemble'
import { findSubEnsemble, namedInputs, taskVariables } from '@tutti/ensemble/internal'
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

const judge = task({ name: 'judge', description: 'Judge {output}', output: Type.Boolean() })
const write = task({
  name: 'write',
  description: 'Write, mind {feedback}',
  review: { requiredRole: 'editor' },
  loop: { max: 5, until: { judge }, onMax: { review: { onTimeout: 'CONTINUE' } } },
})
const lines = task({
  name: 'lines',
  description: 'Write about {item}, mind {feedback}',
  forEach: { over: 'list', maxItems: 5 },
  loop: { max: 5, until: { judge } },
})
const plain = task({ name: 'plain', description: 'Do' })
const page = ensemble({
  name: 'page',
  model: main,
  tasks: [task({ name: 'draft', description: 'Draft {topic}, mind {feedback}' })],
})
const pages = task({ name: 'pages', ensemble: page, loop: { max: 2 }, inputs: { topic: 'tea' } })
const team = ensemble({ name: 'team', tasks: [write, lines, plain, pages], model: main })

function build(request: RequestedRun, template: Ensemble = team): Ensemble {
  return buildEnsemble(template, request, catalogs)
}

type Tasks = NonNullable<RequestedRun['tasks']>

/** Returns the problems of a request as `path: message`. */
function textsOf(request: RequestedRun, template: Ensemble = team): readonly string[] {
  try {
    assertRequiredReviews(template, request, buildRequest(template, request, catalogs))
  } catch (error) {
    const problems: unknown = (error as TuttiError).details?.['problems']
    return Array.isArray(problems) ? problems.map(({ path, message }) => `${path}: ${message}`) : []
  }
  return []
}

const VERDICT = {
  name: 'grade',
  description: 'Grade {output}',
  outputSchema: { type: 'boolean' },
}

function refine(loop: NonNullable<Tasks[number]['loop']>) {
  return { name: 'refine', description: 'Refine {previous}', loop }
}

describe('a requested task with loop', () => {
  it('[RUNS-T30] A requested task with loop is a task with loop of the engine', () => {
    const loop: NonNullable<Tasks[number]['loop']> = {
      max: 9,
      until: { judge: { ...VERDICT, tools: ['search'], model: 'opus' } },
      onMax: { review: { requiredRole: 'editor', timeoutMs: 0 } },
      history: { window: 3 },
      stopWhenUnchanged: true,
      result: 'all',
    }
    const body = { ...refine(loop), description: 'Refine {history}' }
    const next = { name: 'next', description: 'Do {item}', forEach: { over: '$refine' } }
    const { tasks: built } = build({ tasks: [body, next] })
    expect(built[0]).toMatchObject({
      name: 'refine',
      description: 'Refine {{history}}',
      outputReader: { schema: { type: 'array', items: { type: 'string' } } },
      loop: {
        settings: {
          max: 9,
          onMax: { review: { requiredRole: 'editor', timeoutMs: Infinity } },
          history: { window: 3 },
          stopWhenUnchanged: true,
          result: 'all',
        },
        template: { name: 'refine', description: 'Refine {history}' },
        judge: { name: 'grade', tools: [search], model: opus },
      },
    })
    expect(built[1]).toMatchObject({ context: ['refine'] })
  })

  it('[RUNS-T30] A requested task with forEach and loop repeats the task of each item', () => {
    const tasks = [{ ...refine({ max: 2 }), forEach: { over: 'list' } }]
    expect(build({ tasks }).tasks[0]).toMatchObject({
      forEach: { template: { loop: { settings: { max: 2 } } } },
    })
  })

  it('[RUNS-T30] All problems of loops are reported at once with their paths', () => {
    const tasks: Tasks = [
      {
        ...refine({
          max: 2,
          onMax: 'fail',
          until: { judge: { ...VERDICT, model: 'gpt-4' } },
        }),
        tools: ['serch'],
      },
      { ...refine({ max: 2, until: { judge: { description: 'Judge' } } }), name: 'b' },
      { ...refine({ max: 2, onMax: 'fail', history: 'all' }), name: 'c' },
      { name: 'b/1', description: 'Do' },
    ]
    expect(textsOf({ tasks })).toEqual([
      "/tasks/3/name: 'b/1' may be the name of a task that 'b' adds: use another name",
      "/tasks/0/tools/0: Unknown tool 'serch'. Available: [search]. Did you mean 'search'?",
      "/tasks/0/loop/until/judge/model: Unknown model 'gpt-4'. Available: [opus]",
      '/tasks/1/loop/until/judge: /tasks/1/loop/until/judge must have an output schema: a boolean, or an object with "done" and "feedback"',
      "/tasks/2/loop/onMax: /tasks/2/loop/onMax is 'fail', so the loop would always fail: set until or stopWhenUnchanged",
      '/tasks/2/loop/history: /tasks/2/loop/history has no effect: no text of the task has {history}',
    ])
  })

  it('[RUNS-T30] A requested task with ensemble and loop repeats the tasks of the ensemble', () => {
    const template = ensemble({ name: 'other', model: main, tasks: [plain] })
    const ensembles = new Map<string, Ensemble>([['page', page]])
    const tasks: Tasks = [{ name: 'all', ensemble: 'page', loop: { max: 2, onMax: 'accept' } }]
    const built = buildEnsemble(template, { tasks }, { ...catalogs, ensembles })
    expect(findSubEnsemble(built.tasks[0]?.loop?.template ?? plain)?.definition.name).toBe('page')
  })

  const Draft = { type: 'object', properties: { score: { type: 'number' } } }
  const scored = { name: 'scored', description: 'Score it', outputSchema: Draft }
  const state = (round: number, scores: readonly number[]) => ({
    round,
    outputs: scores.map((score) => ({ score })),
    inputs: { goal: '7' },
  })

  it('[RUNS-CO5] The condition of a loop can be an expression over the output, the outputs, the round and the inputs', () => {
    const until =
      'output.score > double(inputs.goal) || outputs.exists(one, one.score < 0.0) || round == 4'
    const [one] = build({ tasks: [{ ...scored, loop: { max: 9, until } }] }).tasks
    const { test, text } = one?.loop?.until ?? {}
    expect(text).toBe(until)
    expect(test?.({ score: 8 }, state(1, [8]))).toBe(true)
    expect(test?.({ score: 3 }, state(2, [5, 3]))).toBe(false)
    expect(test?.({ score: 3 }, state(2, [-1, 3]))).toBe(true)
    expect(test?.({ score: 3 }, state(4, [1, 1, 1, 3]))).toBe(true)
    expect(taskVariables(one ?? plain)).toEqual(['goal'])
    expect(() => test?.({}, state(1, []))).toThrow(TypeError)
  })

  it('[RUNS-CO5] An expression is refused with its path for unknown names, texts in place of numbers, and other results', () => {
    const tasks = [
      'outputs.scored == 1',
      'output > 7',
      'round',
      'outputs.lines',
      'previous == ""',
      'output.matches("x")',
    ].map((until, index) => ({ ...refine({ max: 2, until }), name: `t${index}` }))
    const texts = textsOf({ tasks })
    expect(texts.map((text) => text.split(':')[0])).toEqual(
      tasks.map((_, index) => `/tasks/${index}/loop/until`),
    )
    expect(texts[4]).toBe(
      '/tasks/4/loop/until: Invalid condition: it has an unknown name "previous": conditions read inputs.NAME and output, outputs, round',
    )
    expect(texts[2]).toBe(
      '/tasks/2/loop/until: Invalid condition: it must be true or false, but it is of the type int',
    )
  })

  it('[RUNS-CO4] [RUNS-CO5] Inputs that the condition of a loop may lack are inputs of the run, but not those of an item', () => {
    const loop = { max: 2, until: 'has(inputs.stop) && has(inputs.item) && inputs.kind == output' }
    const { tasks } = build({ tasks: [{ ...refine(loop), forEach: { over: 'items' } }] })
    const named = namedInputs({ tasks })
    expect(named).toContain('kind')
    expect(named).toContain('stop')
    expect(named).not.toContain('item')
  })

  it('[RUNS-V5] A problem of a loop that an override of its body causes has the path of the override', () => {
    const reader = ensemble({
      name: 'reader',
      model: main,
      tasks: [task({ name: 'draft', description: 'Draft {history}' })],
    })
    const text = task({ name: 'a/b', ensemble: reader, loop: { max: 2, history: 'all' } })
    const template = ensemble({ name: 'team', tasks: [text], model: main })
    const taskOverrides = { 'a/b/draft': { description: 'Draft' } }
    expect(textsOf({ taskOverrides }, template)).toEqual([
      expect.stringMatching(/^\/taskOverrides\/a~1b~1draft\/history: /),
    ])
  })

  it('[RUNS-T6] A list cannot be the output of a loop that is a text', () => {
    const next = { name: 'next', description: 'Do {item}', forEach: { over: '$refine' } }
    expect(textsOf({ tasks: [refine({ max: 2 }), next] })[0]).toMatch(
      /^\/tasks\/1\/forEach\/over: The output of task 'refine' must be a list/,
    )
  })

  it('[RUNS-R5] A requested judge cannot skip a review that the policy of the operator requires', () => {
    const strict = ensemble({ ...team, reviewPolicy: 'AFTER_EVERY_TASK' })
    const tasks = [refine({ max: 2, until: { judge: { ...VERDICT, review: 'skip' } } })]
    expect(textsOf({ tasks }, strict)).toEqual([
      '/tasks/0/loop/until/judge/review: /tasks/0/loop/until/judge/review must not be "skip": the operator requires a review of task "grade"',
    ])
  })

  it('[RUNS-R5] A request cannot shorten the review of a last round that a timeout approves', () => {
    expect(textsOf({ options: { review: { timeoutMs: 1_000 } } })).toEqual([
      '/options/review/timeoutMs: /options/review/timeoutMs must be at least 300000, because a timeout approves the review; got 1000',
    ])
  })
})

describe('an override of a task with loop', () => {
  const changed = (taskOverrides: NonNullable<RequestedRun['taskOverrides']>): readonly Task[] =>
    build({ taskOverrides }).tasks

  it('[RUNS-V5] An override of a task with loop changes the task of each round and the limits', () => {
    const [one] = changed({ write: { description: 'Sing', model: 'opus', loop: { max: 50 } } })
    expect(one).toMatchObject({
      name: 'write',
      description: 'Sing',
      loop: {
        settings: { max: 50, onMax: { review: { onTimeout: 'CONTINUE' } } },
        judge: { name: 'judge' },
        template: { description: 'Sing', model: opus, review: { requiredRole: 'editor' } },
      },
    })
  })

  it('[RUNS-V5] An override of a task with forEach and loop changes both limits and the task of a round', () => {
    const [, each] = changed({
      'write about': { maxIterations: 3, forEach: { maxItems: 7 }, loop: { max: 2 } },
    })
    expect(each).toMatchObject({
      forEach: {
        settings: { maxItems: 7 },
        template: { loop: { settings: { max: 2 }, template: { maxIterations: 3 } } },
      },
    })
  })

  it('[RUNS-V7] An override below a loop over an ensemble changes a task of all rounds, and single rounds cannot be changed', () => {
    const [, , , all] = changed({ 'pages/draft': { model: 'opus' } })
    const nested = findSubEnsemble(all?.loop?.template ?? plain)?.definition
    expect(nested?.tasks[0]).toMatchObject({ name: 'draft', model: opus })
    expect(all?.loop?.settings).toEqual({ max: 2 })
    expect(textsOf({ taskOverrides: { 'write/2': { model: 'opus' } } })).toEqual([
      "/taskOverrides/write~12: The rounds of task 'write' cannot be changed one by one: '2'",
    ])
  })

  it('[RUNS-V5] Limits of a loop have no effect on a task without one', () => {
    expect(textsOf({ taskOverrides: { plain: { loop: { max: 2 } } } })).toEqual([
      "/taskOverrides/plain/loop: Task 'plain' has no loop, so its limits have no effect",
    ])
  })
})
