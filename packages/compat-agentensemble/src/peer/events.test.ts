import { describe, expect, it } from 'vitest'

import { toPeerRefusal, toTaskEnd, taskReporter } from './events.ts'

import type { RunEvent, RunEventOf } from '@tutti/protocol'

const completed: RunEventOf<'task_completed'> = {
  type: 'task_completed',
  taskIndex: 1,
  totalTasks: 3,
  taskDescription: 'Tune',
  agentRole: 'Tuner',
  completedAt: '2026-01-01T00:00:00Z',
  durationMs: 1,
  tokenCount: 1,
  toolCallCount: 0,
  taskName: 'tune',
  attempt: 1,
  output: 'In tune',
  inputTokens: 1,
  outputTokens: 1,
  iterationLimitReached: false,
}

function result(more: Partial<RunEventOf<'run_result'>>): RunEventOf<'run_result'> {
  const outputs = ['first', 'last'].map((output) => ({ taskName: output, output }))
  const ended = { type: 'run_result', runId: 'r', status: 'COMPLETED' } as const
  return { ...ended, outputs, outputTask: 'last', durationMs: 7, ...more }
}

describe('taskReporter', () => {
  it('taskReporter counts the completed tasks', () => {
    const progressOf = taskReporter()
    expect(progressOf(completed)).toEqual({
      status: 'RUNNING',
      message: '"tune" completed: 1 of 3',
      percentComplete: 33,
    })
    expect(progressOf(completed)?.percentComplete).toBe(67)
    expect(progressOf(completed)?.percentComplete).toBe(100)
    expect(progressOf(completed)?.percentComplete).toBe(100)
    expect(taskReporter()(completed)?.percentComplete).toBe(33)
  })

  it('taskReporter reports that the run waits for a person', () => {
    // NOTE: only these fields are read.
    const asked = { type: 'review_requested', kind: 'TASK_OUTPUT', taskName: 'tune' } as RunEvent
    expect(taskReporter()(asked)).toEqual({
      status: 'WAITING_REVIEW',
      message: '"tune" is waiting for a review',
    })
  })

  it('taskReporter ignores other events', () => {
    const resumed: RunEvent = {
      type: 'run_resumed',
      resumedAt: '',
      epoch: 1,
      completedTasks: [],
      outputTask: 'sing',
    }
    expect(taskReporter()(resumed)).toBeUndefined()
  })
})

describe('toTaskEnd', () => {
  it('toTaskEnd returns the last output of a COMPLETED run', () => {
    const end = { status: 'COMPLETED', result: 'last', durationMs: 7 }
    expect(toTaskEnd(result({}))).toEqual(end)
    expect(toTaskEnd(result({ outputs: [] }))).toEqual({
      ...end,
      result: '',
    })
  })

  it('toTaskEnd returns the error of a FAILED run', () => {
    const failed = result({ status: 'FAILED', error: 'No model' })
    expect(toTaskEnd(failed)).toEqual({
      status: 'FAILED',
      error: 'No model',
      durationMs: 7,
    })
    expect(toTaskEnd(result({ status: 'FAILED' })).error).toBe('The run failed')
  })

  it.each([
    ['DEADLINE', 'The run was cancelled: its deadline passed'],
    ['CLIENT_LEFT', 'The run was cancelled: its client left'],
    ['CALLER', 'The run was cancelled'],
  ] as const)('toTaskEnd names the cause %s of a cancel', (cause, error) => {
    const cancelled = result({ status: 'CANCELLED', cancel: { cause } })
    expect(toTaskEnd(cancelled)).toEqual({ status: 'FAILED', error, durationMs: 7 })
  })
})

describe('toPeerRefusal', () => {
  it.each([
    ['TOOL_NOT_FOUND', 404, 'REJECTED'],
    ['CONCURRENCY_LIMIT', 429, 'REJECTED'],
    ['NOT_CONFIGURED', 503, 'REJECTED'],
    ['TOOL_EXECUTION_FAILED', 500, 'FAILED'],
    ['INTERNAL', 500, 'FAILED'],
  ] as const)('toPeerRefusal maps %s with the status %i to %s', (error, status, word) => {
    const refused = toPeerRefusal(
      { status, body: { error, message: 'Why' } },
      { type: 'tool_request', requestId: 'r', from: 'kitchen', tool: 'x' },
    )
    expect(refused).toEqual({
      type: 'tool_response',
      requestId: 'r',
      status: word,
      error: `${error}: Why`,
    })
  })

  it('toPeerRefusal answers a task request with a task response', () => {
    const refused = toPeerRefusal(
      { status: 400, body: { error: 'BAD_REQUEST', message: 'Why' } },
      { type: 'task_request', requestId: 'r', from: 'kitchen', task: 'x' },
    )
    expect(refused).toMatchObject({ type: 'task_response', requestId: 'r', status: 'REJECTED' })
  })
})
