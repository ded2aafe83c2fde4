import { defineTool, toolCatalog, Type, type TuttiError } from '@tutti/core'
import { agent, ensemble, modelCatalog, task, type Ensemble } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { buildEnsemble } from './build-ensemble.ts'

import type { RequestedRun } from '../domain/run-record.ts'

const [main, opus, haiku] = ['main', 'opus', 'haiku'].map((name) => scriptedModel([], { name }))
const [search, calculator, mail] = ['search', 'calculator', 'mail'].map((name) =>
  defineTool({
    name,
    description: name,
    input: Type.Object({}),
    async execute() {
      return name
    },
  }),
)
if (!main || !opus || !haiku || !search || !calculator || !mail) throw new Error('unreachable')

const catalogs = {
  tools: toolCatalog([search, calculator]),
  models: modelCatalog({ opus, haiku }),
  ensembles: new Map(),
}

const research = task({
  name: 'research',
  description: 'Research {topic} in depth',
  tools: [search, mail],
  additionalContext: 'Of 2026',
})
const write = task({ name: 'Write', description: 'Write it up', context: [research] })
const file = task({ name: 'file', description: 'File it', handler: async () => 'filed' })
const team = ensemble({ name: 'team', tasks: [research, write, file], model: main })

function made(request: RequestedRun, template: Ensemble = team): Ensemble {
  return buildEnsemble(template, request, catalogs)
}

function findProblem(request: RequestedRun, template: Ensemble = team): object {
  try {
    made(request, template)
  } catch (error) {
    const { code, message, details } = error as TuttiError
    return { code, message, ...details }
  }
  return { code: 'none' }
}

describe('the ensemble of a request', () => {
  it('[RUNS-R4] The ensemble of a request is the template itself for an empty request', () => {
    expect(made({})).toBe(team)
    expect(made({ options: { verbose: true, captureMode: 'OFF' } })).toBe(team)
  })

  it('The ensemble of a request has the options of the request, and the template does not change', () => {
    const options = {
      workflow: 'SEQUENTIAL',
      reviewPolicy: 'AFTER_LAST_TASK',
      maxToolOutputLength: 5,
    } as const
    const other = made({ options })
    expect(other).toMatchObject({ reviewPolicy: 'AFTER_LAST_TASK', maxToolOutputLength: 5 })
    expect([other.plan.workflow, team.plan.workflow]).toEqual(['SEQUENTIAL', 'PARALLEL'])
    expect(team).toMatchObject({ reviewPolicy: 'NEVER', maxToolOutputLength: 100_000 })
  })

  it('[RUNS-R2] The ensemble of a request is the same every time', () => {
    const request: RequestedRun = {
      tasks: [
        { description: 'Research a', outputSchema: { type: 'integer' } },
        { description: 'Research a' },
      ],
    }
    const [one, two] = [made(request), made(request)].map(({ tasks, plan }) => ({
      tasks: tasks.map(({ outputReader, output, ...rest }) => [
        JSON.stringify(rest),
        outputReader?.schema,
        typeof output,
      ]),
      plan,
    }))
    expect(one).toEqual(two)
  })

  it('[RUNS-R3] The ensemble of a request retains the budget, the model and the limits of the template for tasks of a request', () => {
    const bounded = ensemble({
      ...team,
      budget: { maxTokens: 7 },
      delegation: {
        maxDepth: 1,
        allowedWorkers: ['Researcher', 'Boss'],
        requiredWorkers: ['Boss'],
        requiredStages: [['Boss']],
        maxCallsPerWorker: { Boss: 1, Researcher: 2 },
      },
      tasks: [task({ ...research, agent: agent({ role: 'Boss', goal: 'x' }) }), write].map((one) =>
        task({
          ...one,
          agent: { ...one.agent, role: one.name === 'Write' ? 'Researcher' : 'Boss' },
        }),
      ),
      workflow: 'SEQUENTIAL',
    })
    const own = made({ tasks: [{ description: 'Research x' }] }, bounded)
    expect(own).toMatchObject({ budget: { maxTokens: 7 }, model: main })
    expect(own.delegation).toEqual({
      maxDepth: 1,
      allowedWorkers: ['Researcher'],
      maxCallsPerWorker: { Researcher: 2 },
    })
  })

  it('[RUNS-R1] The ensemble of a request reports all unknown names at once, with the code of the first', () => {
    expect(
      findProblem({
        tasks: [
          { name: 'a', description: 'A', tools: ['serch', 'foobar'], model: 'gpt-4' },
          {
            name: 'a',
            description: 'B',
            context: ['$nobody', '$77'],
            outputSchema: { type: 'text' },
          },
        ],
      }),
    ).toMatchObject({
      code: 'BAD_REQUEST',
      problems: [
        { path: '/tasks/1/name', message: "Two tasks are named 'a'" },
        {
          path: '/tasks/0/tools/0',
          message: "Unknown tool 'serch'. Available: [search, calculator]. Did you mean 'search'?",
        },
        {
          path: '/tasks/0/tools/1',
          message: "Unknown tool 'foobar'. Available: [search, calculator]",
        },
        { path: '/tasks/0/model', message: "Unknown model 'gpt-4'. Available: [opus, haiku]" },
        { path: '/tasks/1/context/0', message: "Unknown task '$nobody'. Available: [$a, $a]" },
        { path: '/tasks/1/context/1', message: "Unknown task '$77'. Available: [$a, $a]" },
        {
          path: '/tasks/1/outputSchema',
          message: 'Invalid output schema: /type must be a JSON type or a list of them, got "text"',
        },
      ],
    })
  })

  it('[RUNS-R1] The ensemble of a request is refused without catalogs when the request names a tool or a model', () => {
    const without = { tools: undefined, models: undefined, ensembles: new Map() }
    const request = { tasks: [{ description: 'A', tools: ['search'], model: 'opus' }] }
    expect(() => buildEnsemble(team, request, without)).toThrow(
      expect.objectContaining({
        code: 'NOT_CONFIGURED',
        message:
          "This server offers no tools, got 'search'; This server offers no models, got 'opus'",
      }),
    )
  })

  it('[RUNS-R1] The ensemble of a request describes twenty unknown names and counts the rest', () => {
    const tools = Array.from({ length: 50_000 }, (_, index) => `searc${index}`)
    const refusal = findProblem({ tasks: [{ name: 'a', description: 'A', tools }] })
    expect(refusal).toMatchObject({ code: 'INVALID_TOOL' })
    expect(Reflect.get(refusal, 'problems')).toHaveLength(21)
    expect(Reflect.get(refusal, 'message')).toMatch(/; and 49995 more problems$/)
  })

  it.each<[string, (count: number) => RequestedRun]>([
    [
      '/tasks',
      (length) => ({
        tasks: Array.from({ length }, () => ({ description: 'A', context: ['$0'] })),
      }),
    ],
    [
      '/taskOverrides',
      (length) => ({
        taskOverrides: Object.fromEntries(Array.from({ length }, (_, key) => [`k${key}`, {}])),
      }),
    ],
  ])('The ensemble of a request is refused with more than 1000 %s', (path, request) => {
    expect(findProblem(request(1_000))).not.toMatchObject({
      message: expect.stringContaining('1000,'),
    })
    expect(findProblem(request(1_001))).toEqual({
      code: 'BAD_REQUEST',
      message: `Invalid request body: ${path} must be at most 1000, got 1001`,
      problems: [{ path, message: 'must be at most 1000, got 1001' }],
    })
  })

  it('[RUNS-R6] A requested task that the manager may not delegate is refused with its path', () => {
    const limited = ensemble({ ...team, delegation: { allowedWorkers: ['Researcher'] } })
    const tasks = ['Research a', 'Write b'].map((description) => ({ description }))
    expect(findProblem({ tasks, options: { workflow: 'HIERARCHICAL' } }, limited)).toMatchObject({
      code: 'BAD_REQUEST',
      problems: [
        {
          path: '/tasks/1',
          message:
            "Task 'write-b' can never run: the manager may not delegate to its role 'Writer'. Allowed: [Researcher]",
        },
      ],
    })
  })

  it('The ensemble of a request is refused with the cycle when tasks wait for each other', () => {
    const tasks = [
      { name: 'researcher', description: 'A', context: ['$writer'] },
      { name: 'writer', description: 'B', context: ['$researcher'] },
    ]
    const message = 'Tasks form a cycle: researcher → writer → researcher'
    expect(findProblem({ tasks })).toEqual({
      code: 'CIRCULAR_DEPENDENCY',
      message,
      problems: [{ path: '/tasks/0/context/0', message }],
    })
    expect(
      findProblem({ tasks: [{ name: 'a', description: 'A', context: ['$a'] }] }),
    ).toMatchObject({
      message: 'Tasks form a cycle: a → a',
    })
  })

  it('The ensemble of a request is refused with the reason when its parts do not fit together', () => {
    const { model: _, ...rest } = team
    const modelless = ensemble({ ...rest, tasks: [task({ ...research, model: main }), file] })
    expect(findProblem({ tasks: [{ name: 'a', description: 'A' }] }, modelless)).toEqual({
      code: 'BAD_REQUEST',
      message:
        'Cannot run "team": task "a" has no model: set one for the task, its agent or the ensemble',
    })
    expect(
      findProblem({
        tasks: [
          { name: 'a', description: 'A', context: ['$b'] },
          { name: 'b', description: 'B' },
        ],
        options: { workflow: 'SEQUENTIAL' },
      }),
    ).toMatchObject({ message: expect.stringContaining("'b' must be before it") })
  })
})

describe('an override', () => {
  const changes = (key: string, override: object) => made({ taskOverrides: { [key]: override } })

  it.each(['research', 'RESEARCH', 'Research {t', 'research {TOPIC} in depth'])(
    '[RUNS-V1] An override of a task finds its task by the key %j',
    (key) => {
      const [first, ...others] = changes(key, { maxIterations: 3 }).tasks
      expect(first).toMatchObject({ name: 'research', maxIterations: 3 })
      expect(others).toEqual([write, file])
    },
  )

  it('[RUNS-V1] An override of a task prefers the exact name to all other matches', () => {
    const twins = ['a', 'A', 'b'].map((name) => task({ name, description: `A ${name}` }))
    const band = ensemble({ name: 'band', tasks: twins, model: main })
    const override = { maxIterations: 3 }
    const counts = (key: string) =>
      made({ taskOverrides: { [key]: override } }, band).tasks.map((one) => one.maxIterations)
    expect(counts('a')).toEqual([3, 25, 25])
    expect(counts('A')).toEqual([25, 3, 25])
    expect(findProblem({ taskOverrides: { 'A ': override } }, band)).toMatchObject({
      code: 'INVALID_TASK_OVERRIDE',
      message: "'A ' matches several tasks: [a, A, b]. Use an exact name",
    })
  })

  it.each([
    ['foobar', ''],
    ['', ''],
    [' ', ''],
    ['__proto__', ''],
    ['constructor', ''],
    ['esearch', ". Did you mean 'research'?"],
    ['wriet', ". Did you mean 'Write'?"],
  ])('[RUNS-V2] An override of a task is refused when its key matches no task: %j', (key, hint) => {
    const request = JSON.parse(`{"taskOverrides":{${JSON.stringify(key)}:{"maxIterations":3}}}`)
    expect(findProblem(request)).toMatchObject({
      code: 'INVALID_TASK_OVERRIDE',
      message: `No task matching '${key}'. Available: [research, Write, file]${hint}`,
    })
  })

  it('[RUNS-V2] An override of a task is refused when another key matches the same task', () => {
    const taskOverrides = { 'a/b~': {}, research: {}, 'Research {': {} }
    expect(findProblem({ taskOverrides })).toMatchObject({
      problems: [
        { path: '/taskOverrides/a~1b~0' },
        { message: "'Research {' and 'research' match the same task 'research'" },
      ],
    })
  })

  it('An override of a task changes only the given fields, and not the template', () => {
    const before = JSON.stringify(team)
    const [first] = changes('research', {
      description: 'Look for {topic}',
      expectedOutput: 'A list',
      model: 'opus',
      maxIterations: 2,
      additionalContext: 'Of Bonn',
    }).tasks
    expect(first).toMatchObject({
      name: 'research',
      description: 'Look for {topic}',
      expectedOutput: 'A list',
      model: opus,
      maxIterations: 2,
      additionalContext: 'Of 2026\n\nOf Bonn',
      agent: { role: 'Researcher' },
    })
    expect(JSON.stringify(team)).toBe(before)
    expect(changes('write', { additionalContext: ' ' }).tasks[1]).not.toHaveProperty(
      'additionalContext',
    )
  })

  it('An override of a task does not change the other fields of a custom agent', () => {
    const own = agent({ role: 'Scout', goal: 'See', tools: [mail, search] })
    const scouts = ensemble({
      name: 'scouts',
      tasks: [task({ name: 'go', description: 'Go', agent: own, tools: [calculator] })],
      model: main,
    })
    const request = {
      taskOverrides: { go: { description: 'Run', tools: { remove: ['mail'], add: ['search'] } } },
    }
    const [go] = made(request, scouts).tasks
    expect(go?.agent).toEqual({ role: 'Scout', goal: 'See', tools: [search] })
    expect(go?.tools.map(({ name }) => name).toSorted()).toEqual(['calculator', 'search'])
    expect(own.tools).toEqual([mail, search])
  })

  it('[RUNS-V4] An override of a task removes tools and adds those of the catalog, without replacing existing ones', () => {
    const tools = (change: object) =>
      changes('research', { tools: change }).tasks[0]?.tools.map(({ name }) => name)
    expect(tools({ add: ['calculator'], remove: ['mail'] })).toEqual(['search', 'calculator'])
    expect(tools({ add: ['search'] })).toEqual(['search', 'mail'])
    const careful = defineTool({
      ...mail,
      name: 'search',
      input: Type.Object({}),
      requireApproval: true,
      execute: () => 'x',
    })
    const band = ensemble({
      name: 'band',
      tasks: [task({ ...research, tools: [careful] })],
      model: main,
    })
    const add = { taskOverrides: { research: { tools: { add: ['search'] } } } }
    expect(made(add, band).tasks[0]?.tools).toEqual([careful])
    const swap = { taskOverrides: { research: { tools: { add: ['search'], remove: ['search'] } } } }
    expect(made(swap, band).tasks[0]?.tools).toEqual([search])
  })

  it('[RUNS-V4] An override of a task is refused with the available tools when it removes an unknown one', () => {
    expect(
      findProblem({
        taskOverrides: { research: { tools: { remove: ['mail', 'cal'], add: ['x'] } } },
      }),
    ).toMatchObject({
      code: 'INVALID_TOOL',
      problems: [
        { path: '/taskOverrides/research/tools/add/0' },
        {
          path: '/taskOverrides/research/tools/remove/1',
          message: "Task 'research' has no tool 'cal'. It has: [search, mail]",
        },
      ],
    })
  })

  it.each([
    ['model', { model: 'opus' }],
    ['tools', { tools: { add: ['search'] } }],
    ['maxIterations', { maxIterations: 3 }],
    ['additionalContext', { additionalContext: 'x' }],
  ])(
    '[RUNS-V3] An override of a task is refused when it sets %s of a task with a handler',
    (setting, override) => {
      expect(findProblem({ taskOverrides: { file: override } })).toEqual({
        code: 'INVALID_TASK_OVERRIDE',
        message: `Task 'file' has a handler, so ${setting} has no effect on it`,
        problems: [expect.objectContaining({ path: `/taskOverrides/file/${setting}` })],
      })
      expect(changes('file', { description: 'File {x}' }).tasks[2]?.description).toBe('File {x}')
    },
  )

  it('An override of a task changes tasks of the same request as well', () => {
    const { tasks } = made({
      tasks: [{ name: 'a', description: 'A', outputSchema: { type: 'integer' } }],
      taskOverrides: { a: { model: 'haiku' } },
    })
    expect(tasks).toMatchObject([{ name: 'a', model: haiku }])
    expect(tasks[0]?.outputReader?.schema).toEqual({ type: 'integer' })
  })
})

describe('tasks of a request', () => {
  const tasksOf = (...tasks: NonNullable<RequestedRun['tasks']>) => made({ tasks }).tasks

  it('Tasks of a request have the given settings, and the defaults of the engine otherwise', () => {
    const [one, two] = tasksOf(
      {
        name: 'one',
        description: 'Do {x}',
        expectedOutput: 'Done',
        tools: ['search'],
        model: 'opus',
        maxIterations: 2,
        review: 'required',
        additionalContext: 'More',
      },
      { description: 'Write a brief', review: 'skip' },
    )
    expect(one).toMatchObject({
      name: 'one',
      description: 'Do {x}',
      expectedOutput: 'Done',
      tools: [search],
      model: opus,
      maxIterations: 2,
      review: true,
      additionalContext: 'More',
    })
    expect(two).toMatchObject({
      name: 'write-a-brief',
      maxIterations: 25,
      review: false,
      tools: [],
    })
  })

  it('[RUNS-T1] Tasks of a request get unique names if they have none', () => {
    const names = tasksOf(
      { description: 'Do it' },
      { description: 'Do it' },
      { name: 'do-it', description: 'x' },
      { name: 'do-it-2', description: 'y' },
    ).map(({ name }) => name)
    expect(names).toEqual(['do-it-3', 'do-it-4', 'do-it', 'do-it-2'])
  })

  it('[RUNS-T2] Tasks of a request refer to their context by name or index, which makes them PARALLEL', () => {
    const request: RequestedRun = {
      tasks: [
        { name: 'a', description: 'A' },
        { name: '0', description: 'B', context: ['$a'] },
        { name: 'c', description: 'C', context: ['$0', '$1', '$a'] },
        { name: 'd', description: 'D', context: ['$00', '$2'] },
      ],
    }
    const { tasks, plan } = made(request)
    expect(tasks.map(({ context }) => context)).toEqual([[], ['a'], ['0', 'a'], ['a', 'c']])
    expect(plan.workflow).toBe('PARALLEL')
    expect(made({ tasks: [{ description: 'A' }] }).plan.workflow).toBe('SEQUENTIAL')
  })

  it('[RUNS-T3] Tasks of a request have output schemas that cannot block the thread', async () => {
    const outputSchema = { type: 'string', pattern: '^(a+)+$' }
    const [one] = tasksOf({ name: 'one', description: 'A', outputSchema })
    expect(await one?.outputReader?.read('"aa"')).toEqual({ ok: true, value: 'aa' })
    expect(await one?.outputReader?.read(`${'a'.repeat(60)}!`)).toMatchObject({
      ok: false,
      problem: expect.stringContaining('must be text that matches /^(a+)+$/'),
    })
  })

  it('[RUNS-T4] Tasks of a request get unique roles under a manager', () => {
    const { tasks, plan } = made({
      tasks: [
        { name: 'a', description: 'Research a' },
        { name: 'b', description: 'Research b', outputSchema: { type: 'integer' } },
        { name: 'c', description: 'Write c' },
      ],
      options: { workflow: 'HIERARCHICAL' },
    })
    expect(tasks.map((one) => one.agent.role)).toEqual([
      'Researcher (a)',
      'Researcher (b)',
      'Writer',
    ])
    expect(plan.workflow).toBe('HIERARCHICAL')
  })

  it('[RUNS-T4] A manager delegates tasks of a request that add tasks by their names', async () => {
    const workers = ['lines', 'refine', 'brief', 'Writer']
    const model = scriptedModel(
      ({ messages, tools }) => {
        const calls = messages.filter(({ role }) => role === 'tool').length
        if (!tools.some(({ name }) => name === 'delegate_task')) return 'done'
        const agentRole = workers[calls]
        if (agentRole === undefined) return 'all done'
        return {
          toolCalls: [
            { name: 'delegate_task', arguments: { agentRole, taskDescription: 'Do it' } },
          ],
        }
      },
      { maxRequests: 0 },
    )
    const inner = ensemble({
      name: 'inner',
      model,
      tasks: [task({ name: 'find', description: 'Find' })],
    })
    const own = [...workers, 'other'].map((name) =>
      task({ name, description: name, handler: () => name }),
    )
    const template = ensemble({
      name: 'team',
      tasks: own,
      model,
      delegation: { allowedWorkers: [...workers, 'other'], maxCallsPerWorker: { lines: 1 } },
    })
    const built = buildEnsemble(
      template,
      {
        tasks: [
          { name: 'lines', description: 'Write {item}', forEach: { over: 'items' } },
          { name: 'refine', description: 'Write {previous}', loop: { max: 2 } },
          { name: 'brief', ensemble: 'inner' },
          { name: 'end', description: 'Write it' },
        ],
        options: { workflow: 'HIERARCHICAL' },
      },
      { ...catalogs, ensembles: new Map([['inner', inner]]) },
    )
    expect(built.delegation).toMatchObject({
      allowedWorkers: workers,
      maxCallsPerWorker: { lines: 1 },
    })
    const result = await built.run({ items: '["a","b"]' })
    expect(result.status).toBe('COMPLETED')
    expect(result.tasks.map(({ taskName }) => taskName).toSorted()).toEqual([
      'Manager',
      'brief',
      'brief/find',
      'end',
      'lines',
      'lines/0',
      'lines/1',
      'refine',
      'refine/1',
      'refine/2',
    ])
  })
})
