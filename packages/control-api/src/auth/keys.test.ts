import { fakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { RateLimits } from './rate-limits.ts'
import { apiKey, createCaller, DEFAULT_SCOPES, createKeyLookup } from './keys.ts'

const KEY = 'a-key-of-some-length'

describe('apiKey', () => {
  it('apiKey stores the hash of a key but not the key', () => {
    const entry = apiKey(KEY, { name: 'a' })
    expect(entry.sha256).toMatch(/^[\da-f]{64}$/)
    expect(JSON.stringify(entry)).not.toContain(KEY)
  })
})

describe('createKeyLookup', () => {
  it('createKeyLookup finds a key, also by a hash in upper case, and refuses unknown and expired keys', () => {
    const { sha256 } = apiKey(KEY, { name: 'a' })
    const lookUp = createKeyLookup([
      { name: 'a', sha256: sha256.toUpperCase() },
      apiKey('another-key-of-length', { name: 'b', expiresAt: 10 }),
    ])
    expect(lookUp(KEY, 0).name).toBe('a')
    expect(lookUp('another-key-of-length', 9).name).toBe('b')
    expect(() => lookUp('another-key-of-length', 10)).toThrow('Key "b" has expired')
    expect(() => lookUp(`${KEY} `, 0)).toThrow('Unknown key')
    expect(() => lookUp('', 0)).toThrow('Unknown key')
  })
})

describe('createCaller', () => {
  it('createCaller gives the caller the scopes of its key, or by default all but admin', () => {
    expect([...caller({}).scopes]).toEqual(DEFAULT_SCOPES)
    expect(DEFAULT_SCOPES).not.toContain('admin')
    expect([...caller({ scopes: [] }).scopes]).toEqual([])
  })

  it('createCaller throws instead of counting when its key has expired', () => {
    expect(() => caller({ expiresAt: clock.now() + 1 }).count()).not.toThrow()
    expect(() => caller({ expiresAt: clock.now() }).count()).toThrow('has expired')
  })

  it('A caller is refused requests above the limit of its key, with the time of the next allowed one', async () => {
    const limited = caller({ limits: { requestsPerMinute: 2 } })
    limited.count()
    limited.count()
    const refused = expect.objectContaining({
      code: 'RATE_LIMITED',
      message: 'Key "a" has reached its limit of 2 requests per minute',
      retryable: true,
      details: { retryAfterMs: 30_000, reason: 'requests_of_key' },
    })
    expect(() => limited.count()).toThrow(refused)
    await clock.advance(30_000)
    limited.count()
    expect(() => limited.count()).toThrow(refused)
  })

  it('A caller with a key without a request limit is not limited', () => {
    const unlimited = caller({ limits: { maxUnfinishedRuns: 1 } })
    for (let n = 0; n < 1_000; n += 1) expect(() => unlimited.count()).not.toThrow()
  })

  it('A caller has a quota for the last 24 hours when its key has limits', () => {
    expect(caller({}).quota()).toBeUndefined()
    expect(caller({ limits: { requestsPerMinute: 1 } }).quota()).toBeUndefined()
    expect(caller({ limits: { maxUnfinishedRuns: 0, maxCostUsdPerDay: 5 } }).quota()).toEqual({
      actor: 'a',
      maxUnfinishedRuns: 0,
      spend: { maxCostUsd: 5, since: clock.now() - 86_400_000 },
    })
    expect(caller({ limits: { maxPriority: 'low' } }).quota()).toEqual({
      actor: 'a',
      maxPriority: 'low',
    })
  })
})

const clock = fakeClock()

function caller(entry: Partial<Parameters<typeof createCaller>[0]>) {
  const key = { ...apiKey(KEY, { name: 'a' }), ...entry }
  return createCaller(key, { remoteAddress: undefined, clock, rates: new RateLimits(clock) })
}
