import { describe, expect, it } from 'vitest'
import { eventOf, startOfRun } from '../../test/run-events.ts'
import { NO_AGENT_USAGE } from './usage.ts'
import { applyToDelegations, type DelegationEvent } from './delegations.ts'
import { runStateAfter } from './apply-run-event.ts'
import { ListEditor } from './lists.ts'

const after = (...events: readonly DelegationEvent[]) =>
  events.reduce(
    (state, event) => applyToDelegations(state, event, new ListEditor()),
    runStateAfter(startOfRun()),
  )
const started = eventOf('delegation_started')

describe('delegation_started', () => {
  it('delegation_started adds a running delegation', () => {
    const { type: _, ...fields } = started
    expect(after(started).delegations).toEqual([{ ...fields, status: 'RUNNING' }])
  })

  it('delegation_started adds its task, pending, at the place of its index', () => {
    const early = eventOf('delegation_started', { workerTask: 'early', workerTaskIndex: 0 })
    const { tasks } = after(started, early)
    expect(tasks.map(({ name }) => name)).toEqual(['early', 'researcher', 'writer', 'researcher/1'])
    expect(tasks[3]).toEqual({
      name: 'researcher/1',
      index: 3,
      description: 'Write an executive brief',
      agentRole: 'Technical Writer',
      context: [],
      delegatedBy: { taskName: 'researcher', delegationId: 'del-1' },
      status: 'PENDING',
      attempt: 0,
      turns: [],
      agentCalls: [],
      agentUsage: NO_AGENT_USAGE,
      usage: { inputTokens: 0, outputTokens: 0, toolCallCount: 0, costUsd: 0 },
      earlierAttempts: [],
    })
  })

  it('delegation_started has no effect when repeated', () => {
    const state = after(started, started)
    expect(state.delegations).toHaveLength(1)
    expect(state.tasks).toHaveLength(3)
  })
})

describe('the end of a delegation', () => {
  it('The end of a delegation has its time for any outcome', () => {
    const [done] = after(started, eventOf('delegation_completed')).delegations
    expect(done).toMatchObject({
      startedAt: '2025-03-15T10:30:04Z',
      completedAt: '2025-03-15T10:30:07.100Z',
    })
    const failedAt = '2025-03-15T10:30:06Z'
    const [failed] = after(started, eventOf('delegation_failed', { failedAt })).delegations
    expect(failed).toMatchObject({ startedAt: '2025-03-15T10:30:04Z', completedAt: failedAt })
  })

  it('The end of a delegation is its completion', () => {
    expect(after(started, eventOf('delegation_completed')).delegations).toMatchObject([
      { status: 'COMPLETED', durationMs: 3100, workerTask: 'researcher/1', depth: 1 },
    ])
  })

  it('The end of a delegation is its failure, with the reason', () => {
    const failed = eventOf('delegation_failed', { workerTask: 'researcher/1' })
    expect(after(started, failed).delegations).toMatchObject([
      { status: 'FAILED', reason: 'No worker with role "Technical Writer"', depth: 1 },
    ])
  })

  it('The end of a delegation is recorded even when the delegation was refused before it began, without a task', () => {
    const state = after(eventOf('delegation_failed'))
    expect(state.delegations).toEqual([
      {
        delegationId: 'del-1',
        taskName: 'researcher',
        attempt: 1,
        delegatingAgentRole: 'Manager',
        workerRole: 'Technical Writer',
        status: 'FAILED',
        reason: 'No worker with role "Technical Writer"',
        completedAt: '2025-03-15T10:30:04Z',
      },
    ])
    expect(state.tasks).toHaveLength(2)
  })
})

describe('a handoff', () => {
  const billing = { workerRole: 'Billing', workerTask: 'researcher/Billing', workerTaskIndex: 3 }
  const first = eventOf('delegation_started', { ...billing, handoff: true })
  const position = { taskName: 'researcher/Billing', taskIndex: 3, agentRole: 'Billing' }
  const second = eventOf('delegation_started', {
    taskName: 'researcher/Billing',
    delegationId: 'del-2',
    delegatingAgentRole: 'Billing',
    workerRole: 'Refunds',
    workerTask: 'researcher/Refunds',
    workerTaskIndex: 4,
    handoff: true,
  })
  const events = [...startOfRun(), first, eventOf('task_started', position), second]
  const activeAgents = (...more: Parameters<typeof runStateAfter>[0][]) =>
    runStateAfter([...events, ...more.flatMap((list) => [...list])]).tasks.map(
      ({ name, activeAgent }) => [name, activeAgent],
    )

  it('The tasks that had a conversation name the agent that has it', () => {
    expect(activeAgents()).toEqual([
      ['researcher', 'Refunds'],
      ['writer', undefined],
      ['researcher/Billing', 'Refunds'],
      ['researcher/Refunds', undefined],
    ])
  })

  it('The tasks that had a conversation name the task that has it', () => {
    const { tasks } = runStateAfter(events)
    expect(tasks.map(({ activeTask }) => activeTask)).toEqual([
      'researcher/Refunds',
      undefined,
      'researcher/Refunds',
      undefined,
    ])
  })

  it('A delegation changes no active agent, and a new attempt has none', () => {
    const [task] = runStateAfter([...startOfRun(), started]).tasks
    expect(task?.activeAgent).toBeUndefined()
    expect(activeAgents([eventOf('task_started', { attempt: 2 })])[0]).toEqual([
      'researcher',
      undefined,
    ])
  })
})
