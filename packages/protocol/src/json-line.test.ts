import { expect, it } from 'vitest'

import { escapeLineBreaks } from './json-line.ts'

it('A JSON line escapes every line break of Unicode, and changes no value', () => {
  const value = { text: 'a\n\r\v\f\u001c\u001d\u001e\u0085b\u2028c\u2029d 🎻 \ud800' }
  const json = escapeLineBreaks(JSON.stringify(value))
  // oxlint-disable-next-line no-control-regex -- the characters at which clients split lines
  expect(json).not.toMatch(/[\n\r\v\f\u001c-\u001e\u0085\u2028\u2029]/)
  expect(json).toContain(String.raw`\u0085b\u2028c\u2029d 🎻`)
  expect(JSON.parse(json)).toEqual(value)
})
