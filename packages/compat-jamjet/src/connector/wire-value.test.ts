import { describe, expect, test } from 'vitest'

import { toTasksAnswer, taskFailure, readTaskId, unwrapEnvelope } from './wire-value.ts'

describe('[JAM-V1] unwrapEnvelope', () => {
  test.each([
    [{ jsonrpc: '2.0', id: 1, result: { a: 1 } }, { a: 1 }],
    [{ jsonrpc: '2.0', id: 1, result: null }, null],
    [{ jsonrpc: '2.0', id: 1, result: 7, error: null }, 7],
    [
      { jsonrpc: '2.0', id: 1 },
      { jsonrpc: '2.0', id: 1 },
    ],
    [{ result: { a: 1 } }, { result: { a: 1 } }],
    [
      { jsonrpc: '1.0', result: 1 },
      { jsonrpc: '1.0', result: 1 },
    ],
    [{ error: { code: 1 } }, { error: { code: 1 } }],
    [[{ jsonrpc: '2.0', result: 1 }], [{ jsonrpc: '2.0', result: 1 }]],
    ['text', 'text'],
    [null, null],
  ])('unwrapEnvelope unwraps %j to %j', (value, inside) => {
    expect(unwrapEnvelope(value)).toEqual({ value: inside })
  })

  test.each([
    [{ code: -32_601, message: 'No such method' }, 'No such method (-32601)', false],
    [{ code: 1, message: 'Busy', data: { retryable: true } }, 'Busy (1)', true],
    [{ message: 'Busy', data: { retryable: 'true' } }, 'Busy', false],
    [{ code: 'x' }, '{"code":"x"}', false],
    ['text', '"text"', false],
  ])('unwrapEnvelope reports the error %j as a failure', (error, text, retryable) => {
    const value = { jsonrpc: '2.0', id: null, error, result: 1 }
    expect(unwrapEnvelope(value)).toEqual({
      value,
      failure: {
        kind: 'failure',
        message: `The agent responded with an error: ${text}`,
        failureType: 'agent_failed',
        retryable,
      },
    })
  })
})

describe('[JAM-V2] toTasksAnswer', () => {
  test.each([
    ['completed', 'completed'],
    ['COMPLETED', 'completed'],
    ['TASK_STATE_COMPLETED', 'completed'],
    [{ state: 'completed' }, 'completed'],
    ['input-required', 'input_required'],
    ['INPUT_REQUIRED', 'input_required'],
    ['auth-required', 'input_required'],
    [{ state: 'TASK_STATE_INPUT_REQUIRED' }, 'input_required'],
    ['working', 'open'],
    ['submitted', 'open'],
    ['complete', 'open'],
    [undefined, 'open'],
    [200, 'open'],
    [null, 'open'],
    [{ state: 7 }, 'open'],
  ])('toTasksAnswer reads status %j as %s in a conversation', (status, state) => {
    const value = { status, output: 'x', more: 1 }
    expect(toTasksAnswer(value, 'conversational')).toMatchObject({
      kind: 'end',
      state,
      output: value,
    })
    const otherwise = state === 'open' ? 'completed' : state
    expect(toTasksAnswer(value, 'sync')).toMatchObject({ state: otherwise })
    expect(toTasksAnswer(value, 'streaming')).toMatchObject({ state: otherwise })
  })

  test.each(['text', 7, null, [], true])(
    'toTasksAnswer treats %j, which has no status, as completed, or as open in a conversation',
    (value) => {
      expect(toTasksAnswer(value, 'sync')).toEqual({
        kind: 'end',
        state: 'completed',
        output: value,
      })
      expect(toTasksAnswer(value, 'conversational')).toMatchObject({ state: 'open' })
    },
  )

  test.each([
    [{ status: 'failed' }, 'The agent failed'],
    [{ status: 'FAILED', error: 'No' }, 'The agent failed: No'],
    [{ status: 'failed', error: { message: 'No' } }, 'The agent failed: No'],
    [{ status: 'failed', error: 'CODE', message: 'No' }, 'The agent failed: No'],
    [{ status: 'failed', error: {}, message: '' }, 'The agent failed'],
    [{ status: 'cancelled' }, 'The agent cancelled the task'],
    [{ status: 'TASK_STATE_CANCELED' }, 'The agent cancelled the task'],
    [{ status: 'rejected', message: 'Not mine' }, 'The agent rejected the task: Not mine'],
    [
      {
        status: {
          state: 'failed',
          message: { parts: [{ text: 'a' }, { data: 1 }, { text: 'b' }] },
        },
      },
      'The agent failed: a\nb',
    ],
  ])('toTasksAnswer reports %j as a failure', (value, message) => {
    const failure = { kind: 'failure', message, failureType: 'agent_failed', retryable: false }
    expect(toTasksAnswer(value, 'sync')).toEqual(failure)
    expect(taskFailure({ ...value, retryable: true })).toEqual({ ...failure, retryable: true })
    expect(taskFailure({ ...value, retryable: 1 })).toEqual(failure)
  })

  test('toTasksAnswer reports a lost connection when a working task has an error', () => {
    const value = { status: 'working', error: 'STORE_UNAVAILABLE', message: 'No store' }
    expect(toTasksAnswer(value, 'streaming')).toEqual({
      kind: 'failure',
      message: 'The agent stopped reporting a running task: No store',
      failureType: 'connection_lost',
      retryable: true,
    })
    expect(taskFailure({ status: 'working', error: null })).toBeUndefined()
    expect(taskFailure({ status: 'submitted', error: 'x' })).toBeUndefined()
  })

  test.each([
    [{ output: 'Which?' }, 'Which?'],
    [{ question: 'Which?', output: 'x' }, 'Which?'],
    [{ message: 'Which?' }, 'Which?'],
    [{ status: { state: 'input-required', message: { parts: [{ text: 'Which?' }] } } }, 'Which?'],
    [{ output: { a: 1 } }, undefined],
    [{ output: 'Which?', reviewId: 'r', review: { kind: 'QUESTION', prompt: 'Which?' } }, 'Which?'],
  ])('toTasksAnswer returns the question of %j as %s', (value, question) => {
    const answer = toTasksAnswer({ status: 'input-required', ...value }, 'sync')
    expect(answer).toMatchObject({ state: 'input_required' })
    expect('question' in answer ? answer.question : undefined).toBe(question)
  })
})

describe('text and task id', () => {
  test.each([
    [{ output: 'x' }, 'x'],
    [{ id: 'a', status: 'completed', output: 'x', total_cost_usd: 1, artifacts: [] }, 'x'],
    [{ output: '' }, ''],
    [{ output: 'x', sources: [] }, undefined],
    [{ output: { a: 1 } }, undefined],
    [{ text: 'x' }, undefined],
  ])('The text of %j is %j', (value, text) => {
    const answer = toTasksAnswer(value, 'sync')
    expect('text' in answer ? answer.text : undefined).toBe(text)
  })

  test.each([
    [{ id: 'a' }, 'a'],
    [{ id: 7 }, undefined],
    [{ task: { id: 'a' } }, undefined],
    [[{ id: 'a' }], undefined],
    ['id', undefined],
    [null, undefined],
  ])('The task id of %j is %s', (value, id) => {
    expect(readTaskId(value)).toBe(id)
  })
})
