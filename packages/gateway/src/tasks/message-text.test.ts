import { expect, it } from 'vitest'

import { messageText } from './message-text.ts'

it.each([
  ['"hello"', 'hello'],
  ['hello', 'hello'],
  ['"a', '"a'],
  ['{}', ''],
  ['null', ''],
  ['""', ''],
  ['5', '5'],
  ['[1]', '[1]'],
  ['true', 'true'],
  ['{"a":"b"}', '{"a":"b"}'],
])('the text %s says %j', (text, said) => {
  expect(messageText([{ text }])).toMatchObject({ raw: text, text: said })
})

it('an object is there as one, a list and a text are not', () => {
  expect(messageText([{ text: '{"a":1}' }]).object).toEqual({ a: 1 })
  expect(messageText([{ data: { a: 1 } }])).toEqual({
    raw: '{"a":1}',
    text: '{"a":1}',
    object: { a: 1 },
  })
  expect(messageText([{ text: '[1]' }])).not.toHaveProperty('object')
  expect(messageText([{ text: '"{}"' }])).not.toHaveProperty('object')
})

it('several parts are lines', () => {
  expect(messageText([{ text: 'a' }, { data: [1] }, { text: '' }]).text).toBe('a\n[1]\n')
  expect(messageText([])).toEqual({ raw: '', text: '' })
})
