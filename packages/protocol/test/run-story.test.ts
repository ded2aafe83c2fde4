/**
 * A run from its first event to its last, as a reader sees it: an agent that fails once, uses a tool and delegates work, a
 * reviewer, and a process that disappears in the middle. One list of events gives one state, from which views are derived.
 */
import { expect, it } from 'vitest'
import { applyRunEvent, emptyRunState, type RunEvent, type RunState } from '../src/index.ts'
import { eventOf, WRITER } from './run-events.ts'

let state: RunState = emptyRunState()
const tell = (...events: readonly RunEvent[]): RunState => {
  for (const event of events) state = applyRunEvent(state, event)
  return state
}
const tasks = (): unknown => state.tasks.map(({ name, status, attempt }) => [name, status, attempt])
const turns = (name: string): unknown =>
  state.tasks
    .find((task) => task.name === name)
    ?.turns.map(({ status, text, toolCalls }) => [
      status,
      text,
      ...toolCalls.map((call) => `${call.name} ${call.status}`),
    ])

it('The state of a run is derived from its first event to its last', () => {
  tell(eventOf('run_queued'))
  expect([state.status, state.ensemble, state.tasks]).toEqual(['ACCEPTED', 'research-brief', []])

  tell(eventOf('ensemble_started'), eventOf('task_started'), eventOf('task_input'))
  expect(tasks()).toEqual([
    ['researcher', 'RUNNING', 1],
    ['writer', 'PENDING', 0],
  ])

  // The first attempt: a model call fails permanently.
  tell(eventOf('llm_iteration_started'), eventOf('token', { iterationIndex: 0, token: 'Let me' }))
  tell(
    eventOf('llm_iteration_failed', { retryInMs: undefined }),
    eventOf('task_attempt_failed', { costUsd: 0.001 }),
  )
  expect(state.tasks[0]?.error).toMatchObject({ code: 'MODEL_FAILED', willRetry: true })
  expect(turns('researcher')).toEqual([['FAILED', 'Let me']])

  // The second attempt: a search, and a directive during it.
  const second = { attempt: 2 }
  tell(eventOf('task_started', second), eventOf('llm_iteration_started', second))
  tell(eventOf('llm_iteration_completed', { ...second, costUsd: 0.002 }))
  tell(eventOf('directive_active'))
  tell(eventOf('tool_called', { ...second, toolCallId: 'call-1.1', parentToolCallId: 'call-1' }))
  tell(eventOf('tool_called', { ...second, toolCallId: 'call-1' }))
  tell(eventOf('directive_delivered', { ...second, iterationIndex: 1 }))
  expect(turns('researcher')).toEqual([['COMPLETED', '', 'web_search SUCCEEDED']])
  expect(state.directives[0]?.delivered).toMatchObject([{ attempt: 2, iterationIndex: 1 }])
  expect(state.totals).toEqual({ totalTokens: 1706, totalToolCalls: 2, costUsd: 0.003 })

  // The process disappears in the middle of a turn; another one repeats the turn from its beginning.
  const turn = { ...second, iterationIndex: 1 }
  tell(eventOf('llm_iteration_started', turn), eventOf('token', { ...turn, token: 'Half a' }))
  tell(eventOf('run_resumed', { completedTasks: [] }))
  tell(eventOf('llm_iteration_started', turn), eventOf('token', { ...turn, token: 'A colleague' }))
  expect(turns('researcher')).toEqual([
    ['COMPLETED', '', 'web_search SUCCEEDED'],
    ['RUNNING', 'A colleague'],
  ])

  // Delegated work is a separate task.
  const worker = { taskName: 'researcher/1', taskIndex: 3, agentRole: 'Technical Writer' }
  tell(eventOf('delegation_started', second), eventOf('task_started', worker))
  tell(eventOf('task_completed', { ...worker, costUsd: 0.004 }))
  tell(eventOf('delegation_completed', second))
  expect(tasks()).toEqual([
    ['researcher', 'RUNNING', 2],
    ['writer', 'PENDING', 0],
    ['researcher/1', 'COMPLETED', 1],
  ])
  expect(state.delegations).toMatchObject([{ status: 'COMPLETED', workerTask: 'researcher/1' }])

  // A reviewer rejects the result; afterwards the run ends.
  tell(eventOf('review_requested', second))
  expect(state.status).toBe('WAITING_REVIEW')
  tell(eventOf('review_decided'))
  tell(eventOf('task_attempt_failed', { ...second, code: 'REVIEW_REJECTED' }))
  tell(eventOf('task_started', { attempt: 3 }), eventOf('task_completed', { attempt: 3 }))
  expect(state.tasks[0]?.earlierAttempts).toMatchObject([
    { attempt: 1, code: 'MODEL_FAILED' },
    { attempt: 2, code: 'REVIEW_REJECTED' },
  ])
  tell(eventOf('task_skipped'), eventOf('ensemble_completed'), eventOf('run_result'))
  expect(tasks()).toEqual([
    ['researcher', 'COMPLETED', 3],
    ['writer', 'SKIPPED', 0],
    ['researcher/1', 'COMPLETED', 1],
  ])
  expect([state.status, state.epoch, state.reviews.map(({ status }) => status)]).toEqual([
    'COMPLETED',
    2,
    ['DECIDED'],
  ])
  expect(state.tasks[1]?.agentRole).toBe(WRITER.agentRole)
})
