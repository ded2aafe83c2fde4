import { expect, test } from 'vitest'

import { readOutput } from './output.ts'

import type { A2aPart } from './wire.ts'

test('The output of parts without content is undefined', () => {
  expect(readOutput([])).toBeUndefined()
  expect(readOutput([{}, { parts: [] }, { parts: [{}] }])).toBeUndefined()
})

const cases: readonly (readonly [string, readonly (readonly A2aPart[])[], unknown, string])[] = [
  [
    '[AGENT-O1] The output joins the texts of one artifact without a separator',
    [[{ text: 'a' }, { text: 'b' }]],
    'ab',
    'ab',
  ],
  [
    '[AGENT-O1] The output separates artifacts with a newline',
    [[{ text: 'a' }], [{ text: 'b' }]],
    'a\nb',
    'a\nb',
  ],
  [
    '[AGENT-O2] The output returns a single data part as the value',
    [[{ data: { n: 1 } }]],
    { n: 1 },
    '{"n":1}',
  ],
  ['[AGENT-O2] The output accepts false as data', [[{ data: false }]], false, 'false'],
  [
    '[AGENT-O2] The output returns several items as a list',
    [[{ text: 'a' }, { data: [1] }], [{ text: 'b' }]],
    ['a', [1], 'b'],
    'a\n[1]\nb',
  ],
  [
    '[AGENT-O2] The output preserves the order of text and data',
    [[{ text: 'a' }, { data: 1 }, { text: 'b' }]],
    ['a', 1, 'b'],
    'a\n1\nb',
  ],
  [
    '[AGENT-O2] The output returns a file with its name, type and URL',
    [[{ url: 'https://files.example/1', filename: 'one.png', mediaType: 'image/png' }]],
    {
      file: { url: 'https://files.example/1', filename: 'one.png', mediaType: 'image/png' },
    },
    '[file: one.png, image/png, https://files.example/1]',
  ],
  [
    '[AGENT-O2] The output includes the bytes of a file in the value but not in the text',
    [[{ raw: 'aGk=', mediaType: 'text/plain' }]],
    { file: { raw: 'aGk=', mediaType: 'text/plain' } },
    '[file: text/plain]',
  ],
  [
    '[AGENT-O3] The output omits text that repeats the adjacent data as JSON',
    [[{ text: '{ "n": 1 }' }, { data: { n: 1 } }]],
    { n: 1 },
    '{ "n": 1 }',
  ],
  [
    '[AGENT-O3] The output returns JSON text that differs from the data as text',
    [[{ text: '{"n":2}' }, { data: { n: 1 } }]],
    ['{"n":2}', { n: 1 }],
    '{"n":2}\n{"n":1}',
  ],
  [
    '[AGENT-O3] The output does not treat a number in text as a copy of numeric data',
    [[{ text: '1' }, { data: 1 }]],
    ['1', 1],
    '1\n1',
  ],
]

test.each(cases)('%s', (_title, sources, value, text) => {
  expect(readOutput(sources.map((parts) => ({ parts })))).toEqual({ value, text })
})
