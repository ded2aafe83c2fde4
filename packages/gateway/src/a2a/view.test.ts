import { RunStateFold } from '@tutti/protocol'
import { describe, expect, it, vi } from 'vitest'

import { isSettled, isTerminal, TaskView, toTaskState } from './view.ts'
import { toWireStatus, toWireTask } from './to-task.ts'

import type { A2aTaskState } from './wire.ts'
import type { RunEvent, RunEventOf } from '@tutti/protocol'

const at = (second: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString()

const IDENTITY = {
  id: 'run-1',
  contextId: 'c',
  asked: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'Ode' }] },
} as const

const SHOWN = { modes: [], usage: false }

const started: RunEvent = {
  type: 'ensemble_started',
  ensembleId: 'e',
  startedAt: at(1),
  totalTasks: 2,
  workflow: 'SEQUENTIAL',
  ensemble: 'band',
  tasks: ['first', 'last'].map((name) => ({ name, description: '', agentRole: 'r', context: [] })),
  outputTask: 'last',
}

const review = (reviewId: string, second: number): RunEventOf<'review_requested'> => ({
  type: 'review_requested',
  reviewId,
  taskDescription: 'Sing',
  taskOutput: 'La',
  kind: 'TASK_OUTPUT',
  timing: 'AFTER_EXECUTION',
  prompt: null,
  timeoutMs: 0,
  onTimeout: 'CONTINUE',
  taskName: 'first',
  taskIndex: 1,
  attempt: 1,
  agentRole: 'r',
  requestedAt: at(second),
})

const decided = (reviewId: string, second: number): RunEvent => ({
  type: 'review_decided',
  reviewId,
  decision: 'REJECT',
  feedback: 'louder',
  decidedAt: at(second),
})

const done = (taskName: string, output: string): RunEvent => ({
  type: 'task_completed',
  taskIndex: 1,
  totalTasks: 2,
  taskDescription: '',
  agentRole: 'r',
  completedAt: at(9),
  durationMs: 1,
  tokenCount: 1,
  toolCallCount: 0,
  taskName,
  attempt: 1,
  output,
  inputTokens: 1,
  outputTokens: 0,
  iterationLimitReached: false,
})

const delegated = (taskName: string, workerTask: string, workerTaskIndex: number): RunEvent => ({
  type: 'delegation_started',
  delegationId: `d-${workerTaskIndex}`,
  delegatingAgentRole: 'r',
  workerRole: 'r',
  taskDescription: '',
  taskName,
  attempt: 1,
  workerTask,
  workerTaskIndex,
  depth: 1,
  startedAt: at(5),
})

const cancelling: RunEvent = {
  type: 'run_cancelling',
  requestedAt: at(6),
  mode: 'abort',
  cause: 'SERVER',
}

const result = (status: 'COMPLETED' | 'FAILED' | 'CANCELLED'): RunEventOf<'run_result'> => ({
  type: 'run_result',
  runId: 'run-1',
  status,
  outputs: [],
  durationMs: 1,
  ...(status === 'FAILED' ? { error: 'out of voice' } : {}),
})

function viewOf(...events: readonly RunEvent[]): TaskView {
  const view = new TaskView({ createdAt: Date.UTC(2026, 0, 1) })
  for (const [seq, event] of events.entries()) {
    view.take({ ...event, runId: 'run-1', seq, id: `run-1:${seq}` })
  }
  return view
}

describe('TaskView', () => {
  it.each<[string, RunEvent[], string, string]>([
    ['nothing', [], 'SUBMITTED', at(0)],
    ['its start', [started], 'WORKING', at(1)],
    ['a question', [started, review('a', 2)], 'INPUT_REQUIRED', at(2)],
    ['the same question again', [started, review('a', 2), review('a', 4)], 'INPUT_REQUIRED', at(2)],
    ['an answer', [started, review('a', 2), decided('a', 3)], 'WORKING', at(3)],
    [
      'one answer of two',
      [review('a', 2), review('b', 3), decided('a', 4)],
      'INPUT_REQUIRED',
      at(4),
    ],
    ['a cancel', [started, cancelling], 'WORKING', at(6)],
    ['a cancel while it asks', [review('a', 2), cancelling], 'WORKING', at(6)],
    ['its end', [started, result('COMPLETED')], 'COMPLETED', at(1)],
    ['its failure', [started, review('a', 2), result('FAILED')], 'FAILED', at(2)],
    ['its cancel', [cancelling, result('CANCELLED')], 'CANCELED', at(6)],
  ])(
    '[GW-V1] TaskView has the correct state and time after %s',
    (_title, events, state, changedAt) => {
      const view = viewOf(...events)
      expect([toTaskState(view), view.changedAt]).toEqual([`TASK_STATE_${state}`, changedAt])
      expect(view.nextSeq).toBe(events.length)
    },
  )

  it('[GW-V1] TaskView contains a question only once if it is asked again after a crash', () => {
    const view = viewOf(review('a', 2), review('a', 4))
    expect(view.openReviews).toMatchObject([{ reviewId: 'a', requestedAt: at(4) }])
    expect(toWireTask(IDENTITY, view, SHOWN).history).toHaveLength(2)
  })

  it('[GW-V1] TaskView has no wait for an event, which no caller decides', () => {
    const view = viewOf({ ...review('a', 2), kind: 'EVENT' }, review('b', 4))
    expect(view.openReviews).toMatchObject([{ reviewId: 'b' }])
    const { history = [] } = toWireTask(IDENTITY, view, SHOWN)
    expect(history.map(({ messageId }) => messageId)).not.toContain('a')
    expect(history.map(({ messageId }) => messageId)).toContain('b')
  })

  it('[GW-V1] TaskView asks the oldest question, and none while it is being cancelled', () => {
    const status = toWireStatus(IDENTITY, viewOf(review('a', 1), review('b', 2)))
    expect(status.message).toMatchObject({ messageId: 'a', role: 'ROLE_AGENT', taskId: 'run-1' })
    expect(toWireStatus(IDENTITY, viewOf(review('a', 1), cancelling))).not.toHaveProperty('message')
  })

  it('[GW-V2] TaskView has the last output of its last task as the artifact', () => {
    const idsOf = (view: TaskView) =>
      toWireTask(IDENTITY, view, SHOWN).artifacts?.map(({ artifactId, parts }) => [
        artifactId,
        parts,
      ])
    const view = viewOf(started, done('last', 'old'), done('first', 'a'), done('last', 'b'))
    expect(idsOf(view)).toEqual([['last', [{ text: 'b' }]]])
    expect(idsOf(viewOf(started, done('first', 'a')))).toBeUndefined()
  })

  it('[GW-V2] TaskView has the outputs of its other tasks if the last task has none', () => {
    const view = viewOf(started, done('first', 'a'), result('FAILED'))
    const { artifacts } = toWireTask(IDENTITY, view, SHOWN)
    expect(artifacts).toMatchObject([{ artifactId: 'first', parts: [{ text: 'a' }] }])
  })

  it('[GW-V2] [GW-GP1] TaskView has the outputs of twenty added tasks if the last task has none', () => {
    const added = Array.from({ length: 1_000 }, (_, index): RunEvent[] => [
      delegated('first', `first/${index}`, index + 3),
      done(`first/${index}`, `out ${index}`),
    ])
    const view = viewOf(started, ...added.flat(), result('FAILED'))
    const ids = toWireTask(IDENTITY, view, SHOWN).artifacts?.map(({ artifactId }) => artifactId)
    expect(ids).toEqual(Array.from({ length: 20 }, (_, index) => `first/${index}`))
  })

  it('[GW-V2] TaskView has the output of a counted task with which a reviewer ended the run', () => {
    const added = Array.from({ length: 30 }, (_, index): RunEvent[] => [
      delegated('first', `first/${index}`, index + 3),
      done(`first/${index}`, `out ${index}`),
    ])
    const end: RunEvent = {
      ...result('COMPLETED'),
      outputs: [{ taskName: 'first/29', output: 'out 29' }],
      outputTask: 'first/29',
    }
    const { artifacts } = toWireTask(IDENTITY, viewOf(started, ...added.flat(), end), SHOWN)
    expect(artifacts).toMatchObject([{ artifactId: 'first/29', parts: [{ text: 'out 29' }] }])
  })

  it('[GW-V4] TaskView reads no list of all tasks and reviews while it takes events', () => {
    const states = vi.spyOn(RunStateFold.prototype, 'state', 'get')
    const added = Array.from({ length: 500 }, (_, index): RunEvent[] => [
      delegated('first', `first/${index}`, index + 3),
      { ...review(`r-${index}`, index), taskName: `first/${index}` },
      decided(`r-${index}`, index),
      done(`first/${index}`, 'out'),
    ])
    const view = viewOf(started, ...added.flat())
    expect(states).not.toHaveBeenCalled()
    expect(view.history.reviews).toHaveLength(500)
    expect(states).toHaveBeenCalledOnce()
    states.mockRestore()
  })

  it('[GW-V2] TaskView retains the newest outputs, up to four million characters in addition to the last', () => {
    const names = ['a', 'b', 'c', 'd']
    const outputs = names.map((name) => done(name, name.repeat(1_500_000)))
    const view = viewOf(started, ...outputs, result('FAILED'))
    expect(view.outputs.map(({ taskName }) => taskName)).toEqual(['b', 'c', 'd'])
  })

  it('[GW-V3] TaskView does not ask an answered question again', () => {
    const view = viewOf(started, review('a', 2))
    view.decide('a')
    expect(toTaskState(view)).toBe('TASK_STATE_WORKING')
    view.take({ ...review('a', 3), runId: 'run-1', seq: 2, id: 'x' })
    expect(toTaskState(view)).toBe('TASK_STATE_WORKING')
  })

  it('TaskView has a history of the request, the questions and the answers in order', () => {
    const activeAt = '2026-01-01T00:00:09Z'
    const directive: RunEvent = {
      type: 'directive_active',
      directiveId: 'd',
      content: 'faster',
      activeAt,
    }
    const view = viewOf(started, review('a', 2), decided('a', 3), directive)
    const texts = (historyLength?: number) =>
      toWireTask(IDENTITY, view, { ...SHOWN, historyLength }).history?.map(
        ({ parts }) => parts[0]?.text,
      )
    expect(texts()).toEqual([
      'Ode',
      'Accept this output of "first"?\n\nLa',
      'REJECT: louder',
      'faster',
    ])
    expect(texts(2)).toEqual(['REJECT: louder', 'faster'])
    expect(texts(0)).toBeUndefined()
  })

  it('TaskView reports the reason of a failure', () => {
    const { message } = toWireStatus(IDENTITY, viewOf(started, result('FAILED')))
    expect(message?.parts).toEqual([{ text: 'out of voice' }])
  })

  it.each([
    ['SUBMITTED', false, false],
    ['WORKING', false, false],
    ['INPUT_REQUIRED', true, false],
    ['COMPLETED', true, true],
    ['FAILED', true, true],
    ['CANCELED', true, true],
    ['REJECTED', true, true],
  ])('TaskView reports for %s: settled is %s, terminal is %s', (name, settled, terminal) => {
    const state = `TASK_STATE_${name}` as A2aTaskState
    expect([isSettled(state), isTerminal(state)]).toEqual([settled, terminal])
  })
})
