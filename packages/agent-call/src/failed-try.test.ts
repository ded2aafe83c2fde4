import { describe, expect, it } from 'vitest'

import { TuttiError } from '@tutti/core'
import { AgentError, Termination } from './agent-error.ts'
import { failureReport, mayBeWorking, toFailedTry } from './failed-try.ts'

const arrived = { partial: ['a'], chunksReceived: 1, costUsd: 2 }
const brought = { latency_ms: 5, chunks_received: 1, total_turns: 0 }

describe('a failed attempt', () => {
  it.each([
    [new Termination('idle_timeout', 'x'), 'idle_timeout', true, 'agent_tool_terminated'],
    [new Termination('timeout', 'x'), 'timeout', true, 'agent_tool_terminated'],
    [new Termination('budget_exceeded', 'x'), 'budget_exceeded', false, 'agent_tool_terminated'],
    [new Termination('cancelled', 'x'), 'cancelled', false, 'agent_tool_terminated'],
    [new TuttiError('EXIT_EARLY', 'x'), 'cancelled', false, 'agent_tool_terminated'],
    [new TuttiError('TOOL_REJECTED', 'x'), 'cancelled', false, 'agent_tool_terminated'],
    [new Error('x'), 'agent_failed', false, 'agent_tool_error'],
    [
      new AgentError('x', { failureType: 'connection_lost', retryable: true }),
      'connection_lost',
      true,
      'agent_tool_error',
    ],
  ])('A failed attempt maps %s to %s', (error, failure, retryable, type) => {
    const failed = toFailedTry(error, { ...arrived, turnIndex: 0 })
    expect(failed).toMatchObject({ message: 'x', failure, retryable, ...arrived })
    expect(failureReport(failed, brought)).toEqual({
      type,
      [type === 'agent_tool_error' ? 'failure_type' : 'reason']: failure,
      ...brought,
      error: 'x',
      accumulated_cost_usd: 2,
      partial_output: ['a'],
      retryable,
    })
  })

  it('A failed attempt names the failed turn of a conversation', () => {
    expect(toFailedTry(new Error('x'), { ...arrived, turnIndex: 2 }).message).toBe(
      'Turn 3 failed: x',
    )
  })

  it('A failed attempt prefers the output of the agent to the received chunks, and has the delay before a retry', () => {
    const facts = { failureType: 'http_error', retryable: true } as const
    const error = new AgentError('x', { ...facts, partial: null, retryAfterMs: 7 })
    expect(toFailedTry(error, { ...arrived, turnIndex: 0 })).toMatchObject({
      partial: null,
      retryAfterMs: 7,
    })
    expect(toFailedTry(new AgentError('x', facts), { ...arrived, turnIndex: 0 }).partial).toEqual([
      'a',
    ])
  })

  it.each([
    ['unreachable', false],
    ['http_error', false],
    ['agent_failed', false],
    ['connection_lost', true],
    ['invalid_response', true],
    ['input_required', true],
    ['configuration', true],
  ] as const)(
    'A failed attempt reports for %s whether the agent may still be working: %s',
    (failureType, expected) => {
      expect(mayBeWorking(new AgentError('x', { failureType, retryable: false }))).toBe(expected)
      expect(mayBeWorking(new Termination('timeout', 'x'))).toBe(true)
    },
  )
})
