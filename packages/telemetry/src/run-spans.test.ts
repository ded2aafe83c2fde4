/** Tests with chosen timestamps: with a real clock all events of a test would have the same millisecond. */
import { expect, it } from 'vitest'

import { keepIn } from '../test/readable.ts'
import { expectWholeTrace, spanNamed } from '../test/span-tree.ts'
import { traceRuns } from './index.ts'

import type { RunEvent, RunEventOf } from '@tutti/protocol'
import type { SentSpan } from '../test/collector.ts'

/** Returns the timestamp that many milliseconds after the start of the run. */
function at(ms: number): string {
  return new Date(1_000_000 + ms).toISOString()
}

const TASK = { taskName: 't', taskIndex: 1, attempt: 1, agentRole: 'R', taskDescription: 'T' }

const STARTED: readonly RunEvent[] = [
  {
    type: 'ensemble_started',
    ensembleId: 'run-1',
    startedAt: at(0),
    totalTasks: 1,
    workflow: 'SEQUENTIAL',
    ensemble: 'e',
    tasks: [],
    outputTask: 'a',
  },
  { type: 'task_started', ...TASK, totalTasks: 1, startedAt: at(10) },
]

const RESULT: RunEvent = {
  type: 'run_result',
  runId: 'run-1',
  status: 'COMPLETED',
  outputs: [],
  durationMs: 0,
}

function completed(ms: number): RunEvent {
  const used = { tokenCount: 0, inputTokens: 0, outputTokens: 0, toolCallCount: 0 }
  const end = { output: '', iterationLimitReached: false, completedAt: at(ms), durationMs: 0 }
  return { type: 'task_completed', ...TASK, ...used, ...end, totalTasks: 1 }
}

function called(toolCallId: string, [start, end]: readonly [number, number]): RunEvent {
  const parentToolCallId = toolCallId.split('/').slice(0, -1).join('/')
  const event: RunEventOf<'tool_called'> = {
    type: 'tool_called',
    ...TASK,
    toolName: toolCallId,
    durationMs: end - start,
    outcome: 'SUCCESS',
    toolArguments: null,
    toolResult: null,
    structuredResult: null,
    iterationIndex: 0,
    toolCallId,
    completedAt: at(end),
  }
  return parentToolCallId === '' ? event : { ...event, parentToolCallId }
}

function spansOf(events: readonly RunEvent[]): readonly SentSpan[] {
  const spans: SentSpan[] = []
  const { onEvent } = traceRuns({ processor: keepIn(spans) }).run({ runId: 'run-1' })
  for (const event of events) onEvent(event)
  expectWholeTrace(spans)
  return spans
}

function timesOf(spans: readonly SentSpan[], name: string): readonly number[] {
  const { startMs, endMs } = spanNamed(spans, name)
  return [startMs - 1_000_000, endMs - 1_000_000]
}

it('A call begins before the first of its steps, in any order of their ends', () => {
  const spans = spansOf([
    ...STARTED,
    called('c/a', [110, 120]),
    called('c/b', [105, 130]),
    called('c', [100, 131]),
    completed(140),
    RESULT,
  ])
  expect(timesOf(spans, 'execute_tool c/a')).toEqual([110, 120])
  expect(timesOf(spans, 'execute_tool c/b')).toEqual([105, 130])
  expect(timesOf(spans, 'execute_tool c')).toEqual([100, 131])
  expect(timesOf(spans, 'invoke_workflow e')).toEqual([0, 140])
})

it('A call begins no later than the steps of its steps, even if rounded durations say otherwise', () => {
  const spans = spansOf([
    ...STARTED,
    called('c/a/x', [100, 110]),
    called('c/a', [101, 111]),
    called('c', [102, 112]),
    completed(120),
    RESULT,
  ])
  expect(timesOf(spans, 'execute_tool c/a')).toEqual([100, 111])
  expect(timesOf(spans, 'execute_tool c')).toEqual([100, 112])
})

it('A rounded duration does not exceed the task', () => {
  const spans = spansOf([...STARTED, called('c', [9, 20]), completed(20), RESULT])
  expect(timesOf(spans, 'execute_tool c')).toEqual([10, 20])
})

it('Timestamps do not decrease, also when a clock was set back', () => {
  const spans = spansOf([...STARTED, called('c', [20, 90]), completed(50), RESULT])
  expect(timesOf(spans, 'invoke_agent R')).toEqual([10, 90])
  expect(timesOf(spans, 'invoke_workflow e')).toEqual([0, 90])
})

it('An undecided review ends at its timeout, or later if no process had the run', () => {
  const requested: RunEvent = {
    type: 'review_requested',
    ...TASK,
    reviewId: 'r',
    taskOutput: '',
    kind: 'TASK_OUTPUT',
    timing: 'AFTER_EXECUTION',
    timeoutMs: 100,
    onTimeout: 'CONTINUE',
    requestedAt: at(20),
  }
  const over: RunEvent = { type: 'review_timed_out', reviewId: 'r', action: 'CONTINUE' }
  const resumed: RunEvent = {
    type: 'run_resumed',
    resumedAt: at(300),
    epoch: 2,
    completedTasks: [],
    outputTask: 'sing',
  }
  const inTime = spansOf([...STARTED, requested, over, completed(125), RESULT])
  expect(timesOf(inTime, 'review after task')).toEqual([20, 120])
  const late = spansOf([...STARTED, requested, resumed, over, completed(310), RESULT])
  expect(timesOf(late, 'review after task')).toEqual([20, 300])
})

it('A span that is open at the end of its run ends with it, as interrupted', () => {
  const begun: RunEvent = {
    type: 'llm_iteration_started',
    ...TASK,
    iterationIndex: 0,
    messages: [],
    totalMessageCount: 0,
    model: 'anthropic:claude',
    startedAt: at(20),
  }
  const spans = spansOf([...STARTED, begun, RESULT])
  expect(spans.map(({ name, isError }) => [name, isError])).toEqual([
    ['chat claude', true],
    ['invoke_agent R', true],
    ['invoke_workflow e', false],
  ])
})

it.each([
  [{ threadId: 't1' }, {}, 't1'],
  [{}, { chat: 'c1' }, 'c1'],
  [{}, { aguiThread: 'a1' }, 'a1'],
  [{}, { team: 'x' }, undefined],
])(
  'The root span names the conversation of a run with %j and the tags %j',
  (thread, tags, expected) => {
    const queued: RunEvent = {
      type: 'run_queued',
      queuedAt: at(0),
      ensemble: 'e',
      workflow: 'SEQUENTIAL',
      totalTasks: 1,
      inputs: {},
      tags,
      ...thread,
    }
    const spans = spansOf([queued, ...STARTED, completed(20), RESULT])
    const ids = spans.map(({ attributes }) => attributes['gen_ai.conversation.id'])
    expect(new Set(ids)).toEqual(new Set([expected]))
  },
)
