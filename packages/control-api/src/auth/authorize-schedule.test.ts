import { fakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { scheduleAuthorizer } from './authorize-schedule.ts'
import { apiKey } from './keys.ts'

import type { RunService } from '@tutti/runs'

const clock = fakeClock()
const unread = () => Promise.reject(new Error('No thread is read'))
// NOTE: the subject reads only these.
const runs = () => ({ threads: { get: unread }, list: unread }) as unknown as RunService

describe('scheduleAuthorizer', () => {
  it('scheduleAuthorizer allows every schedule where no keys are set', async () => {
    expect(await scheduleAuthorizer({ clock, runs })(undefined, {})).toBeUndefined()
  })

  it('scheduleAuthorizer returns the quota of the key that saved the schedule', async () => {
    const limits = { maxUnfinishedRuns: 2 }
    const apiKeys = [apiKey('a'.repeat(20), { name: 'ci', scopes: ['runs:write'], limits })]
    const authorize = scheduleAuthorizer({ apiKeys, clock, runs })
    expect(await authorize('ci', {})).toEqual({ actor: 'ci', maxUnfinishedRuns: 2 })
  })

  it('scheduleAuthorizer refuses a key that was removed, has expired, or lost its scope, and a schedule without a key', async () => {
    const apiKeys = [
      apiKey('a'.repeat(20), { name: 'old', expiresAt: clock.now() }),
      apiKey('b'.repeat(20), { name: 'reader', scopes: ['runs:read'] }),
    ]
    const authorize = scheduleAuthorizer({ apiKeys, clock, runs })
    const cases = [
      ['gone', 'Key "gone", which saved the schedule, no longer exists'],
      ['old', 'Key "old" has expired'],
      ['reader', 'Key "reader" lacks the scope runs:write'],
      [undefined, 'The schedule was saved without a key'],
    ] as const
    for (const [actor, message] of cases) {
      await expect(authorize(actor, {})).rejects.toMatchObject({
        code: 'FORBIDDEN',
        message: expect.stringContaining(message),
      })
    }
  })

  it('scheduleAuthorizer refuses webhooks that the server does not have', async () => {
    const authorize = scheduleAuthorizer({ webhooks: { ops: {} }, clock, runs })
    expect(await authorize(undefined, { webhooks: ['ops'] })).toBeUndefined()
    await expect(authorize(undefined, { webhooks: ['x'] })).rejects.toMatchObject({
      code: 'INVALID_WEBHOOK',
    })
  })
})
