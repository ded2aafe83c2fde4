import { describe, expect, it } from 'vitest'

import { isLoopback } from './loopback.ts'

describe('a loopback host', () => {
  it.each([
    'localhost',
    'LocalHost',
    'localhost.',
    'app.localhost',
    '127.0.0.1',
    '127.255.255.254',
    '::1',
    '[::1]',
    '::ffff:127.0.0.1',
    '::FFFF:127.0.0.1',
    '[::ffff:7f00:1]',
  ])('A loopback host is recognized as %s', (host) => {
    expect(isLoopback(host)).toBe(true)
  })

  it.each([
    '',
    '0.0.0.0',
    '::',
    '127.0.0',
    '127.0.0.256',
    '128.0.0.1',
    '10.127.0.0.1',
    '127.0.0.1.example.com',
    'localhost.example.com',
    'notlocalhost',
    'localhost:7329',
    '::ffff:10.0.0.1',
    '[::ffff:a00:1]',
    '::11',
    'unknown',
  ])('A loopback host is not %j', (host) => {
    expect(isLoopback(host)).toBe(false)
  })
})
