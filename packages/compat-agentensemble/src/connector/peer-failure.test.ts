import { describe, expect, it } from 'vitest'

import { createNameFailure, toErrorFailure, toResponseFailure } from './peer-failure.ts'

const ASKED = { kind: 'task', name: 'sing' } as const

describe('toResponseFailure', () => {
  it.each([
    ['INVALID_ENSEMBLE: Unknown', 'configuration', false],
    ['TOOL_NOT_FOUND: Unknown', 'configuration', false],
    ['NOT_CONFIGURED: None', 'configuration', false],
    ['FORBIDDEN: No', 'configuration', false],
    ['BAD_REQUEST: /context', 'agent_failed', false],
    ['IDEMPOTENCY_CONFLICT: Other', 'agent_failed', false],
    ['CONCURRENCY_LIMIT: Full', 'agent_failed', true],
    ['DRAINING: Later', 'agent_failed', true],
    ['TEAPOT: Short', 'agent_failed', false],
    ['We are closed', 'agent_failed', false],
  ])('toResponseFailure maps the rejection %s to %s', (error, failureType, retryable) => {
    const response = { type: 'task_response', requestId: 'r', status: 'REJECTED', error } as const
    expect(toResponseFailure(response, ASKED)).toMatchObject({
      failureType,
      retryable,
      message: `The peer rejected the task "sing": ${error}`,
    })
  })

  it('toResponseFailure does not retry a failure whose text looks like an error code', () => {
    const error = 'CONCURRENCY_LIMIT: only a text'
    const response = { type: 'tool_response', requestId: 'r', status: 'FAILED', error } as const
    expect(toResponseFailure(response, { kind: 'tool', name: 'saw' })).toMatchObject({
      failureType: 'agent_failed',
      retryable: false,
      message: `The tool "saw" of the peer failed: ${error}`,
    })
  })
})

describe('toErrorFailure', () => {
  it('toErrorFailure sets retryAfterMs only when the peer does', () => {
    const error = { type: 'error', error: 'INTERNAL', message: 'Lost' } as const
    expect(toErrorFailure(error, ASKED)).toMatchObject({
      retryable: true,
      retryAfterMs: undefined,
      message: 'The peer could not execute the task "sing": INTERNAL: Lost',
    })
    expect(toErrorFailure({ ...error, retryAfterMs: 5 }, ASKED)).toMatchObject({ retryAfterMs: 5 })
  })
})

describe('createNameFailure', () => {
  it('createNameFailure lists the shared names and suggests a similar one', () => {
    const shared = [{ name: 'sing', type: 'TASK' }] as const
    expect(createNameFailure('xylophone', shared).message).toBe(
      'The peer does not share "xylophone"; tasks: [sing], tools: []',
    )
    expect(createNameFailure('sign', shared).message).toMatch(/Did you mean "sing"\?$/)
  })
})
