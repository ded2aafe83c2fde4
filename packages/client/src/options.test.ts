import { afterEach, describe, expect, it, vi } from 'vitest'

import { resolveClientOptions } from './options.ts'

const baseUrl = 'http://127.0.0.1:7329'

afterEach(() => {
  vi.unstubAllGlobals()
})

describe('resolveClientOptions', () => {
  it('resolveClientOptions fills in the defaults', () => {
    const { timeoutMs, reconnect } = resolveClientOptions({ baseUrl })
    expect(timeoutMs).toBe(30_000)
    expect(reconnect).toEqual({
      baseDelayMs: 250,
      maxDelayMs: 10_000,
      maxRetries: Infinity,
      idleTimeoutMs: 45_000,
    })
  })

  it.each([
    ['http://127.0.0.1:7329', 'http://127.0.0.1:7329'],
    ['http://127.0.0.1:7329/', 'http://127.0.0.1:7329'],
    ['https://example.org/tutti//', 'https://example.org/tutti'],
    [new URL('https://EXAMPLE.org:443/a'), 'https://example.org/a'],
  ])('resolveClientOptions accepts the base %s', (given, expected) => {
    expect(resolveClientOptions({ baseUrl: given }).baseUrl).toBe(expected)
  })

  it('resolveClientOptions resolves an address against the page, if there is one', () => {
    vi.stubGlobal('location', { href: 'https://example.org/runs/7?x#y' })
    expect(resolveClientOptions({ baseUrl: '/' }).baseUrl).toBe('https://example.org')
    expect(resolveClientOptions({ baseUrl: '/tutti' }).baseUrl).toBe('https://example.org/tutti')
  })

  it.each(['', '/', 'localhost:7329', 'ws://localhost', 'file:///tmp'])(
    'resolveClientOptions rejects the base %j',
    (given) => {
      expect(() => resolveClientOptions({ baseUrl: given })).toThrow(
        `baseUrl must be an http(s) URL such as "http://127.0.0.1:7329", got "${given}"`,
      )
    },
  )

  it.each(['http://user:secret@host', 'http://host?key=secret', 'http://host#secret'])(
    'resolveClientOptions rejects the base %j without repeating it',
    (given) => {
      expect(() => resolveClientOptions({ baseUrl: given })).toThrow(
        /^(?!.*secret).*must not contain credentials/,
      )
    },
  )

  it.each([
    { timeoutMs: 0 },
    { timeoutMs: Number.NaN },
    { reconnect: { baseDelayMs: -1 } },
    { reconnect: { maxDelayMs: 0 } },
    { reconnect: { maxRetries: -1 } },
    { reconnect: { idleTimeoutMs: 0 } },
  ])('resolveClientOptions rejects %j', (options) => {
    expect(() => resolveClientOptions({ baseUrl, ...options })).toThrow(RangeError)
  })

  it('resolveClientOptions sends the key, and each header under one name', () => {
    const { headers } = resolveClientOptions({ baseUrl, apiKey: 'k-1', headers: { 'X-Team': 'a' } })
    expect(headers).toEqual({ authorization: 'Bearer k-1', 'x-team': 'a' })
  })

  it.each(['', 'two words', 'line\nbreak', 'schlüssel'])(
    'resolveClientOptions rejects the key %j without repeating it',
    (apiKey) => {
      expect(() => resolveClientOptions({ baseUrl, apiKey })).toThrow(
        'apiKey must be non-empty ASCII text without spaces',
      )
    },
  )
})
