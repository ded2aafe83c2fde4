import { describe, expect, it } from 'vitest'
import { ERROR_CODES, FAILURE_CODES, isErrorCode, isFailureCode } from './error-codes.ts'

/** Pinned: a changed code or status must be changed here too. */
const STATUSES = {
  BAD_REQUEST: 400,
  INVALID_TOOL: 400,
  INVALID_MODEL: 400,
  INVALID_TASK_OVERRIDE: 400,
  CIRCULAR_DEPENDENCY: 400,
  INVALID_ENSEMBLE: 400,
  INVALID_WEBHOOK: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  ORIGIN_NOT_ALLOWED: 403,
  HOST_NOT_ALLOWED: 403,
  NOT_FOUND: 404,
  RUN_NOT_FOUND: 404,
  BUILD_NOT_FOUND: 404,
  SCHEDULE_NOT_FOUND: 404,
  REVIEW_NOT_FOUND: 404,
  THREAD_NOT_FOUND: 404,
  TOOL_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  NOT_ACCEPTABLE: 406,
  REQUEST_TIMEOUT: 408,
  RUN_COMPLETED: 409,
  RUN_NOT_RUNNING: 409,
  RUN_EXISTS: 409,
  SIDE_EFFECTS: 409,
  RUN_NOT_REPLAYABLE: 409,
  STEPS_NOT_RETAINED: 409,
  THREAD_EXISTS: 409,
  THREAD_BUSY: 409,
  SCHEDULE_EXISTS: 409,
  SCHEDULE_READ_ONLY: 409,
  SCHEDULE_LIMIT: 409,
  REVIEW_RESOLVED: 409,
  IDEMPOTENCY_CONFLICT: 409,
  CURSOR_PAST_END: 409,
  PAYLOAD_TOO_LARGE: 413,
  EVENT_REFUSED: 422,
  EVENTS_FULL: 429,
  UNSUPPORTED_MEDIA_TYPE: 415,
  SPEND_LIMIT: 429,
  HEADERS_TOO_LARGE: 431,
  CONCURRENCY_LIMIT: 429,
  RATE_LIMITED: 429,
  INTERNAL: 500,
  TOOL_EXECUTION_FAILED: 500,
  NOT_CONFIGURED: 503,
  DRAINING: 503,
  STORE_UNAVAILABLE: 503,
  ENSEMBLE_UNAVAILABLE: 503,
  QUERY_TOO_SLOW: 503,
  OVERLOADED: 503,
  NOT_CONFIRMED: 504,
}

const FAILURES = [
  'MODEL_FAILED',
  'MODEL_REFUSED',
  'OUTPUT_TRUNCATED',
  'OUTPUT_EMPTY',
  'CONTENT_FILTERED',
  'TOOL_CONFIGURATION',
  'ITERATION_LIMIT',
  'TASK_TIMEOUT',
  'TASK_FAILED',
  'COMPENSATION_FAILED',
  'REQUEST_REJECTED',
  'OUTPUT_INVALID',
  'GUARDRAIL_VIOLATION',
  'BUDGET_EXCEEDED',
  'INPUT_MISSING',
  'INPUT_TOO_LARGE',
  'CANCELLED',
  'ENGINE_FAILED',
  'TOOL_INPUT_INVALID',
  'TOOL_TIMEOUT',
  'TOOL_FAILED',
  'TOOL_REJECTED',
  'EXIT_EARLY',
  'TOOL_UNKNOWN',
  'CONFIG_INVALID',
  'INTERRUPTED',
  'PROCESS_LOST',
  'QUEUE_TIMEOUT',
  'REPLAY_MISMATCH',
  'RUN_TOO_LARGE',
  'RUN_UNREADABLE',
  'STORE_REFUSED',
  'FENCED',
  'STORE_LOCKED',
  'SCHEMA_TOO_NEW',
  'REVIEW_REJECTED',
  'REVIEW_TIMEOUT',
  'RATE_LIMIT_TIMEOUT',
  'CONSTRAINT_VIOLATION',
]

describe('ERROR_CODES', () => {
  it('ERROR_CODES is pinned with its statuses', () => {
    const statuses = Object.entries(ERROR_CODES).map(([code, { status }]) => [code, status])
    expect(Object.fromEntries(statuses)).toEqual(STATUSES)
  })

  it('ERROR_CODES marks no client error as retryable except a request that was too slow to arrive', () => {
    const mistakes = Object.entries(ERROR_CODES).filter(([, { status }]) => status < 409)
    expect(mistakes.filter(([, { retryable }]) => retryable).map(([code]) => code)).toEqual([
      'REQUEST_TIMEOUT',
    ])
  })
})

describe('FAILURE_CODES', () => {
  it('FAILURE_CODES is pinned', () => {
    expect(Object.keys(FAILURE_CODES)).toEqual(FAILURES)
  })

  it('FAILURE_CODES shares no name with ERROR_CODES', () => {
    expect(FAILURES.filter(isErrorCode)).toEqual([])
  })
})

describe('every meaning', () => {
  it('Every meaning is one sentence without a full stop', () => {
    for (const { meaning } of [...Object.values(ERROR_CODES), ...Object.values(FAILURE_CODES)]) {
      expect(meaning).toMatch(/^[A-Z].*[^.]$/)
    }
  })
})

describe('isErrorCode and isFailureCode', () => {
  it('isErrorCode and isFailureCode recognize their own codes and no inherited names', () => {
    expect(isErrorCode('BAD_REQUEST')).toBe(true)
    expect(isErrorCode('MODEL_FAILED')).toBe(false)
    expect(isFailureCode('MODEL_FAILED')).toBe(true)
    expect(isErrorCode('constructor')).toBe(false)
    expect(isFailureCode('__proto__')).toBe(false)
  })
})
