import { TuttiError } from '@tutti/core'
import { fakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { AuditTrail } from '../audit/audit-trail.ts'
import { createInstruments } from './instruments.ts'
import { MetricRegistry } from './registry.ts'
import { createRunListeners } from './run-listeners.ts'
import { formatMetrics } from './text-format.ts'

import type { LoggedRunEvent, RunEvent, RunEventOf } from '@tutti/protocol'
import type { RunRecord } from '@tutti/runs/adapter'

const AT_MS = Date.parse('2026-01-01T00:00:00.000Z')

describe('createRunListeners', () => {
  it('[API-C2] createRunListeners measures the time to the first token of each call and ignores other tokens', () => {
    const { emit, value } = createCounter()
    emit([
      llm('started', 1, 0),
      llm('started', 2, 1_000),
      token(1, 400),
      token(1, 800),
      token(2, 3_000),
      token(1, 900),
    ])
    expect(value('tutti_model_time_to_first_token_seconds_count{model="m"}')).toBe(2)
    expect(value('tutti_model_time_to_first_token_seconds_sum{model="m"}')).toBeCloseTo(2.4)
    emit([failed(1, 'MODEL_FAILED', { retryInMs: 5 }), llm('started', 1, 5_000), token(1, 6_000)])
    expect(value('tutti_model_time_to_first_token_seconds_sum{model="m"}')).toBeCloseTo(3.4)
    expect(value('tutti_model_retries_total{model="m"}')).toBe(1)
  })

  it('createRunListeners measures reasoning as the first token of a response', () => {
    const { emit, value } = createCounter()
    const { token: _, ...fields } = token(1, 400)
    emit([llm('started', 1, 0), { ...fields, type: 'reasoning', text: 'Hm' }, token(1, 800)])
    expect(value('tutti_model_time_to_first_token_seconds_sum{model="m"}')).toBeCloseTo(0.4)
    expect(value('tutti_event_durable_lag_seconds_count')).toBe(1)
  })

  it('createRunListeners forgets the calls of a run that continues in another process', () => {
    const { emit, value } = createCounter()
    emit([
      llm('started', 1, 0),
      { type: 'run_resumed', resumedAt: at(0), epoch: 2, completedTasks: [], outputTask: 'sing' },
    ])
    emit([token(1, 400)])
    expect(value('tutti_model_time_to_first_token_seconds_count{model="m"}')).toBeUndefined()
  })

  it('createRunListeners counts incomplete responses by code, and cached and reasoning tokens, but not unknown tokens', () => {
    const { emit, value } = createCounter()
    const answer = {
      type: 'llm_iteration_completed',
      agentRole: 'Player',
      taskDescription: 'Task 1',
      iterationIndex: 0,
      responseType: 'FINAL_ANSWER',
      inputTokens: 10,
      outputTokens: 2,
      latencyMs: 1,
      taskName: 'task-1',
      taskIndex: 1,
      attempt: 1,
      model: 'm',
      completedAt: at(0),
    } as const
    const unknown = { inputTokens: -1, outputTokens: -1 }
    emit([
      { ...answer, finishReason: 'stop', cachedInputTokens: 8, reasoningTokens: 1 },
      { ...answer, finishReason: 'refusal', ...unknown },
      { ...answer, finishReason: 'length', ...unknown },
      { ...answer, finishReason: 'content_filter', ...unknown },
    ])
    const codes = ['none', 'MODEL_REFUSED', 'OUTPUT_TRUNCATED', 'CONTENT_FILTERED']
    for (const code of codes) {
      expect(value(`tutti_model_calls_total{model="m",code="${code}"}`)).toBe(1)
    }
    expect(value('tutti_model_tokens_total{model="m",direction="input"}')).toBe(10)
    expect(value('tutti_model_cached_input_tokens_total{model="m"}')).toBe(8)
    expect(value('tutti_model_reasoning_tokens_total{model="m"}')).toBe(1)
  })

  it('createRunListeners reports unknown codes as other', () => {
    const { emit, value } = createCounter()
    emit([failed(1, 'what a provider said'), failed(1, 'RATE_LIMIT_TIMEOUT')])
    expect(value('tutti_model_calls_total{model="m",code="other"}')).toBe(1)
    expect(value('tutti_model_calls_total{model="m",code="RATE_LIMIT_TIMEOUT"}')).toBe(1)
  })

  it('createRunListeners counts calls, tokens and cost of other agents once', () => {
    const { emit, value } = createCounter()
    const call = {
      agentRole: 'Who',
      taskName: 't',
      taskIndex: 1,
      attempt: 1,
      iterationIndex: 0,
      toolCallId: 'c',
      toolName: 'ask',
      timestamp_ms: AT_MS,
      retry_index: 0,
    }
    const brought = { latency_ms: 5, chunks_received: 1, total_turns: 1 }
    emit([
      {
        type: 'agent_tool_progress',
        ...call,
        chunk_index: 0,
        chunk: 'x',
        accumulated_cost_usd: 1,
        cost_usd: 0.25,
        input_tokens: 7,
      },
      {
        type: 'agent_tool_error',
        ...call,
        ...brought,
        error: 'e',
        failure_type: 'unreachable',
        accumulated_cost_usd: 1,
        partial_output: null,
        retryable: true,
      },
      {
        type: 'agent_tool_terminated',
        ...call,
        ...brought,
        reason: 'idle_timeout',
        error: 'e',
        accumulated_cost_usd: 1,
        partial_output: null,
        retryable: true,
        cost_usd: 0.5,
        output_tokens: 3,
      },
    ])
    expect(value('tutti_agent_calls_total{tool="ask",outcome="unreachable"}')).toBe(1)
    expect(value('tutti_agent_calls_total{tool="ask",outcome="idle_timeout"}')).toBe(1)
    expect(value('tutti_agent_cost_usd_total{tool="ask"}')).toBe(0.75)
    expect(value('tutti_agent_tokens_total{tool="ask",direction="input"}')).toBe(7)
    expect(value('tutti_agent_tokens_total{tool="ask",direction="output"}')).toBe(3)
  })

  it('createRunListeners measures how long reviews were open, from their events or from the store', async () => {
    const { emit, value, wait } = createCounter()
    emit([
      review('r1', 0),
      { type: 'review_withdrawn', reviewId: 'r1', reason: 'x', withdrawnAt: at(4_000) },
    ])
    expect(value('tutti_gate_wait_seconds_sum{outcome="withdrawn"}')).toBe(4)
    emit([{ type: 'review_timed_out', reviewId: 'elsewhere', action: 'CONTINUE' }])
    emit([{ type: 'review_timed_out', reviewId: 'unknown', action: 'CONTINUE' }])
    await wait()
    expect(value('tutti_gates_closed_total{outcome="timed_out"}')).toBe(2)
    expect(value('tutti_gate_wait_seconds_count{outcome="timed_out"}')).toBe(1)
  })

  it('createRunListeners measures the time to durability without tokens, and never below 0', () => {
    const { emit, value, clock } = createCounter()
    clock.set(AT_MS + 2_000)
    const timeless: RunEvent = { type: 'review_timed_out', reviewId: 'r', action: 'CONTINUE' }
    emit([llm('started', 1, 500), token(1, 0), timeless, llm('started', 2, 9_000)])
    expect(value('tutti_event_durable_lag_seconds_count')).toBe(2)
    expect(value('tutti_event_durable_lag_seconds_sum')).toBe(1.5)
  })

  it('createRunListeners counts claims and releases by kind, and forgets a released run', () => {
    const { report, emit, value } = createCounter()
    for (const [epoch, lostOwners] of [
      [2, 0],
      [3, 1],
    ] as const) {
      report({ kind: 'claimed', run: record(epoch), lostOwners })
    }
    report({ kind: 'released', runId: 'run-1', end: 'lost' })
    emit([
      {
        type: 'task_skipped',
        taskIndex: 1,
        taskName: 't',
        taskDescription: 'd',
        skippedAt: at(0),
        reason: 'x',
      },
    ])
    for (const kind of ['first', 'resumed', 'taken_over']) {
      expect(value(`tutti_run_claims_total{kind="${kind}"}`)).toBe(1)
    }
    expect(value('tutti_run_releases_total{end="lost"}')).toBe(1)
    expect(
      value('tutti_tasks_ended_total{ensemble="band",status="SKIPPED",code="none"}'),
    ).toBeUndefined()
  })

  it('createRunListeners counts audit entries that were logged instead of stored', async () => {
    const lost: number[] = []
    const quiet = () => undefined
    const trail = new AuditTrail({
      log: {
        append: () => Promise.reject(new TuttiError('STORE_UNAVAILABLE', 'away')),
        list: () => Promise.resolve([]),
        trim: () => Promise.resolve(),
      },
      clock: fakeClock(),
      logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
      maxAuditEntries: 1,
      isClosing: () => false,
      onLost: (entries) => lost.push(entries),
    })
    const entry = {
      at: at(0),
      actor: 'a',
      action: 'cancelRun',
      via: 'http',
      outcome: 'DONE',
    } as const
    trail.record(entry)
    trail.record(entry)
    await trail.close()
    expect(lost).toEqual([2])
  })
})

function createCounter() {
  let now = AT_MS
  const registry = new MetricRegistry()
  const instruments = createInstruments(registry)
  const clock = { ...fakeClock(), now: () => now }
  const openedAt = (reviewId: string) => Promise.resolve(reviewId === 'unknown' ? undefined : AT_MS)
  const { onActivity, onExecuted } = createRunListeners({ instruments, clock, openedAt })
  const report = (activity: Parameters<(typeof onActivity)[number]>[0]) => {
    for (const listener of onActivity) listener(activity)
  }
  report({ kind: 'claimed', run: record(1), lostOwners: 0 })
  return {
    report,
    clock: {
      set(ms: number) {
        now = ms
      },
    },
    emit(events: readonly RunEvent[]) {
      const logged = events.map((event, seq): LoggedRunEvent => ({
        ...event,
        runId: 'run-1',
        seq,
        id: `run-1:${seq}`,
      }))
      for (const listener of onExecuted) listener('run-1', logged)
    },
    async wait() {
      await new Promise((resolve) => setImmediate(resolve))
    },
    value(series: string): number | undefined {
      const lines = formatMetrics(registry.read(), 'prometheus').split('\n')
      const line = lines.find((text) => text.startsWith(`${series} `))
      return line === undefined ? undefined : Number(line.slice(series.length))
    },
  }
}

function record(epoch: number): RunRecord {
  return {
    runId: 'run-1',
    ensemble: 'band',
    workflow: 'SEQUENTIAL',
    status: 'RUNNING',
    inputs: {},
    tags: {},
    taskCount: 1,
    completedTasks: 0,
    createdAt: AT_MS,
    epoch,
    lastSeq: 0,
  }
}

function at(ms: number): string {
  return new Date(AT_MS + ms).toISOString()
}

const position = (taskIndex: number) => ({
  taskName: `t${taskIndex}`,
  taskIndex,
  attempt: 1,
  iterationIndex: 0,
})
const label = { agentRole: 'Who', taskDescription: 'What' }

function llm(_: 'started', taskIndex: number, ms: number): RunEvent {
  return {
    type: 'llm_iteration_started',
    ...label,
    ...position(taskIndex),
    messages: [],
    totalMessageCount: 0,
    model: 'm',
    startedAt: at(ms),
  }
}

function token(taskIndex: number, ms: number): RunEventOf<'token'> {
  return { type: 'token', token: 'x', ...label, ...position(taskIndex), sentAt: at(ms) }
}

function failed(taskIndex: number, code: string, more: { retryInMs?: number } = {}): RunEvent {
  return {
    type: 'llm_iteration_failed',
    ...label,
    ...position(taskIndex),
    model: 'm',
    reason: 'x',
    code,
    latencyMs: 1,
    failedAt: at(0),
    ...more,
  }
}

function review(reviewId: string, ms: number): RunEvent {
  const { iterationIndex: _, ...place } = position(1)
  return {
    type: 'review_requested',
    reviewId,
    ...label,
    ...place,
    taskOutput: '',
    kind: 'TASK_OUTPUT',
    timing: 'AFTER_EXECUTION',
    timeoutMs: 0,
    onTimeout: 'CONTINUE',
    requestedAt: at(ms),
  }
}
