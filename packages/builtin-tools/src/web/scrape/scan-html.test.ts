import { describe, expect, it } from 'vitest'

import { processorTimer } from '../../../../../tooling/test-kit/processor-time.ts'

import { scanHtml } from './scan-html.ts'

describe('scanHtml', () => {
  it('scanHtml reports tags and texts in order', () => {
    expect(scan('a<P class="x">b<br/>c</p >d')).toEqual(['a', '<p>', 'b', '<br>', 'c', '</p>', 'd'])
  })

  it('scanHtml reports the known attributes once each', () => {
    expect(scan(`<A Href='x?a=1&amp;b' HIDDEN style = "a: b" class=c href=y>`)).toEqual([
      '<a href="x?a=1&b" hidden="" style="a: b">',
    ])
  })

  it('scanHtml truncates long values', () => {
    expect(scan(`<a href="${'x'.repeat(5_000)}">`)).toEqual([`<a href="${'x'.repeat(1_000)}">`])
  })

  it.each([
    ['caf&eacute;', 'café'],
    ['&lt;b&gt;', '<b>'],
    ['&amp;lt;', '&lt;'],
    ['a & b; c', 'a & b; c'],
    ['&;&#;&#x;', '&;&#;&#x;'],
    ['&#233;&#xE9;&#Xe9;&#0233;', 'éééé'],
    ['&#128640;&#x1F680;', '🚀🚀'],
    ['&#150;&#x80;', '–€'],
    ['&#0;&#xD800;&#x110000;', '\u{FFFD}'.repeat(3)],
    ['&constructor;&__proto__;', '&constructor;&__proto__;'],
  ])('scanHtml decodes %s as %s', (html, text) => {
    expect(scan(html)).toEqual([text])
  })

  it.each(['a < b', 'a <3 b', '<', 'a<', '<>'])(
    'scanHtml treats a < that does not start a tag as text: %s',
    (html) => {
      expect(scan(html)).toEqual([html])
    },
  )

  it.each(['a<!-- <b> -->c', 'a<!doctype html>c', 'a<?xml version="1.0"?>c', 'a<![CDATA[b]]>c'])(
    'scanHtml omits everything that is neither tag nor text: %s',
    (html) => {
      expect(scan(html)).toEqual(['ac'])
    },
  )

  it.each(['a<!-- b', 'a<b', 'a<b c="d>', "a<b c='>", 'a<b c=', 'a</b'])(
    'scanHtml omits unclosed tags: %s',
    (html) => {
      expect(scan(html)).toEqual(['a'])
    },
  )

  it.each(['script', 'style', 'title', 'textarea'])(
    'scanHtml treats the content of %s as text',
    (name) => {
      expect(scan(`<${name}>a <b>c</b></${name}>d`)).toEqual([
        `<${name}>`,
        'a <b>c</b>',
        `</${name}>`,
        'd',
      ])
    },
  )

  it('scanHtml takes linear time', () => {
    const ignore = (): void => undefined
    const size = 1_000_000
    const hostile = [
      '<'.repeat(size),
      '<a '.repeat(size / 3),
      '<a b="'.repeat(size / 6),
      `<a b='x">`.repeat(size / 9),
      '<!--'.repeat(size / 4),
      '<!'.repeat(size / 2),
      '</'.repeat(size / 2),
      '<script>'.repeat(size / 8),
      '<script></script>'.repeat(size / 17),
      '<title></t'.repeat(size / 10),
      `<a ${'= '.repeat(size / 2)}`,
      `<a ${' '.repeat(size)}`,
      `<${'a'.repeat(size)}`,
    ]
    for (const html of hostile) {
      const processorMs = processorTimer()
      scanHtml(html, { onOpen: ignore, onClose: ignore, onText: ignore })
      // Linear scans take some 30 ms here, quadratic ones minutes.
      expect(processorMs(), html.slice(0, 20)).toBeLessThan(5000)
    }
  })
})

/** Returns the tags and texts of HTML; pieces of one text are joined. */
function scan(html: string): readonly string[] {
  const tokens: string[] = []
  let isText = false
  const add = (token: string): void => {
    isText = false
    tokens.push(token)
  }
  scanHtml(html, {
    onOpen: (name, attributes) => {
      const all = Object.entries(attributes).map(([key, value]) => ` ${key}="${value}"`)
      add(`<${name}${all.join('')}>`)
    },
    onClose: (name) => add(`</${name}>`),
    onText(text) {
      const before = isText ? tokens.pop() : undefined
      tokens.push(`${before ?? ''}${text}`)
      isText = true
    },
  })
  return tokens
}
