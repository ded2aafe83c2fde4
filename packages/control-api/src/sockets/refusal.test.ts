import { describe, expect, it } from 'vitest'

import { toMalformedRefusal, toMessageRefusal } from './refusal.ts'

import type { WireError } from '@tutti/gateway/internal'
import type { ClientMessage, ErrorCode } from '@tutti/protocol'

function failure(error: ErrorCode, status: number): WireError {
  return { status, body: { error, message: 'Why' } }
}

const SWITCH: ClientMessage = {
  type: 'run_control',
  runId: 'run-1',
  action: 'switch_model',
  model: 'x',
}

describe('toMessageRefusal', () => {
  it.each([
    ['RUN_NOT_FOUND', 404, 'NOT_FOUND'],
    ['RUN_COMPLETED', 409, 'NOT_RUNNING'],
    ['INVALID_MODEL', 400, 'INVALID_MODEL'],
    ['NOT_CONFIGURED', 503, 'NOT_CONFIGURED'],
    ['BAD_REQUEST', 400, 'REJECTED'],
  ] as const)(
    'toMessageRefusal acknowledges a run_control that fails with %s %i as %s',
    (code, status, word) => {
      expect(toMessageRefusal(failure(code, status), SWITCH)).toEqual({
        type: 'run_control_ack',
        runId: 'run-1',
        action: 'switch_model',
        status: word,
        message: 'Why',
      })
    },
  )

  it.each([
    ['BAD_REQUEST', 400],
    ['RUN_NOT_FOUND', 404],
    ['NOT_CONFIGURED', 503],
  ] as const)(
    'toMessageRefusal acknowledges a directive that fails with %s %i as REJECTED',
    (code, status) => {
      expect(toMessageRefusal(failure(code, status), { type: 'directive' })).toEqual({
        type: 'directive_ack',
        directiveId: null,
        status: 'REJECTED',
        message: 'Why',
      })
    },
  )

  it('toMessageRefusal reports an internal error as error, even for messages with an acknowledgement', () => {
    const fault: WireError = {
      status: 503,
      body: { error: 'STORE_UNAVAILABLE', message: 'Away', retryAfterMs: 5_000 },
    }
    for (const message of [SWITCH, { type: 'directive' } as const, undefined]) {
      expect(toMessageRefusal(fault, message)).toEqual({ type: 'error', ...fault.body })
    }
  })

  it('toMessageRefusal repeats the request id of the message', () => {
    const query: ClientMessage = { type: 'state_query', requestId: 'q-1', query: 'runs' }
    expect(toMessageRefusal(failure('INTERNAL', 500), query)).toMatchObject({
      type: 'error',
      requestId: 'q-1',
    })
    expect(
      toMessageRefusal(failure('CONCURRENCY_LIMIT', 429), {
        type: 'run_request',
        requestId: 'q-2',
      }),
    ).toMatchObject({
      type: 'run_ack',
      status: 'REJECTED',
      error: 'CONCURRENCY_LIMIT',
      message: 'Why',
      requestId: 'q-2',
    })
  })
})

describe('toMalformedRefusal', () => {
  it('toMalformedRefusal rejects an invalid run_request with a run_ack and its request id', () => {
    const head = { type: 'run_request', requestId: 'q-1' }
    expect(toMalformedRefusal(failure('BAD_REQUEST', 400), head)).toEqual({
      type: 'run_ack',
      status: 'REJECTED',
      tasks: 0,
      error: 'BAD_REQUEST',
      message: 'Why',
      requestId: 'q-1',
    })
  })

  it('toMalformedRefusal replies to other invalid messages with an error, and their request id if they have one', () => {
    const wire = failure('BAD_REQUEST', 400)
    const head = { type: 'state_query', requestId: 'q-2' }
    expect(toMalformedRefusal(wire, head)).toMatchObject({ type: 'error', requestId: 'q-2' })
    expect(toMalformedRefusal(wire, {})).toEqual({
      type: 'error',
      error: 'BAD_REQUEST',
      message: 'Why',
    })
  })
})
