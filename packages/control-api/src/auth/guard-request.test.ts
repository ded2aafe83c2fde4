import { silentLogger } from '@tutti/core/internal'
import { fakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { apiKey } from './keys.ts'
import { createSigner } from '../secrets/signer.ts'
import { createRequestGuard, type GuardOptions, type RequestInfo } from './guard-request.ts'

describe('createRequestGuard', () => {
  it('[API-K2] createRequestGuard lets pages of the local machine call a server on loopback only', () => {
    const facts = { host: 'localhost:7329', origin: 'http://localhost:5173' }
    expect(guard({ isLocal: true }).allowsOrigin(facts)).toBe(true)
    const elsewhere = guard({ isLocal: false, allowedHosts: ['tutti.example'] })
    expect(elsewhere.allowsOrigin(facts)).toBe(false)
    expect(elsewhere.allowsOrigin({ ...facts, origin: 'http://localhost:7329' })).toBe(true)
    expect(elsewhere.allowsOrigin({ ...facts, origin: 'https://tutti.example' })).toBe(true)
  })

  it('[API-K2] createRequestGuard compares allowed origins exactly', () => {
    const { allowsOrigin } = guard({ allowedOrigins: ['https://a.example'] })
    const allows = (origin: string) => allowsOrigin({ host: 'localhost', origin })
    expect(allows('https://a.example')).toBe(true)
    expect(allows('https://A.example')).toBe(false)
    expect(allows('https://b.a.example')).toBe(false)
  })

  it('[API-K1] createRequestGuard accepts any IP address but no unknown name as Host of a server that is not on loopback', () => {
    const at = (host: string, isLocal: boolean) => () =>
      guard({ isLocal, allowedHosts: ['box'] }).assertSite({ ...FACTS, host })
    for (const host of ['192.168.1.5:7329', '[2001:db8::1]:7329', 'box:7329', 'localhost']) {
      expect(at(host, false)).not.toThrow()
    }
    expect(at('evil.example', false)).toThrow('allowedHosts adds names')
    expect(at('192.168.1.5', true)).toThrow('allowedHosts adds names')
  })

  it('[API-K1] createRequestGuard refuses an unknown Host after requests with accepted ones', () => {
    const { assertSite } = guard({})
    const at = (host: string | undefined) => () => assertSite({ ...FACTS, host })
    for (let port = 1; port <= 200; port += 1) expect(at(`localhost:${port}`)).not.toThrow()
    for (const host of ['evil.example', 'localhost:1.evil.example', '', undefined]) {
      expect(at(host)).toThrow('allowedHosts adds names')
    }
    expect(at('localhost:201')).not.toThrow()
  })

  it('[API-K1] createRequestGuard refuses a malformed Host, even if a URL with it names an allowed host', () => {
    const hosts = [
      'evil@localhost',
      'localhost/x',
      'localhost?x',
      'localhost#x',
      'localhost\t',
      ' ',
    ]
    for (const allowedHosts of [[], ['*']]) {
      for (const host of hosts) {
        expect(() => guard({ allowedHosts }).assertSite({ ...FACTS, host })).toThrow(
          'allowedHosts adds names',
        )
      }
    }
  })

  it('[API-K1] createRequestGuard accepts every well-formed Host when "*" is allowed', () => {
    const { assertSite } = guard({ allowedHosts: ['*'] })
    for (const host of ['any.example', 'any.example:8080', '192.168.1.5', '[2001:db8::1]:80']) {
      expect(() => assertSite({ ...FACTS, host })).not.toThrow()
    }
  })

  it('[API-K3] createRequestGuard ignores a ticket on routes that do not accept tickets', () => {
    const { identify } = guard({ apiKeys: [apiKey('a-key-of-some-length', { name: 'a' })] })
    const with_ = { ...FACTS, ticket: 'x' }
    expect(() => identify(with_, { takesTicket: false })).toThrow('A key is required')
    expect(() => identify(with_, { takesTicket: true })).toThrow('not issued by this server')
  })

  it('[API-K4] createRequestGuard counts each address separately', () => {
    const { identify } = guard({
      apiKeys: [apiKey('a-key-of-some-length', { name: 'a' })],
      maxRefusedKeysPerMinute: 1,
    })
    const from = (remoteAddress: string) => () =>
      identify({ ...FACTS, remoteAddress }, { takesTicket: false })
    expect(from('::1')).toThrow('A key is required')
    expect(from('::1')).toThrow('Too many requests')
    expect(from('::2')).toThrow('A key is required')
  })
})

const FACTS: RequestInfo = {
  path: '/api/runs',
  method: 'GET',
  host: 'localhost',
  origin: undefined,
  fetchSite: undefined,
  authorization: undefined,
  ticket: undefined,
  remoteAddress: '127.0.0.1',
}

function guard(options: Partial<GuardOptions>) {
  return createRequestGuard({
    allowedHosts: [],
    allowedOrigins: [],
    apiKeys: [],
    maxRefusedKeysPerMinute: 300,
    ticketTtlMs: 60_000,
    signer: createSigner('a secret of a test, long enough'),
    clock: fakeClock(),
    logger: silentLogger,
    isLocal: true,
    ...options,
  })
}
