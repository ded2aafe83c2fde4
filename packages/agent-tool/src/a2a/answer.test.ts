import { AgentError } from '@tutti/agent-call'
import { expect, test } from 'vitest'

import { toA2aAnswer, partialOutput } from './answer.ts'
import { AgentTaskState } from './task-state.ts'

import type { A2aMessage, A2aStreamItem } from './wire.ts'

const made = [{ artifactId: 'a', parts: [{ text: 'made' }] }]
const said: A2aMessage = { parts: [{ text: 'said' }] }

function recordOf(...all: readonly A2aStreamItem[]): AgentTaskState {
  const record = new AgentTaskState()
  for (const news of all) record.apply(news)
  return record
}

function taskOf(state: string, more: { message?: A2aMessage; artifacts?: typeof made } = {}) {
  const { message, artifacts } = more
  const status = { state, ...(message === undefined ? {} : { message }) }
  return recordOf({ task: { id: 't', status, ...(artifacts === undefined ? {} : { artifacts }) } })
}

function failureOf(record: AgentTaskState): unknown {
  try {
    return toA2aAnswer(record)
  } catch (error) {
    return error
  }
}

test.each([
  ['its artifacts', { message: said, artifacts: made }, 'made'],
  ['else what it says', { message: said }, 'said'],
  ['else nothing', {}, null],
])('the answer of a completed task is %s', (_title, more, output) => {
  expect(toA2aAnswer(taskOf('TASK_STATE_COMPLETED', more))).toEqual({
    kind: 'end',
    state: 'completed',
    output,
    text: output ?? '',
  })
})

test('a message says no more than that the agent has answered', () => {
  expect(toA2aAnswer(recordOf({ message: said }))).toMatchObject({ state: 'open', output: 'said' })
})

test.each([
  ['what it says', { message: said, artifacts: made }, 'said'],
  ['else what it made', { artifacts: made }, 'made'],
  ['else that there is one', {}, 'The agent needs more input'],
])('the question of a task is %s', (_title, more, question) => {
  expect(toA2aAnswer(taskOf('TASK_STATE_INPUT_REQUIRED', more))).toEqual({
    kind: 'end',
    state: 'input_required',
    output: question,
    text: question,
    question,
  })
})

test.each([
  ['TASK_STATE_FAILED', 'agent_failed', 'The agent failed'],
  ['TASK_STATE_CANCELED', 'agent_failed', 'The agent cancelled its task'],
  ['TASK_STATE_REJECTED', 'agent_failed', 'The agent rejected the task'],
  ['TASK_STATE_AUTH_REQUIRED', 'configuration', 'The agent asks for credentials'],
])('%s is a failure with what was made', (state, failureType, message) => {
  const failure = failureOf(taskOf(state, { message: said, artifacts: made }))
  expect(failure).toBeInstanceOf(AgentError)
  expect(failure).toMatchObject({
    failureType,
    message: `${message}: said`,
    retryable: false,
    partial: 'made',
  })
  expect(failureOf(taskOf(state))).toMatchObject({ message, partial: undefined })
})

test('a failed agent may say that another try can help', () => {
  const message = { ...said, metadata: { retryable: true } }
  expect(failureOf(taskOf('TASK_STATE_FAILED', { message }))).toMatchObject({ retryable: true })
})

test('what was made so far is what the artifacts say', () => {
  expect(partialOutput(taskOf('TASK_STATE_WORKING', { message: said }))).toBeUndefined()
  expect(partialOutput(taskOf('TASK_STATE_WORKING', { artifacts: made }))).toBe('made')
})
