import { describe, expect, it } from 'vitest'

import { taskWishes } from './task-wishes.ts'

import type { TaskRequest } from '@tutti/protocol'

function request(more: Partial<TaskRequest> = {}): TaskRequest {
  return { type: 'task_request', requestId: 'r', from: 'kitchen', task: 'band', ...more }
}

describe('taskWishes', () => {
  it('wants to be told, and no more, when nothing is said', () => {
    expect(taskWishes(request())).toEqual({ reports: true })
    expect(taskWishes(request({ priority: 'HIGH', cachePolicy: 'FORCE_FRESH' }))).toEqual({
      reports: true,
    })
  })

  it.each([
    ['WEBSOCKET', true],
    ['NONE', false],
  ] as const)('takes the delivery %s', (method, reports) => {
    expect(taskWishes(request({ delivery: { method } }))).toEqual({ reports })
  })

  it.each(['QUEUE', 'TOPIC', 'WEBHOOK', 'STORE', 'BROADCAST_CLAIM'] as const)(
    'refuses the delivery %s',
    (method) => {
      expect(() => taskWishes(request({ delivery: { method } }))).toThrow(
        `/delivery/method must be WEBSOCKET or NONE: this server delivers in no other way, got "${method}"`,
      )
    },
  )

  it('reads a deadline', () => {
    expect(taskWishes(request({ deadline: 'PT1.5S' }))).toEqual({
      reports: true,
      deadlineMs: 1_500,
    })
  })

  it.each([
    ['no age', undefined, Infinity],
    ['seconds', 90, 90_000],
    ['no time', 0, 0],
    ['a duration', 'PT1H', 3_600_000],
  ] as const)('reads %s of a cached result', (_title, maxAge, maxAgeMs) => {
    const aged = maxAge === undefined ? {} : { maxAge }
    expect(taskWishes(request({ cachePolicy: 'USE_CACHED', cacheKey: 'k', ...aged }))).toEqual({
      reports: true,
      cacheKey: 'k',
      maxAgeMs,
    })
  })

  it('looks for no cached result where a fresh one is wanted, and keeps its key', () => {
    const fresh = request({ cachePolicy: 'FORCE_FRESH', cacheKey: 'k', maxAge: 9 })
    expect(taskWishes(fresh)).toEqual({ reports: true, cacheKey: 'k' })
    expect(taskWishes(request({ cacheKey: 'k' }))).toEqual({ reports: true, cacheKey: 'k' })
  })

  it('names every wish that cannot be met', () => {
    const all = request({
      deadline: 'PT0S',
      maxAge: 'P1Y',
      delivery: { method: 'QUEUE' },
      cachePolicy: 'USE_CACHED',
    })
    expect(() => taskWishes(all)).toThrow(
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
