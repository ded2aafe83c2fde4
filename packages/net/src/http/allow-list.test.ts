import { describe, expect, it } from 'vitest'

import { parseAllowList, canonicalizeHost } from './allow-list.ts'

describe('parseAllowList', () => {
  it('[NET-G4] parseAllowList allows a host on every port', () => {
    const list = parseAllowList(['api.internal', 'LOCALHOST.'])
    expect(list.portsOf('api.internal')).toBe('all')
    expect(list.portsOf('localhost')).toBe('all')
    expect(list.portsOf('www.api.internal')).toBeUndefined()
    expect(list.portsOf('internal')).toBeUndefined()
  })

  it('[NET-G4] parseAllowList allows a host only on the ports of its rules', () => {
    const list = parseAllowList(['localhost:8080', 'localhost:80', 'bücher.example:65535'])
    expect(list.portsOf('localhost')).toEqual(new Set([8080, 80]))
    expect(list.portsOf('xn--bcher-kva.example')).toEqual(new Set([65_535]))
  })

  it('[NET-G4] parseAllowList allows every port of a host that has rules with and without a port', () => {
    expect(parseAllowList(['localhost:8080', 'localhost']).portsOf('localhost')).toBe('all')
    expect(parseAllowList(['localhost', 'localhost:8080']).portsOf('localhost')).toBe('all')
  })

  it('[NET-G4] parseAllowList allows addresses', () => {
    const list = parseAllowList(['10.0.0.5', 'fd00::5', '[fd00::6]', '0x7f.1'])
    expect(list.hasAddress('10.0.0.5')).toBe(true)
    expect(list.hasAddress('10.0.0.6')).toBe(false)
    expect(list.hasAddress('fd00:0:0::5')).toBe(true)
    expect(list.hasAddress('fd00::6')).toBe(true)
    expect(list.hasAddress('fd00::7')).toBe(false)
    expect(list.hasAddress('127.0.0.1')).toBe(true)
    expect(list.hasAddress('localhost')).toBe(false)
  })

  it('[NET-G4] parseAllowList allows an address with a port in a URL, but not as a result of DNS', () => {
    const list = parseAllowList(['10.0.0.5:8080', '[::1]:81'])
    expect(list.portsOf('10.0.0.5')).toEqual(new Set([8080]))
    expect(list.portsOf('::1')).toEqual(new Set([81]))
    expect(list.hasAddress('10.0.0.5')).toBe(false)
  })

  it('[NET-G4] parseAllowList allows blocks', () => {
    const list = parseAllowList(['192.168.0.0/16', 'fe80::/10', '10.0.0.1/32', '::/0'])
    expect(list.hasAddress('192.168.255.255')).toBe(true)
    expect(list.hasAddress('192.169.0.0')).toBe(false)
    expect(list.hasAddress('fe80::1%eth0')).toBe(true)
    expect(list.hasAddress('10.0.0.1')).toBe(true)
    expect(list.hasAddress('10.0.0.2')).toBe(false)
    expect(list.hasAddress('::ffff:192.168.0.1')).toBe(true)
  })

  it('parseAllowList allows nothing without rules', () => {
    const list = parseAllowList([])
    expect(list.portsOf('localhost')).toBeUndefined()
    expect(list.hasAddress('127.0.0.1')).toBe(false)
  })

  it.each([
    '',
    ' ',
    '.',
    'http://localhost',
    'localhost/',
    'localhost:',
    'localhost:0',
    'localhost:65536',
    'localhost:80:90',
    'user@localhost',
    'local host',
    '*',
    '*.internal',
    'a?b',
    'a#b',
    '[::1',
    '[::1]x',
    'fe80::1%eth0',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '10.0.0.0/8:80',
    'fd00::/129',
    'localhost/8',
    '256.1.1.1',
    'a%2eb',
    'a\\b',
  ])('parseAllowList refuses %j as a rule', (rule) => {
    expect(() => parseAllowList([rule])).toThrow(TypeError)
  })

  it('parseAllowList names every invalid rule', () => {
    expect(() => parseAllowList(['http://a', 'localhost', '*'])).toThrow(
      'Cannot allow "http://a", "*": expected a host, host:port, address, [address]:port or block such as 10.0.0.0/8',
    )
  })
})

describe('canonicalizeHost', () => {
  it.each([
    ['LocalHost', 'localhost'],
    ['localhost.', 'localhost'],
    ['localhost..', 'localhost'],
    ['[::1]', '::1'],
    ['::1', '::1'],
    ['10.0.0.1', '10.0.0.1'],
    ['.', ''],
  ])('canonicalizeHost converts %s to %s', (host, written) => {
    expect(canonicalizeHost(host)).toBe(written)
  })
})
