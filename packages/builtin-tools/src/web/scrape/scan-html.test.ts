import { describe, expect, it } from 'vitest'

import { scanHtml } from './scan-html.ts'

describe('scanHtml', () => {
  it('yields tags and texts in their order', () => {
    expect(scan('a<P class="x">b<br/>c</p >d')).toEqual([
      'a',
      '<p  class="x">',
      'b',
      '<br />',
      'c',
      '</p>',
      'd',
    ])
    expect([...scanHtml('<A Href=x>')]).toEqual([
      { type: 'open', name: 'a', attributes: ' Href=x' },
    ])
  })

  it.each([
    ['a < b', ['a < b']],
    ['a <3 b', ['a <3 b']],
    ['<', ['<']],
    ['a<', ['a<']],
    ['<<b>', ['<', '<b>']],
    ['', []],
    ['<>', ['<>']],
  ])('takes a < that begins no tag as text: %s', (html, tokens) => {
    expect(scan(html)).toEqual(tokens)
  })

  it.each([
    'a<!-- <b> -->c',
    'a<!---->c',
    'a<!-->c',
    'a<!doctype html>c',
    'a<?xml version="1.0"?>c',
    'a<![CDATA[b]]>c',
    'a</3 b>c',
    'a</>c',
  ])('[S1] leaves out %s', (html) => {
    expect(scan(html)).toEqual(['a', 'c'])
  })

  it.each(['script', 'style', 'iframe', 'noembed', 'noframes', 'SCRIPT'])(
    '[S1] leaves out what is in %s',
    (name) => {
      const tag = name.toLowerCase()
      expect(scan(`a<${name}>if (a<b) "</b>" </${tag}x> <!-- </${name} >c`)).toEqual([
        'a',
        `<${tag}>`,
        `</${tag}>`,
        'c',
      ])
    },
  )

  it.each(['title', 'textarea', 'xmp'])('takes what is in %s as text', (name) => {
    expect(scan(`<${name}>a <b>c</b></${name}>d`)).toEqual([
      `<${name}>`,
      'a <b>c</b>',
      `</${name}>`,
      'd',
    ])
  })

  it('finds the end of a tag behind quoted values', () => {
    expect(scan(`<a b="x>y" c='>"' d = ">" e=>f`)).toEqual([`<a  b="x>y" c='>"' d = ">" e=>`, 'f'])
    expect(scan(`<a b"c>d`)).toEqual(['<a  b"c>', 'd'])
    expect(scan(`<a b= c"d>e`)).toEqual(['<a  b= c"d>', 'e'])
  })

  it.each(['a<!-- b', 'a<b', 'a<b c="d>', "a<b c='>", 'a<b c=', 'a</b', 'a<!b', 'a</'])(
    '[S2] leaves out what is not closed: %s',
    (html) => {
      expect(scan(html)[0]).toBe('a')
      expect(scan(html).length).toBe(1)
    },
  )

  it.each(['script', 'style'])('[S2] takes a %s that is not closed to the end', (name) => {
    expect(scan(`a<${name}>b<p>c`)).toEqual(['a', `<${name}>`])
  })

  it('[S2] takes a title that is not closed to the end', () => {
    expect(scan('<title>a<p>b')).toEqual(['<title>', 'a<p>b'])
  })

  it('looks at nothing twice', () => {
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
      const begun = performance.now()
      for (const _ of scanHtml(html));
      // Linear scans take some 30 ms here, quadratic ones minutes.
      expect(performance.now() - begun, html.slice(0, 20)).toBeLessThan(5000)
    }
  })
})

function scan(html: string): readonly string[] {
  return [...scanHtml(html)].map((token) => {
    if (token.type === 'text') return token.text
    if (token.type === 'close') return `</${token.name}>`
    return token.attributes === '' ? `<${token.name}>` : `<${token.name} ${token.attributes}>`
  })
}
