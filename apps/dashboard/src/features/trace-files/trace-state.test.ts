import { decode, type RunState } from '@tutti/protocol'
import { ExecutionTrace, type TaskTrace } from '@tutti/protocol/internal'
import { describe, expect, it } from 'vitest'

import fullFile from '../../../../../packages/protocol/fixtures/valid/ExecutionTrace.full.json' with { type: 'json' }
import oldFile from '../../../../../packages/protocol/fixtures/valid/ExecutionTrace.version-1-0.json' with { type: 'json' }
import { toRunState } from './trace-state.ts'
import { readCost, parseDurationMs } from './trace-state-values.ts'

function decoded(value: unknown): ExecutionTrace {
  const result = decode(ExecutionTrace, value)
  if (!result.ok) throw new Error(JSON.stringify(result.problems))
  return result.value
}

const full = decoded(fullFile)
const first = firstOf(full.taskTraces)

function firstOf<T>([item]: readonly T[]): T {
  if (item === undefined) throw new Error('The fixture has one')
  return item
}

function withTasks(...taskTraces: readonly Partial<TaskTrace>[]): RunState {
  return toRunState({
    ...full,
    taskTraces: taskTraces.map((fields) => ({ ...first, delegations: [], ...fields })),
  })
}

it('[DASH-TS1] A trace is converted with the reasoning of its model calls', () => {
  const thought = { reasoning: 'Let me see', reasoningTokens: 7, reasoningTruncated: true } as const
  const llmInteractions = first.llmInteractions.map((call) => ({ ...call, ...thought }))
  expect(withTasks({ llmInteractions }).tasks[0]?.turns[0]).toMatchObject(thought)
  expect(toRunState(full).tasks[0]?.turns[0]).not.toHaveProperty('reasoning')
})

describe('a trace of AgentEnsemble', () => {
  const state = toRunState(full)
  const [task, writer, editor] = state.tasks

  it('[DASH-TS1] A trace of AgentEnsemble is converted with its inputs, times and totals', () => {
    expect(state).toMatchObject({
      id: full.ensembleId,
      status: 'COMPLETED',
      workflow: 'SEQUENTIAL',
      inputs: { topic: 'AI safety', year: '2025' },
      startedAt: '2025-03-15T10:30:00Z',
      completedAt: '2025-03-15T10:30:11Z',
      durationMs: 11_340,
      totals: { totalTokens: 10_150, totalToolCalls: 1 },
      outputs: [
        { output: '## EU AI Act Analysis', durationMs: 8_200 },
        { output: full.taskTraces[0]?.finalOutput },
      ],
    })
  })

  it('[DASH-TS2] A trace of AgentEnsemble has no cost, ensemble, reviews and models, because the file has none', () => {
    expect(state.totals).not.toHaveProperty('costUsd')
    expect(state).not.toHaveProperty('ensemble')
    expect([state.reviews, state.directives, state.changedFiles, state.tags]).toEqual([
      [],
      [],
      [],
      {},
    ])
    expect(task?.turns[0]?.model).toBe('')
  })

  it('A trace of AgentEnsemble has turns with messages, and calls with times', () => {
    expect(task?.turns).toMatchObject([
      {
        iterationIndex: 0,
        status: 'COMPLETED',
        text: '',
        inputTokens: 812,
        outputTokens: -1,
        latencyMs: 1_730,
        totalMessageCount: 3,
        toolCalls: [
          {
            name: 'web_search',
            status: 'SUCCEEDED',
            result: '1. Article 6 …',
            structured: null,
            durationMs: 1_200,
            startedAt: '2025-03-15T10:30:00Z',
            completedAt: '2025-03-15T10:30:08.200Z',
          },
        ],
      },
    ])
    expect(task?.turns[0]?.messages).toEqual(first.llmInteractions[0]?.messages)
    expect(task?.usage).toMatchObject({ inputTokens: 8_000, toolCallCount: 1, costUsd: 0.057 })
    expect(task?.input?.toolNames).toEqual(['web_search'])
  })

  it('[DASH-TS4] A trace of AgentEnsemble names tasks by their descriptions, including delegated ones', () => {
    expect(state.tasks.map(({ name, index }) => [name, index])).toEqual([
      ['Research AI safety focusing on EU regulation', 1],
      ['Research AI safety focusing on EU regulation (2)', 2],
      ['Edit', 3],
    ])
    expect(writer?.delegatedBy).toEqual({ taskName: task?.name, delegationId: 'delegation-1' })
  })

  it('A trace of AgentEnsemble contains its delegations, including those without a trace', () => {
    expect(state.delegations).toMatchObject([
      { status: 'COMPLETED', taskName: task?.name, workerTask: writer?.name, workerTaskIndex: 2 },
      { status: 'FAILED', taskName: writer?.name, workerTask: 'Edit', depth: 2 },
    ])
    expect(editor).toMatchObject({
      status: 'FAILED',
      agentRole: 'Editor',
      usage: { inputTokens: -1, outputTokens: -1 },
      error: { reason: 'The file contains no reason' },
    })
  })

  it('A trace of AgentEnsemble is read in version 1.0 too', () => {
    const old = toRunState(decoded(oldFile))
    expect(old).toMatchObject({ status: 'FAILED', tasks: [], error: { message: 'c', code: 'X' } })
  })

  it('A trace of AgentEnsemble is read without a workflow that Tutti does not support', () => {
    const state = toRunState({ ...full, workflow: 'MAP_REDUCE_ADAPTIVE' })
    expect(state).not.toHaveProperty('workflow')
    expect(state.tasks).toHaveLength(3)
  })
})

describe('a task of a trace', () => {
  it('A task of a trace has failed if it has no output and an error refers to it', () => {
    const named = { agentRole: 'a', taskDescription: 'b' }
    expect(withTasks({ ...named, finalOutput: null })).toMatchObject({
      status: 'FAILED',
      error: { message: 'c' },
      tasks: [{ status: 'FAILED', error: { reason: 'c', code: 'X' } }],
    })
    expect(withTasks({ ...named }).tasks[0]?.status).toBe('COMPLETED')
    expect(withTasks({ finalOutput: null }).tasks[0]?.status).toBe('COMPLETED')
  })

  it('A task of a trace is still running, without an end, if it was exported while running', () => {
    const metadata = { taskName: 'one', taskIndex: 4, attempt: 1, status: 'RUNNING' }
    const { tasks } = withTasks({ metadata, finalOutput: null })
    expect(tasks).toMatchObject([{ name: 'one', index: 4, status: 'RUNNING' }])
    expect(tasks[0]).not.toHaveProperty('completedAt')
    expect(tasks[0]).not.toHaveProperty('durationMs')
  })

  it('A task of a trace has its earlier attempts, each with its error', () => {
    const failedAt = ['2025-03-15T10:30:01Z', '2025-03-15T10:30:02Z']
    const one = (attempt: number, status: string): Partial<TaskTrace> => ({
      metadata: { taskName: 'one', taskIndex: 1, attempt, status },
      completedAt: failedAt[attempt - 1] ?? '2025-03-15T10:30:03Z',
      finalOutput: status === 'FAILED' ? null : 'Done',
    })
    const { agentRole, taskDescription } = first
    const errors = failedAt.map((occurredAt, at) => ({
      agentRole,
      taskDescription,
      errorType: 'MODEL_FAILED',
      message: `no ${at + 1}`,
      stackTrace: '',
      occurredAt,
    }))
    const attempts = [one(1, 'FAILED'), one(2, 'FAILED'), one(3, 'COMPLETED')]
    const { tasks } = toRunState({
      ...full,
      errors,
      taskTraces: attempts.map((fields) => ({ ...first, delegations: [], ...fields })),
    })
    expect(tasks).toMatchObject([
      {
        attempt: 3,
        status: 'COMPLETED',
        output: 'Done',
        earlierAttempts: [
          { attempt: 1, reason: 'no 1', code: 'MODEL_FAILED' },
          { attempt: 2, reason: 'no 2' },
        ],
      },
    ])
  })

  it('A task of a trace has the model of each turn, if the file contains it', () => {
    const [turn] = first.llmInteractions
    if (turn === undefined) throw new Error('The fixture has a turn')
    const llmInteractions = [{ ...turn, model: 'fast' }, turn]
    const models = withTasks({ llmInteractions }).tasks[0]?.turns.map(({ model }) => model)
    expect(models).toEqual(['fast', ''])
  })

  it('A task of a trace shows its prompts if the file contains no messages', () => {
    const [turn] = first.llmInteractions
    if (turn === undefined) throw new Error('The fixture has a turn')
    const llmInteractions = [{ ...turn, messages: [] }]
    expect(withTasks({ llmInteractions }).tasks[0]?.turns[0]?.messages).toMatchObject([
      { role: 'system', content: 'You are …' },
      { role: 'user', content: 'Research …' },
    ])
    const nothing = withTasks({ llmInteractions, prompts: null })
    expect(nothing.tasks[0]?.turns[0]?.messages).toEqual([])
  })

  it('A task of a trace nests steps in their calls, and marks skipped calls', () => {
    const [turn] = first.llmInteractions
    const [call] = turn?.toolCalls ?? []
    if (turn === undefined || call === undefined) throw new Error('The fixture has a call')
    const named = (toolCallId: string, parentToolCallId?: string) => ({
      ...call,
      metadata: { toolCallId, ...(parentToolCallId === undefined ? {} : { parentToolCallId }) },
    })
    const skipped = { ...call, outcome: 'SKIPPED_MAX_ITERATIONS', result: null }
    const toolCalls = [named('a.1', 'a'), named('b'), named('a.2', 'a'), named('a'), skipped]
    const { tasks } = withTasks({ llmInteractions: [{ ...turn, toolCalls }] })
    const [b, a, last] = tasks[0]?.turns[0]?.toolCalls ?? []
    expect([b?.id, a?.id, a?.steps.map(({ id }) => id)]).toEqual(['b', 'a', ['a.1', 'a.2']])
    expect(last).toMatchObject({
      status: 'FAILED',
      result: 'Not called: the agent reached its limit of turns',
    })
  })

  it('A task of a trace is read at any nesting depth of delegations', () => {
    const [handed] = first.delegations
    if (handed === undefined) throw new Error('The fixture has a delegation')
    const flat: TaskTrace = { ...first, delegations: [] }
    const trace = Array.from({ length: 10_000 }).reduce<TaskTrace>(
      (workerTrace) => ({ ...first, delegations: [{ ...handed, workerTrace }] }),
      flat,
    )
    expect(toRunState({ ...full, taskTraces: [trace] }).tasks).toHaveLength(10_001)
  })
})

describe('a value of a trace', () => {
  it.each([
    ['PT0S', 0],
    ['PT1M2.345S', 62_345],
    ['PT1H', 3_600_000],
    ['P1DT1S', 86_401_000],
    ['P1W', 604_800_000],
    ['P1M', undefined],
    ['P1Y', undefined],
    ['11 s', undefined],
  ])('A value of a trace parses the duration %s as %s ms', (text, ms) =>
    expect(parseDurationMs(text)).toBe(ms),
  )

  it.each([
    [0.057, 'USD', 0.057],
    ['0.0570', 'usd', 0.057],
    [0, 'USD', 0],
    ['', 'USD', undefined],
    ['much', 'USD', undefined],
    [0.057, 'EUR', undefined],
  ])('A value of a trace converts a cost of %j %s to %s dollars', (totalCost, currency, costUsd) =>
    expect(readCost({}, { inputCost: 0, outputCost: 0, totalCost, currency })).toBe(costUsd),
  )

  it('A value of a trace prefers the exact cost of Tutti to an estimate', () => {
    const estimate = { inputCost: 1, outputCost: 1, totalCost: 2, currency: 'USD' }
    expect([readCost({ costUsd: 3 }, estimate), readCost({ costUsd: '3' }, estimate)]).toEqual([
      3, 2,
    ])
    expect(readCost({}, null)).toBeUndefined()
  })
})
