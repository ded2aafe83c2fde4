import { describe, expect, it } from 'vitest'

import { nameFailure, refusalFailure, unansweredFailure } from './peer-failure.ts'

const ASKED = { kind: 'task', name: 'sing' } as const

describe('a rejection', () => {
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
  ])('%s is a %s', (error, failureType, retryable) => {
    const response = { type: 'task_response', requestId: 'r', status: 'REJECTED', error } as const
    expect(unansweredFailure(response, ASKED)).toMatchObject({
      failureType,
      retryable,
      message: `The peer rejected the task "sing": ${error}`,
    })
  })
})

describe('a failure', () => {
  it('is of the agent, and not asked for again, whatever its text looks like', () => {
    const error = 'CONCURRENCY_LIMIT: no, it is a text'
    const response = { type: 'tool_response', requestId: 'r', status: 'FAILED', error } as const
    expect(unansweredFailure(response, { kind: 'tool', name: 'saw' })).toMatchObject({
      failureType: 'agent_failed',
      retryable: false,
      message: `The tool "saw" of the peer failed: ${error}`,
    })
  })
})

describe('an error', () => {
  it('says when to come again only when the peer does', () => {
    const error = { type: 'error', error: 'INTERNAL', message: 'Lost' } as const
    expect(refusalFailure(error, ASKED)).toMatchObject({
      retryable: true,
      retryAfterMs: undefined,
      message: 'The peer could not execute the task "sing": INTERNAL: Lost',
    })
    expect(refusalFailure({ ...error, retryAfterMs: 5 }, ASKED)).toMatchObject({ retryAfterMs: 5 })
  })
})

describe('a name that a peer does not share', () => {
  it('is answered with what there is, and a hint when one is near', () => {
    const shared = [{ name: 'sing', type: 'TASK' }] as const
    expect(nameFailure('xylophone', shared).message).toBe(
      'The peer does not share "xylophone"; tasks: [sing], tools: []',
    )
    expect(nameFailure('sign', shared).message).toMatch(/Did you mean "sing"\?$/)
  })
})
