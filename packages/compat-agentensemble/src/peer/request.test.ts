import { describe, expect, it } from 'vitest'

import { readPeerTrace, readDelivery } from './request.ts'

import type { TaskRequest } from '@tutti/protocol/internal'

function request(more: Partial<TaskRequest> = {}): TaskRequest {
  return { type: 'task_request', requestId: 'r', from: 'kitchen', task: 'band', ...more }
}

describe('readDelivery', () => {
  it('readDelivery reports over the connection, and requests no other delivery, by default', () => {
    expect(readDelivery(request())).toEqual({ isReported: true })
    expect(readDelivery(request({ priority: 'HIGH', cachePolicy: 'FORCE_FRESH' }))).toEqual({
      isReported: true,
    })
  })

  it.each([
    ['WEBSOCKET', true],
    ['NONE', false],
  ] as const)('readDelivery accepts the delivery %s', (method, isReported) => {
    expect(readDelivery(request({ delivery: { method } }))).toEqual({ isReported })
  })

  it.each(['QUEUE', 'TOPIC', 'WEBHOOK', 'STORE', 'BROADCAST_CLAIM'] as const)(
    'readDelivery rejects the delivery %s',
    (method) => {
      expect(() => readDelivery(request({ delivery: { method } }))).toThrow(
        `/delivery/method must be WEBSOCKET or NONE, got "${method}"`,
      )
    },
  )

  it('readDelivery reads a deadline', () => {
    expect(readDelivery(request({ deadline: 'PT1.5S' }))).toEqual({
      isReported: true,
      deadlineMs: 1_500,
    })
  })

  it.each([
    ['no age', undefined, Infinity],
    ['seconds', 90, 90_000],
    ['no time', 0, 0],
    ['a duration', 'PT1H', 3_600_000],
  ] as const)(
    'readDelivery reads %s as the maximum age of a cached result',
    (_title, maxAge, maxAgeMs) => {
      const aged = maxAge === undefined ? {} : { maxAge }
      expect(readDelivery(request({ cachePolicy: 'USE_CACHED', cacheKey: 'k', ...aged }))).toEqual({
        isReported: true,
        cacheKey: 'k',
        maxAgeMs,
      })
    },
  )

  it('readDelivery uses no cached result if a fresh one is requested, and keeps its key', () => {
    const fresh = request({ cachePolicy: 'FORCE_FRESH', cacheKey: 'k', maxAge: 9 })
    expect(readDelivery(fresh)).toEqual({ isReported: true, cacheKey: 'k' })
    expect(readDelivery(request({ cacheKey: 'k' }))).toEqual({ isReported: true, cacheKey: 'k' })
  })

  it('readDelivery reports every problem at once', () => {
    const all = request({
      deadline: 'PT0S',
      maxAge: 'P1Y',
      delivery: { method: 'QUEUE' },
      cachePolicy: 'USE_CACHED',
    })
    expect(() => readDelivery(all)).toThrow(
      expect.objectContaining({
        code: 'BAD_REQUEST',
        details: {
          problems: [
            expect.objectContaining({ path: '/deadline' }),
            expect.objectContaining({ path: '/maxAge' }),
            expect.objectContaining({ path: '/delivery/method' }),
            expect.objectContaining({ path: '/cacheKey' }),
          ],
        },
      }),
    )
  })
})

it('The peer request reader ignores an invalid traceparent', () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  expect(readPeerTrace({ traceContext: { traceparent } })).toEqual({ traceparent })
  expect(readPeerTrace({ traceContext: { traceparent: 'x' } })).toEqual({})
  expect(readPeerTrace({})).toEqual({})
})
