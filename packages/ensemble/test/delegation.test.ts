/** Tests of the limits and policies of delegation, by what the manager receives. */
import { describe, expect, it } from 'vitest'

import { agent, ensemble, task } from '../src/index.ts'
import { MANAGER } from '../src/internal.ts'
import { delegate, teamModel, readToolResults, type RoleScript } from './team-model.ts'
import { fakeClock } from './testing.ts'
import { eventsOf, watchRun } from './watch-run.ts'

import type { TaskDefinition } from '../src/index.ts'
import type { DelegationLimits } from '../src/internal.ts'

function worker(role: string): TaskDefinition {
  return {
    name: role.toLowerCase(),
    description: `The work of ${role}`,
    agent: agent({ role, goal: 'Work' }),
  }
}

/** Runs a manager with the workers A, B and C, which answer with their names. */
async function manage(replies: RoleScript, delegation: DelegationLimits = {}) {
  const clock = fakeClock()
  const say = (role: string) => () => `I am ${role}`
  const model = teamModel({ [MANAGER]: replies, A: say('A'), B: say('B'), C: say('C') })
  const { events, ended } = watchRun(
    ensemble({
      name: 'team',
      model,
      workflow: 'HIERARCHICAL',
      tasks: ['A', 'B', 'C'].map((role) => task(worker(role))),
      delegation,
    }),
    { clock },
  )
  const result = await ended
  return {
    model,
    events,
    result,
    answers: model.requestsOf(MANAGER).slice(1).flatMap(readToolResults),
  }
}

describe('[ENS-H1] a limit of delegation', () => {
  it('A limit of delegation rejects an unknown role and lists the known ones', async () => {
    const { answers, events } = await manage([delegate(['D', 'Work']), 'Done'])
    expect(answers).toEqual(['Error: No agent has the role "D". Available: [A, B, C]'])
    expect(eventsOf(events, 'delegation_started')).toEqual([])
    expect(eventsOf(events, 'delegation_failed')).toMatchObject([
      {
        delegatingAgentRole: MANAGER,
        workerRole: 'D',
        taskName: MANAGER,
        attempt: 1,
        reason: 'No agent has the role "D". Available: [A, B, C]',
      },
    ])
  })

  it('A limit of delegation rejects a worker that is not allowed', async () => {
    const say = (role: string) => () => `I am ${role}`
    const lead = [delegate(['C', 'Work'], ['B', 'Work']), 'Done']
    const model = teamModel({ A: lead, B: say('B'), C: say('C') })
    const boss = agent({ role: 'A', goal: 'Lead', allowDelegation: true })
    await ensemble({
      name: 'team',
      model,
      workflow: 'SEQUENTIAL',
      tasks: [task({ ...worker('A'), agent: boss }), task(worker('B')), task(worker('C'))],
      delegation: { allowedWorkers: ['B'] },
    }).run()
    expect(model.requestsOf('A').slice(1).flatMap(readToolResults)).toEqual([
      'Error: Agent "C" cannot be delegated to. Available: [B]',
      'I am B',
    ])
  })

  it('[ENS-W8] A task to whose role the manager may not delegate is refused, because it would never run', async () => {
    await expect(manage(['Done'], { allowedWorkers: ['A', 'B'] })).rejects.toThrow(
      'Cannot create ensemble "team": task "c" can never run: delegation.allowedWorkers does not have its role "C"',
    )
  })

  it('A limit of delegation rejects a blank task', async () => {
    const { answers, events } = await manage([delegate(['A', ' \n']), 'Done'])
    expect(answers).toEqual(['Error: taskDescription must not be blank'])
    expect(eventsOf(events, 'delegation_failed')).toHaveLength(1)
  })

  it('A limit of delegation rejects more delegations than the run allows, also in one turn', async () => {
    const { answers, events } = await manage(
      [delegate(['A', '1'], ['B', '2'], ['C', '3']), delegate(['A', '4']), 'Done'],
      { maxDelegations: 2 },
    )
    const refused = 'Error: All 2 delegations are used up: work with what you have'
    expect(answers).toEqual(['I am A', 'I am B', refused, refused])
    expect(eventsOf(events, 'delegation_started')).toHaveLength(2)
    expect(eventsOf(events, 'delegation_failed')).toHaveLength(2)
  })

  it('A limit of delegation rejects more delegations than a worker allows, for all workers or by role', async () => {
    const replies = [delegate(['A', '1'], ['A', '2'], ['B', '3'], ['B', '4']), 'Done']
    const refused = (role: string) =>
      `Error: All 1 delegations to "${role}" are used up: work with what you have`
    expect((await manage(replies, { maxCallsPerWorker: 1 })).answers).toEqual([
      'I am A',
      refused('A'),
      'I am B',
      refused('B'),
    ])
    expect((await manage(replies, { maxCallsPerWorker: { B: 1 } })).answers).toEqual([
      'I am A',
      'I am A',
      'I am B',
      refused('B'),
    ])
  })

  it('A limit of delegation rejects a later stage before the previous one is completed', async () => {
    const replies = [
      delegate(['C', 'early'], ['A', 'go']),
      delegate(['C', 'early']),
      delegate(['B', 'go']),
      delegate(['C', 'now']),
      'Done',
    ]
    const { answers } = await manage(replies, { requiredStages: [['A', 'B'], ['C']] })
    expect(answers).toEqual([
      'Error: "C" belongs to a later stage: first delegate to A, B',
      'I am A',
      'Error: "C" belongs to a later stage: first delegate to B',
      'I am B',
      'I am C',
    ])
  })
})

describe('[ENS-H1] a policy', () => {
  it('A delegation policy is called before each delegation, in order, until one rejects', async () => {
    const asked: unknown[] = []
    const { answers, events } = await manage([delegate(['A', 'Dig'], ['B', 'Dig']), 'Done'], {
      policies: [
        async (request) => {
          asked.push(request)
          return request.toRole === 'A' ? 'A is on leave' : true
        },
        ({ toRole }) => {
          asked.push(toRole)
          return true
        },
      ],
    })
    expect(answers).toEqual(['Error: A is on leave', 'I am B'])
    expect(asked).toContainEqual({
      fromRole: MANAGER,
      toRole: 'A',
      taskDescription: 'Dig',
      depth: 1,
    })
    expect(asked).toContain('B')
    expect(asked).not.toContain('A')
    expect(eventsOf(events, 'delegation_failed')).toMatchObject([
      { workerRole: 'A', reason: 'A is on leave' },
    ])
  })

  it('A delegation policy can change the worker and the description; limits apply to the changed request', async () => {
    const { model, answers, events } = await manage(
      [delegate(['A', 'Dig'], ['A', 'Dig']), 'Done'],
      {
        maxCallsPerWorker: { B: 1 },
        policies: [
          () => ({ toRole: 'B' }),
          ({ taskDescription }) => ({ taskDescription: `${taskDescription} deep` }),
        ],
      },
    )
    expect(answers).toEqual(['I am B', expect.stringContaining('delegations to "B" are used up')])
    expect(model.requestsOf('B')[0]?.messages[1]?.content).toContain('## Task\nDig deep')
    expect(eventsOf(events, 'delegation_started')).toMatchObject([
      { workerRole: 'B', taskDescription: 'Dig deep', workerTask: 'b' },
    ])
  })

  it.each([
    ['throws', () => Promise.reject(new Error('No rules found')), 'No rules found'],
    [
      'returns nothing',
      () => undefined as never,
      'A delegation policy must return true, a reason or a change, got undefined',
    ],
    [
      'returns false',
      () => false as never,
      'A delegation policy must return true, a reason or a change, got false',
    ],
  ])('A delegation policy that %s rejects the delegation', async (_what, policy, reason) => {
    const { answers, events } = await manage([delegate(['A', 'Dig']), 'Done'], {
      policies: [policy],
    })
    expect(answers).toEqual([`Error: ${reason}`])
    expect(eventsOf(events, 'delegation_started')).toEqual([])
    expect(eventsOf(events, 'delegation_failed')).toMatchObject([{ reason }])
  })
})

it('[ENS-H1] A delegation policy that answers after a cancel begins nothing', async () => {
  const clock = fakeClock()
  const controller = new AbortController()
  const model = teamModel({ [MANAGER]: [delegate(['A', 'Dig'])], A: ['never'] })
  const { events, ended } = watchRun(
    ensemble({
      name: 'team',
      model,
      workflow: 'HIERARCHICAL',
      tasks: [task(worker('A'))],
      delegation: {
        policies: [() => new Promise((resolve) => clock.after(60_000, () => resolve(true)))],
      },
    }),
    { clock, signal: controller.signal },
  )
  await clock.advance(10)
  controller.abort()
  await clock.advance(5_000)
  expect((await ended).status).toBe('CANCELLED')
  const count = events.length
  await clock.advance(60_000)
  expect(events).toHaveLength(count)
  expect(model.requestsOf('A')).toEqual([])
})

it('[ENS-H1] A delegation policy that accepts while the call is being stopped begins nothing', async () => {
  const clock = fakeClock()
  const controller = new AbortController()
  const model = teamModel({ [MANAGER]: [delegate(['A', 'Dig'])], A: ['never'] })
  const { events, ended } = watchRun(
    ensemble({
      name: 'team',
      model,
      workflow: 'HIERARCHICAL',
      tasks: [task(worker('A'))],
      delegation: {
        policies: [() => new Promise((resolve) => clock.after(1_000, () => resolve(true)))],
      },
    }),
    { clock, signal: controller.signal },
  )
  await clock.advance(10)
  controller.abort()
  await clock.advance(2_000)
  expect((await ended).status).toBe('CANCELLED')
  expect(events.filter(({ type }) => type.startsWith('delegation'))).toEqual([])
  expect(model.requestsOf('A')).toEqual([])
})

describe('[ENS-H5] a manager with required workers', () => {
  it('A manager with required workers fails the run with CONSTRAINT_VIOLATION and names every missing role', async () => {
    const { result, events } = await manage([delegate(['B', 'Work']), 'Done'], {
      requiredWorkers: ['A', 'B', 'C'],
    })
    expect(result).toMatchObject({
      status: 'FAILED',
      output: 'I am B',
      error: {
        code: 'CONSTRAINT_VIOLATION',
        message: 'The manager ended without a completed delegation to: A, C',
        details: { missing: ['A', 'C'] },
      },
    })
    expect(eventsOf(events, 'task_failed')).toMatchObject([
      { taskName: MANAGER, code: 'CONSTRAINT_VIOLATION', willRetry: false },
    ])
  })

  it('A manager with required workers is completed when all delegations were made', async () => {
    const { result } = await manage([delegate(['A', '1'], ['B', '2']), 'Done'], {
      requiredWorkers: ['A', 'B'],
    })
    expect(result.status).toBe('COMPLETED')
  })
})

it('[ENS-W8] ensemble() rejects invalid limits of delegation, all at once', () => {
  const make = () =>
    ensemble({
      name: 'team',
      model: teamModel({}),
      workflow: 'HIERARCHICAL',
      tasks: [task(worker('A'))],
      delegation: {
        maxDepth: 0,
        maxDelegations: 1.5,
        maxCallsPerWorker: { A: -1 },
        allowedWorkers: ['Z'],
        requiredStages: [['A'], ['Y']],
      },
    })
  expect(make).toThrow(
    'Cannot create ensemble "team": delegation.maxDepth must be an integer >= 1, got 0; ' +
      'delegation.maxDelegations must be an integer >= 1, got 1.5; ' +
      'delegation.maxCallsPerWorker.A must be an integer >= 1, got -1; ' +
      'delegation names an unknown role "Z". Available: [A]; ' +
      'delegation names an unknown role "Y". Available: [A]',
  )
})
