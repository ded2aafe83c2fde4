/** Tests of agents and handoffs in requests. */
import { defineTool, toolCatalog, Type, type TuttiError } from '@tutti/core'
import { agent, ensemble, modelCatalog, task, type Ensemble } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { buildEnsemble } from './build-ensemble.ts'

import type { RequestedRun } from '../domain/run-record.ts'

const [main, opus] = ['main', 'opus'].map((name) => scriptedModel([], { name }))
if (!main || !opus) throw new Error('unreachable')
const [search, refund] = ['search', 'refund'].map((name) =>
  defineTool({ name, description: name, input: Type.Object({}), execute: () => 'done' }),
)
if (!search || !refund) throw new Error('unreachable')
const catalogs = {
  tools: toolCatalog([search, refund]),
  models: modelCatalog({ opus }),
  ensembles: new Map<string, Ensemble>(),
}
const triage = agent({ role: 'Triage', handoffs: [agent({ role: 'Billing' })] })
const team = ensemble({
  name: 'team',
  model: main,
  tasks: [
    task({ name: 'support', description: 'Help', agent: triage }),
    task({ name: 'plain', description: 'Do' }),
    task({ name: 'code', description: 'Do', handler: () => 'done' }),
    task({ name: 'each', description: 'Help', agent: triage, forEach: { over: 'list' } }),
    task({ name: 'again', description: 'Help', agent: triage, loop: { max: 2 } }),
  ],
})

type Tasks = NonNullable<RequestedRun['tasks']>
type Agents = NonNullable<Tasks[number]['agents']>

function build(request: RequestedRun): Ensemble {
  return buildEnsemble(team, request, catalogs)
}

/** Returns the problems of a request as `path: message`. */
function textsOf(request: RequestedRun): readonly string[] {
  try {
    build(request)
  } catch (error) {
    const problems: unknown = (error as TuttiError).details?.['problems']
    if (!Array.isArray(problems)) throw error
    return problems.map(({ path, message }) => `${path}: ${message}`)
  }
  return []
}

function support(agents: Agents, more: Partial<Tasks[number]> = {}): Tasks[number] {
  // NOTE: `more` has no fields of a task that runs an ensemble.
  return { name: 'help', description: 'Help', agents, ...more } as Tasks[number]
}

describe('a requested task with agents', () => {
  it('[RUNS-T31] The agents of a request are agents of the engine, and hand off to each other in both directions', () => {
    const inputSchema = { type: 'object', properties: { reason: { type: 'string' } } }
    const agents: Agents = [
      {
        role: 'Triage',
        goal: 'Find the agent',
        tools: ['search'],
        handoffs: [
          'Billing',
          {
            agent: 'Refunds',
            name: 'pay',
            description: 'Pays',
            inputSchema,
            filter: 'withoutTools',
          },
        ],
      },
      { role: 'Billing', background: 'A shop', instructions: 'Help', handoffs: ['Refunds'] },
      { role: 'Refunds', model: 'opus', tools: ['refund'], maxIterations: 3, handoffs: ['Triage'] },
    ]
    const [made] = build({ tasks: [support(agents, { maxHandoffs: 4 })] }).tasks
    expect(made).toMatchObject({ maxHandoffs: 4, tools: [search] })
    expect(made?.agent).toEqual({
      role: 'Triage',
      goal: 'Find the agent',
      tools: [search],
      handoffs: [
        {
          agent: {
            role: 'Billing',
            background: 'A shop',
            instructions: 'Help',
            tools: [],
            handoffs: [
              {
                agent: {
                  role: 'Refunds',
                  model: opus,
                  tools: [refund],
                  maxIterations: 3,
                  handoffs: [{ agent: 'Triage' }],
                },
              },
            ],
          },
        },
        {
          agent: 'Refunds',
          name: 'pay',
          description: 'Pays',
          filter: 'withoutTools',
          input: expect.anything(),
        },
      ],
    })
  })

  it('[RUNS-T31] A single agent sets the role and the goal of its task', () => {
    const [made] = build({ tasks: [support([{ role: 'Clerk', goal: 'Be kind' }])] }).tasks
    expect(made?.agent).toEqual({ role: 'Clerk', goal: 'Be kind', tools: [] })
  })

  it('[RUNS-T31] The agents of a task with forEach and loop are those of each of its rounds', () => {
    const agents: Agents = [{ role: 'A', handoffs: ['B'] }, { role: 'B' }]
    const both = support(agents, { forEach: { over: 'list' }, loop: { max: 2 } })
    const [made] = build({ tasks: [both] }).tasks
    expect(made?.forEach?.template.loop?.template.agent).toMatchObject({ role: 'A' })
  })

  it('[RUNS-T31] [RUNS-R4] All problems of agents are reported at once with their paths', () => {
    const tasks: Tasks = [
      support([
        { role: 'A', tools: ['serch'], model: 'gpt-4', handoffs: ['Bill', 'A'] },
        { role: 'Billing', handoffs: [{ agent: 'A', inputSchema: { type: 'nothing' } }] },
        { role: 'A' },
      ]),
      support(
        [
          { role: 'A', handoffs: ['B C', 'B-C', { agent: 'D', name: 'a b' }] },
          { role: 'B C', handoffs: ['B-C', 'B C'] },
          { role: 'B-C' },
          { role: 'D', tools: ['refund'], handoffs: [{ agent: 'A', name: 'refund' }] },
        ],
        { name: 'b' },
      ),
      support([{ role: 'A' }, { role: 'B', handoffs: ['A'] }], { name: 'c' }),
      support([{ role: 'A' }], { name: 'd', maxHandoffs: 2 }),
      support([{ role: 'A', handoffs: [{ agent: 'B', name: 'search' }] }, { role: 'B' }], {
        name: 'e',
        tools: ['search'],
      }),
    ]
    expect(textsOf({ tasks })).toEqual([
      "/tasks/0/agents/0/tools/0: Unknown tool 'serch'. Available: [search, refund]. Did you mean 'search'?",
      "/tasks/0/agents/0/model: Unknown model 'gpt-4'. Available: [opus]",
      '/tasks/0/agents/0/handoffs/1: /tasks/0/agents/0/handoffs/1 names the agent itself',
      '/tasks/0/agents/1/handoffs/0/inputSchema: Invalid schema of a handoff: /type must be a JSON type or a list of them, got "nothing"',
      "/tasks/0/agents/0/handoffs/0: Unknown agent 'Bill'. Available: [A, Billing]",
      "/tasks/0/agents/2/role: Two agents have the role 'A'",
      '/tasks/1/agents/0/handoffs/2: /tasks/1/agents/0/handoffs/2 has an invalid tool: Cannot define tool "a b": name must be 1 to 64 letters, digits, "_" or "-"',
      '/tasks/1/agents/0/handoffs/1: /tasks/1/agents/0/handoffs/1 must have another tool name: two tools are named "transfer_to_B_C"',
      '/tasks/1/agents/1/handoffs/1: /tasks/1/agents/1/handoffs/1 names the agent itself',
      '/tasks/1/agents/1/handoffs/1: /tasks/1/agents/1/handoffs/1 must have another tool name: two tools are named "transfer_to_B_C"',
      '/tasks/1/agents/3/handoffs/0: /tasks/1/agents/3/handoffs/0 must have another tool name: two tools are named "refund"',
      "/tasks/2/agents/1: No agent hands off to 'B', so it can never work",
      '/tasks/3/maxHandoffs: No agent of the task has handoffs, so maxHandoffs has no effect on it',
      '/tasks/4: Cannot create task "e": its agent: handoffs[0] must have another tool name: two tools are named "search"',
    ])
  })

  it('[RUNS-T31] A request with more than 1,000 handoffs is refused at the task that exceeds them', () => {
    const roles = Array.from({ length: 24 }, (_, index) => `R${index}`)
    const agents: Agents = roles.map((role) => ({
      role,
      handoffs: roles.filter((other) => other !== role),
    }))
    const tasks = [support(agents), support(agents, { name: 'b' })]
    expect(textsOf({ tasks: tasks.slice(0, 1) })).toEqual([])
    expect(textsOf({ tasks })).toEqual([
      '/tasks/1/agents: /tasks/1/agents must have, together with the tasks before it, at most 1000 handoffs',
    ])
  })

  it('[RUNS-T31] [RUNS-R4] Agents and their limit are refused for a task that waits or runs an ensemble', () => {
    const tasks: Tasks = [
      support([{ role: 'A' }], { waitFor: { event: 'paid' } }),
      // NOTE: the type already excludes it.
      { name: 'trip', ensemble: 'team', agents: [{ role: 'A' }], maxHandoffs: 2 } as never,
    ]
    expect(textsOf({ tasks })).toEqual([
      "/tasks/0/agents: Task 'help' waits for events, so agents has no effect on it",
      "/tasks/1/agents: Task 'trip' runs an ensemble, so agents has no effect on it",
      "/tasks/1/maxHandoffs: Task 'trip' runs an ensemble, so maxHandoffs has no effect on it",
      "/tasks/1/ensemble: Unknown ensemble 'team'. Available: []",
    ])
  })

  it('[RUNS-T4] Under a manager, agents with handoffs keep their roles, which must be unique', () => {
    const agents: Agents = [
      { role: 'A', handoffs: ['B'] },
      { role: 'B', handoffs: ['A'] },
    ]
    const options = { workflow: 'HIERARCHICAL' } as const
    const other: Tasks[number] = { name: 'other', description: 'Help', agents: [{ role: 'B' }] }
    const { tasks: built } = build({ tasks: [support(agents), other], options })
    expect(built.map((one) => one.agent.role)).toEqual(['A', 'B'])
    const second = support(agents, { name: 'second' })
    expect(textsOf({ tasks: [support(agents), second], options })).toEqual([
      "/tasks/1/agents/0/role: Two tasks begin with the role 'A', by which a manager delegates",
    ])
    const each = support(agents, { name: 'each', forEach: { over: 'list' } })
    expect(textsOf({ tasks: [support(agents), each], options })).toEqual([])
  })
})

describe('an override of the limit of handoffs', () => {
  it('[RUNS-V5] An override changes the limit of handoffs of a task, and of that of each item or round', () => {
    const changed = build({
      taskOverrides: {
        support: { maxHandoffs: 2, tools: { add: ['search'] } },
        each: { maxHandoffs: 3 },
        again: { maxHandoffs: 4 },
      },
    }).tasks
    expect(changed[0]).toMatchObject({ maxHandoffs: 2, tools: [search] })
    expect(changed[3]?.forEach?.template).toMatchObject({ maxHandoffs: 3 })
    expect(changed[4]?.loop?.template).toMatchObject({ maxHandoffs: 4 })
  })

  it('[RUNS-V3] A limit of handoffs is refused for a task without handoffs', () => {
    const taskOverrides = { plain: { maxHandoffs: 2 }, code: { maxHandoffs: 2 } }
    expect(textsOf({ taskOverrides })).toEqual([
      "/taskOverrides/plain/maxHandoffs: The agent of task 'plain' has no handoffs, so maxHandoffs has no effect on it",
      "/taskOverrides/code/maxHandoffs: Task 'code' has a handler, so maxHandoffs has no effect on it",
    ])
  })
})
