import { expect, test } from 'vitest'

import { AgentTaskState } from './task-state.ts'

import type { A2aPart } from './wire.ts'

const place = { taskId: 't', contextId: 'c' }
const piece = (artifactId: string, text: string, append?: boolean) => ({
  artifactUpdate: {
    ...place,
    artifact: { artifactId, parts: [{ text }] },
    ...(append === undefined ? {} : { append }),
  },
})
const readParts = (record: AgentTaskState): readonly (readonly A2aPart[] | undefined)[] =>
  record.artifacts.map(({ parts }) => parts)

test('The task state takes the task id and context id from the first item that has them', () => {
  const record = new AgentTaskState({ contextId: 'before' })
  expect([record.taskId, record.contextId]).toEqual([undefined, 'before'])
  record.apply({ statusUpdate: { ...place, status: { state: 'TASK_STATE_WORKING' } } })
  expect([record.taskId, record.contextId]).toEqual(['t', 'c'])
  record.apply({ statusUpdate: {} })
  expect([record.taskId, record.contextId]).toEqual(['t', 'c'])
})

test('[AGENT-AT2] The task state appends to an artifact, or replaces it, as the update says', () => {
  const record = new AgentTaskState()
  record.apply(piece('a', 'one'))
  record.apply(piece('b', 'two'))
  record.apply(piece('a', ' more', true))
  expect(readParts(record)).toEqual([[{ text: 'one' }, { text: ' more' }], [{ text: 'two' }]])
  record.apply(piece('a', 'replaced', false))
  expect(readParts(record)).toEqual([[{ text: 'replaced' }], [{ text: 'two' }]])
})

test('[AGENT-AT2] The task state starts an artifact with an appended part when its beginning was missed', () => {
  const record = new AgentTaskState()
  record.apply(piece('a', 'tail', true))
  expect(readParts(record)).toEqual([[{ text: 'tail' }]])
})

test('[AGENT-AT1] A snapshot replaces all earlier state', () => {
  const record = new AgentTaskState()
  record.apply(piece('a', 'one'))
  record.apply({ task: { id: 't', artifacts: [{ artifactId: 'b', parts: [{ text: 'two' }] }] } })
  expect(readParts(record)).toEqual([[{ text: 'two' }]])
  record.apply({ task: { id: 't' } })
  expect(readParts(record)).toEqual([])
})

test.each([
  ['TASK_STATE_SUBMITTED', false, false],
  ['TASK_STATE_WORKING', false, false],
  ['UNRECOGNIZED', false, false],
  ['TASK_STATE_INPUT_REQUIRED', true, false],
  ['TASK_STATE_AUTH_REQUIRED', true, false],
  ['TASK_STATE_COMPLETED', true, true],
  ['TASK_STATE_FAILED', true, true],
  ['TASK_STATE_CANCELED', true, true],
  ['TASK_STATE_REJECTED', true, true],
])('A task in state %s has isSettled %s and hasEnded %s', (state, isSettled, hasEnded) => {
  const record = new AgentTaskState()
  record.apply({ task: { id: 't', status: { state } } })
  expect([record.isSettled, record.hasEnded]).toEqual([isSettled, hasEnded])
})

test('The task state treats a message without a task as the end', () => {
  const record = new AgentTaskState()
  record.apply({ message: { contextId: 'c', parts: [] } })
  expect([record.isSettled, record.hasEnded, record.taskId]).toEqual([true, true, undefined])
})

test('The task state ignores an answered question until it is asked again or confirmed', () => {
  const status = { state: 'TASK_STATE_INPUT_REQUIRED', message: { messageId: 'q1' } }
  const record = new AgentTaskState()
  record.apply({ task: { id: 't', status } })
  record.resume()
  expect(record.isSettled).toBe(false)
  record.apply({ task: { id: 't', status } })
  expect(record.isSettled).toBe(false)
  record.confirm()
  expect(record.isSettled).toBe(true)
  record.resume()
  record.apply({
    statusUpdate: { taskId: 't', status: { ...status, message: { messageId: 'q2' } } },
  })
  expect(record.isSettled).toBe(true)
})
