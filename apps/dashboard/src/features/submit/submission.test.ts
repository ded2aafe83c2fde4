import { decode, SubmitRunBody, type Capabilities, type EnsembleInfo } from '@tutti/protocol'
import { describe, expect, it } from 'vitest'

import {
  withCopy,
  withMoved,
  withNewTask,
  withoutTask,
  emptyDraft,
  withField,
  type OverrideDraft,
  type SubmissionDraft,
  type TaskDraft,
} from './draft.ts'
import { draftOfBody } from './draft-of-body.ts'
import { refusalsOf, standing, submissionProblems, placeLabel } from './submission-problems.ts'
import { bodyOf, withoutNothing } from './submission.ts'
import { inputNames } from './variables.ts'

const press: EnsembleInfo = {
  name: 'press',
  description: '',
  workflow: 'SEQUENTIAL',
  variables: ['topic', 'language'],
  tasks: [
    {
      name: 'research',
      description: 'Research {topic}',
      tools: ['calculator'],
      variables: ['topic', 'language'],
    },
    { name: 'write', description: 'Write it', tools: [], variables: [] },
  ],
}
const solo: EnsembleInfo = {
  name: 'solo',
  description: '',
  workflow: 'SEQUENTIAL',
  variables: ['piece'],
  tasks: [{ name: 'play', description: 'Play {piece}', tools: [], variables: ['piece'] }],
}
const ensembles = [press, solo]
const capabilities: Capabilities = {
  tools: ['calculator', 'search'].map((name) => ({ name, description: '' })),
  models: [{ alias: 'small', provider: 'p' }],
  sharedTasks: [],
  sharedTools: [],
  preconfiguredTasks: [],
  ensembles,
}

function draft(change: Partial<SubmissionDraft>): SubmissionDraft {
  return { ...emptyDraft(), ...change }
}

/** Paths and words of what is wrong with a draft. */
function wrong(change: Partial<SubmissionDraft>): readonly string[] {
  const given = draft(change)
  return submissionProblems(given, bodyOf(given, ensembles), capabilities).map(
    ({ path, message }) => `${path} ${message}`,
  )
}

const inputs = { topic: 'Bees', language: 'English', piece: 'A waltz' }

describe('[S1] the body has what belongs to the level and the ensemble', () => {
  const everything = draft({
    inputs,
    overrides: { press: { write: { model: 'small' } }, solo: { play: { maxIterations: 2 } } },
    tasks: [{ key: 't1', description: 'Do {this}' }],
  })

  it.each<[Partial<SubmissionDraft>, object]>([
    [{}, { inputs: { topic: 'Bees', language: 'English' } }],
    [{ ensemble: 'solo' }, { ensemble: 'solo', inputs: { piece: 'A waltz' } }],
    [
      { level: 'overrides' },
      {
        inputs: { topic: 'Bees', language: 'English' },
        taskOverrides: { write: { model: 'small' } },
      },
    ],
    [
      { level: 'overrides', ensemble: 'solo' },
      {
        ensemble: 'solo',
        inputs: { piece: 'A waltz' },
        taskOverrides: { play: { maxIterations: 2 } },
      },
    ],
    [{ level: 'tasks' }, { tasks: [{ description: 'Do {this}' }] }],
  ])('%j', (change, body) => {
    expect(bodyOf({ ...everything, ...change }, ensembles)).toEqual(body)
  })

  it('has nothing that was not given', () => {
    expect(bodyOf(emptyDraft(), ensembles)).toEqual({})
  })

  it('has tags, more inputs, webhooks, options, a budget and an id', () => {
    const row = (name: string, value: string) => ({ key: name, name, value })
    const given = draft({
      tags: [row('team', 'a'), row('', '')],
      moreInputs: [row('extra', 'b')],
      webhooks: ' ci \n\nmail',
      options: { workflow: 'PARALLEL', maxToolOutputLength: -1 },
      budget: { maxCostUsd: 0.5, maxTokens: undefined },
      runId: 'run-1',
    })
    expect(bodyOf(given, ensembles)).toEqual({
      inputs: { extra: 'b' },
      tags: { team: 'a' },
      webhooks: ['ci', 'mail'],
      options: { workflow: 'PARALLEL', maxToolOutputLength: -1 },
      budget: { maxCostUsd: 0.5 },
      runId: 'run-1',
    })
  })
})

describe('[S2] what does not fit is told at its place', () => {
  const own = (task: Partial<TaskDraft>): Partial<SubmissionDraft> => ({
    level: 'tasks',
    tasks: [{ key: 't1', description: 'A', ...task }],
  })

  it.each<[Partial<SubmissionDraft>, readonly string[]]>([
    [{ inputs }, []],
    [{ inputs: { topic: 'Bees' } }, ['/inputs/language is required']],
    [
      { inputs, ensemble: 'pres' },
      ['/ensemble there is no ensemble "pres"; did you mean "press"?'],
    ],
    [own({}), []],
    [own({ description: undefined }), ['/tasks/0/description is required']],
    [own({ description: ' ' }), ['/tasks/0/description must be text that is not blank, got " "']],
    [
      own({ tools: ['search', 'serch'] }),
      ['/tasks/0/tools/1 there is no tool "serch"; did you mean "search"?'],
    ],
    [own({ model: 'huge' }), ['/tasks/0/model there is no model "huge"']],
    [own({ maxIterations: 'many' }), ['/tasks/0/maxIterations must be an integer, got "many"']],
    [own({ maxIterations: 0 }), ['/tasks/0/maxIterations must be >= 1, got 0']],
    [own({ outputSchema: '[]' }), ['/tasks/0/outputSchema must be an object, got []']],
    [
      own({ context: ['nobody'] }),
      ['/tasks/0/context/0 must be a task reference such as "$researcher" or "$0", got "nobody"'],
    ],
    [{ level: 'tasks', tasks: [] }, ['/tasks must have at least 1 item, got []']],
    [
      { inputs, options: { maxToolOutputLength: -2 } },
      ['/options/maxToolOutputLength must be >= -1, got -2'],
    ],
    [
      { inputs, budget: { maxCostUsd: 0, maxTokens: 'many' } },
      ['/budget/maxCostUsd must be > 0, got 0', '/budget/maxTokens must be an integer, got "many"'],
    ],
    [
      { inputs, runId: 'a b' },
      [
        '/runId must be a run id of 1 to 128 letters, digits, "_" or "-" that starts with a letter or digit, got "a b"',
      ],
    ],
    [{ inputs, tags: [{ key: 'r1', name: '', value: 'x' }] }, ['/tags has a value without a name']],
    [
      { inputs, tags: ['a', 'a'].map((name, at) => ({ key: `r${at}`, name, value: 'x' })) },
      ['/tags has "a" twice'],
    ],
    [
      { level: 'overrides', inputs, overrides: { press: { write: { tools: { add: ['x'] } } } } },
      ['/taskOverrides/write/tools/add/0 there is no tool "x"'],
    ],
    [
      { level: 'overrides', inputs, overrides: { press: { write: { model: 'x' } } } },
      ['/taskOverrides/write/model there is no model "x"'],
    ],
  ])('%j', (change, texts) => {
    expect(wrong(change)).toEqual(texts)
  })

  it('tells a schema that is no JSON once', () => {
    expect(wrong(own({ outputSchema: '{' }))).toEqual([
      expect.stringMatching(/^\/tasks\/0\/outputSchema is not JSON: /),
    ])
  })

  it('tells a circle at once, by the names of its tasks', () => {
    const tasks = [
      { key: 't1', name: 'a', description: 'A', context: ['t3'] },
      { key: 't2', description: 'B' },
      { key: 't3', description: 'C', context: ['t2', 't1'] },
    ]
    expect(wrong({ level: 'tasks', tasks })).toEqual([
      '/tasks/0/context/0 tasks wait for each other in a circle: a › Task 3 › a',
    ])
  })

  it('tells the circle alone, and not the way to it', () => {
    const tasks = [
      { key: 't1', name: 'a', description: 'A', context: ['t2'] },
      { key: 't2', name: 'b', description: 'B', context: ['t3'] },
      { key: 't3', name: 'c', description: 'C', context: ['t2'] },
    ]
    expect(wrong({ level: 'tasks', tasks })).toEqual([
      '/tasks/1/context/0 tasks wait for each other in a circle: b › c › b',
    ])
  })

  it('tells what comes too late for a sequential run', () => {
    const tasks = [
      { key: 't1', description: 'A', context: ['t2'] },
      { key: 't2', name: 'b', description: 'B', context: ['t1'] },
    ].map((task, at) => (at === 1 ? { ...task, context: [] } : task))
    expect(wrong({ level: 'tasks', tasks, options: { workflow: 'SEQUENTIAL' } })).toEqual([
      '/tasks/0/context/0 "$b" does not come before it, as a sequential run needs',
    ])
    expect(wrong({ level: 'tasks', tasks })).toEqual([])
  })

  it('tells names that two tasks have, and a place that is the name of another', () => {
    const twice = [
      { key: 't1', name: 'a', description: 'A' },
      { key: 't2', name: 'a', description: 'B' },
    ]
    expect(wrong({ level: 'tasks', tasks: twice })).toEqual([
      '/tasks/1/name is the name of two tasks: "a"',
    ])
    const taken = [
      { key: 't1', description: 'A' },
      { key: 't2', name: '0', description: 'B', context: ['t1'] },
    ]
    expect(wrong({ level: 'tasks', tasks: taken })).toEqual([
      '/tasks/0/name is required: another task is named "0"',
    ])
  })
})

describe('the inputs that a draft needs', () => {
  it('follow the texts that change', () => {
    const names = (override: OverrideDraft) =>
      inputNames(
        draft({ level: 'overrides', overrides: { press: { research: override } } }),
        ensembles,
      )
    expect(names({})).toEqual({ needed: ['topic', 'language'], perhaps: [] })
    expect(names({ description: 'About {place}' })).toEqual({
      needed: ['place', 'language'],
      perhaps: ['topic'],
    })
    expect(names({ expectedOutput: 'In {tone}' })).toEqual({
      needed: ['topic', 'tone'],
      perhaps: [],
    })
    expect(names({ description: 'X', expectedOutput: 'Y' })).toEqual({ needed: [], perhaps: [] })
  })

  it('follow the texts of own tasks', () => {
    const tasks = [{ key: 't1', description: '{a} {{b}} {c}', expectedOutput: '{a} {d}' }]
    expect(inputNames(draft({ level: 'tasks', tasks }), ensembles).needed).toEqual(['a', 'c', 'd'])
  })
})

describe('any draft that somebody types well', () => {
  const seeds = Array.from({ length: 400 }, (_, seed) => seed)

  it('has no problems, and its body fits the schema of the server', () => {
    for (const seed of seeds) {
      const given = randomDraft(seed, capabilities)
      const body = bodyOf(given, ensembles)
      expect(decode(SubmitRunBody, body), `seed ${seed}`).toMatchObject({ ok: true })
      expect(submissionProblems(given, body, capabilities), `seed ${seed}`).toEqual([])
    }
  })

  it('comes back from its body, which stays the same', () => {
    for (const seed of seeds) {
      const decoded = decode(SubmitRunBody, bodyOf(randomDraft(seed, capabilities), ensembles))
      if (!decoded.ok) throw new Error(`The body of seed ${seed} does not fit`)
      const again = draftOfBody(decoded.value, ensembles)
      expect(again && bodyOf(again, ensembles), `seed ${seed}`).toEqual(decoded.value)
    }
  })
})

describe('a body that was typed', () => {
  it('keeps references that mean no task, and resolves those by place', () => {
    const tasks = [
      { name: 'a', description: 'A', context: ['$1', '$zzz', '$9'] },
      { description: 'B', context: ['$a', '$0'] },
    ]
    const given = draftOfBody({ tasks }, ensembles)
    expect(given?.tasks.map(({ context }) => context)).toEqual([
      ['t2', '$zzz', '$9'],
      ['t1', 't1'],
    ])
  })

  it('takes a name that is a number for the name', () => {
    const tasks = [
      { description: 'A', context: ['$2'] },
      { name: '2', description: 'B' },
      { description: 'C' },
    ]
    expect(draftOfBody({ tasks }, ensembles)?.tasks[0]?.context).toEqual(['t2'])
  })

  it('has no draft with tasks and changes of them', () => {
    const body = { tasks: [{ description: 'A' }], taskOverrides: { a: {} } }
    expect(draftOfBody(body, ensembles)).toBeUndefined()
  })
})

describe('tags of a body', () => {
  const tags = { priority: 5, urgent: true, version: '5', flag: 'true' }

  it('keep their types, so that a run that is repeated has the same tags', () => {
    const given = draftOfBody({ tags }, ensembles)
    expect(given && bodyOf(given, ensembles)).toEqual({ tags })
  })

  it('are text once they are edited', () => {
    const given = draftOfBody({ tags }, ensembles)
    const edited = given?.tags.map((row) =>
      row.name === 'priority' ? { ...row, value: '6' } : row,
    )
    const body = given && edited && bodyOf({ ...given, tags: edited }, ensembles)
    expect(body).toEqual({ tags: { ...tags, priority: '6' } })
  })
})

describe('the places of problems', () => {
  it('have words', () => {
    const given = draft({ level: 'tasks', tasks: [{ key: 't1' }, { key: 't2', name: 'b' }] })
    expect(placeLabel('/tasks/0/description', given)).toBe('Task 1 › description')
    expect(placeLabel('/tasks/1/context/0', given)).toBe('b › context')
    expect(placeLabel('/tasks', given)).toBe('Tasks')
    expect(placeLabel('/taskOverrides/write/tools/add/0', given)).toBe('write › tools › add')
    expect(placeLabel('/inputs/topic', given)).toBe('inputs › topic')
    expect(placeLabel('', given)).toBe('The request')
  })
})

describe('refusals of the server', () => {
  it('stand until their place changes', () => {
    const body = { tasks: [{ model: 'x' }, { model: 'y' }] }
    const refusals = ['/tasks/0/model', '/tasks/1/model'].map((path, at) => ({
      problem: { path, message: 'is unknown' },
      was: JSON.stringify(body.tasks[at]?.model),
    }))
    expect(standing(refusals, body)).toHaveLength(2)
    expect(standing(refusals, { tasks: [{ model: 'z' }, { model: 'y' }] })).toEqual([
      refusals[1]?.problem,
    ])
  })

  it('have a place by their code when they have no other', () => {
    const error = Object.assign(new Error('Taken'), {
      code: 'RUN_EXISTS',
      [Symbol.for('tutti.client-error')]: true,
    })
    expect(refusalsOf(error, { runId: 'a' })).toEqual([
      { problem: { path: '/runId', message: 'Taken' }, was: '"a"' },
    ])
    expect(refusalsOf(new Error('The line was cut'), {})).toEqual([])
  })
})

describe('tasks of a draft', () => {
  const tasks: readonly TaskDraft[] = [
    { key: 't1', name: 'a', description: 'A' },
    { key: 't2', description: 'B', context: ['t1'] },
  ]

  it('are added, copied, moved and taken away', () => {
    expect(withNewTask(tasks).at(-1)).toEqual({ key: 't3' })
    expect(withCopy(tasks, 0)[1]).toEqual({ key: 't3', name: 'a-2', description: 'A' })
    expect(withMoved(tasks, 0, 1).map(({ key }) => key)).toEqual(['t2', 't1'])
    expect(withMoved(tasks, 0, -1)).toBe(tasks)
    expect(withoutTask(tasks, 0)).toEqual([{ key: 't2', description: 'B' }])
  })

  it('keep what they wait for when it is renamed or moved', () => {
    const renamed = tasks.map((task) => (task.key === 't1' ? withField(task, 'name', 'z') : task))
    const body = (list: readonly TaskDraft[]) =>
      bodyOf(draft({ level: 'tasks', tasks: list }), ensembles)
    expect(body(renamed)).toMatchObject({ tasks: [{}, { context: ['$z'] }] })
    const nameless = tasks.map((task) => withField(task, 'name', undefined))
    expect(body(withMoved(nameless, 0, 1))).toMatchObject({ tasks: [{ context: ['$1'] }, {}] })
  })
})

/** A draft of what a careful person may type, the same for the same seed. */
function randomDraft(seed: number, { tools, models }: Capabilities): SubmissionDraft {
  const random = mulberry(seed)
  const one = <T>(values: readonly [T, ...T[]]): T =>
    values[Math.floor(random() * values.length)] ?? values[0]
  const maybe = <T>(value: () => T): T | undefined => (random() < 0.4 ? value() : undefined)
  const text = (): string => one(['x', 'Über {topic}', 'a\nb', '{{no}} $0 ~/', '"quoted"', '0'])
  const someTools = () => tools.map(({ name }) => name).filter(() => random() < 0.5)
  const model = () => models[0]?.alias ?? ''
  const turns = () => 1 + Math.floor(random() * 40)
  const common = () =>
    withoutNothing({
      expectedOutput: maybe(text),
      additionalContext: maybe(text),
      model: maybe(model),
      maxIterations: maybe(turns),
    })
  const count = 1 + Math.floor(random() * 4)
  const tasks = Array.from({ length: count }, (_, at) => ({
    ...common(),
    ...withoutNothing({
      name: maybe(() => `${one(['task', 'a b', 'ü/~'])} ${at}`),
      tools: maybe(someTools),
      // Those before it alone: no circle, and no order that a workflow does not like.
      context: maybe(() => Array.from({ length: at }, (_one, other) => `t${other + 1}`)),
      outputSchema: maybe(() => JSON.stringify({ type: one(['object', 'string']) })),
      review: maybe(() => one(['required', 'skip'])),
    }),
    description: text(),
    key: `t${at + 1}`,
  }))
  const override = () =>
    withoutNothing({
      ...common(),
      description: maybe(text),
      tools: maybe(() => ({ add: someTools() })),
    })
  const rows = (letter: string) =>
    Array.from({ length: Math.floor(random() * 3) }, (_, at) => ({
      key: `r${at + 1}`,
      name: `${letter}${at}`,
      value: text(),
    }))
  return {
    level: one(['inputs', 'overrides', 'tasks']),
    ensemble: one([undefined, 'press', 'solo']),
    inputs: { topic: text(), language: text(), piece: '' },
    moreInputs: rows('extra'),
    overrides: { press: { research: override() }, solo: { play: override() } },
    tasks,
    options: withoutNothing({
      workflow: maybe(() => one(['SEQUENTIAL', 'PARALLEL', 'HIERARCHICAL'])),
      verbose: maybe(() => random() < 0.5),
      maxToolOutputLength: maybe(() => -1),
    }),
    budget: withoutNothing({
      maxCostUsd: maybe(() => 0.25),
      maxToolCalls: maybe(() => 4),
    }),
    tags: rows('tag'),
    webhooks: one(['', 'ci', 'ci\nmail']),
    runId: one(['', 'run-1']),
  }
}

/** A small generator of numbers from 0 up to 1. */
function mulberry(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
