import { describe, expect, it } from 'vitest'

import { REDACTED, redactor } from './redactor.ts'

const SECRET = 'p"ss/w\\rd+ü&=€'
const { text, value } = redactor([SECRET, 'sk-1234567890', 'sk-1234567890-long', 'short'])

describe('redactor', () => {
  it('The redactor replaces a secret anywhere, and prefers the longest match', () => {
    expect(text(`a ${SECRET}${SECRET} b`)).toBe(`a ${REDACTED}${REDACTED} b`)
    expect(text('sk-1234567890-long')).toBe(REDACTED)
    expect(text('sk-1234567890-other')).toBe(`${REDACTED}-other`)
  })

  it.each([
    ['JSON', JSON.stringify({ a: SECRET })],
    [
      'JSON in JSON is left to whoever writes it, but not the plain one',
      JSON.stringify('sk-1234567890'),
    ],
    ['a URL', `https://x.example/?key=${encodeURIComponent(SECRET)}`],
    ['a Basic authorization header', Buffer.from(`user:${SECRET}`).toString('base64')],
    ['base64 one byte later', Buffer.from(`users:${SECRET} and more`).toString('base64')],
    ['base64 two bytes later', Buffer.from(`userss:${SECRET}`).toString('base64')],
    ['base64 of URLs', Buffer.from(`user:${SECRET}`).toString('base64url')],
  ])('The redactor finds a secret in %s', (_, given) => {
    const cleaned = text(given)
    expect(cleaned).toContain(REDACTED)
    expect(cleaned).not.toContain('w\\')
    const asBase64 = Buffer.from(cleaned.replace(REDACTED, ''), 'base64').toString()
    expect(asBase64).not.toContain('w\\rd')
  })

  it('The redactor leaves short secrets and ordinary text unchanged', () => {
    const innocent = 'a short story of $ss and sk-123456789'
    expect(text(innocent)).toBe(innocent)
    expect(redactor(['short', '']).text('short')).toBe('short')
    expect(redactor([]).text('anything')).toBe('anything')
  })

  it.each([
    [
      'a URL',
      'to https://x.example/api/event-links/eyJh_b-c.Ab_-9 now',
      'to https://x.example[redacted] now',
    ],
    ['a path in JSON', '{"path":"/api/event-links/eyJh.Ab9"}', '{"path":"[redacted]"}'],
    [
      'another URL',
      'https://y.example?to=https%3A%2F%2Fx%2Fapi%2Fevent-links%2FeyJh.Ab9&a=1',
      'https://y.example?to=https%3A%2F%2Fx[redacted]&a=1',
    ],
    ['a description', 'POST /api/event-links/{token}', 'POST /api/event-links/{token}'],
  ])('The redactor removes the token of an event link from %s', (_, given, expected) => {
    expect(redactor([]).text(given)).toBe(expected)
    expect(value({ a: [given] })).toEqual({ a: [expected] })
  })

  it('The redactor treats pattern characters in secrets literally', () => {
    expect(redactor(['.*.*.*.*']).text('12345678')).toBe('12345678')
    expect(redactor(['(a|b)+$^[x]']).text('-(a|b)+$^[x]-')).toBe(`-${REDACTED}-`)
  })

  it('The redactor replaces secrets in all texts and field names of a value', () => {
    const given = { a: [{ b: `x ${SECRET}` }, 1, null, true], [SECRET]: undefined, c: 'd' }
    expect(value(given)).toEqual({
      a: [{ b: `x ${REDACTED}` }, 1, null, true],
      [REDACTED]: undefined,
      c: 'd',
    })
    expect(given.a[0]).toEqual({ b: `x ${SECRET}` })
  })

  it('The redactor returns a value without secrets unchanged', () => {
    const given = { a: [{ b: 'x' }], c: { d: new Date(0) }, ['__proto__']: { e: 1 } }
    expect(value(given)).toBe(given)
    expect(value('x')).toBe('x')
    expect(value(undefined)).toBeUndefined()
  })

  it('The redactor treats special field names as data', () => {
    const given: unknown = JSON.parse(`{"__proto__":{"a":${JSON.stringify(SECRET)}}}`)
    const cleaned = value(given)
    expect(JSON.stringify(cleaned)).toBe(`{"__proto__":{"a":"${REDACTED}"}}`)
    expect(Object.getPrototypeOf(cleaned)).toBe(Object.prototype)
  })
})
