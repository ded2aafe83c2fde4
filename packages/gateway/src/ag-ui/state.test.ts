import { RunStateFold } from '@tutti/protocol'
import { describe, expect, it, vi } from 'vitest'

import { AguiRun } from './events.ts'

import type { LoggedRunEvent } from '@tutti/protocol'
import type { AguiEvent, PatchOperation } from './wire.ts'

const AT = '2026-01-01T00:00:00.000Z'
const GROW = { taskName: 'grow', taskIndex: 1, attempt: 1, agentRole: 'Agent' }

const START = [
  { type: 'run_queued', queuedAt: AT },
  {
    type: 'ensemble_started',
    startedAt: AT,
    tasks: [{ name: 'grow', agentRole: 'Agent', description: 'Grow' }],
    outputTask: 'grow',
  },
  { type: 'task_started', ...GROW, taskDescription: 'Grow', startedAt: AT },
]

const END = [
  { type: 'task_completed', ...GROW, output: 'Grown', completedAt: AT, finishReason: 'stop' },
  { type: 'run_result', status: 'COMPLETED', outputs: [], outputTask: 'grow' },
]

/** Events of the task with a number that `grow` adds: it calls a model and a tool; `between` precede the end of the call. */
function added(at: number, between: readonly object[] = []): readonly object[] {
  const taskName = `grow/${at}`
  const position = {
    taskName,
    taskIndex: at + 2,
    attempt: 1,
    agentRole: 'Agent',
    iterationIndex: 0,
  }
  const delegation = { delegationId: `d-${at}`, workerTask: taskName, workerTaskIndex: at + 2 }
  const toolRequests = [{ id: 'call', name: 'find', arguments: '{}' }]
  return [
    { type: 'delegation_started', ...GROW, ...delegation, workerRole: 'Agent', startedAt: AT },
    { type: 'task_started', ...position, taskDescription: 'Find', startedAt: AT },
    { type: 'llm_iteration_started', ...position, model: 'm', startedAt: AT },
    {
      type: 'llm_iteration_completed',
      ...position,
      model: 'm',
      inputTokens: 2,
      outputTokens: 1,
      responseText: '',
      toolRequests,
    },
    ...between.map((event) => ({ ...position, ...event })),
    { type: 'tool_called', ...position, toolCallId: 'call', toolName: 'find', toolResult: 'It' },
    { type: 'task_completed', ...position, output: 'Found', completedAt: AT },
    { type: 'delegation_completed', ...GROW, ...delegation, completedAt: AT },
  ]
}

const many = (count: number) => Array.from({ length: count }, (_, at) => added(at)).flat()

function follow(events: readonly object[], answered: readonly string[] = []) {
  const run = new AguiRun({
    ids: { threadId: 'thread-1', runId: 'run-1' },
    run: { runId: 'run-1', ensemble: 'solo' },
    state: undefined,
    messages: [],
    answered: new Set(answered),
  })
  // NOTE: the codec reads no other fields of these events.
  const logged = events.map((event, seq) => ({ seq, ...event })) as unknown as LoggedRunEvent[]
  return [...run.start(), ...logged.flatMap((event) => run.after([event]))]
}

interface State {
  readonly tutti: Record<string, unknown>
}

/** Returns the state of a client after these events. */
function stateAfter(events: readonly AguiEvent[]): State['tutti'] {
  let state: State = { tutti: {} }
  for (const event of events) {
    // NOTE: snapshots of this package have this key.
    if (event.type === 'STATE_SNAPSHOT') state = structuredClone(event.snapshot) as unknown as State
    if (event.type === 'STATE_DELTA') for (const operation of event.delta) patch(state, operation)
  }
  return state.tutti
}

/** Applies one operation of RFC 6902 to a path of the state or of a list in it. */
function patch({ tutti }: State, operation: PatchOperation): void {
  const [, , field = '', key] = operation.path.split('/')
  if (key === undefined) {
    if (operation.op === 'replace') tutti[field] = operation.value
    return
  }
  const list = tutti[field]
  if (!Array.isArray(list)) throw new Error(`not a list: ${operation.path}`)
  const at = key === '-' ? list.length : Number(key)
  if (operation.op === 'remove') list.splice(at, 1)
  else list.splice(at, operation.op === 'replace' ? 1 : 0, operation.value)
}

describe('the state of AG-UI', () => {
  it('[GW-Y22] [GW-GP1] The state of AG-UI counts most of five thousand added tasks, in few messages', () => {
    const events = [...START, ...many(5_000), ...END]
    const sent = follow(events)
    // Twenty tasks have 2 steps, 4 events of a call and 4 deltas each. All others have log(250) / log(1.1) deltas together.
    expect(sent.length).toBeLessThan(20 * 10 + 58 + 15)
    const state = stateAfter(sent)
    expect(state['tasks']).toHaveLength(21)
    expect(state['groups']).toEqual([{ parent: 'grow', added: 5_000, completed: 5_000, failed: 0 }])
    expect(state['usage']).toEqual({ tokens: 15_000 })
    expect(state['status']).toBe('COMPLETED')
  })

  it('[GW-Y22] The state of AG-UI has few more messages for twice the number of added tasks', () => {
    const countFor = (count: number) => follow([...START, ...many(count), ...END]).length
    const [one, other] = [countFor(500), countFor(1_000)]
    // log(2) / log(1.1)
    expect(other - one).toBeLessThanOrEqual(8)
  })

  it('[GW-Y23] The state of AG-UI reads no list of all tasks, and each counted task not at all', () => {
    const states = vi.spyOn(RunStateFold.prototype, 'state', 'get')
    const tasks = vi.spyOn(RunStateFold.prototype, 'findTask')
    const countReads = (count: number) => {
      tasks.mockClear()
      follow([...START, ...many(count), ...END])
      return tasks.mock.calls.length
    }
    expect(countReads(400)).toBe(countReads(200))
    expect(states).not.toHaveBeenCalled()
    states.mockRestore()
    tasks.mockRestore()
  })

  it('[GW-Y2] The state of AG-UI is the same by deltas and by a later snapshot', () => {
    const review = { reviewId: 'r', kind: 'TOOL_CALL', timing: 'DURING_EXECUTION', requestedAt: AT }
    const asked = { type: 'review_requested', ...review, toolCallId: 'call', timeoutMs: 0 }
    const waiting = [...START, ...many(30), ...added(30, [asked]).slice(0, 5)]
    const first = follow(waiting)
    expect(first.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'interrupt' } })
    const snapshot = follow(waiting, ['r']).find(({ type }) => type === 'STATE_SNAPSHOT')
    expect(snapshot).toMatchObject({ snapshot: { tutti: stateAfter(first) } })
    expect(stateAfter(first)).toMatchObject({
      status: 'WAITING_REVIEW',
      reviews: [{ reviewId: 'r', taskName: 'grow/30', timing: 'DURING_EXECUTION' }],
      groups: [{ parent: 'grow', added: 31, completed: 30, failed: 0 }],
    })
  })

  it('[GW-Y1] The state of AG-UI is WAITING while the run waits for events or times, and does not interrupt', () => {
    const wait = { reviewId: 'r', kind: 'EVENT', timing: 'DURING_EXECUTION', requestedAt: AT }
    const asked = { type: 'review_requested', ...wait, timeoutMs: 0 }
    const events = follow([...START, ...many(30), ...added(30, [asked]).slice(0, 5)])
    expect(stateAfter(events)).toMatchObject({ status: 'WAITING' })
    expect(events.at(-1)).not.toMatchObject({ type: 'RUN_FINISHED' })
  })

  it('[GW-Y8] [GW-GP4] The state of AG-UI has the call of a counted task when it is under review', () => {
    const asked = (reviewId: string) => ({
      type: 'review_requested',
      reviewId,
      kind: 'CLIENT_TOOL',
      timing: 'DURING_EXECUTION',
      toolCallId: 'call',
      requestedAt: AT,
      timeoutMs: 0,
    })
    const sent = follow([...START, ...many(25), ...added(25, [asked('r')]).slice(0, 5)])
    const calls = sent.flatMap((event) => ('toolCallId' in event ? [event.toolCallId] : []))
    expect(new Set(calls).size).toBe(21)
    expect(sent.at(-1)).toMatchObject({ outcome: { pendingToolCallIds: [calls.at(-1)] } })
  })

  it('[GW-Y1] The state of AG-UI lists open reviews, and removes closed ones', () => {
    const asked = (reviewId: string) => ({
      type: 'review_requested',
      ...GROW,
      reviewId,
      kind: 'TASK_OUTPUT',
      timing: 'AFTER_EXECUTION',
      requestedAt: AT,
      timeoutMs: 0,
    })
    const decided = { type: 'review_decided', reviewId: 'a', decision: 'CONTINUE', decidedAt: AT }
    const [a, b] = [asked('a'), asked('b')]
    const idsAfter = (...events: readonly object[]) => {
      const reviews = stateAfter(follow([...START, ...events], ['c']))['reviews']
      return Array.isArray(reviews) ? reviews.map(({ reviewId }) => reviewId) : reviews
    }
    const begun = [asked('c'), { ...decided, reviewId: 'c' }]
    expect(idsAfter(...begun, a, b)).toEqual(['a', 'b'])
    expect(idsAfter(...begun, a, b, decided)).toEqual(['b'])
    expect(idsAfter(...begun, a, b, decided, { ...decided, reviewId: 'b' })).toEqual([])
  })
})

it('The state of AG-UI has the active agent of each task that was handed off', () => {
  const handOff = (from: string, to: string, at: number) => {
    const workerTask = `grow/${to}`
    const delegation = { delegationId: `h-${at}`, workerTask, workerTaskIndex: at, workerRole: to }
    const start = { taskName: workerTask, taskIndex: at, attempt: 1, agentRole: to, startedAt: AT }
    const by = { ...GROW, taskName: from, ...delegation, handoff: true, startedAt: AT }
    return [
      { type: 'delegation_started', ...by },
      { type: 'task_started', ...start, taskDescription: 'Help' },
    ]
  }
  const events = [
    ...START,
    ...handOff('grow', 'Billing', 2),
    ...handOff('grow/Billing', 'Refunds', 3),
  ]
  expect(stateAfter(follow(events))['tasks']).toMatchObject([
    { name: 'grow', activeAgent: 'Refunds' },
    { name: 'grow/Billing', activeAgent: 'Refunds' },
    { name: 'grow/Refunds', agentRole: 'Refunds' },
  ])
})
