import { runStateAfter, type RunEvent } from '@tutti/protocol'
import { expect, it } from 'vitest'

import { eventOf, startOfRun } from '../../../../packages/protocol/test/run-events.ts'
import { buildAttempt, buildReview } from './run-entries.ts'

const START = Date.parse('2025-03-15T10:30:00.000Z')
const at = (ms: number): string => new Date(START + ms).toISOString()

function taskAfter(...events: readonly RunEvent[]) {
  const [task] = runStateAfter([...startOfRun(), ...events]).tasks
  return task ?? expect.fail('There is no task')
}

it('An attempt has its calls as trees, with agents before steps', () => {
  const of = { iterationIndex: 0 }
  const task = taskAfter(
    eventOf('llm_iteration_started', { ...of, startedAt: at(100) }),
    eventOf('llm_iteration_completed', {
      ...of,
      toolRequests: [{ id: 'a', name: 'research', arguments: '{}' }],
      completedAt: at(200),
    }),
    eventOf('agent_tool_invoked', { toolCallId: 'a', retry_index: 0 }),
    eventOf('tool_called', { ...of, toolCallId: 's', parentToolCallId: 'a', completedAt: at(300) }),
  )
  const { attempt, turns } = buildAttempt(task)
  expect(attempt).toMatchObject({ kind: 'attempt', status: 'running' })
  expect(turns.map(({ models }) => models.map(({ status }) => status))).toEqual([['done']])
  const [call] = turns.flatMap(({ calls }) => calls)
  expect(call?.entry).toMatchObject({
    kind: 'tool',
    status: 'running',
    target: { taskName: 'researcher', iterationIndex: 0, toolCallId: 'a' },
  })
  expect(call?.below.map(({ entry }) => entry.kind)).toEqual(['agent', 'tool'])
})

it('A past attempt ends with its work, and its entries lead to the task', () => {
  const task = taskAfter(
    eventOf('llm_iteration_started', { iterationIndex: 0, startedAt: at(100) }),
  )
  const { attempt, turns } = buildAttempt(task, { isPast: true, leastMs: START + 50_000 })
  expect(attempt).toMatchObject({
    status: 'failed',
    startMs: START + 50_000,
    endMs: START + 50_000,
  })
  expect(turns[0]?.models).toMatchObject([{ status: 'failed', target: { taskName: 'researcher' } }])
  expect(turns[0]?.models[0]?.target).not.toHaveProperty('iterationIndex')
})

it('A task that has not started has no attempt', () => {
  const { tasks } = runStateAfter([eventOf('run_queued'), eventOf('ensemble_started')])
  expect(tasks.map((task) => buildAttempt(task).attempt)).toEqual(tasks.map(() => undefined))
})

it('A review without a known time has no entry', () => {
  const state = runStateAfter([
    ...startOfRun(),
    eventOf('review_requested', { requestedAt: at(7) }),
  ])
  const [task] = state.tasks
  const [review] = state.reviews
  if (task === undefined || review === undefined) return expect.fail('Something is missing')
  expect(buildReview(review, task)).toMatchObject({ status: 'running', startMs: START + 7 })
  expect(buildReview({ ...review, requestedAt: '' }, task)).toBeUndefined()
})
