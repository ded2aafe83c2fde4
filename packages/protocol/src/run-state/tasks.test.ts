import { describe, expect, it } from 'vitest'
import { eventOf, startOfRun, WRITER } from '../../test/run-events.ts'
import { NO_AGENT_USAGE } from './usage.ts'
import { emptyRunState, type RunState } from './run-state.ts'
import { runStateAfter } from './apply-run-event.ts'
import { ListEditor } from './lists.ts'
import { applyToTasks, type TaskEvent } from './tasks.ts'

const apply = (state: RunState, event: TaskEvent) => applyToTasks(state, event, new ListEditor())
const after = (...events: readonly TaskEvent[]) =>
  events.reduce((state, event) => apply(state, event), runStateAfter(startOfRun()))
const researcher = ({ tasks }: RunState) => tasks.find(({ name }) => name === 'researcher')
const secondTry = eventOf('task_started', { attempt: 2, startedAt: '2025-03-15T10:31:00Z' })

describe('task_started', () => {
  it('task_started begins an attempt, with the current description', () => {
    expect(researcher(after())).toMatchObject({
      status: 'RUNNING',
      attempt: 1,
      index: 1,
      startedAt: '2025-03-15T10:30:00Z',
      description: 'Research AI safety focusing on EU regulation',
      turns: [],
      agentCalls: [],
      agentUsage: NO_AGENT_USAGE,
    })
  })

  it('task_started leaves the other tasks unchanged', () => {
    const before = runStateAfter([eventOf('ensemble_started')])
    expect(apply(before, eventOf('task_started')).tasks[1]).toBe(before.tasks[1])
  })

  it('task_started of an unknown task adds it', () => {
    const state = apply(emptyRunState(), eventOf('task_started', WRITER))
    expect(state.tasks).toMatchObject([
      { name: 'writer', index: 2, context: [], status: 'RUNNING' },
    ])
  })

  it('task_started of the current attempt continues it', () => {
    const worked = after(eventOf('llm_iteration_completed'))
    const again = eventOf('task_started', { startedAt: '2025-03-15T11:00:00Z' })
    const task = researcher(apply(worked, again))
    expect(task?.turns).toBe(researcher(worked)?.turns)
    expect(task?.startedAt).toBe('2025-03-15T10:30:00Z')
  })

  it('task_started of the next attempt archives the failed one and starts empty', () => {
    const failed = after(
      eventOf('task_input'),
      eventOf('llm_iteration_completed'),
      eventOf('task_attempt_failed'),
    )
    expect(researcher(apply(failed, secondTry))).toEqual({
      name: 'researcher',
      index: 1,
      description: 'Research AI safety focusing on EU regulation',
      agentRole: 'Regulatory Researcher',
      context: [],
      status: 'RUNNING',
      attempt: 2,
      startedAt: '2025-03-15T10:31:00Z',
      turns: [],
      agentCalls: [],
      agentUsage: NO_AGENT_USAGE,
      usage: { inputTokens: 0, outputTokens: 0, toolCallCount: 0, costUsd: 0 },
      earlierAttempts: [
        {
          attempt: 1,
          reason: 'Model "sonnet" gave no usable answer',
          code: 'MODEL_FAILED',
          usage: { inputTokens: 812, outputTokens: 41, toolCallCount: 1, costUsd: 0.0031 },
        },
      ],
    })
  })

  it('task_started keeps the fields of the task that do not belong to an attempt', () => {
    const failed = after(eventOf('task_attempt_failed'))
    const kept = {
      context: ['writer'],
      model: 'haiku',
      delegatedBy: { taskName: 'writer', delegationId: 'del-1' },
    }
    const tasks = failed.tasks.map((task) =>
      task.name === 'researcher' ? { ...task, ...kept } : task,
    )
    const state = { ...failed, tasks }
    expect(researcher(apply(state, secondTry))).toMatchObject(kept)
  })

  it('task_started keeps all earlier attempts, in order', () => {
    const state = after(
      eventOf('task_attempt_failed'),
      secondTry,
      eventOf('task_attempt_failed', { attempt: 2, code: 'REVIEW_REJECTED' }),
      eventOf('task_started', { attempt: 3 }),
    )
    expect(researcher(state)?.earlierAttempts.map(({ attempt, code }) => [attempt, code])).toEqual([
      [1, 'MODEL_FAILED'],
      [2, 'REVIEW_REJECTED'],
    ])
  })

  it('task_started does not archive an attempt without an end', () => {
    const state = after(
      eventOf('task_attempt_failed'),
      secondTry,
      eventOf('task_started', { attempt: 3 }),
    )
    expect(researcher(state)?.attempt).toBe(3)
    expect(researcher(state)?.earlierAttempts.map(({ attempt }) => attempt)).toEqual([1])
  })
})

describe('an event of a past attempt', () => {
  it('An event of a past attempt has no effect', () => {
    const state = after(eventOf('task_attempt_failed'), secondTry)
    const late = [
      eventOf('task_started'),
      eventOf('token'),
      eventOf('llm_iteration_completed'),
      eventOf('task_completed'),
      eventOf('metrics_snapshot'),
    ]
    for (const event of late) expect(apply(state, event)).toBe(state)
  })
})

describe('task_input', () => {
  it('task_input sets the input of the agent', () => {
    const { agentGoal, agentBackground, toolNames, assembledContext, expectedOutput, sentAt } =
      eventOf('task_input')
    expect(researcher(after(eventOf('task_input')))).toMatchObject({
      expectedOutput,
      input: { agentGoal, agentBackground, toolNames, assembledContext, expectedOutput, sentAt },
    })
  })
})

describe('an event of a turn', () => {
  it('An event of a turn adds up the usage of the attempt', () => {
    const state = after(
      eventOf('llm_iteration_completed'),
      eventOf('tool_called', { toolCallId: 'call-1' }),
    )
    expect(researcher(state)?.usage).toEqual({
      inputTokens: 812,
      outputTokens: 41,
      toolCallCount: 1,
      costUsd: 0.0031,
    })
  })

  it('A token event leaves the usage and all other tasks unchanged', () => {
    const before = after(eventOf('llm_iteration_started', { iterationIndex: 1 }))
    const state = apply(before, eventOf('token'))
    expect(researcher(state)?.turns[0]?.text).toBe('The EU AI Act')
    expect(researcher(state)?.usage).toBe(researcher(before)?.usage)
    expect(state.tasks[1]).toBe(before.tasks[1])
  })

  it('A turn event that does not change a turn has no effect', () => {
    const state = after(eventOf('llm_iteration_completed'))
    expect(apply(state, eventOf('token', { iterationIndex: 0 }))).toBe(state)
  })

  it('A turn event of an unknown task has no effect', () => {
    const state = after()
    expect(apply(state, eventOf('token', { taskName: 'nobody' }))).toBe(state)
  })
})

describe('task_completed', () => {
  it('task_completed sets the output and the usage of the attempt', () => {
    const state = after(eventOf('task_completed', { structuredOutput: { ok: true } }))
    expect(researcher(state)).toMatchObject({
      status: 'COMPLETED',
      completedAt: '2025-03-15T10:30:08.200Z',
      durationMs: 8200,
      output: '## EU AI Act Analysis\n…',
      structuredOutput: { ok: true },
      usage: { inputTokens: 8000, outputTokens: 2150, toolCallCount: 5, costUsd: 0.0564 },
      iterationLimitReached: false,
    })
    expect(researcher(after(eventOf('task_completed')))).not.toHaveProperty('structuredOutput')
  })

  it('task_completed shows that the request of a fork gave the output', () => {
    const state = after(eventOf('task_completed', { outputGiven: true }))
    expect(researcher(state)?.outputGiven).toBe(true)
    expect(researcher(after(eventOf('task_completed')))).not.toHaveProperty('outputGiven')
  })

  it('task_completed leaves no turn or call running', () => {
    const state = after(eventOf('llm_iteration_completed'), eventOf('task_completed'))
    expect(researcher(state)?.turns[0]?.toolCalls[0]?.status).toBe('FAILED')
  })
})

describe.each([
  ['task_attempt_failed', true],
  ['task_failed', false],
] as const)('%s', (type, willRetry) => {
  it('The end of a task sets the reason, and whether another attempt follows', () => {
    expect(researcher(after(eventOf(type)))).toMatchObject({
      status: 'FAILED',
      completedAt: '2025-03-15T10:30:08.200Z',
      durationMs: 8200,
      error: {
        reason: 'Model "sonnet" gave no usable answer',
        code: 'MODEL_FAILED',
        willRetry,
      },
      usage: { inputTokens: 812, outputTokens: 41, toolCallCount: 1, costUsd: 0.0031 },
      earlierAttempts: [],
    })
  })
})

describe('task_failed', () => {
  it('task_failed sets CANCELLED with the code CANCELLED', () => {
    const cancelled = eventOf('task_failed', { code: 'CANCELLED', willRetry: false })
    expect(researcher(after(cancelled))?.status).toBe('CANCELLED')
  })

  it('task_failed leaves no turn or call running', () => {
    const state = after(eventOf('llm_iteration_started'), eventOf('task_failed'))
    expect(researcher(state)?.turns[0]?.status).toBe('FAILED')
  })

  it('task_failed before a start also ends an attempt', () => {
    const state = after(eventOf('task_failed', { ...WRITER, code: 'REVIEW_REJECTED' }))
    expect(state.tasks[1]).toMatchObject({ name: 'writer', status: 'FAILED', attempt: 1 })
  })
})

describe('task_skipped', () => {
  it('task_skipped sets the reason why the task will not run', () => {
    expect(after(eventOf('task_skipped')).tasks[1]).toMatchObject({
      status: 'SKIPPED',
      attempt: 0,
      skipReason: 'Task "researcher" failed',
      completedAt: '2025-03-15T10:30:11Z',
    })
  })
})

describe('metrics_snapshot', () => {
  it('metrics_snapshot replaces the previous snapshot', () => {
    const state = after(
      eventOf('metrics_snapshot', { iterationCount: 1 }),
      eventOf('metrics_snapshot', { costEstimate: undefined }),
    )
    expect(researcher(state)?.metrics).toEqual({
      inputTokens: 8000,
      outputTokens: 2150,
      llmLatencyMs: 5940,
      toolExecutionTimeMs: 1200,
      iterationCount: 2,
    })
    expect(researcher(after(eventOf('metrics_snapshot')))?.metrics?.costEstimate).toBe('0.057')
  })
})
