import { fromJsonRpcErrorResponse, fromRestErrorBody } from '@a2a-js/sdk/errors'
import { AgentError } from '@tutti/agent-call/internal'
import { describe, expect, test } from 'vitest'

import {
  toA2aFailure,
  isInvalidParams,
  isRefusal,
  isAgentError,
  isUnknownTask,
} from './a2a-failure.ts'

function rpc(code: number): Error {
  return fromJsonRpcErrorResponse({ jsonrpc: '2.0', id: 1, error: { code, message: 'No' } })
}

function rest(statusCode: number, reason: string): Error {
  const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'x' }
  return fromRestErrorBody({ message: 'No', details: [info] }, { statusCode })
}

describe('toA2aFailure', () => {
  test('toA2aFailure returns an AgentError unchanged', () => {
    const failure = new AgentError('Lost', { failureType: 'connection_lost', retryable: true })
    expect(toA2aFailure(failure)).toBe(failure)
  })

  test('toA2aFailure reports the code and message of a JSON-RPC error', () => {
    expect(toA2aFailure(rpc(-32_004))).toMatchObject({
      failureType: 'agent_failed',
      retryable: false,
      message: 'Agent returned error -32004: No',
    })
  })

  test('toA2aFailure reports the HTTP status of a REST error', () => {
    expect(toA2aFailure(rest(400, 'UNSUPPORTED_OPERATION'))).toMatchObject({
      failureType: 'http_error',
      retryable: false,
      message: 'Agent returned error 400: No',
    })
  })

  test('toA2aFailure unwraps an error that was sent within a stream', () => {
    const wrapped = new Error('SSE event contained an error', { cause: rpc(-32_603) })
    expect(toA2aFailure(wrapped).message).toBe('Agent returned error -32603: No')
  })

  test.each([[new SyntaxError('Unexpected token')], ['a text']])(
    'toA2aFailure reports anything else as an invalid response: %s',
    (thrown) => {
      expect(toA2aFailure(thrown)).toMatchObject({
        failureType: 'invalid_response',
        retryable: false,
        message: expect.stringContaining('The agent sent an invalid A2A response: '),
        cause: thrown,
      })
    },
  )
})

test.each([
  ['an unsupported operation over JSON-RPC', rpc(-32_004), [true, true, false, false]],
  ['an unknown method', rpc(-32_601), [true, true, false, false]],
  [
    'an unsupported operation over REST',
    rest(400, 'UNSUPPORTED_OPERATION'),
    [true, true, false, false],
  ],
  ['invalid parameters', rpc(-32_602), [true, false, true, false]],
  ['an unknown task over JSON-RPC', rpc(-32_001), [true, false, false, true]],
  ['an unknown task over REST', rest(404, 'TASK_NOT_FOUND'), [true, false, false, true]],
  ['an internal error', rpc(-32_603), [true, false, false, false]],
  ['an error that the agent did not send', new Error('No'), [false, false, false, false]],
])('The A2A error mapping classifies %s', (_title, thrown, expected) => {
  const found = [
    isAgentError(thrown),
    isRefusal(thrown),
    isInvalidParams(thrown),
    isUnknownTask(thrown),
  ]
  expect(found).toEqual(expected)
})
