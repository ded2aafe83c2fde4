import { describe, expect, it } from 'vitest'
import { eventOf } from '../../test/run-events.ts'
import {
  failRunningCalls,
  resetRunningCalls,
  createRequestedCalls,
  applyToToolCalls,
} from './tool-calls.ts'
import type { ToolCallState } from './turn-state.ts'

const askedAt = '2025-03-15T10:30:01Z'
const resumedAt = '2025-03-15T10:31:00Z'
const requests = [
  { id: 'a', name: 'search', arguments: '{}' },
  { id: 'b', name: 'fetch', arguments: '{"url":"x"}' },
]
const requested = createRequestedCalls(requests, askedAt)
const ended = (calls: readonly ToolCallState[], toolCallId: string, parentToolCallId?: string) =>
  applyToToolCalls(calls, eventOf('tool_called', { toolCallId, parentToolCallId }))
const progressed = (calls: readonly ToolCallState[], toolCallId: string, fraction?: number) =>
  applyToToolCalls(calls, eventOf('tool_progress', { toolCallId, message: 'Half', fraction }))
const shape = (calls: readonly ToolCallState[]): unknown =>
  calls.map(({ id, status, steps }) => [id, status, ...steps.map((step) => shape([step]))])

describe('createRequestedCalls', () => {
  it('createRequestedCalls returns running calls in the order of the model, with the raw arguments and the time of the request', () => {
    const running = { status: 'RUNNING', steps: [], startedAt: askedAt }
    expect(requested).toEqual(requests.map((request) => ({ ...request, ...running })))
  })

  it('createRequestedCalls returns calls without a time for logs without one', () => {
    for (const call of createRequestedCalls(requests)) expect(call).not.toHaveProperty('startedAt')
  })

  it('createRequestedCalls omits a call without an id', () => {
    expect(createRequestedCalls([{ name: 'search', arguments: '{}' }])).toEqual([])
    expect(createRequestedCalls(undefined)).toEqual([])
  })
})

describe('tool_called', () => {
  it('tool_called ends its call in its place and leaves the others unchanged', () => {
    const calls = ended(requested, 'b')
    expect(calls[1]).toEqual({
      id: 'b',
      name: 'web_search',
      arguments: '{"query":"EU AI Act Article 6"}',
      status: 'SUCCEEDED',
      result: '1. Article 6 …',
      structured: { hits: 3 },
      durationMs: 1200,
      startedAt: '2025-03-15T10:30:02.000Z',
      completedAt: '2025-03-15T10:30:03.200Z',
      steps: [],
    })
    expect(calls[0]).toBe(requested[0])
  })

  it('tool_called of an earlier version keeps the time of the request as the start', () => {
    const event = eventOf('tool_called', { toolCallId: 'b', completedAt: undefined })
    const [, call] = applyToToolCalls(requested, event)
    expect(call).toMatchObject({ status: 'SUCCEEDED', startedAt: askedAt })
    expect(call).not.toHaveProperty('completedAt')
  })

  it('tool_called keeps the arguments of the model when it has none', () => {
    const event = eventOf('tool_called', { toolCallId: 'b', toolArguments: null })
    expect(applyToToolCalls(requested, event)[1]?.arguments).toBe('{"url":"x"}')
  })

  it('tool_called sets FAILED for a failure', () => {
    const event = eventOf('tool_called', { toolCallId: 'a', outcome: 'FAILURE' })
    expect(applyToToolCalls(requested, event)[0]?.status).toBe('FAILED')
  })

  it('tool_called adds a call that was not requested', () => {
    expect(shape(ended(requested, 'c'))).toEqual([
      ['a', 'RUNNING'],
      ['b', 'RUNNING'],
      ['c', 'SUCCEEDED'],
    ])
  })

  it('tool_called puts a step into the call that it is a part of', () => {
    const calls = ended(ended(requested, 'a.1', 'a'), 'a.2', 'a')
    expect(shape(calls)).toEqual([
      ['a', 'RUNNING', [['a.1', 'SUCCEEDED']], [['a.2', 'SUCCEEDED']]],
      ['b', 'RUNNING'],
    ])
    expect(calls[0]?.steps[0]?.parentToolCallId).toBe('a')
    expect(shape(ended(calls, 'a'))).toEqual([
      ['a', 'SUCCEEDED', [['a.1', 'SUCCEEDED']], [['a.2', 'SUCCEEDED']]],
      ['b', 'RUNNING'],
    ])
  })

  it('tool_called puts a nested step into its call when that one ends', () => {
    const deep = ended(requested, 'a.1.1', 'a.1')
    expect(shape(deep)).toEqual([
      ['a', 'RUNNING'],
      ['b', 'RUNNING'],
      ['a.1.1', 'SUCCEEDED'],
    ])
    expect(shape(ended(deep, 'a.1', 'a'))).toEqual([
      ['a', 'RUNNING', [['a.1', 'SUCCEEDED', [['a.1.1', 'SUCCEEDED']]]]],
      ['b', 'RUNNING'],
    ])
  })

  it('tool_called puts a step into a step that ended before it', () => {
    const calls = ended(ended(requested, 'a.1', 'a'), 'a.1.1', 'a.1')
    expect(shape(calls)).toEqual([
      ['a', 'RUNNING', [['a.1', 'SUCCEEDED', [['a.1.1', 'SUCCEEDED']]]]],
      ['b', 'RUNNING'],
    ])
  })

  it('tool_called replaces a repeated step', () => {
    const calls = ended(ended(requested, 'a.1', 'a'), 'a.1', 'a')
    expect(calls[0]?.steps).toHaveLength(1)
  })
})

describe('tool_progress', () => {
  it('tool_progress sets the latest progress of a running call', () => {
    const calls = progressed(progressed(requested, 'a', 0.5), 'a')
    expect(calls[0]?.progress).toEqual({ message: 'Half' })
    expect(progressed(requested, 'a', 0.5)[0]?.progress).toEqual({ message: 'Half', fraction: 0.5 })
  })

  it('tool_progress has no effect when its call has ended', () => {
    const calls = ended(requested, 'a')
    expect(progressed(calls, 'a', 0.5)).toBe(calls)
  })

  it('tool_progress does not change the start of a running call', () => {
    expect(progressed(requested, 'a', 0.5)[0]?.startedAt).toBe(askedAt)
  })

  it('tool_progress of a step shows the step, which joins its call when it ends', () => {
    const running = progressed(requested, 'a.1', 0.5)
    expect(running[2]?.startedAt).toBe('2025-03-15T10:30:05Z')
    expect(ended(running, 'a.1', 'a')[0]?.steps[0]?.startedAt).toBe('2025-03-15T10:30:02.000Z')
    expect(shape(running)).toEqual([
      ['a', 'RUNNING'],
      ['b', 'RUNNING'],
      ['a.1', 'RUNNING'],
    ])
    expect(shape(ended(running, 'a.1', 'a'))).toEqual([
      ['a', 'RUNNING', [['a.1', 'SUCCEEDED']]],
      ['b', 'RUNNING'],
    ])
  })
})

describe('resetRunningCalls', () => {
  it('resetRunningCalls resets running calls to the request of the model, and keeps ended ones', () => {
    const calls = progressed(ended(ended(requested, 'a.1', 'a'), 'b'), 'a', 0.5)
    const left = resetRunningCalls(calls, resumedAt)
    expect(left[0]).toEqual({ ...requested[0], startedAt: resumedAt })
    expect(left[1]).toBe(calls[1])
  })

  it('resetRunningCalls removes calls that are only known from their progress', () => {
    const calls = progressed(ended(requested, 'a.1.1', 'a.1'), 'a.2')
    expect(resetRunningCalls(calls, askedAt)).toEqual(requested)
  })

  it('resetRunningCalls returns the same calls when none was running', () => {
    const calls = ended(ended(requested, 'a'), 'b')
    expect(resetRunningCalls(calls, resumedAt)).toBe(calls)
  })
})

describe('failRunningCalls', () => {
  it('failRunningCalls fails running calls and keeps ended ones', () => {
    const calls = failRunningCalls(ended(progressed(requested, 'a', 0.5), 'b'))
    expect(shape(calls)).toEqual([
      ['a', 'FAILED'],
      ['b', 'SUCCEEDED'],
    ])
    expect(calls[0]?.progress).toEqual({ message: 'Half', fraction: 0.5 })
  })

  it('failRunningCalls returns the same calls when none was running', () => {
    const calls = ended(ended(requested, 'a'), 'b')
    expect(failRunningCalls(calls)).toBe(calls)
  })
})
