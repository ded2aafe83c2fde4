import { describe, expect, it } from 'vitest'

import { prefersHtml } from './accept.ts'

const CHROMIUM =
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8'

describe('prefersHtml', () => {
  it.each([
    ['the header of Chromium', CHROMIUM],
    [
      'the header of Firefox and Safari',
      'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    ],
    ['HTML alone', 'text/html'],
    ['HTML in capitals and with a parameter', 'Text/HTML;level=1'],
    ['HTML and text without a quality', 'text/plain, text/html'],
    ['HTML and text with the same quality', 'text/html;q=0.5, text/plain; q=0.5'],
    ['HTML and any type', 'text/html, */*'],
    ['text with the quality 0', 'text/html;q=0.1, text/plain;q=0, */*'],
    ['HTML more than once', 'text/html;q=0.1, text/html;level=1, text/plain;q=0.5'],
  ])('prefersHtml returns true for %s', (_, accept) => {
    expect(prefersHtml(accept)).toBe(true)
  })

  it.each([
    ['nothing', null],
    ['an empty text', ''],
    ['the header of curl', '*/*'],
    ['any text', 'text/*'],
    ['the header of a JSON client', 'application/json, text/plain, */*'],
    ['HTML with a lower quality than text', 'text/html;q=0.8, text/plain'],
    ['HTML with a lower quality than any text', 'text/html;q=0.8, text/*'],
    ['HTML with a lower quality than any type', 'text/html;q=0.8, */*;q=0.9'],
    ['HTML with the quality 0', 'text/html;q=0'],
    ['HTML with the quality 0.000', 'text/html; q=0.000, image/png'],
    ['a malformed quality', 'text/html;q=much'],
    ['a quality out of range', 'text/html;q=2'],
    ['another type with the same prefix', 'text/html5'],
  ])('prefersHtml returns false for %s', (_, accept) => {
    expect(prefersHtml(accept)).toBe(false)
  })
})
