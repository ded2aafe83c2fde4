import { describe, expect, it } from 'vitest'

import { fillUrl, parseUrlTemplate, type UrlTemplate } from './url-template.ts'

function template(text: string): UrlTemplate {
  const read = parseUrlTemplate(text, { allowPlaceholders: true })
  if (!read.ok) throw new Error(read.problem)
  return read.template
}

function fill(text: string, values: Record<string, unknown>): string {
  const filled = fillUrl(template(text), values)
  return filled.ok ? filled.url : `refused: ${filled.problems.join('; ')}`
}

describe('parseUrlTemplate', () => {
  it('parseUrlTemplate returns the placeholders, and the origin if it has none', () => {
    expect(template('https://a.test:8443/users/{id}/{file.name}?v={view}#{x}')).toEqual({
      text: 'https://a.test:8443/users/{id}/{file.name}?v={view}',
      fixedOrigin: 'https://a.test:8443',
      placeholders: ['id', 'file.name', 'view'],
      shown: 'https://a.test:8443/users/{id}/{file.name}',
    })
    expect(template('https://{region}.a.test/x').fixedOrigin).toBeUndefined()
    expect(template('{url}')).toMatchObject({ fixedOrigin: undefined, placeholders: ['url'] })
  })

  it('parseUrlTemplate recognizes placeholders that the URL class has encoded', () => {
    expect(template(new URL('https://a.test/users/{id}').href).placeholders).toEqual(['id'])
  })

  it('parseUrlTemplate rejects placeholders of a text tool', () => {
    const read = parseUrlTemplate('https://a.test/{x}', { allowPlaceholders: false })
    expect(read).toEqual({
      ok: false,
      problem: 'url has placeholders ({x}), but the tool has no input schema',
    })
  })

  it.each(['', 'x', '/path', 'file:///etc/passwd', 'http://', '{a}{b}', 'http://a.test:{port}/'])(
    'parseUrlTemplate rejects %s',
    (text) => {
      expect(parseUrlTemplate(text, { allowPlaceholders: true }).ok).toBe(false)
    },
  )

  it.each(['http://{host}:{port}/', 'http://{user}@a.test/', '{scheme}://a.test/'])(
    'parseUrlTemplate rejects placeholders in scheme, user or port: %s',
    (text) => {
      expect(parseUrlTemplate(text, { allowPlaceholders: true }).ok).toBe(false)
    },
  )
})

describe('[REMOTE-U1] a value in the path or query', () => {
  it.each([
    ['a/b', 'a%2Fb'],
    ['../admin', '..%2Fadmin'],
    ['%2e%2e%2f', '%252e%252e%252f'],
    ['a?b#c&d=e', 'a%3Fb%23c%26d%3De'],
    ['é\ud800', '%C3%A9%EF%BF%BD'],
    [5, '5'],
    [true, 'true'],
    [['a', 'b'], 'a%2Cb'],
    ['...', '...'],
  ])('A value in the path or query stays in its segment: %j', (value, expected) => {
    expect(fill('https://a.test/users/{id}/posts', { id: value })).toBe(
      `https://a.test/users/${expected}/posts`,
    )
  })

  it.each(['', '.', '..'])(
    'A value in the path or query is refused when it would change the path: %j',
    (id) => {
      expect(fill('https://a.test/users/{id}', { id })).toBe(
        `refused: id must not make the path segment "${id}"`,
      )
      expect(fill('https://a.test/v{id}', { id })).toBe(`https://a.test/v${id}`)
    },
  )

  it('A value in the path or query is refused when it would change the path together with another value', () => {
    expect(fill('https://a.test/{a}{b}/c', { a: '.', b: '.' })).toMatch(/^refused: a and b/)
  })

  it('A value in the path or query stays in its field of the query', () => {
    expect(fill('https://a.test/?q={q}&r=1', { q: 'x&r=2#' })).toBe(
      'https://a.test/?q=x%26r%3D2%23&r=1',
    )
    expect(fill('https://a.test?q={q}', { q: '' })).toBe('https://a.test?q=')
  })

  it('A value in the path or query is refused when it is missing or not text, with every problem at once', () => {
    expect(fill('https://a.test/{a}/{b}/{c}', { a: null, b: {} })).toBe(
      'refused: a must be text or a number; b must be text or a number; c must be text or a number',
    )
  })
})

describe('[REMOTE-U2] a value in the host', () => {
  it('A value in the host can be a part of a host name', () => {
    expect(fill('https://{region}.a.test:8443/x', { region: 'eu-1.b' })).toBe(
      'https://eu-1.b.a.test:8443/x',
    )
  })

  it.each(['evil.test/', 'evil.test#', 'a@b', 'evil:80', 'x?', '', '-', '[::1]', 'a\\b', '..'])(
    'A value in the host is refused when it is more than that: %j',
    (host) => {
      expect(fill('https://{host}/x', { host })).toMatch(
        /^refused: host must be a part of a host name/,
      )
    },
  )

  it('A value in the host can be the whole URL', () => {
    expect(fill('{url}', { url: 'https://a.test/x?y' })).toBe('https://a.test/x?y')
    expect(fill('{url}', { url: 'file:///etc/passwd' })).toMatch(/^refused: url must be an http/)
    expect(fill('{url}', { url: 'x' })).toMatch(/^refused: url must be an http/)
  })
})
