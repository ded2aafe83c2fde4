import { describe, expect, it } from 'vitest'

import { prefersHtml } from './accept.ts'

const CHROMIUM =
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8'

describe('prefersHtml', () => {
  it.each([
    ['what Chromium sends', CHROMIUM],
    [
      'what Firefox and Safari send',
      'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    ],
    ['HTML alone', 'text/html'],
    ['HTML in capitals and with a parameter', 'Text/HTML;level=1'],
    ['both alike', 'text/plain, text/html'],
    ['both alike, by weight', 'text/html;q=0.5, text/plain; q=0.5'],
    ['anything else alike', 'text/html, */*'],
    ['text that is refused', 'text/html;q=0.1, text/plain;q=0, */*'],
    ['HTML more than once', 'text/html;q=0.1, text/html;level=1, text/plain;q=0.5'],
  ])('is true of %s', (_, accept) => {
    expect(prefersHtml(accept)).toBe(true)
  })

  it.each([
    ['nothing', null],
    ['an empty text', ''],
    ['what curl sends', '*/*'],
    ['any text', 'text/*'],
    ['what fetch of a program sends for JSON', 'application/json, text/plain, */*'],
    ['less than text', 'text/html;q=0.8, text/plain'],
    ['less than any text', 'text/html;q=0.8, text/*'],
    ['less than anything', 'text/html;q=0.8, */*;q=0.9'],
    ['HTML that is refused', 'text/html;q=0'],
    ['HTML that is refused, written longer', 'text/html; q=0.000, image/png'],
    ['a weight that is none', 'text/html;q=much'],
    ['a weight that is out of range', 'text/html;q=2'],
    ['another type that begins alike', 'text/html5'],
  ])('is false of %s', (_, accept) => {
    expect(prefersHtml(accept)).toBe(false)
  })
})
