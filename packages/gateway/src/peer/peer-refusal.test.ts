import { describe, expect, it } from 'vitest'

import { peerRefusal } from './peer-refusal.ts'

describe('peerRefusal', () => {
  it.each([
    ['TOOL_NOT_FOUND', 404, 'REJECTED'],
    ['CONCURRENCY_LIMIT', 429, 'REJECTED'],
    ['NOT_CONFIGURED', 503, 'REJECTED'],
    ['TOOL_EXECUTION_FAILED', 500, 'FAILED'],
    ['INTERNAL', 500, 'FAILED'],
  ] as const)('%s with status %i is %s', (error, status, word) => {
    const refused = peerRefusal(
      { status, body: { error, message: 'Why' } },
      { type: 'tool_request', requestId: 'r', from: 'kitchen', tool: 'x' },
    )
    expect(refused).toEqual({
      type: 'tool_response',
      requestId: 'r',
      status: word,
      error: `${error}: Why`,
    })
  })

  it('answers the request for a task in kind', () => {
    const refused = peerRefusal(
      { status: 400, body: { error: 'BAD_REQUEST', message: 'Why' } },
      { type: 'task_request', requestId: 'r', from: 'kitchen', task: 'x' },
    )
    expect(refused).toMatchObject({ type: 'task_response', requestId: 'r', status: 'REJECTED' })
  })
})
