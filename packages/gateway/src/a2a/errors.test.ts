import { TuttiError } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { noMetrics, redacting } from '../../test/error-reporting.ts'
import { badRequest } from '../http/api-error.ts'
import { A2aError, errorAnswer, invalidParams } from './errors.ts'

/** Options that record the logged values. */
function options() {
  const logged: unknown[] = []
  const nothing = (): void => undefined
  const error = (_message: string, fields: object = {}): void => {
    logged.push(fields)
  }
  const logger = { debug: nothing, info: nothing, warn: nothing, error }
  return { logger, redactor: redacting('top-secret-key'), metrics: noMetrics, logged }
}

describe('errorAnswer', () => {
  it.each<[TuttiError['code'], number, number, string, string]>([
    ['RUN_NOT_FOUND', -32001, 404, 'NOT_FOUND', 'TASK_NOT_FOUND'],
    ['RUN_COMPLETED', -32004, 400, 'FAILED_PRECONDITION', 'UNSUPPORTED_OPERATION'],
    ['RUN_NOT_RUNNING', -32004, 400, 'FAILED_PRECONDITION', 'UNSUPPORTED_OPERATION'],
    ['REVIEW_RESOLVED', -32004, 400, 'FAILED_PRECONDITION', 'UNSUPPORTED_OPERATION'],
    ['UNSUPPORTED_MEDIA_TYPE', -32005, 400, 'INVALID_ARGUMENT', 'CONTENT_TYPE_NOT_SUPPORTED'],
    ['IDEMPOTENCY_CONFLICT', -32602, 400, 'INVALID_ARGUMENT', 'INVALID_PARAMS'],
    ['INPUT_MISSING', -32602, 400, 'INVALID_ARGUMENT', 'INVALID_PARAMS'],
    ['SPEND_LIMIT', -32000, 429, 'RESOURCE_EXHAUSTED', 'SPEND_LIMIT'],
    ['DRAINING', -32000, 503, 'UNAVAILABLE', 'DRAINING'],
    ['STORE_UNAVAILABLE', -32000, 503, 'UNAVAILABLE', 'STORE_UNAVAILABLE'],
  ])('errorAnswer maps %s to %i, %i %s and %s', (code, rpcCode, httpStatus, status, reason) => {
    const answer = errorAnswer(new TuttiError(code, 'Not this time'), options())
    expect(answer).toMatchObject({ rpcCode, httpStatus, status, message: 'Not this time' })
    expect(answer.details[0]).toMatchObject({ reason })
  })

  it('errorAnswer reports when to retry', () => {
    const { headers } = errorAnswer(new TuttiError('DRAINING', 'Stopping'), options())
    expect(headers).toMatchObject({ 'retry-after': '5' })
  })

  it('errorAnswer reports each problem with its field', () => {
    const problems = [{ path: '/message/parts/0', message: 'must be one' }]
    const fieldViolations = [{ field: 'message.parts.0', description: 'must be one' }]
    for (const error of [invalidParams(problems), badRequest('It', problems)]) {
      expect(errorAnswer(error, options()).details[1]).toMatchObject({ fieldViolations })
    }
  })

  it('errorAnswer redacts secrets', () => {
    const problems = [{ path: '', message: 'must not be top-secret-key' }]
    for (const error of [invalidParams(problems), badRequest('It', problems)]) {
      expect(JSON.stringify(errorAnswer(error, options()))).not.toContain('top-secret-key')
    }
  })

  it('errorAnswer logs a fault under the id that the caller receives, and reports nothing else about it', () => {
    const parts = options()
    const answer = errorAnswer(new Error('wires crossed'), parts)
    expect(answer).toMatchObject({ rpcCode: -32603, httpStatus: 500, status: 'INTERNAL' })
    expect(JSON.stringify(answer)).not.toContain('wires')
    const [{ requestId }] = parts.logged as [{ requestId: string }]
    expect(answer.message).toContain(requestId)
  })

  it.each(['UNAUTHORIZED', 'FORBIDDEN'] as const)(
    'errorAnswer throws %s, which the HTTP layer answers',
    (code) => {
      const error = new TuttiError(code, 'No')
      expect(() => errorAnswer(error, options())).toThrow(error)
    },
  )

  it('errorAnswer reads the error code of an A2A error from its reason', () => {
    const error = new A2aError('TASK_NOT_CANCELABLE', 'Over')
    expect(errorAnswer(error, options())).toMatchObject({ rpcCode: -32002, message: 'Over' })
  })
})
