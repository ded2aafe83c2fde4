import { describe, expect, it } from 'vitest'
import { eventOf } from '../../test/run-events.ts'
import { newTask } from './task-state.ts'
import type { TurnState } from './turn-state.ts'
import { NO_AGENT_USAGE } from './agent-calls.ts'
import { turnsAfter } from './turns.ts'
import {
  NO_TOTALS,
  NO_USAGE,
  totalsOf,
  toUsage,
  usageOfAttempt,
  type AttemptUsage,
} from './usage.ts'

const completed = (fields: Parameters<typeof eventOf<'llm_iteration_completed'>>[1]) =>
  eventOf('llm_iteration_completed', fields)
const usage = (inputTokens: number, costUsd?: number): AttemptUsage => ({
  inputTokens,
  outputTokens: 1,
  toolCallCount: 2,
  ...(costUsd === undefined ? {} : { costUsd }),
})
const task = (name: string, used: AttemptUsage) => ({
  ...newTask({ name, index: 1, description: '', agentRole: '', context: [] }),
  usage: used,
})

describe('usageOfAttempt', () => {
  it('adds up the completed turns', () => {
    const turns = [
      completed({ iterationIndex: 0, costUsd: 0.5 }),
      completed({ iterationIndex: 1, costUsd: 0.25 }),
      eventOf('llm_iteration_started', { iterationIndex: 2 }),
    ].reduce<readonly TurnState[]>(turnsAfter, [])
    expect(usageOfAttempt(turns, NO_AGENT_USAGE)).toEqual({
      inputTokens: 1624,
      outputTokens: 82,
      toolCallCount: 0,
      costUsd: 0.75,
    })
  })

  it('counts tool calls that ended, and no steps', () => {
    const turns = [
      completed({}),
      eventOf('tool_called', { toolCallId: 'x', parentToolCallId: 'call-1.1' }),
      eventOf('tool_called', { toolCallId: 'call-1.2', parentToolCallId: 'call-1' }),
      eventOf('tool_called', { toolCallId: 'call-2', outcome: 'FAILURE' }),
    ].reduce<readonly TurnState[]>(turnsAfter, [])
    expect(usageOfAttempt(turns, NO_AGENT_USAGE).toolCallCount).toBe(1)
  })

  it('does not know a number or a cost that one turn does not say', () => {
    const turns = [
      completed({ iterationIndex: 0, inputTokens: -1, costUsd: undefined }),
      completed({ iterationIndex: 1 }),
    ].reduce<readonly TurnState[]>(turnsAfter, [])
    expect(usageOfAttempt(turns, NO_AGENT_USAGE)).toEqual({
      inputTokens: -1,
      outputTokens: 82,
      toolCallCount: 0,
    })
  })

  it('is nothing before the first turn ends', () => {
    expect(usageOfAttempt([], NO_AGENT_USAGE)).toEqual(NO_USAGE)
  })
})

describe('toUsage', () => {
  it('takes the fields of the end of an attempt and no others', () => {
    expect(toUsage(eventOf('task_failed'))).toEqual({
      inputTokens: 812,
      outputTokens: 41,
      toolCallCount: 1,
      costUsd: 0.0031,
    })
    expect(toUsage(eventOf('task_failed', { costUsd: undefined }))).not.toHaveProperty('costUsd')
  })
})

describe('totalsOf', () => {
  it('adds up all attempts of all tasks', () => {
    const again = {
      ...task('a', usage(10, 1)),
      earlierAttempts: [{ attempt: 1, reason: '', code: '', usage: usage(20, 2) }],
    }
    expect(totalsOf([again, task('b', usage(30, 4))])).toEqual({
      totalTokens: 63,
      totalToolCalls: 6,
      costUsd: 7,
    })
  })

  it('does not know what one attempt does not say', () => {
    expect(totalsOf([task('a', usage(-1, 1)), task('b', usage(3))])).toEqual({
      totalTokens: -1,
      totalToolCalls: 4,
    })
  })

  it('is nothing without tasks', () => {
    expect(totalsOf([])).toEqual(NO_TOTALS)
  })
})
