import { describe, expect, it } from 'vitest'

import { eventOf, startOfRun } from '../../test/run-events.ts'
import { applyRunEvent, runStateAfter } from './apply-run-event.ts'

import type { RunEvent } from '../schemas/run-event.ts'
import type { RunState } from './run-state.ts'
import type { TaskState } from './task-state.ts'

const invoked = eventOf('agent_tool_invoked')
const progress = eventOf('agent_tool_progress')
const silent = { cost_usd: undefined, input_tokens: undefined, output_tokens: undefined } as const

function taskAfter(...events: readonly RunEvent[]): TaskState | undefined {
  return runStateAfter([...startOfRun(), ...events]).tasks[0]
}

describe('calls to other agents', () => {
  it('Calls to other agents are RUNNING after the request, and count chunks and turns', () => {
    expect(taskAfter(invoked)?.agentCalls).toMatchObject([
      { toolCallId: 'call-1', mode: 'streaming', protocol: 'a2a', status: 'RUNNING', chunks: 0 },
    ])
    const more = eventOf('agent_tool_progress', { chunk_index: 1, accumulated_cost_usd: 0.05 })
    const answered = eventOf('agent_tool_turn', { direction: 'inbound', input: undefined })
    expect(taskAfter(invoked, progress, more, eventOf('agent_tool_turn'), answered)).toMatchObject({
      agentCalls: [{ chunks: 2, costUsd: 0.05, turns: 1, status: 'RUNNING' }],
    })
  })

  it.each([
    ['agent_tool_completed', 'COMPLETED', undefined],
    ['agent_tool_terminated', 'TERMINATED', 'The agent has cost 0.6 USD, more than the 0.5 it may'],
    ['agent_tool_error', 'FAILED', 'The connection was lost after 2 chunks'],
  ] as const)('Calls to other agents after %s are %s', (type, status, error) => {
    const [call] = taskAfter(invoked, eventOf(type))?.agentCalls ?? []
    expect(call).toMatchObject({ status, chunks: 2, turns: 1 })
    expect(call?.error).toBe(error)
  })

  it('Calls to other agents have the times of the request and of the end', () => {
    const at = Date.parse('2025-03-15T10:30:06.500Z')
    const sent = taskAfter(invoked)?.agentCalls[0]
    expect(sent).toMatchObject({ startedAt: '2025-03-15T10:30:05.000Z' })
    expect(sent).not.toHaveProperty('completedAt')
    for (const type of [
      'agent_tool_completed',
      'agent_tool_terminated',
      'agent_tool_error',
    ] as const) {
      expect(taskAfter(invoked, eventOf(type, { timestamp_ms: at }))?.agentCalls[0]).toMatchObject({
        startedAt: '2025-03-15T10:30:05.000Z',
        completedAt: '2025-03-15T10:30:06.500Z',
      })
    }
    const [cutOff] = taskAfter(invoked, eventOf('task_failed'))?.agentCalls ?? []
    expect(cutOff).not.toHaveProperty('completedAt')
  })

  it('[PROTO-S3] Calls to other agents have no time if the event has an invalid one', () => {
    const never = eventOf('agent_tool_invoked', { timestamp_ms: Number.MAX_SAFE_INTEGER })
    const [call] = taskAfter(never)?.agentCalls ?? []
    expect(call?.status).toBe('RUNNING')
    expect(call).not.toHaveProperty('startedAt')
  })

  it('Calls to other agents end once: later events have no effect', () => {
    const state = runStateAfter([...startOfRun(), invoked, eventOf('agent_tool_completed')])
    for (const late of [eventOf('agent_tool_error'), eventOf('agent_tool_progress', silent)]) {
      expect(applyRunEvent(state, late).tasks).toBe(state.tasks)
    }
  })

  it('Calls to other agents are identified by their call and attempt', () => {
    const again = eventOf('agent_tool_invoked', { retry_index: 1 })
    const other = eventOf('agent_tool_invoked', { toolCallId: 'call-2' })
    const calls = taskAfter(invoked, eventOf('agent_tool_error'), again, other)?.agentCalls
    expect(
      calls?.map(({ toolCallId, retryIndex, status }) => [toolCallId, retryIndex, status]),
    ).toEqual([
      ['call-1', 0, 'FAILED'],
      ['call-1', 1, 'RUNNING'],
      ['call-2', 0, 'RUNNING'],
    ])
  })

  it('Calls to other agents are INTERRUPTED when their process stops or their attempt ends', () => {
    const statusAfter = (event: RunEvent): string | undefined =>
      taskAfter(invoked, event)?.agentCalls[0]?.status
    expect(statusAfter(eventOf('run_resumed'))).toBe('INTERRUPTED')
    expect(statusAfter(eventOf('task_failed'))).toBe('INTERRUPTED')
    expect(statusAfter(eventOf('task_completed'))).toBe('INTERRUPTED')
  })

  it('Calls to other agents keep their earlier usage when they are repeated', () => {
    const task = taskAfter(invoked, progress, eventOf('run_resumed'), invoked, progress)
    expect(task?.agentCalls).toHaveLength(1)
    expect(task?.agentUsage).toEqual({ inputTokens: 240, outputTokens: 90, costUsd: 0.04 })
  })
})

describe('the usage of other agents', () => {
  it('[PROTO-G2] The usage of other agents counts for the attempt and the run', () => {
    const state: RunState = runStateAfter([...startOfRun(), invoked, progress])
    expect(state.tasks[0]?.usage).toEqual({
      inputTokens: 120,
      outputTokens: 45,
      toolCallCount: 0,
      costUsd: 0.02,
    })
    expect(state.totals).toEqual({ totalTokens: 165, totalToolCalls: 0, costUsd: 0.02 })
  })

  it('The usage of other agents is added to that of the turns, in any order', () => {
    const turn = [eventOf('llm_iteration_started'), eventOf('llm_iteration_completed')]
    const [own, agents] = [taskAfter(...turn), taskAfter(invoked, progress)]
    const sum = (own?.usage.inputTokens ?? NaN) + (agents?.usage.inputTokens ?? NaN)
    expect(taskAfter(...turn, invoked, progress)?.usage.inputTokens).toBe(sum)
    expect(taskAfter(invoked, progress, ...turn)?.usage.inputTokens).toBe(sum)
  })

  it('The usage of other agents is zero at the start of the next attempt', () => {
    const next = eventOf('task_started', { attempt: 2 })
    const task = taskAfter(invoked, progress, eventOf('task_failed'), next)
    expect(task?.agentCalls).toEqual([])
    expect(task?.agentUsage.costUsd).toBe(0)
  })

  it('The usage of other agents does not change with an event without usage', () => {
    const task = taskAfter(invoked)
    expect(taskAfter(invoked, eventOf('agent_tool_progress', silent))?.usage).toEqual(task?.usage)
  })
})
