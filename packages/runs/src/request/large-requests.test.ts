/** Tests of the work that the largest requests cause: one turn of the event loop checks them. */
import { createRequire } from 'node:module'

import { toolCatalog } from '@tutti/core'
import { ensemble, modelCatalog, task } from '@tutti/ensemble'
import { fakeClock, scriptedModel } from '@tutti/testing'
import { afterEach, expect, it, vi } from 'vitest'

import { buildNewRun, type RunSubmission } from './new-run.ts'
import { RunEnsembles } from './run-ensembles.ts'

type Tasks = NonNullable<RunSubmission['tasks']>

const model = scriptedModel([])
const team = ensemble({ name: 'team', tasks: [task({ description: 'Write' })], model })
const limits = { maxTextBytes: 1e6, maxTaskTextBytes: 1e7 }

afterEach(() => {
  vi.restoreAllMocks()
})

function submit(submission: RunSubmission) {
  const models = modelCatalog({ small: model })
  const found = vi.spyOn(models, 'find')
  const ensembles = new RunEnsembles([team], { tools: toolCatalog([]), models })
  const run = buildNewRun(submission, {
    ensembles,
    clock: fakeClock(),
    prices: undefined,
    ...limits,
  })
  return { run, models: found.mock.calls.length }
}

function listTasks(count: number, make: (at: number) => Tasks[number]): Tasks {
  return Array.from({ length: count }, (_, at) => make(at))
}

/** Returns how many expressions in CEL a submission compiles. */
function countExpressions(tasks: Tasks): number {
  const { Environment }: typeof import('@marcbachmann/cel-js') = createRequire(import.meta.url)(
    '@marcbachmann/cel-js',
  )
  const parse = vi.spyOn(Environment.prototype, 'parse')
  submit({ tasks })
  return parse.mock.calls.length
}

it('A submission builds each of its tasks once', () => {
  const tasks = listTasks(20, (at) => ({ description: `Do ${at}`, model: 'small' }))
  expect(submit({ tasks, taskOverrides: { 'do 11': { maxIterations: 3 } } }).models).toBe(20)
})

it('[RUNS-CO2] A submission compiles equal conditions once', () => {
  const tasks = listTasks(1_000, (at) => ({
    name: `t${at}`,
    description: 'Do',
    ...(at === 0 ? {} : { when: "outputs.t0 == 'yes'" }),
  }))
  expect(countExpressions(tasks)).toBe(1)
})

it('[RUNS-CO5] A submission compiles equal conditions of loops once for each type of output', () => {
  const loop = { max: 5, until: 'round == 3' }
  const tasks = listTasks(500, (at) => ({
    description: `Do ${at}`,
    loop,
    ...(at % 2 === 0 ? {} : { outputSchema: { type: 'object' } }),
  }))
  expect(countExpressions(tasks)).toBe(2)
})

it('[RUNS-CO2] A submission reports an invalid condition for each task that has it', () => {
  const tasks = listTasks(3, () => ({ description: 'Do', when: 'inputs.x ==' }))
  expect(() => submit({ tasks })).toThrow(
    expect.objectContaining({
      details: {
        problems: [0, 1, 2].map((at) => expect.objectContaining({ path: `/tasks/${at}/when` })),
      },
    }),
  )
})

it('[RUNS-B1] A submission compiles equal schemas once', () => {
  const outputSchema = (): Record<string, unknown> => ({
    type: 'object',
    properties: { a: { type: 'string' } },
  })
  const clone = vi.spyOn(globalThis, 'structuredClone')
  submit({
    tasks: listTasks(600, (at) => ({ description: `Do ${at}`, outputSchema: outputSchema() })),
  })
  expect(clone.mock.calls.filter(([value]) => 'properties' in Object(value))).toHaveLength(1)
})

/** Returns how often a submission calls methods that searches in lists call for each item. */
function countCalls(submission: RunSubmission): number {
  const spies = [
    vi.spyOn(String.prototype, 'startsWith'),
    vi.spyOn(String.prototype, 'toLowerCase'),
    vi.spyOn(Set.prototype, 'has'),
    vi.spyOn(Array.prototype, 'push'),
  ]
  try {
    submit(submission)
    return spies.reduce((sum, { mock }) => sum + mock.calls.length, 0)
  } finally {
    vi.restoreAllMocks()
  }
}

it.for<[string, (count: number) => RunSubmission]>([
  ['tasks without names', (count) => ({ tasks: listTasks(count, () => ({ description: 'Do' })) })],
  [
    'tasks for items of a list',
    (count) => ({
      inputs: { list: '[]' },
      tasks: listTasks(count, (at) => ({
        name: `t${at}`,
        description: 'Do {item}',
        forEach: { over: 'list' },
      })),
    }),
  ],
  [
    'overrides by description',
    (count) => ({
      tasks: listTasks(count, (at) => ({ name: `t${at}`, description: `Do ${at} now` })),
      taskOverrides: Object.fromEntries(
        Array.from({ length: count }, (_, at) => [`do ${at} now`, { maxIterations: 3 }]),
      ),
    }),
  ],
  [
    'tasks that wait for the next one, the first with a condition',
    (count) => ({
      inputs: { x: 'a' },
      tasks: listTasks(count, (at) => ({
        name: `t${at}`,
        description: 'Do',
        ...(at === 0 ? { when: 'inputs.x == "a"' } : {}),
        ...(at === count - 1 ? {} : { context: [`$t${at + 1}`] }),
      })),
    }),
  ],
])('The checks of %s take work in proportion to their number', ([, request]) => {
  const [half, all] = [countCalls(request(500)), countCalls(request(1_000))]
  expect(half).toBeGreaterThan(500)
  // A little more than twice, for searches in sorted lists.
  expect(all / half).toBeLessThan(2.3)
})
