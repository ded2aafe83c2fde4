/** Tests of HIERARCHICAL: a manager delegates the tasks of its ensemble to their workers. */
import { defineTextTool, Type } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { agent, ensemble, task } from '../src/index.ts'
import { MANAGER } from '../src/internal.ts'
import { delegate, teamModel, readToolResults } from './team-model.ts'
import { fakeClock, scriptedReviewer } from './testing.ts'
import { eventsOf, listFailures, watchRun } from './watch-run.ts'

import type { EnsembleDefinition, TaskDefinition } from '../src/index.ts'
import type { RunEvent } from '@tutti/protocol'

function worker(role: string, definition: Partial<TaskDefinition> = {}): TaskDefinition {
  return {
    name: role.toLowerCase(),
    description: `The work of ${role}`,
    agent: agent({ role, goal: `Be a good ${role}` }),
    ...definition,
  }
}

const researcher = worker('Researcher')
const writer = worker('Writer', { context: ['researcher'] })

function team(
  model: ReturnType<typeof teamModel>,
  definitions: readonly TaskDefinition[] = [researcher, writer],
  settings: Partial<EnsembleDefinition> = {},
) {
  const tasks = definitions.map((definition) => task(definition))
  return ensemble({ name: 'team', model, workflow: 'HIERARCHICAL', tasks, ...settings })
}

function listEnds(events: readonly RunEvent[]): readonly string[] {
  return events.flatMap((event) => {
    if (!/^(delegation|task|ensemble|run)_/.test(event.type) || event.type === 'task_input')
      return []
    return [`${event.type} ${'taskName' in event ? event.taskName : ''}`.trim()]
  })
}

describe('[ENS-W9] a manager', () => {
  it('A manager receives the tasks, their workers and the inputs of the run', async () => {
    const model = teamModel({ [MANAGER]: ['Nothing to do'] })
    const topical = worker('Writer', {
      description: 'Write about {topic}',
      expectedOutput: '{n} lines',
    })
    const { ended } = watchRun(team(model, [topical]), { inputs: { topic: 'jazz', n: '3' } })
    await ended
    const [system, user] = model.requestsOf(MANAGER)[0]?.messages ?? []
    expect(system?.content).toContain('- Writer: Be a good Writer')
    expect(user?.content).toContain(
      '1. Write about jazz\n   Worker: Writer\n   Expected output: 3 lines',
    )
    expect(model.requestsOf(MANAGER)[0]?.tools).toMatchObject([
      { name: 'delegate_task', description: expect.stringContaining('Agents: Writer') },
    ])
  })

  it('A manager receives descriptions of its workers without their tasks, and with rendered variables', async () => {
    const model = teamModel({ [MANAGER]: ['Nothing to do'] })
    const plain = { name: 'find', description: 'Research {topic}' }
    const learned = agent({ role: 'Critic', goal: 'Judge well', background: 'Ten years of it.' })
    const { ended } = watchRun(
      team(model, [plain, { name: 'judge', description: 'Judge {topic}', agent: learned }]),
      { inputs: { topic: 'jazz' } },
    )
    await ended
    const text = JSON.stringify(model.requestsOf(MANAGER)[0]?.messages)
    expect(text).toContain('\\n- Researcher\\n- Critic: Judge well Ten years of it.')
    expect(text).toContain('Research jazz')
    expect(text).not.toContain('{topic}')
  })

  it('A manager delegates, receives the results, and returns the output of the run', async () => {
    const model = teamModel({
      [MANAGER]: [
        delegate(['Researcher', 'Look up jazz']),
        delegate(['Writer', 'Write it down']),
        'All done',
      ],
      Researcher: ['Jazz is old'],
      Writer: ['A line about jazz'],
    })
    const { events, ended } = watchRun(team(model))
    const result = await ended
    expect(result).toMatchObject({ status: 'COMPLETED', output: 'All done' })
    expect(result.tasks.map(({ taskName, output }) => [taskName, output])).toEqual([
      ['researcher', 'Jazz is old'],
      ['writer', 'A line about jazz'],
      [MANAGER, 'All done'],
    ])
    expect(readToolResults(model.requestsOf(MANAGER)[1])).toEqual(['Jazz is old'])
    expect(readToolResults(model.requestsOf(MANAGER)[2])).toEqual(['A line about jazz'])
    expect(listEnds(events)).toEqual([
      'ensemble_started',
      'task_started Manager',
      'delegation_started Manager',
      'task_started researcher',
      'task_completed researcher',
      'delegation_completed Manager',
      'delegation_started Manager',
      'task_started writer',
      'task_completed writer',
      'delegation_completed Manager',
      'task_completed Manager',
      'ensemble_completed',
      'run_result',
    ])
  })

  it('[ENS-H3] A manager delegates by their names to tasks that are handlers, ensembles, or one task for each item', async () => {
    const model = teamModel({
      [MANAGER]: [
        delegate(['each', 'Too early'], ['trip', 'Too early']),
        delegate(['list', 'List towns']),
        delegate(['each', 'Write of each'], ['trip', 'Plan']),
        delegate(['trip', 'Plan again']),
        'Done',
      ],
      Guide: ['One', 'Two', 'Plan 1', 'Plan 2'],
    })
    const guide = agent({ role: 'Guide', goal: 'Guide' })
    const list = task({
      name: 'list',
      description: 'List',
      output: Type.Array(Type.String()),
      handler: ({ description }) => [description, 'Rome'],
    })
    const each = task({
      name: 'each',
      description: 'Write of {item}',
      agent: guide,
      forEach: { over: list, collect: 'outputs' },
    })
    const inner = ensemble({
      name: 'trip',
      model,
      tasks: [task({ name: 'plan', description: 'Plan {towns}', agent: guide })],
    })
    const trip = task({ ensemble: inner, inputs: { towns: list } })
    const leader = ensemble({
      name: 'team',
      model,
      workflow: 'HIERARCHICAL',
      tasks: [list, each, trip],
      delegation: { maxCallsPerWorker: { trip: 3 } },
    })
    const { ended } = watchRun(leader)
    const result = await ended
    expect(result).toMatchObject({ status: 'COMPLETED', output: 'Done' })
    const prompt = JSON.stringify(model.requestsOf(MANAGER)[0]?.messages)
    expect(prompt).toContain('2. Write of {item}\\n   Worker: each')
    expect(model.requestsOf(MANAGER).slice(1).map(readToolResults)).toEqual([
      [
        'Error: each failed: The output of task "list" is needed, but the task is not completed',
        'Error: trip failed: Input "towns" is the output of task "list", which is not completed',
      ],
      ['["List towns","Rome"]'],
      ['{"0":"One","1":"Two"}', 'Plan 1'],
      ['Plan 2'],
    ])
    expect(result.tasks.map(({ taskName }) => taskName)).toEqual([
      'list',
      MANAGER,
      'each#2',
      'each#2/0',
      'each#2/1',
      'trip#2',
      'trip#2/plan',
      'trip#3',
      'trip#3/plan',
    ])
  })

  it('A manager names only the own goal of a worker in its system message', async () => {
    const model = teamModel({
      [MANAGER]: [delegate(['Writer', 'Be brief'], ['Researcher', 'Look']), 'Done'],
      Writer: ['Brief'],
      Researcher: ['Seen'],
    })
    const plain = { name: 'page', description: 'Write about {topic}' }
    const run = watchRun(team(model, [plain, researcher]), { inputs: { topic: 'jazz' } })
    await run.ended
    const goals = ['Writer', 'Researcher'].map(
      (role) => /goal is: (.*)/.exec(model.requestsOf(role)[0]?.messages[0]?.content ?? '')?.[1],
    )
    expect(goals).toEqual([undefined, 'Be a good Researcher'])
  })

  it('A manager can leave tasks undone, which are skipped, and the run is completed', async () => {
    const model = teamModel({
      [MANAGER]: [delegate(['Researcher', 'Look']), 'Enough'],
      Researcher: ['Seen'],
    })
    const { events, ended } = watchRun(team(model))
    expect((await ended).status).toBe('COMPLETED')
    expect(eventsOf(events, 'task_skipped')).toMatchObject([
      { taskName: 'writer', reason: 'The manager did not delegate it' },
    ])
  })

  it('A manager fails the run when it fails, and the outputs of its workers are retained', async () => {
    const model = teamModel({
      [MANAGER]: [delegate(['Researcher', 'Look']), new Error('No credit')],
      Researcher: ['Seen'],
    })
    const { events, ended } = watchRun(team(model))
    const result = await ended
    expect(result).toMatchObject({
      status: 'FAILED',
      output: 'Seen',
      error: { message: 'No credit' },
      tasks: [{ taskName: 'researcher' }],
    })
    expect(eventsOf(events, 'task_skipped')).toMatchObject([{ taskName: 'writer' }])
  })

  it('A manager has its own model and its own limit of turns', async () => {
    const model = teamModel({ Writer: ['Written'] })
    const managerModel = teamModel({
      [MANAGER]: ({ toolChoice }) =>
        toolChoice === 'none' ? 'Forced' : delegate(['Nobody', 'Anything']),
    })
    const { ended } = watchRun(
      team(model, [worker('Writer')], { managerModel, managerMaxIterations: 2 }),
    )
    expect((await ended).output).toBe('Forced')
    expect(managerModel.requestsOf(MANAGER)).toHaveLength(3)
  })
})

describe('[ENS-H3] a delegated task', () => {
  it('A delegated task has the description of the manager, and the tools, context and expected output of its author', async () => {
    const look = defineTextTool({ name: 'look', description: 'Looks', execute: () => 'seen' })
    const model = teamModel({
      [MANAGER]: [
        delegate(['Researcher', 'Look']),
        delegate(['Writer', 'Write {it} down']),
        'Done',
      ],
      Researcher: ['Jazz is old'],
      Writer: [{ toolCalls: [{ name: 'look', arguments: { input: '' } }] }, 'Written'],
    })
    const typed = { ...writer, tools: [look], expectedOutput: 'A line about {topic}' }
    const { events, ended } = watchRun(team(model, [researcher, typed]), {
      inputs: { topic: 'jazz' },
    })
    await ended
    const [first] = model.requestsOf('Writer')
    expect(first?.tools.map(({ name }) => name)).toEqual(['look'])
    expect(first?.messages[1]?.content).toBe(
      '## Context from Previous Tasks\n### Researcher: The work of Researcher\nJazz is old\n---\n\n' +
        '## Task\nWrite {it} down\n\n## Expected Output\nA line about jazz',
    )
    expect(eventsOf(events, 'task_input').at(-1)).toMatchObject({
      taskName: 'writer',
      taskDescription: 'Write {it} down',
      expectedOutput: 'A line about jazz',
      toolNames: ['look'],
    })
  })

  it('A delegated task gets a numbered name when it is repeated, and later tasks receive the last output', async () => {
    const model = teamModel({
      [MANAGER]: [
        delegate(['Researcher', 'Look']),
        delegate(['Researcher', 'Look closer']),
        delegate(['Writer', 'Write']),
        'Done',
      ],
      Researcher: ['Nothing', 'Jazz is old'],
      Writer: ['Written'],
    })
    const { events, ended } = watchRun(team(model))
    const result = await ended
    expect(result.tasks.map(({ taskName }) => taskName)).toEqual([
      'researcher',
      'writer',
      MANAGER,
      'researcher#2',
    ])
    expect(model.requestsOf('Writer')[0]?.messages[1]?.content).toContain('Jazz is old')
    expect(eventsOf(events, 'delegation_started')).toMatchObject([
      { workerTask: 'researcher', workerTaskIndex: 1, depth: 1 },
      { workerTask: 'researcher#2', workerTaskIndex: 4, depth: 1 },
      { workerTask: 'writer', workerTaskIndex: 2, depth: 1 },
    ])
  })

  it('A delegated task is context also if only its second try was completed', async () => {
    const model = teamModel({
      [MANAGER]: [
        delegate(['Researcher', 'Look']),
        delegate(['Researcher', 'Look again']),
        delegate(['Writer', 'Write']),
        'Done',
      ],
      Researcher: [new Error('No network'), 'Jazz is old'],
      Writer: ['Written'],
    })
    const { ended } = watchRun(team(model))
    expect((await ended).status).toBe('COMPLETED')
    expect(model.requestsOf('Writer')[0]?.messages[1]?.content).toContain('Jazz is old')
  })

  it('A delegated task keeps its guardrails, its schema and its corrections', async () => {
    const seen: unknown[] = []
    const model = teamModel({
      [MANAGER]: [delegate(['Counter', 'Count']), 'Done'],
      Counter: ['many', '{"count":3}'],
    })
    const counter = worker('Counter', {
      output: Type.Object({ count: Type.Integer() }),
      guardrails: {
        output: [
          ({ structured }) => {
            seen.push(structured)
            return 'Three is too many'
          },
        ],
      },
    })
    const { events, ended } = watchRun(team(model, [counter]))
    await ended
    expect(seen).toEqual([{ count: 3 }])
    expect(readToolResults(model.requestsOf(MANAGER)[1])[0]).toContain(
      'Counter failed: Guardrail number 1 rejected',
    )
    expect(listFailures(events)).toMatchObject([{ code: 'GUARDRAIL_VIOLATION' }])
  })

  it('A delegated task is reviewed, while the time of the manager stops', async () => {
    const clock = fakeClock()
    const model = teamModel({
      [MANAGER]: [delegate(['Writer', 'Write']), 'Done'],
      Writer: ['First', 'Second'],
    })
    const reviewer = scriptedReviewer([{ action: 'REJECT', feedback: 'Longer' }, 'CONTINUE'])
    const { ended } = watchRun(team(model, [worker('Writer', { review: true })]), {
      clock,
      reviewer,
    })
    const result = await ended
    expect(result.tasks).toMatchObject([{ taskName: 'writer', attempt: 2, output: 'Second' }, {}])
    expect(readToolResults(model.requestsOf(MANAGER)[1])).toEqual(['Second'])
    expect(reviewer.reviews.map(({ taskName }) => taskName)).toEqual(['writer', 'writer'])
  })
})

describe('[ENS-H4] the failure of a worker', () => {
  it('The failure of a worker is returned to the manager, which continues, and the failed work is counted', async () => {
    const usage = { inputTokens: 10, outputTokens: 1 }
    const model = teamModel({
      [MANAGER]: [
        { ...delegate(['Writer', 'Write']), usage },
        { text: 'Without it', usage },
      ],
      Writer: [{ text: 'x', usage }],
    })
    const refused = worker('Writer', { guardrails: { output: [() => 'Bad words'] } })
    const { events, ended } = watchRun(team(model, [refused]))
    const result = await ended
    expect(result).toMatchObject({ status: 'COMPLETED', output: 'Without it' })
    expect(result.metrics).toMatchObject({ totalTokens: 33, totalToolCalls: 1 })
    expect(readToolResults(model.requestsOf(MANAGER)[1])).toEqual([
      expect.stringMatching(/^Error: Writer failed: .*Bad words$/),
    ])
    expect(listEnds(events).slice(2, 6)).toEqual([
      'delegation_started Manager',
      'task_started writer',
      'task_failed writer',
      'delegation_failed Manager',
    ])
    expect(eventsOf(events, 'delegation_failed')).toMatchObject([{ workerTask: 'writer' }])
  })

  it('The failure of a worker is retried first, as often as its author allows', async () => {
    const clock = fakeClock()
    const model = teamModel({
      [MANAGER]: [delegate(['Writer', 'Write']), 'Done'],
      Writer: ['bad', '{"ok":true}'],
    })
    const retried = worker('Writer', {
      retries: 1,
      outputRetries: 0,
      output: Type.Object({ ok: Type.Boolean() }),
    })
    const { events, ended } = watchRun(team(model, [retried]), { clock })
    await clock.advance(5_000)
    expect((await ended).status).toBe('COMPLETED')
    expect(listFailures(events)).toMatchObject([{ willRetry: true }])
    expect(eventsOf(events, 'delegation_started')).toHaveLength(1)
    expect(readToolResults(model.requestsOf(MANAGER)[1])).toEqual(['{"ok":true}'])
  })

  it('The failure of a worker ends both if a reviewer ended the run early', async () => {
    const model = teamModel({
      [MANAGER]: [delegate(['Writer', 'Write']), 'never'],
      Writer: ['Written'],
    })
    const reviewer = scriptedReviewer(['EXIT_EARLY'])
    const { events, ended } = watchRun(team(model, [worker('Writer', { review: true })]), {
      reviewer,
    })
    const result = await ended
    expect(result).toMatchObject({ status: 'COMPLETED', tasks: [{ taskName: 'writer' }] })
    expect(eventsOf(events, 'delegation_completed')).toHaveLength(1)
    expect(listFailures(events)).toMatchObject([{ taskName: MANAGER, code: 'EXIT_EARLY' }])
    expect(model.requestsOf(MANAGER)).toHaveLength(1)
  })
})

it('[ENS-H4] A reviewer who ends the run before a worker begins also ends the manager', async () => {
  const model = teamModel({ [MANAGER]: [delegate(['Writer', 'Write']), 'never'] })
  const { events, ended } = watchRun(team(model, [worker('Writer', { beforeReview: true })]), {
    reviewer: scriptedReviewer(['EXIT_EARLY']),
  })
  expect((await ended).tasks).toEqual([])
  expect(model.requestsOf(MANAGER)).toHaveLength(1)
  expect(eventsOf(events, 'delegation_failed')).toHaveLength(1)
  expect(eventsOf(events, 'task_skipped')).toMatchObject([{ taskName: 'writer' }])
})

describe('[ENS-H2] the delegations of one turn', () => {
  it('The delegations of one turn run concurrently, and their results are in the order of the calls', async () => {
    const clock = fakeClock()
    const wait = defineTextTool({
      name: 'wait',
      description: 'Waits',
      execute: (ms) => new Promise<string>((resolve) => clock.after(Number(ms), () => resolve(ms))),
    })
    const waiting = (ms: string) => [
      { toolCalls: [{ name: 'wait', arguments: { input: ms } }] },
      `waited ${ms}`,
    ]
    const model = teamModel({
      [MANAGER]: [delegate(['A', 'a'], ['B', 'b']), 'Done'],
      A: waiting('200'),
      B: waiting('100'),
    })
    const { events, ended } = watchRun(
      team(model, [worker('A', { tools: [wait] }), worker('B', { tools: [wait] })]),
      { clock },
    )
    await clock.advance(1_000)
    const result = await ended
    expect(result.durationMs).toBe(200)
    expect(readToolResults(model.requestsOf(MANAGER)[1])).toEqual(['waited 200', 'waited 100'])
    expect(
      eventsOf(events, 'delegation_completed').map((e) => [e.workerTask, e.durationMs]),
    ).toEqual([
      ['b', 100],
      ['a', 200],
    ])
    expect(result.tasks.map(({ taskName }) => taskName)).toEqual(['a', 'b', MANAGER])
  })

  it('[ENS-L15] The delegations of one turn do not occupy slots of tool calls: twenty of them complete with one slot', async () => {
    const look = defineTextTool({ name: 'look', description: 'Looks', execute: () => 'seen' })
    const roles = Array.from({ length: 20 }, (_, index) => `W${index}`)
    const looks = [{ toolCalls: [{ name: 'look', arguments: { input: '' } }] }, 'done']
    const model = teamModel({
      [MANAGER]: [delegate(...roles.map((role) => [role, 'Look'] as const)), 'Done'],
      ...Object.fromEntries(roles.map((role) => [role, looks])),
    })
    const workers = roles.map((role) => worker(role, { tools: [look] }))
    const { ended } = watchRun(team(model, workers, { maxConcurrentToolCalls: 1 }))
    const result = await ended
    expect(result.status).toBe('COMPLETED')
    expect(result.metrics.totalToolCalls).toBe(40)
  })

  it('[ENS-T7] The delegations of one turn count for the budget of the run, and everything that it stops reports it', async () => {
    const model = teamModel({
      [MANAGER]: [delegate(['A', 'a']), 'never'],
      A: ['done'],
    })
    const { ended } = watchRun(team(model, [worker('A')], { budget: { maxModelCalls: 2 } }))
    const result = await ended
    expect(result).toMatchObject({ status: 'FAILED', error: { code: 'BUDGET_EXCEEDED' } })
    expect(result.tasks.map(({ taskName }) => taskName)).toEqual(['a'])
  })
})
