import { describe, expect, it } from 'vitest'

import { taskLines, type TaskLinesOptions } from './events.ts'

import type { LoggedRunEvent, RunEvent } from '@tutti/protocol'

/** Returns the updates for events reduced to the fields that are read. */
function updatesFor(
  events: readonly ({ readonly type: RunEvent['type'] } & Readonly<Record<string, unknown>>)[],
  options: Partial<TaskLinesOptions> = {},
) {
  const toUpdate = taskLines({ id: 'run-1', stopFrom: 0, ...options })
  return events.map((event, seq) =>
    // NOTE: no other fields are read.
    toUpdate({ ...event, seq } as unknown as LoggedRunEvent),
  )
}

const asks = (reviewId: string) => ({
  type: 'review_requested' as const,
  reviewId,
  taskName: 'sing',
  taskDescription: 'Sing',
  taskOutput: 'La',
  kind: 'TASK_OUTPUT',
  timing: 'AFTER_EXECUTION',
  timeoutMs: 5,
  onTimeout: 'FAIL',
})

const result = (fields: object = {}) => ({
  type: 'run_result' as const,
  status: 'COMPLETED',
  outputs: [
    { taskName: 'a', output: '1' },
    { taskName: 'b', output: '2' },
  ],
  outputTask: 'b',
  durationMs: 7,
  ...fields,
})

describe('[JAM-A1] the usage', () => {
  it('The usage of a task is reported for each call and in total, without unknown costs', () => {
    const call = (costUsd?: number, tokens = 3) => ({
      type: 'llm_iteration_completed' as const,
      taskName: 'a',
      inputTokens: tokens,
      outputTokens: -1,
      ...(costUsd === undefined ? {} : { costUsd }),
    })
    const lines = updatesFor([call(), call(0.5), call(undefined, -1), call(0.25), result()])
    const line = { status: 'working', type: 'usage', task: 'a' }
    expect(lines).toEqual([
      { line: { ...line, tokens: 3, total_tokens: 3 } },
      { line: { ...line, cost_usd: 0.5, tokens: 3, total_cost_usd: 0.5, total_tokens: 6 } },
      { line: { ...line, tokens: 0, total_cost_usd: 0.5, total_tokens: 6 } },
      { line: { ...line, cost_usd: 0.25, tokens: 3, total_cost_usd: 0.75, total_tokens: 9 } },
      { end: expect.objectContaining({ total_cost_usd: 0.75, total_tokens: 9 }) },
    ])
    expect(lines.at(-1)?.end).not.toHaveProperty('cost_usd')
  })

  it('The usage includes other agents that a tool called', () => {
    const call = { type: 'agent_tool_progress' as const, taskName: 'a' }
    const used = { ...call, cost_usd: 0.5, input_tokens: 2, output_tokens: 3 }
    const [first, second, third] = updatesFor([used, call, result()])
    expect(first?.line).toMatchObject({ type: 'usage', cost_usd: 0.5, tokens: 5 })
    expect(second).toEqual({})
    expect(third?.end).toMatchObject({ total_cost_usd: 0.5, total_tokens: 5 })
  })
})

describe('[JAM-A2] the end', () => {
  it('The end of a task contains the last output, and all outputs as artifacts with their validated values', () => {
    const done = {
      type: 'task_completed' as const,
      taskName: 'b',
      output: '2',
      structuredOutput: { n: 2 },
    }
    const [, last] = updatesFor([done, result()], { sessionId: 's' })
    expect(last).toEqual({
      end: {
        id: 'run-1',
        sessionId: 's',
        status: 'completed',
        output: '2',
        total_tokens: 0,
        duration_ms: 7,
        artifacts: [
          { name: 'a', index: 0, parts: [{ type: 'text', text: '1' }] },
          {
            name: 'b',
            index: 1,
            parts: [
              { type: 'text', text: '2' },
              { type: 'data', data: { n: 2 } },
            ],
          },
        ],
      },
    })
  })

  it.each([
    [
      { code: 'MODEL_FAILED', error: 'No' },
      { error: 'MODEL_FAILED', message: 'No', retryable: true },
    ],
    [
      { code: 'TASK_FAILED' },
      { error: 'TASK_FAILED', message: 'The run failed', retryable: false },
    ],
    [{ code: 'toString' }, { error: 'toString', retryable: false }],
    [{}, { error: 'TASK_FAILED' }],
  ])(
    'The end of a task reports the reason of a failure with %j, and whether to retry',
    (fields, why) => {
      const [last] = updatesFor([result({ status: 'FAILED', ...fields })])
      expect(last?.end).toMatchObject({ status: 'failed', output: null, ...why })
    },
  )

  it('The end of a task reports the limit that caused a cancel, if there was one', () => {
    const cancelled = result({ status: 'CANCELLED' })
    const [plain] = updatesFor([cancelled])
    expect(plain?.end).toMatchObject({
      status: 'canceled',
      output: null,
      error: 'CANCELLED',
      message: 'The run was cancelled',
    })
    const [over] = updatesFor([cancelled], { whyCancelled: ({ tokens }) => `${tokens} tokens` })
    expect(over?.end?.message).toBe('0 tokens')
  })

  it('The end of a task is reported at once, with the first open review', () => {
    const [first, second] = updatesFor([asks('r1'), asks('r2')])
    expect(first?.end).toMatchObject({ status: 'input-required', reviewId: 'r1' })
    expect(second?.end).toMatchObject({ reviewId: 'r1' })
  })

  it.each(['review_decided', 'review_timed_out', 'review_withdrawn'] as const)(
    'The end of a task ignores a review that is closed by %s',
    (type) => {
      const ends = updatesFor(
        [asks('r1'), { type, reviewId: 'r1' }, { type: 'task_started' }, asks('r2')],
        { stopFrom: 1 },
      ).map(({ end }) => end?.reviewId)
      expect(ends).toEqual([undefined, undefined, undefined, 'r2'])
    },
  )

  it('The end of a task contains an earlier open review if it is requested', () => {
    const ends = updatesFor([asks('r1'), { type: 'task_started' }, { type: 'task_started' }], {
      stopFrom: 2,
    }).map(({ end }) => end?.reviewId)
    expect(ends).toEqual([undefined, undefined, 'r1'])
  })
})

describe('[JAM-A3] taskLines', () => {
  const at = { taskName: 'a', attempt: 2, iterationIndex: 3 }

  it.each([
    [
      { type: 'token', ...at, token: 'x' },
      { type: 'token', task: 'a', attempt: 2, turn: 3, text: 'x' },
    ],
    [
      { type: 'llm_iteration_failed', ...at, code: 'MODEL_FAILED', reason: 'No' },
      {
        type: 'model_failed',
        task: 'a',
        attempt: 2,
        turn: 3,
        error: 'MODEL_FAILED',
        message: 'No',
      },
    ],
    [
      { type: 'task_attempt_failed', ...at, code: 'TASK_FAILED', reason: 'No', willRetry: true },
      {
        type: 'task_failed',
        task: 'a',
        attempt: 2,
        error: 'TASK_FAILED',
        message: 'No',
        will_retry: true,
      },
    ],
    [{ type: 'run_resumed' }, { type: 'resumed' }],
    [{ type: 'run_cancelling' }, { type: 'cancelling' }],
    [
      { type: 'task_skipped', taskName: 'a', reason: 'No' },
      { type: 'task_skipped', task: 'a', message: 'No' },
    ],
    [
      { type: 'task_started', ...at },
      { type: 'task_started', task: 'a', attempt: 2 },
    ],
  ] as const)('taskLines reports %j', (event, line) => {
    expect(updatesFor([event])).toEqual([{ line: { status: 'working', ...line } }])
  })

  it.each(['run_queued', 'ensemble_started', 'task_input', 'llm_iteration_started'] as const)(
    'taskLines ignores %s',
    (type) => {
      expect(updatesFor([{ type, tasks: [] }])).toEqual([{}])
    },
  )
})
