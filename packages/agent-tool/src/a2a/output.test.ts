import { expect, test } from 'vitest'

import { readOutput } from './output.ts'

import type { A2aPart } from './wire.ts'

test('what says nothing is no output', () => {
  expect(readOutput([])).toBeUndefined()
  expect(readOutput([{}, { parts: [] }, { parts: [{}] }])).toBeUndefined()
})

const cases: readonly (readonly [string, readonly (readonly A2aPart[])[], unknown, string])[] = [
  ['[O1] texts of one artifact follow without a gap', [[{ text: 'a' }, { text: 'b' }]], 'ab', 'ab'],
  ['[O1] artifacts are lines apart', [[{ text: 'a' }], [{ text: 'b' }]], 'a\nb', 'a\nb'],
  ['[O2] one data part is the value', [[{ data: { n: 1 } }]], { n: 1 }, '{"n":1}'],
  ['[O2] false data are data', [[{ data: false }]], false, 'false'],
  [
    '[O2] several items are a list',
    [[{ text: 'a' }, { data: [1] }], [{ text: 'b' }]],
    ['a', [1], 'b'],
    'a\n[1]\nb',
  ],
  [
    '[O2] text around data stays where it is',
    [[{ text: 'a' }, { data: 1 }, { text: 'b' }]],
    ['a', 1, 'b'],
    'a\n1\nb',
  ],
  [
    '[O2] a file is kept with what is known of it',
    [[{ url: 'https://files.example/1', filename: 'one.png', mediaType: 'image/png' }]],
    {
      file: { url: 'https://files.example/1', filename: 'one.png', mediaType: 'image/png' },
    },
    '[file: one.png, image/png, https://files.example/1]',
  ],
  [
    '[O2] bytes of a file are in the value, not in the text',
    [[{ raw: 'aGk=', mediaType: 'text/plain' }]],
    { file: { raw: 'aGk=', mediaType: 'text/plain' } },
    '[file: text/plain]',
  ],
  [
    '[O3] the JSON of data beside it is said once',
    [[{ text: '{ "n": 1 }' }, { data: { n: 1 } }]],
    { n: 1 },
    '{ "n": 1 }',
  ],
  [
    '[O3] other JSON is text like any other',
    [[{ text: '{"n":2}' }, { data: { n: 1 } }]],
    ['{"n":2}', { n: 1 }],
    '{"n":2}\n{"n":1}',
  ],
  [
    '[O3] a number is not taken for the JSON of one',
    [[{ text: '1' }, { data: 1 }]],
    ['1', 1],
    '1\n1',
  ],
]

test.each(cases)('%s', (_title, sources, value, text) => {
  expect(readOutput(sources.map((parts) => ({ parts })))).toEqual({ value, text })
})
