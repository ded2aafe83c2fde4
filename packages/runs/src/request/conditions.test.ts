/** Tests of `when` and `switch` in requests. */
import { toolCatalog, type TuttiError } from '@tutti/core'
import { ensemble, modelCatalog, task } from '@tutti/ensemble'
import { findUnknownInputs, inputVariables } from '@tutti/ensemble/internal'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { buildEnsemble } from './build-ensemble.ts'

import type { RequestedRun } from '../domain/run-record.ts'

type Tasks = NonNullable<RequestedRun['tasks']>

const catalogs = { tools: toolCatalog([]), models: modelCatalog({}), ensembles: new Map() }

/** Answers with the JSON in the description. */
const model = scriptedModel(
  ({ messages }) => messages.at(-1)?.content.match(/Say (.*?)(?:\n|$)/s)?.[1] ?? 'nothing',
  { maxRequests: 0 },
)
const team = ensemble({ name: 'team', tasks: [task({ description: 'Write' })], model })

function build(tasks: Tasks, request: Omit<RequestedRun, 'tasks'> = {}) {
  return buildEnsemble(
    team,
    { ...request, tasks, options: { workflow: 'PARALLEL', ...request.options } },
    catalogs,
  )
}

const VALUE =
  '{"kind":"bug","n":18,"tags":["a","b"],"nested":{"list":[{"ok":true}]},"none":null,"isOpen":true}'
const SOURCES: Tasks = [
  { name: 'value', description: `Say ${VALUE}`, outputSchema: { type: 'object' } },
  { name: 'a-text', description: 'Say hello' },
]

/** Returns whether a task with this condition runs; the reason of its failure otherwise. */
async function evaluate(when: string, inputs: Readonly<Record<string, string>> = {}) {
  const built = build([...SOURCES, { name: 'last', description: 'Say done', when }])
  const result = await built.run(inputs)
  if (result.error !== undefined) return result.error.message
  return result.tasks.some(({ taskName }) => taskName === 'last')
}

function problemsOf(tasks: Tasks, request?: Omit<RequestedRun, 'tasks'>): unknown {
  try {
    build(tasks, request)
    return []
  } catch (error) {
    const { details } = error as TuttiError
    return details?.['problems']
  }
}

/** Returns the problems of a condition as `path: message`. */
function textsOf(when: string): readonly string[] {
  const problems = problemsOf([...SOURCES, { name: 'last', description: 'Last', when }])
  return Array.isArray(problems) ? problems.map(({ path, message }) => `${path}: ${message}`) : []
}

describe('a condition of a request', () => {
  it.each([
    ["outputs.value.kind == 'bug'", true],
    ["outputs.value.kind == 'praise'", false],
    ["outputs['a-text'] == 'hello'", true],
    ["outputs['a-text'].startsWith('he') && size(outputs.value.tags) == 2", true],
    ['outputs.value.n >= 18 && outputs.value.n == 18 && outputs.value.n < 18.5', true],
    ['outputs.value.n + 1.0 == 19.0', true],
    ['int(outputs.value.n) % 2 == 0', true],
    ["outputs.value.tags.exists(tag, tag == 'b')", true],
    [
      'outputs.value.nested.list.filter(one, one.ok).size() == 1 ? outputs.value.isOpen : false',
      true,
    ],
    ['outputs.value.isOpen', true],
    ['outputs.value.none == null', true],
    ['has(outputs.value.missing)', false],
    ["has(outputs.value.missing) || 'b' in outputs.value.tags", true],
    ["outputs.value.kind in ['question', 'bug']", true],
  ] as const)(
    '[RUNS-CO1] A condition of a request reads JSON values: %s',
    async (when, expected) => {
      expect(await evaluate(when)).toBe(expected)
    },
  )

  it.each([
    ['int(inputs.age) >= 18', { age: '18' }, true],
    ['int(inputs.age) >= 18', { age: '9' }, false],
    ["has(inputs.lang) && inputs.lang == 'de'", {}, false],
    ["has(inputs.lang) && inputs.lang == 'de'", { lang: 'de' }, true],
    ["'lang' in inputs", { lang: 'de' }, true],
    ["inputs['first name'] == 'Ada'", { 'first name': 'Ada' }, true],
  ] as const)(
    '[RUNS-CO1] [RUNS-CO4] A condition of a request reads inputs: %s with %j',
    async (when, inputs, expected) => {
      expect(await evaluate(when, inputs)).toBe(expected)
    },
  )

  it.each([
    ["outputs.value.missing == 'a'", 'failed: No such key: missing'],
    ['outputs.value.kind', 'must return true or false, got "bug"'],
    ['int(outputs.value.kind) > 1', 'int() type error'],
    [
      'outputs.value.n + 1 == 19',
      'no such overload: dyn<double> + int at character 1. Numbers in JSON are doubles: write 1.0',
    ],
    ["outputs.value.constructor == 'x'", 'failed: No such key: constructor'],
  ] as const)(
    '[RUNS-CO1] A condition of a request that cannot be evaluated fails its task: %s',
    async (when, expected) => {
      expect(await evaluate(when)).toContain(expected)
    },
  )

  it.each([
    ["outputs.value.constructor == 'Ferrari' && outputs.value.n == 1", true],
    ['has(outputs.value.constructor) && !has(outputs.value.toString)', true],
    ["outputs.value.races.exists(race, race.constructor == 'Lotus')", true],
    ["outputs.constructor == 'said' && outputs.value.n == 1", true],
    ["outputs.value.n == 1 && inputs.constructor == 'given'", true],
  ] as const)(
    '[RUNS-CO1] A condition of a request reads names of members of objects: %s',
    async (when, expected) => {
      const json = '{"constructor":"Ferrari","n":1,"races":[{"constructor":"Lotus"}]}'
      const built = build([
        { name: 'value', description: `Say ${json}`, outputSchema: { type: 'object' } },
        { name: 'constructor', description: 'Say said' },
        { name: 'last', description: 'Say {constructor}', when },
      ])
      const result = await built.run({ constructor: 'given' })
      expect(result.error).toBeUndefined()
      expect(result.tasks.some(({ taskName }) => taskName === 'last')).toBe(expected)
    },
  )

  it('[RUNS-CO5] The condition of a loop reads a field with the name of a member of objects', async () => {
    const built = build([
      {
        name: 'value',
        description: 'Say {"constructor":"{round}"}',
        outputSchema: { type: 'object' },
        loop: { max: 4, until: "output.constructor == '2' && outputs[0].constructor == '1'" },
      },
    ])
    expect((await built.run()).output).toBe('{"constructor":"2"}')
  })

  it('[RUNS-CO1] [RUNS-CO5] A condition reads the outcome of a wait, also in a loop', async () => {
    const waitFor = { event: 'paid', timeoutMs: 1 }
    const built = build([
      { name: 'paid', description: 'Wait', waitFor },
      {
        name: 'again',
        description: 'Wait',
        waitFor: { ...waitFor, event: { all: ['paid', 'sent'] } },
        loop: { max: 3, until: 'round == 2 && !output.arrived && size(outputs[0].events) == 2' },
      },
      { name: 'ship', description: 'Say shipped', when: 'outputs.paid.arrived' },
      { name: 'remind', description: 'Say late', when: 'outputs.paid.timedOut' },
      { name: 'end', description: 'Say end', when: '!outputs.again.events[1].arrived' },
    ])
    const handle = built.start({}, {})
    const { tasks, error } = await handle.result
    expect(error).toBeUndefined()
    const names = ['paid', 'again', 'remind', 'end', 'again/1', 'again/2']
    expect(tasks.map(({ taskName }) => taskName).toSorted()).toEqual(names.toSorted())
  })

  it('[RUNS-CO1] The output of a skipped task does not exist', async () => {
    const built = build([
      ...SOURCES,
      { name: 'off', description: 'Say off', when: 'false' },
      { name: 'on', description: 'Say on', when: "!has(outputs.off) && outputs['a-text'] != ''" },
    ])
    const result = await built.run()
    expect(result.tasks.map(({ taskName }) => taskName)).toEqual(['value', 'a-text', 'on'])
  })

  it.each([
    ['1 +', 'Unexpected token: EOF at character 4'],
    ['inputs.age >= 18', 'no such overload: string >= int at character 1. Inputs and'],
    ["outputs['a-text'] > 3", 'no such overload: string > int at character 1'],
    [
      'outputs.vlaue.n > 3',
      "Unknown task 'vlaue'. Available: [value, a-text, last]. Did you mean 'value'?",
    ],
    ['age > 3', 'it has an unknown name "age": conditions read inputs.NAME and outputs.TASK'],
    ['size(inputs) > 3', 'inputs must be followed by a name, such as inputs.name'],
    ["outputs[inputs.task] == 'x'", 'the name in outputs[…] must be a text in quotes'],
    ['1 + 2', 'it must be true or false, but it is of the type int'],
    ["outputs['a-text']", 'it must be true or false, but it is of the type string'],
    [
      "timestamp(inputs.day) > timestamp('2026-01-01T00:00:00Z')",
      'cannot use the function "timestamp"',
    ],
  ])('[RUNS-CO2] A condition of a request is refused before the run: %s', (when, expected) => {
    expect(textsOf(when)).toEqual([expect.stringContaining(`/tasks/2/when: Invalid condition: `)])
    expect(textsOf(when)[0]).toContain(expected)
  })

  it.each([
    ["inputs.text.matches('^(a+)+$')", 'cannot use the function "matches"'],
    [`${'('.repeat(1_000)}true${')'.repeat(900)}`, 'Exceeded maxDepth (32)'],
    [`${'!'.repeat(1_900)}true`, 'Exceeded maxAstNodes (300)'],
    [`true${' && true'.repeat(200)}`, 'Exceeded maxAstNodes (300)'],
    [`1 in [${'1,'.repeat(500)}1]`, 'Exceeded maxListElements (100)'],
    [
      'outputs.value.tags.all(a, outputs.value.tags.all(b, a != b))',
      'all cannot be inside another iteration',
    ],
    ['outputs.value.tags.map(a, outputs.value.tags) == []', 'cannot use the function "map"'],
    ["cel.bind(a, 'x', a + a == a)", 'unknown name "cel"'],
  ])('[RUNS-CO3] A hostile condition is refused: %s', (when, expected) => {
    expect(textsOf(when.slice(0, 2_000))[0]).toContain(expected)
  })

  it('[RUNS-CO3] An evaluation that takes too long fails its task', async () => {
    const list = JSON.stringify({ list: Array.from({ length: 20_000 }, (_, at) => at) })
    const built = build([
      { name: 'long', description: `Say ${list}`, outputSchema: { type: 'object' } },
      {
        name: 'last',
        description: 'Last',
        when: 'outputs.long.list.all(a, outputs.long.list == outputs.long.list + [])',
      },
    ])
    const result = await built.run()
    expect(result.error?.message).toBe(
      'The condition of task "last" (outputs.long.list.all(a, outputs.long.list == outputs.long.list + [])) ' +
        'failed: it takes longer than 250 ms',
    )
  })

  it('[RUNS-CO3] The conditions of a request have one limit of length together', () => {
    const when = `inputs.a == '${'b'.repeat(1_900)}'`
    const tasks: Tasks = Array.from({ length: 53 }, (_, at) => ({
      name: `t${at}`,
      description: 'Do',
      when,
    }))
    expect(problemsOf(tasks)).toEqual([
      {
        path: '/tasks/52/when',
        message: 'All conditions together must have at most 100000 characters',
      },
    ])
  })

  it('[RUNS-CO3] The conditions of a request have one limit of time together', async () => {
    const list = JSON.stringify({ list: Array.from({ length: 20_000 }, (_, at) => at) })
    const when = 'outputs.long.list.all(a, outputs.long.list == outputs.long.list + [])'
    const tolerant = ensemble({ ...team, errorStrategy: 'CONTINUE_ON_ERROR' })
    const built = buildEnsemble(
      tolerant,
      {
        options: { workflow: 'PARALLEL' },
        tasks: [
          { name: 'long', description: `Say ${list}`, outputSchema: { type: 'object' } },
          ...Array.from({ length: 6 }, (_, at) => ({ name: `t${at}`, description: 'Do', when })),
        ],
      },
      catalogs,
    )
    const reasons: string[] = []
    await built.run(
      {},
      {
        onEvent: (event) => {
          if (event.type === 'task_failed') reasons.push(event.reason)
        },
      },
    )
    expect(reasons).toHaveLength(6)
    expect(reasons[0]).toContain('it takes longer than 250 ms')
    expect(reasons.at(-1)).toContain('the conditions of the run took longer than 1000 ms together')
  })

  it('[RUNS-CO4] Inputs of conditions are inputs of the run, and required unless the condition may lack them', () => {
    const built = build([
      {
        name: 'a',
        description: 'Write {topic}',
        when: "has(inputs.lang) && inputs.lang == 'de' && inputs.kind != ''",
      },
    ])
    expect(inputVariables(built.tasks)).toEqual(['topic', 'kind'])
    expect(findUnknownInputs(built, { topic: '', kind: '', lang: '' })).toEqual([])
    expect(findUnknownInputs(built, { lnag: '' })).toMatchObject([{ path: '/inputs/lnag' }])
  })
})

describe('a switch of a request', () => {
  it('[RUNS-CO1] A switch of a request runs the first case that matches, also one for each item', async () => {
    const built = build([
      { name: 'kind', description: 'Say bug' },
      { name: 'ask', description: 'Say ask', switch: 'route', when: "outputs.kind == 'question'" },
      {
        name: 'fix',
        description: 'Say fixed {item}',
        switch: 'route',
        when: "outputs.kind == 'bug'",
        forEach: { over: 'items' },
      },
      { name: 'other', description: 'Say other', switch: 'route' },
      { name: 'send', description: 'Say sent', context: ['$ask', '$fix', '$other'] },
    ])
    const result = await built.run({ items: '["x"]' })
    expect(result.status).toBe('COMPLETED')
    expect(result.tasks.map(({ taskName }) => taskName)).toEqual(['kind', 'fix', 'send', 'fix/0'])
  })

  it('[RUNS-CO2] Problems of the cases of a switch have the paths of their fields', () => {
    const say = (name: string, more: object) => ({ name, description: 'A', switch: 's', ...more })
    const tasks: Tasks = [
      { name: 'start', description: 'A' },
      say('a', {}),
      say('b', { when: "outputs.a == ''" }),
      say('c', { when: 'true', context: ['$start', '$b'] }),
      { ...say('d', {}), switch: 'other' },
    ]
    expect(problemsOf(tasks)).toEqual([
      {
        path: '/tasks/1/switch',
        message:
          'Task \'a\': it has no condition (when), so it must be the last case of switch "s"',
      },
      {
        path: '/tasks/2/when',
        message: 'Task \'b\': when reads "a", which is a case of the same switch',
      },
      {
        path: '/tasks/3/context/1',
        message:
          'Task \'c\': context "b" is another case of its switch, so only one of them can run',
      },
      {
        path: '/tasks/4/switch',
        message: 'Task \'d\': switch "other" needs a case with a condition (when)',
      },
    ])
    const unread = [say('a', { when: '1 +' }), say('b', { when: 'true' })]
    expect(problemsOf(unread)).toMatchObject([{ path: '/tasks/0/when' }])
  })

  it('[RUNS-CO2] A condition of a request has no effect in HIERARCHICAL', () => {
    const tasks: Tasks = [
      { name: 'a', description: 'A', when: 'true' },
      { name: 'b', description: 'B', switch: 's' },
    ]
    expect(problemsOf(tasks, { options: { workflow: 'HIERARCHICAL' } })).toMatchObject([
      { path: '/tasks/0/when' },
      { path: '/tasks/1/switch' },
    ])
  })

  it('An override keeps the condition of a task for each item', () => {
    const tasks: Tasks = [
      { name: 'each', description: 'Do {item}', forEach: { over: 'items' }, when: 'false' },
    ]
    const built = build(tasks, { taskOverrides: { each: { description: 'Do it: {item}' } } })
    expect(built.tasks[0]?.when?.text).toBe('false')
  })
})
