/** Tests of handoffs: an agent passes its conversation to another agent. */
import { defineTextTool, defineTool, Type } from '@tutti/core'
import { runStateAfter } from '@tutti/protocol'
import { describe, expect, it } from 'vitest'

import { agent, ensemble, handoff, modelCatalog, task } from '../src/index.ts'
import { applyToUnowned, describeCode } from '../src/internal.ts'
import {
  forkEverywhere,
  interruptEverywhere,
  replayEverywhere,
  type Scenario,
} from './interrupt-everywhere.ts'
import {
  createTaskFailure,
  createThinker,
  createWorldTool,
  requestCalls,
} from './scenario-parts.ts'
import { startRecorded } from './recorded-run.ts'
import { teamModel, type TeamModel } from './team-model.ts'
import { eventsOf, nextTurn, watchRun } from './watch-run.ts'

import type { Agent, AgentDefinition, TaskDefinition } from '../src/index.ts'

/** Returns a reply that calls tools without arguments, with the ids c1, c2 and so on. */
function call(...names: readonly string[]) {
  return {
    text: '',
    toolCalls: names.map((name, index) => ({ id: `c${index + 1}`, name, arguments: {} })),
  }
}

function named(role: string, definition: Partial<AgentDefinition> = {}): Agent {
  return agent({ role, ...definition })
}

/** Runs the task of an agent. */
async function runTask(model: TeamModel, first: Agent, settings: Partial<TaskDefinition> = {}) {
  const support = task({ name: 'support', description: 'Help', agent: first, ...settings })
  const team = ensemble({ name: 'team', model, modelRetries: 0, tasks: [support] })
  const { events, ended } = watchRun(team)
  const result = await ended
  return { events, result, state: runStateAfter(events) }
}

describe('a handoff', () => {
  it('[ENS-H8] [ENS-H9] [ENS-H10] The next agent continues the conversation, and its answer is that of the task', async () => {
    const model = teamModel({ Triage: [call('transfer_to_Billing')], Billing: ['Paid'] })
    const { result, events, state } = await runTask(
      model,
      named('Triage', { handoffs: [named('Billing', { goal: 'Charge' })] }),
    )
    expect(result).toMatchObject({ status: 'COMPLETED', output: 'Paid' })
    const [first] = model.requestsOf('Triage')
    const [next] = model.requestsOf('Billing')
    expect(next?.messages.slice(1)).toEqual([
      ...(first?.messages.slice(1) ?? []),
      { role: 'assistant', content: '', toolCalls: [expect.objectContaining({ id: 'c1' })] },
      {
        role: 'tool',
        toolCallId: 'c1',
        toolName: 'transfer_to_Billing',
        content: '{"assistant":"Billing"}',
      },
    ])
    expect(next?.messages[0]?.content).toContain('You are Billing.')
    expect(eventsOf(events, 'delegation_started')).toMatchObject([
      { taskName: 'support', workerTask: 'support/Billing', handoff: true, depth: 1 },
    ])
    expect(state.tasks.map(({ name, activeAgent }) => [name, activeAgent])).toEqual([
      ['support', 'Billing'],
      ['support/Billing', undefined],
    ])
  })

  it('[ENS-H9] A filter selects what the next agent receives, and the arguments of the call are part of it', async () => {
    const search = defineTextTool({
      name: 'search',
      description: 'Searches',
      execute: (input) => `found ${input}`,
    })
    const reason = { reason: 'refund' }
    const replies = () => [
      {
        text: 'Let me see',
        toolCalls: [{ id: 's1', name: 'search', arguments: { input: 'x' } }],
      },
      { text: '', toolCalls: [{ id: 'h1', name: 'escalate', arguments: reason }] },
    ]
    const run = async (filter: NonNullable<Parameters<typeof handoff>[1]>['filter']) => {
      const model = teamModel({ Triage: replies(), Billing: ['Paid'] })
      const next = handoff(named('Billing'), {
        name: 'escalate',
        description: 'Escalates',
        input: Type.Object({ reason: Type.String() }),
        ...(filter === undefined ? {} : { filter }),
      })
      const first = named('Triage', { tools: [search], handoffs: [next] })
      const { result } = await runTask(model, first)
      const [asked] = model.requestsOf('Triage')
      expect(asked?.tools.at(-1)).toMatchObject({ name: 'escalate', description: 'Escalates' })
      return { result, received: model.requestsOf('Billing')[0]?.messages.slice(1) }
    }
    const all = await run(undefined)
    expect(all.received?.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'tool',
    ])
    expect(all.received?.[3]).toMatchObject({ toolCalls: [{ arguments: JSON.stringify(reason) }] })
    const { received } = await run('withoutTools')
    expect(received?.slice(1)).toEqual([
      { role: 'assistant', content: 'Let me see', toolCalls: [] },
    ])
    const last = await run((messages) => messages.slice(-2))
    expect(last.received?.map(({ role }) => role)).toEqual(['assistant', 'tool'])
    const unpaired = await run((messages) => messages.slice(-1))
    expect(unpaired.result.error).toMatchObject({
      code: 'TASK_FAILED',
      message: expect.stringContaining(
        'The filter of the handoff to "Billing" returned an invalid conversation: /0/toolCallId must be the id of a tool call',
      ),
    })
    const broken = await run(() => {
      throw new Error('No')
    })
    expect(broken.result.error?.message).toBe('The filter of the handoff to "Billing" failed: No')
    const empty = await run(() => [])
    expect(empty.result.error?.message).toContain('must be a list of messages')
  })

  it('[ENS-H13] An agent hands back by role, and the active agent is that of the last handoff', async () => {
    const model = teamModel({
      Triage: [call('transfer_to_Billing'), 'Done'],
      Billing: [call('transfer_to_Refunds')],
      Refunds: [call('transfer_to_Triage')],
    })
    const refunds = named('Refunds', { handoffs: ['Triage'] })
    const first = named('Triage', { handoffs: [named('Billing', { handoffs: [refunds] })] })
    const { result, events, state } = await runTask(model, first)
    expect(result.output).toBe('Done')
    expect(result.tasks.map(({ taskName }) => taskName)).toEqual([
      'support',
      'support/Billing',
      'support/Refunds',
      'support/Triage',
    ])
    const started = eventsOf(events, 'delegation_started')
    expect(started.map(({ taskName, workerTask, depth }) => [taskName, workerTask, depth])).toEqual(
      [
        ['support', 'support/Billing', 1],
        ['support/Billing', 'support/Refunds', 1],
        ['support/Refunds', 'support/Triage', 1],
      ],
    )
    expect(state.tasks.map(({ activeAgent }) => activeAgent)).toEqual([
      'Triage',
      'Triage',
      'Triage',
      undefined,
    ])
    const second = events.findIndex((event) => event === started[1])
    expect(runStateAfter(events.slice(0, second)).tasks[0]?.activeAgent).toBe('Billing')
  })

  it('[ENS-H10] The schema, the guardrails and the review of the task apply once, to the last answer', async () => {
    const model = teamModel({
      Triage: [call('transfer_to_Billing')],
      Billing: ['no JSON', '{"sum":5}'],
    })
    const checked: string[] = []
    const reviewed: unknown[] = []
    const support = task({
      name: 'support',
      description: 'Help',
      agent: named('Triage', { handoffs: [named('Billing')] }),
      output: Type.Object({ sum: Type.Number() }),
      guardrails: {
        input: [() => checked.push('input') > 0],
        output: [({ output }) => checked.push(output) > 0],
      },
    })
    const team = ensemble({
      name: 'team',
      model,
      reviewPolicy: 'AFTER_EVERY_TASK',
      tasks: [support],
    })
    const result = await team.run(
      {},
      {
        reviewer: {
          async decide(review) {
            reviewed.push(review.taskName)
            return { action: 'CONTINUE' }
          },
        },
      },
    )
    expect(result.outputOf(support)).toEqual({ sum: 5 })
    expect(checked).toEqual(['input', '{"sum":5}'])
    expect(reviewed).toEqual(['support'])
    expect(model.requestsOf('Billing')[1]?.messages.at(-1)?.content).toContain('JSON')
  })

  it('[ENS-H8] [ENS-H11] Other calls of the turn end first, and only the first handoff takes place', async () => {
    const search = defineTextTool({ name: 'search', description: 'S', execute: () => 'found' })
    const model = teamModel({
      Triage: [
        {
          text: '',
          toolCalls: [
            { id: '1', name: 'transfer_to_Billing', arguments: {} },
            { id: 'a/1', name: 'transfer_to_Refunds', arguments: {} },
            { id: 's', name: 'search', arguments: { input: 'x' } },
          ],
        },
      ],
      Billing: ['Paid'],
    })
    const handoffs = [named('Billing'), named('Refunds')]
    const { result } = await runTask(model, named('Triage', { tools: [search], handoffs }))
    expect(result.output).toBe('Paid')
    const results = model.requestsOf('Billing')[0]?.messages.slice(-3)
    expect(results?.map(({ content }) => content)).toEqual([
      '{"assistant":"Billing"}',
      'Error: Only the first handoff of a turn takes place, which is "transfer_to_Billing"',
      'found',
    ])
  })

  it('[ENS-H11] A handoff with invalid arguments fails, and its agent continues', async () => {
    const bad = { id: 'b', name: 'transfer_to_Billing', arguments: { reason: 1 } }
    const model = teamModel({ Triage: [{ text: '', toolCalls: [bad] }, 'Myself'] })
    const input = Type.Object({ reason: Type.Array(Type.String(), { minItems: 2 }) })
    const first = named('Triage', { handoffs: [handoff(named('Billing'), { input })] })
    expect((await runTask(model, first)).result.output).toBe('Myself')
  })

  it('[ENS-H11] A turn whose first handoff fails hands off to no agent, also if a second one is valid', async () => {
    const calls = [
      { id: 'a', name: 'transfer_to_Billing', arguments: { order: 'none' } },
      { id: 'b', name: 'transfer_to_Refunds', arguments: {} },
    ]
    const model = teamModel({ Triage: [{ text: '', toolCalls: calls }, 'Myself'] })
    const input = Type.Object({ order: Type.Integer() })
    const billing = handoff(named('Billing'), { input })
    const first = named('Triage', { handoffs: [billing, named('Refunds')] })
    const { result, events } = await runTask(model, first)
    expect(result.output).toBe('Myself')
    expect(eventsOf(events, 'delegation_started')).toEqual([])
    const results = model.requestsOf('Triage')[1]?.messages.slice(-2)
    expect(results?.map(({ content }) => content)).toEqual([
      expect.stringContaining('order'),
      'Error: Only the first handoff of a turn takes place, which is "transfer_to_Billing"',
    ])
  })

  it('[ENS-H11] A handoff to an agent that is not in the list is a call of an unknown tool, and its agent continues', async () => {
    const model = teamModel({ Triage: [call('transfer_to_Bilings'), 'Myself'] })
    const first = named('Triage', { handoffs: [named('Billing')] })
    expect((await runTask(model, first)).result.output).toBe('Myself')
    expect(model.requestsOf('Triage')[1]?.messages.at(-1)?.content).toMatch(
      /Unknown tool.*transfer_to_Bilings.*transfer_to_Billing/,
    )
  })

  it('[ENS-H11] Arguments of a handoff that are not JSON fail the call, and its agent continues', async () => {
    const bad = { id: 'b', name: 'transfer_to_Billing', arguments: 'reason = late' }
    const model = teamModel({ Triage: [{ text: '', toolCalls: [bad] }, 'Myself'] })
    const first = named('Triage', { handoffs: [named('Billing')] })
    const { result, events } = await runTask(model, first)
    expect(result.output).toBe('Myself')
    expect(eventsOf(events, 'delegation_started')).toEqual([])
  })

  it('[ENS-H10] [ENS-H13] A worker of a manager hands off, and the answer of the last agent is the result of the delegation', async () => {
    const delegate = { agentRole: 'Triage', taskDescription: 'Help' }
    const model = teamModel({
      Manager: [{ toolCalls: [{ name: 'delegate_task', arguments: delegate }] }, 'Ended'],
      Triage: [call('transfer_to_Billing')],
      Billing: ['Paid'],
    })
    const support = task({
      name: 'support',
      description: 'Help',
      agent: named('Triage', { handoffs: [named('Billing')] }),
    })
    const team = ensemble({ name: 'team', model, workflow: 'HIERARCHICAL', tasks: [support] })
    const result = await team.run()
    expect(result).toMatchObject({ status: 'COMPLETED', output: 'Ended' })
    expect(result.tasks.map(({ taskName, output }) => [taskName, output])).toContainEqual([
      'support/Billing',
      'Paid',
    ])
    expect(model.requestsOf('Manager')[1]?.messages.at(-1)?.content).toBe('Paid')
  })

  it('[ENS-H12] After the last handoff of a task, an agent must answer itself', async () => {
    const model = teamModel({
      Triage: [call('transfer_to_Billing'), call('transfer_to_Billing'), 'Myself'],
      Billing: [call('transfer_to_Triage')],
    })
    const first = named('Triage', { handoffs: [named('Billing', { handoffs: ['Triage'] })] })
    const { result } = await runTask(model, first, { maxHandoffs: 2 })
    expect(result.output).toBe('Myself')
    expect(model.requestsOf('Triage')[2]?.messages.at(-1)?.content).toBe(
      'Error: All 2 handoffs of this task are used up: answer yourself',
    )
    const always = teamModel({
      Triage: (request) =>
        request.messages.at(-1)?.content.startsWith('Error') === true
          ? 'Enough'
          : call('transfer_to_Billing'),
      Billing: () => call('transfer_to_Triage'),
    })
    const { events } = await runTask(always, first)
    expect(eventsOf(events, 'delegation_started')).toHaveLength(10)
  })

  it('[ENS-H13] Handoffs do not count as delegations', async () => {
    const model = teamModel({
      Triage: [call('transfer_to_Billing')],
      Billing: [
        {
          toolCalls: [
            { name: 'delegate_task', arguments: { agentRole: 'Clerk', taskDescription: 'Look' } },
          ],
        },
        'Paid',
      ],
      Clerk: ['Seen', 'Own'],
    })
    const support = task({
      name: 'support',
      description: 'Help',
      agent: named('Triage', { handoffs: [named('Billing', { allowDelegation: true })] }),
    })
    const clerk = task({ name: 'clerk', description: 'Work', agent: named('Clerk') })
    const delegation = { maxDelegations: 1, maxDepth: 1 }
    const team = ensemble({ name: 'team', model, tasks: [support, clerk], delegation })
    expect(await team.run()).toMatchObject({ status: 'COMPLETED' })
    expect(model.requestsOf('Billing')[1]?.messages.at(-1)?.content).toBe('Seen')
  })

  it('[ENS-H16] A failure of the next agent fails the attempt, and a retry begins a new conversation', async () => {
    const model = teamModel({
      Triage: [call('transfer_to_Billing'), call('transfer_to_Billing')],
      Billing: [createTaskFailure('Down'), 'Paid'],
    })
    const first = named('Triage', { handoffs: [named('Billing')] })
    const { result, state } = await runTask(model, first, { retries: 1 })
    expect(result).toMatchObject({ status: 'COMPLETED', output: 'Paid' })
    expect(state.tasks.map(({ name, status, activeAgent }) => [name, status, activeAgent])).toEqual(
      [
        ['support', 'COMPLETED', 'Billing'],
        ['support/Billing', 'FAILED', undefined],
        ['support/Billing#2', 'COMPLETED', undefined],
      ],
    )
    expect(model.requestsOf('Billing')[1]?.messages).toHaveLength(4)
  })

  it('[ENS-H9] Each agent has its own model, and the budget of the task covers all of them', async () => {
    const own = teamModel({ Billing: [requestCalls(['l', 'look', 'x']), 'Paid'] })
    const model = teamModel({ Triage: [call('transfer_to_Billing')] })
    const look = defineTextTool({ name: 'look', description: 'L', execute: () => 'seen' })
    const billing = named('Billing', { model: own, tools: [look] })
    const first = named('Triage', { handoffs: [billing] })
    const { result } = await runTask(model, first, { budget: { maxModelCalls: 2 } })
    expect(result.error).toMatchObject({ code: 'BUDGET_EXCEEDED' })
    expect(own.requestsOf('Billing')).toHaveLength(1)
  })

  it('[ENS-H17] A directive and a model switch for the task reach the next agent', async () => {
    const other = teamModel({ Billing: ['By the other'] })
    const steer = { now: (): void => undefined }
    const wait = defineTextTool({
      name: 'wait',
      description: 'W',
      execute: () => {
        steer.now()
        return 'ok'
      },
    })
    const model = teamModel({
      Triage: [requestCalls(['w', 'wait', 'x'], ['h', 'transfer_to_Billing', {}])],
      Billing: ['Paid'],
    })
    const support = task({
      name: 'support',
      description: 'Help',
      agent: named('Triage', { tools: [wait], handoffs: [named('Billing')] }),
    })
    const team = ensemble({ name: 'team', model, tasks: [support] })
    const handle = team.start({}, { models: modelCatalog({ other }) })
    steer.now = () => {
      void handle.switchModel('other', { task: support })
      void handle.inject('Be brief')
    }
    expect((await handle.result).output).toBe('By the other')
    const last = other.requestsOf('Billing')[0]?.messages.at(-1)?.content
    expect(last).toMatch(/^## Active Directives\n.* Be brief$/)
  })

  it('[ENS-H16] [ENS-E4] A cancel while the next agent works ends its task and the task that handed off', async () => {
    const steer = { now: (): void => undefined }
    const wait = defineTextTool({
      name: 'wait',
      description: 'W',
      execute: () => {
        steer.now()
        return 'ok'
      },
    })
    const model = teamModel({
      Triage: [call('transfer_to_Billing')],
      Billing: [requestCalls(['w', 'wait', 'x']), 'Too late'],
    })
    const billing = named('Billing', { tools: [wait] })
    const support = task({
      name: 'support',
      description: 'Help',
      agent: named('Triage', { handoffs: [billing] }),
      retries: 1,
    })
    const { handle, events, ended } = watchRun(ensemble({ name: 'team', model, tasks: [support] }))
    steer.now = () => handle.cancel({ mode: 'abort' })
    expect((await ended).status).toBe('CANCELLED')
    expect(model.requestsOf('Billing')).toHaveLength(1)
    const { tasks, delegations } = runStateAfter(events)
    expect(tasks.map(({ name, error }) => [name, error?.code])).toEqual([
      ['support', 'CANCELLED'],
      ['support/Billing', 'CANCELLED'],
    ])
    expect(delegations).toMatchObject([{ status: 'FAILED', handoff: true }])
  })

  it('[ENS-H15] All problems of handoffs are reported before anything runs', () => {
    const tool = defineTextTool({ name: 'transfer_to_B', description: 'T', execute: () => '' })
    const odd = { role: 'A', handoffs: [1, 'A', handoff('B', { filter: 'none' as never })] }
    expect(() => agent(odd as never)).toThrow(
      "handoffs[0] must be an agent, a role or a handoff(); handoffs[1] names the agent itself; handoffs[2].filter must be 'all', 'withoutTools' or a function",
    )
    expect(() => named('A', { handoffs: [handoff('B', { name: 'a b' })] })).toThrow(
      'handoffs[0] has an invalid tool: ',
    )
    expect(() => named('A', { handoffs: ['B C', 'B_C'] })).toThrow(
      'handoffs[1] must have another tool name: two tools are named "transfer_to_B_C"',
    )
    expect(() => named('A', { tools: [tool], handoffs: ['B'] })).toThrow('two tools are named')
    expect(() =>
      task({ description: 'Work', tools: [tool], agent: named('A', { handoffs: ['B'] }) }),
    ).toThrow(
      'its agent: handoffs[0] must have another tool name: two tools are named "transfer_to_B"',
    )
    expect(() => named('B', { tools: [tool, { ...tool }] })).toThrow(
      'two tools are named "transfer_to_B"',
    )
    expect(named('B', { tools: [tool, tool] }).tools).toEqual([tool])
    const misspelled = handoff('B', { filters: 'all' } as never)
    expect(() => named('A', { handoffs: [misspelled] })).toThrow(
      'handoffs[0] is invalid: unknown option "filters"',
    )
    expect(() => task({ description: 'Work', maxHandoffs: 0 })).toThrow(
      'maxHandoffs must be an integer >= 1, got 0',
    )
    const work = task({
      name: 'work',
      description: 'Work',
      agent: named('A', {
        model: teamModel({}),
        handoffs: ['X', named('B'), named('C', { handoffs: [named('B')] })],
      }),
    })
    expect(() => ensemble({ name: 'team', tasks: [work] })).toThrow(
      'task "work": agent "A" hands off to an unknown agent "X". Available: [A, B, C]; task "work": two agents that can work on it have the role "B"',
    )
    const first = named('A', { model: teamModel({}), handoffs: [named('B'), named('C')] })
    const team = ensemble({ name: 'team', tasks: [task({ ...work, agent: first })] })
    expect(() => team.start()).toThrow(
      'Cannot run "team": task "work": agent "B" has no model: set one for the agent, the task or the ensemble; task "work": agent "C" has no model: set one for the agent, the task or the ensemble',
    )
  })

  it('[ENS-H15] [ENS-P6] Handoffs of a task that a handler adds are checked before it begins', async () => {
    const model = teamModel({ Triage: ['Done'] })
    const child = task({
      name: 'child',
      description: 'Help',
      agent: named('Triage', { handoffs: ['X'] }),
    })
    const grow = task({ name: 'grow', description: 'Grow', handler: ({ task: add }) => add(child) })
    const { error } = await ensemble({ name: 'team', model, tasks: [grow] }).run()
    expect(error).toMatchObject({ code: 'CONFIG_INVALID' })
    expect(error?.message).toContain('agent "Triage" hands off to an unknown agent "X"')
    expect(model.requestsOf('Triage')).toEqual([])
  })

  it('[ENS-H8] The task of an item and the task of a sub-ensemble hand off in the same run', async () => {
    const model = teamModel({
      Triage: (request) =>
        request.messages.at(-1)?.role === 'tool' ? 'Back' : call('transfer_to_Billing'),
      Billing: ({ messages }) => `Paid ${messages[1]?.content.match(/ticket (\w+)/)?.[1]}`,
    })
    const billing = named('Billing')
    const help = task({
      name: 'help',
      description: 'Help with ticket {ticket}',
      agent: named('Triage', { handoffs: ['Billing'] }),
    })
    const clerk = task({ name: 'clerk', description: 'Say of ticket {ticket}', agent: billing })
    const desk = ensemble({ name: 'desk', model, tasks: [clerk, help] })
    const tickets = task({
      name: 'tickets',
      description: 'Help with ticket {item}',
      agent: named('Triage', { handoffs: [billing] }),
      forEach: { over: 'list', maxParallel: 1 },
    })
    const one = task({ name: 'one', ensemble: desk, inputs: { ticket: 'c' } })
    const team = ensemble({ name: 'team', model, tasks: [tickets, one] })
    const result = await team.run({ list: '["a","b"]' })
    expect(result.outputOf(tickets)).toEqual(['Paid a', 'Paid b'])
    expect(result.outputOf(one)).toBe('Paid c')
    const names = result.tasks.map(({ taskName }) => taskName)
    expect(names.filter((name) => name.endsWith('/Billing'))).toEqual([
      'tickets/0/Billing',
      'tickets/1/Billing',
      'one/help/Billing',
    ])
  })

  it('[ENS-H8] Items in the rounds of a sub-ensemble with a condition hand off in the same run', async () => {
    const model = teamModel({
      Triage: () => call('transfer_to_Billing'),
      Billing: ({ messages }) => `Paid ${/Help .*/.exec(messages[1]?.content ?? '')?.[0]}`,
    })
    const item = task({
      name: 'item',
      description: 'Help {item}',
      agent: named('Triage', { handoffs: [named('Billing')] }),
      forEach: { over: 'list', maxParallel: 1 },
    })
    const inner = ensemble({ name: 'inner', model, tasks: [item] })
    const rounds = task({ name: 'rounds', ensemble: inner, loop: { max: 2, result: 'all' } })
    const outer = ensemble({ name: 'outer', model, tasks: [rounds] })
    const top = task({ name: 'top', ensemble: outer, when: ({ inputs }) => inputs['go'] === 'yes' })
    const team = ensemble({ name: 'team', model, tasks: [top] })
    const skipped = await team.run({ list: '["a"]', go: 'no' })
    expect(skipped.outputOf(top)).toBeUndefined()
    const result = await team.run({ list: '["a","b"]', go: 'yes' })
    const paid = ['Paid Help a', 'Paid Help b']
    expect(result.outputOf(top)).toEqual([paid, paid])
    const names = result.tasks.map(({ taskName }) => taskName)
    expect(names.filter((name) => name.endsWith('/Billing'))).toEqual([
      'top/rounds/1/item/0/Billing',
      'top/rounds/1/item/1/Billing',
      'top/rounds/2/item/0/Billing',
      'top/rounds/2/item/1/Billing',
    ])
  })

  it('[ENS-V2] The manifest has the handoffs and the agents of a task', () => {
    const digestOf = (goal: string, filter: 'all' | 'withoutTools' = 'all') => {
      const next = handoff(named('Billing', { goal }), { filter })
      const support = task({ description: 'Help', agent: named('Triage', { handoffs: [next] }) })
      return describeCode(ensemble({ name: 'team', model: teamModel({}), tasks: [support] })).digest
    }
    const digests = [digestOf('A'), digestOf('B'), digestOf('A', 'withoutTools')]
    expect(new Set(digests).size).toBe(3)
    expect(digestOf('A')).toBe(digests[0])
  })
})

describe('a review of a tool call after handoffs', () => {
  it('[ENS-H14] [ENS-S4] It is decided without an owner, and the run continues with the edited input', async () => {
    const pay = defineTool({
      name: 'pay',
      description: 'Pays',
      input: Type.Object({ sum: Type.Number() }),
      requireApproval: true,
      execute: ({ sum }) => `paid ${sum}`,
    })
    const refunds = named('Refunds', { tools: [pay] })
    const first = named('Triage', {
      handoffs: [named('Billing', { handoffs: ['Refunds'] }), refunds],
    })
    const answers = {
      Triage: [call('transfer_to_Billing')],
      Billing: [call('transfer_to_Refunds')],
      Refunds: [requestCalls(['p', 'pay', { sum: 1 }]), 'Done'],
    }
    const model = teamModel(answers)
    const support = task({ name: 'support', description: 'Help', agent: first })
    const team = ensemble({ name: 'team', model, tasks: [support] })
    const before = startRecorded(team, { decidable: true })
    for (let turn = 0; turn < 5; turn += 1) await nextTurn()
    expect(before.waits.count).toBe(1)
    before.release()
    const [request] = eventsOf(before.events, 'review_requested')
    if (request === undefined) throw new Error('No review is open')
    expect(request.taskName).toBe('support/Refunds')
    const run = { runId: 'run-1', steps: before.steps, clock: before.clock }
    const decide = (input: object) =>
      applyToUnowned(
        team,
        { ...run, findRequest: async () => request },
        {
          kind: 'decide',
          reviewId: request.reviewId,
          decision: { action: 'EDIT', input },
        },
      )
    await expect(decide({ sum: 'much' })).rejects.toMatchObject({ code: 'BAD_REQUEST' })
    const { steps } = await decide({ sum: 5 })
    const from = { events: [], steps: [...before.steps, ...steps] }
    const after = startRecorded(team, { from, decidable: true })
    expect(await after.handle.result).toMatchObject({ status: 'COMPLETED', output: 'Done' })
    expect(model.requestsOf('Refunds')[1]?.messages.at(-1)?.content).toContain('paid 5')
    expect(model.requestsOf('Billing')).toHaveLength(1)
  })
})

/** A task that two handoffs move between three agents, one of them back, with tools and a filter. */
const HANDED_OFF: Scenario = {
  open(process) {
    const model = createThinker(process, ({ last, messages }) => {
      const role = /^You are (.*)\.$/m.exec(messages[0]?.content ?? '')?.[1]
      const { length } = messages
      if (role === 'Triage' && length === 2)
        return requestCalls(['t1', 'look', 'a'], ['t2', 'transfer_to_Billing', {}])
      if (role === 'Billing' && last.startsWith('{')) return requestCalls(['b1', 'look', 'b'])
      if (role === 'Billing') return requestCalls(['b2', 'transfer_to_Refunds', {}])
      if (role === 'Refunds' && length < 10) return requestCalls(['r1', 'transfer_to_Triage', {}])
      return `${role} ${length} ${last}`
    })
    const look = createWorldTool(process, 'look')
    const refunds = agent({
      role: 'Refunds',
      handoffs: [handoff('Triage', { filter: (all) => all.slice(-4) })],
    })
    const billing = agent({ role: 'Billing', tools: [look], handoffs: [refunds] })
    const support = task({
      name: 'support',
      description: 'Help',
      agent: agent({ role: 'Triage', tools: [look], handoffs: [billing] }),
    })
    return { team: ensemble({ name: 'team', model, tasks: [support] }) }
  },
}

/** A handoff in the tasks of items, in the rounds of a loop, and in an ensemble. */
const NESTED: Scenario = {
  anyOrder: true,
  open(process) {
    const model = createThinker(process, ({ last, messages }) =>
      messages.length === 2 ? requestCalls(['h', 'transfer_to_Billing', {}]) : `Done after ${last}`,
    )
    const look = createWorldTool(process, 'look')
    const help = task({
      name: 'help',
      description: 'Help {n}',
      agent: agent({ role: 'Triage', handoffs: [agent({ role: 'Billing', tools: [look] })] }),
    })
    const list = task({
      name: 'list',
      description: 'List',
      output: Type.Array(Type.Integer()),
      handler: () => [1, 2],
    })
    const desk = ensemble({ name: 'desk', model, tasks: [help] })
    const tasks = [
      list,
      task({ ...help, name: 'each', description: 'Help {item}', forEach: { over: list } }),
      task({ ...help, name: 'again', description: 'Help {round}', loop: { max: 2 } }),
      task({ name: 'one', ensemble: desk, inputs: { n: '3' } }),
    ]
    return { team: ensemble({ name: 'team', model, modelRetries: 0, tasks }) }
  },
}

describe('[ENS-H14] a run with handoffs', { timeout: 300_000 }, () => {
  it('[ENS-E16] [ENS-E17] A run with handoffs ends the same when it is interrupted or drained at any write', async () => {
    const { result, events } = await interruptEverywhere(HANDED_OFF)
    expect(result.status).toBe('COMPLETED')
    expect(eventsOf(events, 'delegation_started').map(({ workerTask }) => workerTask)).toEqual([
      'support/Billing',
      'support/Refunds',
      'support/Triage',
    ])
  })

  it('[ENS-E25] A frozen replay of handoffs in items, rounds and ensembles has their log', async () => {
    await replayEverywhere({ same: { ...HANDED_OFF, anyOrder: true } }, 'frozen')
    await replayEverywhere({ same: NESTED }, 'frozen')
  })

  it('[ENS-E25] A replay of the models of handoffs in items, rounds and ensembles has their log', async () => {
    await replayEverywhere({ same: { ...HANDED_OFF, anyOrder: true } }, 'models')
    await replayEverywhere({ same: NESTED }, 'models')
  })

  it('[ENS-P1] A fork after any event of a run with handoffs has the log of its parent', async () => {
    expect((await forkEverywhere(HANDED_OFF)).result.status).toBe('COMPLETED')
  })
})
