import { AgentError } from '@tutti/agent-call/internal'
import { expect, test } from 'vitest'

import { toA2aAnswer, readPartialOutput } from './answer.ts'
import { AgentTaskState } from './task-state.ts'

import type { A2aMessage, A2aStreamItem } from './wire.ts'

const made = [{ artifactId: 'a', parts: [{ text: 'made' }] }]
const said: A2aMessage = { parts: [{ text: 'said' }] }

function createRecord(...all: readonly A2aStreamItem[]): AgentTaskState {
  const record = new AgentTaskState()
  for (const item of all) record.apply(item)
  return record
}

function createTask(state: string, more: { message?: A2aMessage; artifacts?: typeof made } = {}) {
  const { message, artifacts } = more
  const status = { state, ...(message === undefined ? {} : { message }) }
  return createRecord({
    task: { id: 't', status, ...(artifacts === undefined ? {} : { artifacts }) },
  })
}

function catchFailure(record: AgentTaskState): unknown {
  try {
    return toA2aAnswer(record)
  } catch (error) {
    return error
  }
}

test.each([
  ['its artifacts', { message: said, artifacts: made }, 'made'],
  ['its status message if it has no artifacts', { message: said }, 'said'],
  ['null if it has neither', {}, null],
])('The answer reader returns as the answer of a completed task %s', (_title, more, output) => {
  expect(toA2aAnswer(createTask('TASK_STATE_COMPLETED', more))).toEqual({
    kind: 'end',
    state: 'completed',
    output,
    text: output ?? '',
  })
})

test('The answer reader leaves the conversation open after a message without a task', () => {
  expect(toA2aAnswer(createRecord({ message: said }))).toMatchObject({
    state: 'open',
    output: 'said',
  })
})

test.each([
  ['its status message', { message: said, artifacts: made }, 'said'],
  ['its artifacts if it has no message', { artifacts: made }, 'made'],
  ['a default text if it has neither', {}, 'The agent needs more input'],
])('The answer reader returns as the question of a task %s', (_title, more, question) => {
  expect(toA2aAnswer(createTask('TASK_STATE_INPUT_REQUIRED', more))).toEqual({
    kind: 'end',
    state: 'input_required',
    output: question,
    text: question,
    question,
  })
})

test('The answer reader returns only the text as the question, and the schema of the answer from the data next to it', () => {
  const data = { reviewId: 'r', kind: 'QUESTION', answerSchema: { type: 'integer' } }
  const message = { parts: [{ text: 'How many?' }, { data }] }
  expect(toA2aAnswer(createTask('TASK_STATE_INPUT_REQUIRED', { message }))).toMatchObject({
    text: 'How many?',
    question: 'How many?',
    questionSchema: { type: 'integer' },
  })
})

test('The answer reader returns the data of a question as JSON when it has no text', () => {
  const message = { parts: [{ data: { choose: ['a', 'b'] } }] }
  const answer = toA2aAnswer(createTask('TASK_STATE_INPUT_REQUIRED', { message }))
  expect(answer).toMatchObject({ question: '{"choose":["a","b"]}' })
  expect(answer).not.toHaveProperty('questionSchema')
})

test.each([
  ['TASK_STATE_FAILED', 'agent_failed', 'The agent failed'],
  ['TASK_STATE_CANCELED', 'agent_failed', 'The agent cancelled its task'],
  ['TASK_STATE_REJECTED', 'agent_failed', 'The agent rejected the task'],
  ['TASK_STATE_AUTH_REQUIRED', 'configuration', 'The agent asks for credentials'],
])(
  'The answer reader reports %s as a failure with the partial output',
  (state, failureType, message) => {
    const failure = catchFailure(createTask(state, { message: said, artifacts: made }))
    expect(failure).toBeInstanceOf(AgentError)
    expect(failure).toMatchObject({
      failureType,
      message: `${message}: said`,
      retryable: false,
      partial: 'made',
    })
    expect(catchFailure(createTask(state))).toMatchObject({ message, partial: undefined })
  },
)

test('The answer reader marks a failure as retryable when the metadata of the agent sets retryable', () => {
  const message = { ...said, metadata: { retryable: true } }
  expect(catchFailure(createTask('TASK_STATE_FAILED', { message }))).toMatchObject({
    retryable: true,
  })
})

test('The answer reader returns only artifacts as partial output', () => {
  expect(readPartialOutput(createTask('TASK_STATE_WORKING', { message: said }))).toBeUndefined()
  expect(readPartialOutput(createTask('TASK_STATE_WORKING', { artifacts: made }))).toBe('made')
})
