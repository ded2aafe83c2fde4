import { decode, SubmitRunBody, type Capabilities, type EnsembleInfo } from '@tutti/protocol'
import { describe, expect, it } from 'vitest'

import {
  duplicateTask,
  moveTask,
  appendTask,
  removeTask,
  createDraft,
  setField,
  type OverrideDraft,
  type SubmissionDraft,
  type TaskDraft,
} from './draft.ts'
import { removeDraftValue, setDraftValue } from '../../ui/schema-form/form-draft.ts'
import { fromFormDraft, toFormDraft } from './draft-form.ts'
import { toDraftFromBody } from './read-draft.ts'
import {
  listRefusals,
  selectStanding,
  findSubmissionProblems,
  labelPath,
} from './submission-problems.ts'
import { buildBody, dropUndefined } from './submission.ts'
import { findInputNames } from './variables.ts'

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
  modelTiers: [],
  profiles: [],
  sharedTasks: [],
  sharedTools: [],
  preconfiguredTasks: [],
  ensembles,
}

function draft(change: Partial<SubmissionDraft>): SubmissionDraft {
  return { ...createDraft(), ...change }
}

/** Paths and messages of the problems of a draft. */
function wrong(change: Partial<SubmissionDraft>): readonly string[] {
  const given = draft(change)
  return findSubmissionProblems(given, buildBody(given, ensembles), capabilities).map(
    ({ path, message }) => `${path} ${message}`,
  )
}

const inputs = { topic: 'Bees', language: 'English', piece: 'A waltz' }

describe('[DASH-S1] the body contains what belongs to the level and the ensemble', () => {
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
  ])('The body of a submission is built from the draft %j', (change, body) => {
    expect(buildBody({ ...everything, ...change }, ensembles)).toEqual(body)
  })

  it('The body of a submission omits everything that was not entered', () => {
    expect(buildBody(createDraft(), ensembles)).toEqual({})
  })

  it('The body of a submission contains tags, additional inputs, webhooks, options, a budget and an id', () => {
    const given = draft({
      tags: { team: 'a' },
      moreInputs: { extra: 'b' },
      webhooks: ' ci \n\nmail',
      options: { workflow: 'PARALLEL', maxToolOutputLength: -1 },
      budget: { maxCostUsd: 0.5, maxTokens: undefined },
      runId: 'run-1',
    })
    expect(buildBody(given, ensembles)).toEqual({
      inputs: { extra: 'b' },
      tags: { team: 'a' },
      webhooks: ['ci', 'mail'],
      options: { workflow: 'PARALLEL', maxToolOutputLength: -1 },
      budget: { maxCostUsd: 0.5 },
      runId: 'run-1',
    })
  })
})

describe('[DASH-S2] invalid input is reported at its field', () => {
  const own = (task: Partial<TaskDraft>): Partial<SubmissionDraft> => ({
    level: 'tasks',
    tasks: [{ key: 't1', description: 'A', ...task }],
  })

  it.each<[Partial<SubmissionDraft>, readonly string[]]>([
    [{ inputs }, []],
    [{ inputs: { topic: 'Bees' } }, ['/inputs/language is required']],
    [{ inputs, ensemble: 'pres' }, ['/ensemble unknown ensemble "pres"; did you mean "press"?']],
    [own({}), []],
    [own({ description: undefined }), ['/tasks/0/description is required']],
    [own({ description: ' ' }), ['/tasks/0/description must be text that is not blank, got " "']],
    [
      own({ tools: ['search', 'serch'] }),
      ['/tasks/0/tools/1 unknown tool "serch"; did you mean "search"?'],
    ],
    [own({ model: 'huge' }), ['/tasks/0/model unknown model "huge"']],
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
        '/runId must be an id of 1 to 128 letters, digits, "_" or "-" that starts with a letter or digit and is not "compare", got "a b"',
      ],
    ],
    [
      { inputs, broken: { '/tags': { text: '[]', why: 'contains "a" twice' } } },
      ['/tags contains "a" twice'],
    ],
    [
      { level: 'overrides', inputs, overrides: { press: { write: { tools: { add: ['x'] } } } } },
      ['/taskOverrides/write/tools/add/0 unknown tool "x"'],
    ],
    [
      { level: 'overrides', inputs, overrides: { press: { write: { model: 'x' } } } },
      ['/taskOverrides/write/model unknown model "x"'],
    ],
  ])('The form reports the problems of the draft %j', (change, texts) => {
    expect(wrong(change)).toEqual(texts)
  })

  it('The form reports an output schema that is invalid JSON once', () => {
    expect(wrong(own({ outputSchema: '{' }))).toEqual([
      expect.stringMatching(/^\/tasks\/0\/outputSchema is not valid JSON: /),
    ])
  })

  it('The form reports a cycle once, with the names of its tasks', () => {
    const tasks = [
      { key: 't1', name: 'a', description: 'A', context: ['t3'] },
      { key: 't2', description: 'B' },
      { key: 't3', description: 'C', context: ['t2', 't1'] },
    ]
    expect(wrong({ level: 'tasks', tasks })).toEqual([
      '/tasks/0/context/0 tasks depend on each other in a cycle: a › Task 3 › a',
    ])
  })

  it('The form reports only the cycle, without the path to it', () => {
    const tasks = [
      { key: 't1', name: 'a', description: 'A', context: ['t2'] },
      { key: 't2', name: 'b', description: 'B', context: ['t3'] },
      { key: 't3', name: 'c', description: 'C', context: ['t2'] },
    ]
    expect(wrong({ level: 'tasks', tasks })).toEqual([
      '/tasks/1/context/0 tasks depend on each other in a cycle: b › c › b',
    ])
  })

  it('The form reports dependencies that violate the order of a sequential run', () => {
    const tasks = [
      { key: 't1', description: 'A', context: ['t2'] },
      { key: 't2', name: 'b', description: 'B', context: ['t1'] },
    ].map((task, at) => (at === 1 ? { ...task, context: [] } : task))
    expect(wrong({ level: 'tasks', tasks, options: { workflow: 'SEQUENTIAL' } })).toEqual([
      '/tasks/0/context/0 "$b" must come before this task in a sequential run',
    ])
    expect(wrong({ level: 'tasks', tasks })).toEqual([])
  })

  it('The form reports duplicate names, and a position that is the name of another task', () => {
    const twice = [
      { key: 't1', name: 'a', description: 'A' },
      { key: 't2', name: 'a', description: 'B' },
    ]
    expect(wrong({ level: 'tasks', tasks: twice })).toEqual([
      '/tasks/1/name is used by two tasks: "a"',
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

describe('findInputNames', () => {
  it('findInputNames follows the overridden texts', () => {
    const names = (override: OverrideDraft) =>
      findInputNames(
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

  it('findInputNames follows the texts of defined tasks', () => {
    const tasks = [{ key: 't1', description: '{a} {{b}} {c}', expectedOutput: '{a} {d}' }]
    expect(findInputNames(draft({ level: 'tasks', tasks }), ensembles).needed).toEqual([
      'a',
      'c',
      'd',
    ])
  })
})

describe('any valid draft', () => {
  const seeds = Array.from({ length: 400 }, (_, seed) => seed)

  it('Any valid draft has no problems, and its body matches the schema of the API', () => {
    for (const seed of seeds) {
      const given = randomDraft(seed, capabilities)
      const body = buildBody(given, ensembles)
      expect(decode(SubmitRunBody, body), `seed ${seed}`).toMatchObject({ ok: true })
      expect(findSubmissionProblems(given, body, capabilities), `seed ${seed}`).toEqual([])
    }
  })

  it('Any valid draft is restored from its body, which stays the same', () => {
    for (const seed of seeds) {
      const decoded = decode(SubmitRunBody, buildBody(randomDraft(seed, capabilities), ensembles))
      if (!decoded.ok) throw new Error(`The body of seed ${seed} does not fit`)
      const again = toDraftFromBody(decoded.value, ensembles)
      expect(again && buildBody(again, ensembles), `seed ${seed}`).toEqual(decoded.value)
    }
  })
})

describe('toDraftFromBody', () => {
  it('toDraftFromBody keeps unresolved references, and resolves references by position', () => {
    const tasks = [
      { name: 'a', description: 'A', context: ['$1', '$zzz', '$9'] },
      { description: 'B', context: ['$a', '$0'] },
    ]
    const given = toDraftFromBody({ tasks }, ensembles)
    expect(given?.tasks.map(({ context }) => context)).toEqual([
      ['t2', '$zzz', '$9'],
      ['t1', 't1'],
    ])
  })

  it('toDraftFromBody prefers a task whose name is a number to a position', () => {
    const tasks = [
      { description: 'A', context: ['$2'] },
      { name: '2', description: 'B' },
      { description: 'C' },
    ]
    expect(toDraftFromBody({ tasks }, ensembles)?.tasks[0]?.context).toEqual(['t2'])
  })

  it('toDraftFromBody returns no draft for a body with both tasks and overrides', () => {
    const body = { tasks: [{ description: 'A' }], taskOverrides: { a: {} } }
    expect(toDraftFromBody(body, ensembles)).toBeUndefined()
  })
})

describe('tags of a body', () => {
  const tags = { priority: 5, urgent: true, version: '5', flag: 'true' }

  it('Tags of a body keep their types, so that a repeated run has the same tags', () => {
    const given = toDraftFromBody({ tags }, ensembles)
    expect(given && buildBody(given, ensembles)).toEqual({ tags })
  })
})

describe('the form of a draft', () => {
  const before = draft({
    inputs,
    overrides: { press: { write: { model: 'small' } }, solo: { play: { maxIterations: 2 } } },
  })

  it('The form of a draft edits the overrides of its ensemble, and keeps those of others', () => {
    const form = toFormDraft(before, ensembles)
    const edited = setDraftValue(form, '/taskOverrides/write/model', 'large')
    expect(fromFormDraft(before, edited, ensembles)).toEqual({
      ...before,
      overrides: { ...before.overrides, press: { write: { model: 'large' } } },
    })
    const other = fromFormDraft(before, setDraftValue(form, '/ensemble', 'solo'), ensembles)
    expect(other).toEqual({ ...before, ensemble: 'solo' })
    expect(toFormDraft(other, ensembles).value).toMatchObject({
      taskOverrides: { play: { maxIterations: 2 } },
    })
  })

  it('The form of a draft removes objects that become empty', () => {
    const path = '/taskOverrides/write/model'
    const edited = removeDraftValue(toFormDraft(before, ensembles), path, true)
    expect(fromFormDraft(before, edited, ensembles).overrides['press']).toEqual({})
    const given = draft({ options: { review: { timeoutMs: 5 } } })
    const cleared = removeDraftValue(
      toFormDraft(given, ensembles),
      '/options/review/timeoutMs',
      true,
    )
    expect(fromFormDraft(given, cleared, ensembles).options).toEqual({})
  })
})

describe('labelPlace', () => {
  it('labelPlace returns readable labels', () => {
    const given = draft({ level: 'tasks', tasks: [{ key: 't1' }, { key: 't2', name: 'b' }] })
    expect(labelPath('/tasks/0/description', given)).toBe('Task 1 › description')
    expect(labelPath('/tasks/1/context/0', given)).toBe('b › context')
    expect(labelPath('/tasks', given)).toBe('Tasks')
    expect(labelPath('/taskOverrides/write/tools/add/0', given)).toBe('write › tools › add')
    expect(labelPath('/inputs/topic', given)).toBe('inputs › topic')
    expect(labelPath('', given)).toBe('The request')
  })
})

describe('problems reported by the server', () => {
  it('Problems reported by the server remain until their field changes', () => {
    const body = { tasks: [{ model: 'x' }, { model: 'y' }] }
    const refusals = ['/tasks/0/model', '/tasks/1/model'].map((path, at) => ({
      problem: { path, message: 'is unknown' },
      was: JSON.stringify(body.tasks[at]?.model),
    }))
    expect(selectStanding(refusals, body)).toHaveLength(2)
    expect(selectStanding(refusals, { tasks: [{ model: 'z' }, { model: 'y' }] })).toEqual([
      refusals[1]?.problem,
    ])
  })

  it('Problems reported by the server are placed by their code if they have no path', () => {
    const error = Object.assign(new Error('Taken'), {
      code: 'RUN_EXISTS',
      [Symbol.for('tutti.client-error')]: true,
    })
    expect(listRefusals(error, { runId: 'a' })).toEqual([
      { problem: { path: '/runId', message: 'Taken' }, was: '"a"' },
    ])
    expect(listRefusals(new Error('The line was cut'), {})).toEqual([])
  })
})

describe('tasks of a draft', () => {
  const tasks: readonly TaskDraft[] = [
    { key: 't1', name: 'a', description: 'A' },
    { key: 't2', description: 'B', context: ['t1'] },
  ]

  it('Tasks of a draft can be added, copied, moved and removed', () => {
    expect(appendTask(tasks).at(-1)).toEqual({ key: 't3' })
    expect(duplicateTask(tasks, 0)[1]).toEqual({ key: 't3', name: 'a-2', description: 'A' })
    expect(moveTask(tasks, 0, 1).map(({ key }) => key)).toEqual(['t2', 't1'])
    expect(moveTask(tasks, 0, -1)).toBe(tasks)
    expect(removeTask(tasks, 0)).toEqual([{ key: 't2', description: 'B' }])
  })

  it('Tasks of a draft keep their dependencies when these are renamed or moved', () => {
    const renamed = tasks.map((task) => (task.key === 't1' ? setField(task, 'name', 'z') : task))
    const body = (list: readonly TaskDraft[]) =>
      buildBody(draft({ level: 'tasks', tasks: list }), ensembles)
    expect(body(renamed)).toMatchObject({ tasks: [{}, { context: ['$z'] }] })
    const nameless = tasks.map((task) => setField(task, 'name', undefined))
    expect(body(moveTask(nameless, 0, 1))).toMatchObject({ tasks: [{ context: ['$1'] }, {}] })
  })
})

/** Creates a valid draft, the same for the same seed. */
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
    dropUndefined({
      expectedOutput: maybe(text),
      additionalContext: maybe(text),
      model: maybe(model),
      maxIterations: maybe(turns),
    })
  const count = 1 + Math.floor(random() * 4)
  const tasks = Array.from({ length: count }, (_, at) => ({
    ...common(),
    ...dropUndefined({
      name: maybe(() => `${one(['task', 'a b', 'ü/~'])} ${at}`),
      tools: maybe(someTools),
      // Only earlier tasks, to avoid cycles and invalid orders.
      context: maybe(() => Array.from({ length: at }, (_one, other) => `t${other + 1}`)),
      outputSchema: maybe(() => JSON.stringify({ type: one(['object', 'string']) })),
      review: maybe(() => one(['required', 'skip'])),
    }),
    description: text(),
    key: `t${at + 1}`,
  }))
  const override = () =>
    dropUndefined({
      ...common(),
      description: maybe(text),
      tools: maybe(() => ({ add: someTools() })),
    })
  const rows = (letter: string) =>
    Object.fromEntries(
      Array.from({ length: Math.floor(random() * 3) }, (_, at) => [`${letter}${at}`, text()]),
    )
  return {
    level: one(['inputs', 'overrides', 'tasks']),
    ensemble: one([undefined, 'press', 'solo']),
    inputs: { topic: text(), language: text(), piece: '' },
    moreInputs: rows('extra'),
    overrides: { press: { research: override() }, solo: { play: override() } },
    tasks,
    options: dropUndefined({
      workflow: maybe(() => one(['SEQUENTIAL', 'PARALLEL', 'HIERARCHICAL'])),
      verbose: maybe(() => random() < 0.5),
      maxToolOutputLength: maybe(() => -1),
    }),
    budget: dropUndefined({
      maxCostUsd: maybe(() => 0.25),
      maxToolCalls: maybe(() => 4),
    }),
    tags: rows('tag'),
    webhooks: one(['', 'ci', 'ci\nmail']),
    runId: one(['', 'run-1']),
    broken: {},
  }
}

/** A small generator of numbers from 0 to 1. */
function mulberry(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
