import { describe, expect, it } from 'vitest'

import { keepIn } from '../test/readable.ts'
import { expectWholeTrace, spanNamed } from '../test/span-tree.ts'
import { traceRuns } from './index.ts'

import type { RunEvent } from '@tutti/protocol'
import type { SentSpan } from '../test/collector.ts'

const at = (ms: number): string => new Date(1_000_000 + ms).toISOString()

/** An event with the fields that spans read. */
const event = (type: RunEvent['type'], fields: object): RunEvent =>
  ({ type, ...fields }) as RunEvent

const GROW = { taskName: 'grow', taskIndex: 1, attempt: 1, agentRole: 'Grower' }

const STARTED: readonly RunEvent[] = [
  event('ensemble_started', { ensemble: 'e', workflow: 'SEQUENTIAL', startedAt: at(0), tasks: [] }),
  event('task_started', { ...GROW, taskDescription: 'Grow', startedAt: at(1) }),
]

const USED = { inputTokens: 2, outputTokens: 1, toolCallCount: 0, costUsd: 0.5 }

const END: readonly RunEvent[] = [
  event('task_completed', { ...GROW, ...USED, inputTokens: 0, output: '', completedAt: at(9_000) }),
  event('run_result', { status: 'COMPLETED', outputs: [] }),
]

interface Adding {
  readonly parent?: typeof GROW
  readonly end?: 'task_completed' | 'task_failed'
  readonly code?: string
  /** Events between its model call and its end. */
  readonly inner?: readonly RunEvent[]
}

/** Events of the task with a number that `parent` adds, with one model call. */
function added(
  number: number,
  { parent = GROW, end = 'task_completed', code = 'TASK_FAILED', inner = [] }: Adding = {},
): readonly RunEvent[] {
  const task = toTask(number, parent)
  const delegation = { delegationId: task.taskName, workerTask: task.taskName, workerRole: 'Child' }
  const turn = { ...task, iterationIndex: 0, model: 'a:m' }
  return [
    event('delegation_started', { ...parent, ...delegation, depth: 1, startedAt: at(number) }),
    event('task_started', { ...task, taskDescription: 'Do', startedAt: at(number + 1) }),
    event('llm_iteration_started', { ...turn, messages: [], startedAt: at(number + 1) }),
    event('llm_iteration_completed', {
      ...turn,
      ...USED,
      responseText: '',
      completedAt: at(number + 2),
    }),
    ...inner,
    event(end, {
      ...task,
      ...USED,
      code,
      reason: 'No',
      willRetry: false,
      output: '',
      completedAt: at(number + 3),
      failedAt: at(number + 3),
    }),
    event(end === 'task_completed' ? 'delegation_completed' : 'delegation_failed', {
      ...parent,
      ...delegation,
    }),
  ]
}

/** Position of the task with a number that `parent` adds. */
function toTask(number: number, parent = GROW): typeof GROW {
  const taskName = `${parent.taskName}/${number}`
  const taskIndex = INDEXES.get(taskName) ?? INDEXES.size + 2
  INDEXES.set(taskName, taskIndex)
  return { taskName, taskIndex, attempt: 1, agentRole: 'Child' }
}

/** Number of each added task. */
const INDEXES = new Map<string, number>()

/** Events of an added task, which adds the next one, up to a depth. */
function chain(depth: number, parent = GROW): readonly RunEvent[] {
  return depth === 0 ? [] : added(0, { parent, inner: chain(depth - 1, toTask(0, parent)) })
}

const many = (count: number, adding: Adding = {}): readonly RunEvent[] =>
  Array.from({ length: count }, (_, number) => added(number, adding)).flat()

function spansOf(events: readonly RunEvent[], maxAddedTasks?: number): readonly SentSpan[] {
  const spans: SentSpan[] = []
  const options = maxAddedTasks === undefined ? {} : { maxAddedTasks }
  const { onEvent } = traceRuns({ processor: keepIn(spans), ...options }).run({ runId: 'run-1' })
  for (const one of [...STARTED, ...events, ...END]) onEvent(one)
  expectWholeTrace(spans)
  return spans
}

/** Returns the attributes of a span whose names begin with a text. */
function readAttributes(spans: readonly SentSpan[], prefix: string, name = 'invoke_agent Grower') {
  const { attributes } = spanNamed(spans, name)
  return Object.fromEntries(Object.entries(attributes).filter(([key]) => key.startsWith(prefix)))
}

describe('the spans of added tasks', () => {
  it('[TEL-G1] A task that adds three thousand others has the spans of one hundred, and counts all', () => {
    const spans = spansOf(many(3_000))
    // The run, the task, and a delegation, an attempt and a model call for each of one hundred.
    expect(spans).toHaveLength(2 + 100 * 3)
    expect(readAttributes(spans, 'tutti.added_tasks.')).toEqual({
      'tutti.added_tasks.count': 3_000,
      'tutti.added_tasks.completed': 3_000,
      'tutti.added_tasks.failed': 0,
    })
  })

  it('[TEL-G3] The usage of tasks without spans is on the span of the task that added them', () => {
    const spans = spansOf(many(30), 10)
    expect(readAttributes(spans, 'tutti.untraced_tasks.')).toEqual({
      'tutti.untraced_tasks.count': 20,
      'tutti.untraced_tasks.input_tokens': 40,
      'tutti.untraced_tasks.output_tokens': 20,
      'tutti.untraced_tasks.cost_usd': 10,
    })
  })

  it('[TEL-G2] A failed task beyond the first ones has a span with its times and its error, but no parts', () => {
    const spans = spansOf([...many(10), ...added(50, { end: 'task_failed' })], 10)
    const failed = spans.filter(({ isError }) => isError)
    expect(failed).toHaveLength(1)
    expect(failed[0]).toMatchObject({
      name: 'invoke_agent Child',
      startMs: 1_000_000 + 51,
      endMs: 1_000_000 + 53,
      attributes: { 'tutti.task.name': 'grow/50', 'error.type': 'TASK_FAILED' },
    })
    expect(spans).toHaveLength(2 + 10 * 3 + 1)
    expect(readAttributes(spans, 'tutti.untraced_tasks.')).toMatchObject({
      'tutti.untraced_tasks.count': 1,
      'tutti.untraced_tasks.input_tokens': 0,
    })
  })

  it('[TEL-G2] The spans of failed tasks are as many as those of the first ones, without cancelled tasks', () => {
    const failed = many(300, { end: 'task_failed' })
    expect(spansOf(failed, 10)).toHaveLength(2 + 10 * 3 + 10)
    const cancelled = many(300, { end: 'task_failed', code: 'CANCELLED' })
    expect(spansOf(cancelled, 10)).toHaveLength(2 + 10 * 3)
  })

  it('[TEL-G1] A run has the spans of ten times as many added tasks', () => {
    const spans = spansOf(chain(12), 1)
    expect(spans.filter(({ name }) => name === 'delegate Child')).toHaveLength(10)
  })

  it('[TEL-G3] Tasks that a task without spans adds are counted on the nearest task with a span', () => {
    const nested = Array.from({ length: 10 }, (_, number) =>
      added(number, { inner: many(10, { parent: toTask(number) }) }),
    )
    const spans = spansOf(nested.flat(), 5)
    expect(spans.filter(({ name }) => name === 'delegate Child')).toHaveLength(5 + 5 * 5)
    // The second half, and those that it adds.
    expect(readAttributes(spans, 'tutti.untraced_tasks.')).toMatchObject({
      'tutti.untraced_tasks.count': 5 + 50,
    })
  })

  it('[TEL-G1] A task without spans has no span of its review', () => {
    const task = toTask(1)
    const review = { ...task, reviewId: 'r', timing: 'AFTER_EXECUTION', timeoutMs: 0 }
    const inner = [
      event('review_requested', { ...review, requestedAt: at(3) }),
      event('review_decided', { reviewId: 'r', decision: 'CONTINUE', decidedAt: at(4) }),
    ]
    const names = (max: number) =>
      spansOf([...added(0), ...added(1, { inner })], max).map(({ name }) => name)
    expect(names(2)).toContain('review after task')
    expect(names(1)).not.toContain('review after task')
  })
})

it('The span of a handoff names the next agent and is marked', () => {
  const events = added(0).map((one) =>
    one.type === 'delegation_started' ? { ...one, handoff: true as const } : one,
  )
  const { attributes } = spanNamed(spansOf(events), 'hand off to Child')
  expect(attributes).toMatchObject({ 'tutti.handoff': true, 'tutti.delegation.depth': 1 })
})
