/** Tests of agents that delegate work to each other. */
import { defineTextTool } from '@tutti/core'
import { sleep } from '@tutti/core/internal'
import { describe, expect, it } from 'vitest'

import { agent, ensemble, task } from '../src/index.ts'
import { MANAGER } from '../src/internal.ts'
import { delegate, teamModel, readToolResults, type TeamModel } from './team-model.ts'
import { fakeClock } from './testing.ts'
import { eventsOf, watchRun } from './watch-run.ts'

import type { AgentDefinition, TaskDefinition } from '../src/index.ts'
import type { DelegationLimits } from '../src/internal.ts'

function worker(role: string, ofAgent: Partial<AgentDefinition> = {}): TaskDefinition {
  return {
    name: role.toLowerCase(),
    description: `The work of ${role}`,
    agent: agent({ role, goal: 'Work', ...ofAgent }),
  }
}

/** Runs tasks of peers. */
async function work(
  model: TeamModel,
  tasks: readonly TaskDefinition[],
  delegation: DelegationLimits = {},
) {
  const { events, ended } = watchRun(
    ensemble({ name: 'team', model, tasks: tasks.map((one) => task(one)), delegation }),
  )
  return { events, result: await ended }
}

const free = { allowDelegation: true }

describe('[ENS-H3] an agent that may delegate', () => {
  it('An agent that may delegate delegates to a task without an agent only if allowedWorkers names it', async () => {
    const model = teamModel({ Lead: () => delegate(['count', 'Count 3']) })
    const run = async (delegation: DelegationLimits) => {
      const lead = worker('Lead', { ...free, maxIterations: 1 })
      const count: TaskDefinition = {
        name: 'count',
        description: 'Count',
        handler: ({ description }) => description.toUpperCase(),
      }
      const { events } = await work(model, [lead, count, worker('Scout')], delegation)
      return eventsOf(events, 'delegation_started').map(({ workerTask }) => workerTask)
    }
    expect(await run({})).toEqual([])
    expect(await run({ allowedWorkers: ['Scout'] })).toEqual([])
    expect(await run({ allowedWorkers: ['Scout', 'count'] })).toEqual(['lead/count'])
  })

  it('An agent that may delegate delegates to the other agents of its ensemble, with their own tools', async () => {
    const look = defineTextTool({ name: 'look', description: 'Looks', execute: () => 'seen' })
    const model = teamModel({
      Lead: [delegate(['Scout', 'Look around']), 'Thanks'],
      Scout: [
        { toolCalls: [{ name: 'look', arguments: { input: '' } }] },
        'All clear',
        'My own work',
      ],
    })
    const { events, result } = await work(model, [
      worker('Lead', free),
      worker('Scout', { tools: [look] }),
    ])
    expect(result.tasks.map(({ taskName, output }) => [taskName, output])).toEqual([
      ['lead', 'Thanks'],
      ['scout', 'My own work'],
      ['lead/Scout', 'All clear'],
    ])
    expect(result.output).toBe('My own work')
    expect(model.requestsOf('Lead')[0]?.tools.map(({ name }) => name)).toEqual(['delegate_task'])
    expect(model.requestsOf('Scout')[0]?.tools.map(({ name }) => name)).toEqual(['look'])
    expect(eventsOf(events, 'delegation_started')).toMatchObject([
      { taskName: 'lead', workerTask: 'lead/Scout', workerTaskIndex: 3, depth: 1 },
    ])
    expect(readToolResults(model.requestsOf('Lead')[1])).toEqual(['All clear'])
  })

  it('An agent that may delegate cannot delegate to itself', async () => {
    const model = teamModel({ Lead: [delegate(['Lead', 'Do it']), 'Fine'], Scout: ['Mine'] })
    await work(model, [worker('Lead', free), worker('Scout')])
    expect(readToolResults(model.requestsOf('Lead')[1])).toEqual([
      'Error: Agent "Lead" is yourself. Available: [Scout]',
    ])
  })

  it('An agent that may delegate delegates to agents that delegate in turn, up to maxDepth', async () => {
    const model = teamModel({
      Lead: [delegate(['Middle', 'Do it']), 'Lead done'],
      Middle: [delegate(['Low', 'Do it']), 'Middle done', 'Own middle'],
      Low: [delegate(['Lead', 'Do it']), 'Low done', 'Own low'],
    })
    const { events, result } = await work(
      model,
      [worker('Lead', free), worker('Middle', free), worker('Low', free)],
      { maxDepth: 2 },
    )
    expect(result.status).toBe('COMPLETED')
    expect(result.tasks.map(({ taskName }) => taskName)).toEqual([
      'lead',
      'middle',
      'low',
      'lead/Middle',
      'lead/Middle/Low',
    ])
    expect(eventsOf(events, 'delegation_started').map(({ depth }) => depth)).toEqual([1, 2])
    expect(readToolResults(model.requestsOf('Low')[1])).toEqual([
      'Error: Delegations may nest 2 deep: do the work yourself',
    ])
  })
})

describe('[ENS-C12] a task with a delegated task', () => {
  it('A task with a delegated task stops its worker first at its time limit, and the worker is not retried', async () => {
    const clock = fakeClock()
    const wait = defineTextTool({
      name: 'wait',
      description: 'Waits',
      timeoutMs: Infinity,
      async execute(_, { signal }) {
        await sleep(clock, Infinity, signal)
        return 'stopped'
      },
    })
    const model = teamModel({
      [MANAGER]: [delegate(['A', 'Dig']), 'Without it'],
      A: [delegate(['B', 'Dig'])],
      B: [{ toolCalls: [{ name: 'wait', arguments: { input: '' } }] }],
    })
    const { events, ended } = watchRun(
      ensemble({
        name: 'team',
        model,
        workflow: 'HIERARCHICAL',
        tasks: [
          task({ ...worker('A', { allowDelegation: true }), timeoutMs: 1_000 }),
          task({ ...worker('B', { tools: [wait] }), retries: 5 }),
        ],
      }),
      { clock },
    )
    await clock.advance(60_000)
    const result = await ended
    expect(result).toMatchObject({ status: 'COMPLETED', output: 'Without it', durationMs: 1_000 })
    const ends = events.flatMap((event) =>
      event.type === 'task_failed' ? [[event.taskName, event.code, event.willRetry]] : [],
    )
    expect(ends).toEqual([
      ['a/B', 'TASK_TIMEOUT', false],
      ['a', 'TASK_TIMEOUT', false],
    ])
    expect(readToolResults(model.requestsOf(MANAGER)[1])).toEqual([
      'Error: A failed: Task "a" took longer than 1000 ms',
    ])
  })
})

it('[ENS-H3] A peer gets the description of each task in the user message only', async () => {
  const model = teamModel({
    Lead: [delegate(['Writer', 'Be brief']), 'Thanks'],
    Writer: ['Brief', 'My own work'],
  })
  const page = { name: 'page', description: 'Write a page' }
  await work(model, [worker('Lead', free), page])
  const requests = model.requestsOf('Writer').map(({ messages }) => messages)
  expect(requests.map(([, user]) => /## Task\n(.*)/.exec(user?.content ?? '')?.[1])).toEqual([
    'Be brief',
    'Write a page',
  ])
  expect(requests.map(([system]) => system?.content?.includes('goal'))).toEqual([false, false])
})

describe('[ENS-L12] the delegation tool', () => {
  it('The delegation tool is not given to an agent that may not delegate or has no peers', async () => {
    const model = teamModel({ Alone: ['done'] })
    await work(model, [worker('Alone', free)])
    expect(model.requestsOf('Alone')[0]?.tools).toEqual([])

    const two = teamModel({ A: ['done'], B: ['done'] })
    await work(two, [worker('A'), worker('B', free)])
    expect(two.requestsOf('A')[0]?.tools).toEqual([])
    expect(two.requestsOf('B')[0]?.tools).toHaveLength(1)
  })

  it('The delegation tool does not list tasks with handlers', async () => {
    const model = teamModel({ Lead: ['done'] })
    const { result } = await work(model, [
      worker('Lead', free),
      { name: 'code', description: 'Count', handler: () => '3' },
    ])
    expect(result.output).toBe('3')
    expect(model.requestsOf('Lead')[0]?.tools).toEqual([])
  })
})
