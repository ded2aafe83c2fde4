import { describe, expect, it } from 'vitest'

import { decodeBody } from './decode-body.ts'

describe('decodeBody', () => {
  it('decodeBody defaults to UTF-8', () => {
    expect(decoded('größe 🎺', undefined)).toBe('größe 🎺')
    expect(decoded('größe 🎺', 'text/plain')).toBe('größe 🎺')
  })

  it.each([
    ['text/plain; charset=iso-8859-1', [0xe9], 'é'],
    ['text/plain;charset="windows-1252"', [0x80], '€'],
    ["text/plain; charset='koi8-r'", [0xc1], 'а'],
    ['text/html; foo=bar; CHARSET = shift_jis', [0x83, 0x65], 'テ'],
    ['text/plain; charset=utf-16le', [0x41, 0, 0xac, 0x20], 'A€'],
    ['text/plain; charset=gb18030', [0xc4, 0xe3], '你'],
  ])('decodeBody uses the charset of the header: %s', (contentType, bytes, text) => {
    expect(decoded(bytes, contentType)).toBe(text)
  })

  it.each(['text/plain; charset=klingon', 'text/plain; charset=utf-7', 'text/plain; charset='])(
    'decodeBody uses UTF-8 when the charset of the header is unknown: %s',
    (contentType) => {
      expect(decoded([0x41, 0xff, 0xc3, 0xa9], contentType)).toBe('A\u{FFFD}é')
    },
  )

  it.each([
    ['UTF-8', [0xef, 0xbb, 0xbf, 0xc3, 0xa9]],
    ['UTF-16 LE', [0xff, 0xfe, 0xe9, 0]],
    ['UTF-16 BE', [0xfe, 0xff, 0, 0xe9]],
  ])('decodeBody prefers the byte order mark to the header, and removes it: %s', (_, bytes) => {
    expect(decoded(bytes, 'text/plain; charset=iso-8859-2')).toBe('é')
  })

  it.each([
    '<meta charset="iso-8859-1">',
    "<META name=x content=y\n CHARSET='iso-8859-1'/>",
    '<meta charset=iso-8859-1 >',
    '<!doctype html><html><head><title>x</title><meta http-equiv="Content-Type" content="text/html; charset=iso-8859-1">',
  ])('decodeBody uses the charset that HTML declares: %s', (meta) => {
    expect(decoded([...ascii(meta), 0xe9], 'text/html')).toBe(`${meta}é`)
    expect(decoded([...ascii(meta), 0xe9], undefined)).toBe(`${meta}é`)
  })

  it('decodeBody uses the encoding that XML declares', () => {
    const start = '<?xml version="1.0" encoding="ISO-8859-1"?><a>'
    expect(decoded([...ascii(start), 0xe9], 'application/xml')).toBe(`${start}é`)
  })

  it('decodeBody prefers the header to the declaration in HTML', () => {
    const meta = '<meta charset="iso-8859-1">'
    expect(decoded(`${meta}é`, 'text/html; charset=utf-8')).toBe(`${meta}é`)
  })

  it('decodeBody ignores declarations in text that is not markup', () => {
    const text = '<meta charset="iso-8859-1">é'
    expect(decoded(text, 'text/plain')).toBe(text)
  })

  it('decodeBody reads declarations only in the first 1024 bytes', () => {
    const meta = '<meta charset="iso-8859-1">'
    const late = `${' '.repeat(1024 - '<meta charset="iso'.length)}${meta}é`
    expect(decoded(late, 'text/html')).toBe(late)
    const inTime = [...ascii(`${' '.repeat(1024 - meta.length)}${meta}`), 0xe9]
    expect(decoded(inTime, 'text/html').at(-1)).toBe('é')
  })

  it('decodeBody ignores a declaration of UTF-16 that is readable as single bytes', () => {
    const page = '<meta charset="utf-16le">é'
    expect(decoded(page, 'text/html')).toBe(page)
  })

  it('decodeBody drops an incomplete character at the end of a truncated body', () => {
    const bytes = [...new TextEncoder().encode('a🎺')]
    for (const length of [2, 3, 4]) {
      const cut = bytes.slice(0, length)
      expect(decoded(cut, 'text/plain', true)).toBe('a')
      expect(decoded(cut, 'text/plain', false)).toBe('a\u{FFFD}')
    }
    expect(decoded(bytes, 'text/plain', true)).toBe('a🎺')
  })

  it('decodeBody decodes an empty body to an empty text', () => {
    expect(decoded([], 'text/html')).toBe('')
  })
})

function decoded(
  body: string | readonly number[],
  contentType: string | undefined,
  truncated = false,
): string {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : Uint8Array.from(body)
  const headers = new Headers(contentType === undefined ? {} : { 'content-type': contentType })
  return decodeBody({ body: bytes, headers, truncated })
}

function ascii(text: string): readonly number[] {
  return [...new TextEncoder().encode(text)]
}
