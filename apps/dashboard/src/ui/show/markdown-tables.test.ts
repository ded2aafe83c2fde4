/** Tables in Markdown. */
import { expect, it } from 'vitest'

import { markdownParts } from './markdown.tsx'

const TABLE = ['| Name | Sold | Share |', '|---|---:|:-:|', '| a | 1 | 2 |', '| b | 3 |']

it('finds a table between words, with its alignments', () => {
  expect(markdownParts(['Before', '', ...TABLE, '', 'After'].join('\n'))).toEqual([
    { kind: 'text', text: 'Before\n' },
    {
      kind: 'table',
      table: {
        head: ['Name', 'Sold', 'Share'],
        alignments: ['start', 'end', 'center'],
        rows: [
          ['a', '1', '2'],
          ['b', '3', ''],
        ],
      },
    },
    { kind: 'text', text: '\nAfter' },
  ])
})

it('takes a table without bars at its sides, and one right after words', () => {
  expect(markdownParts('Words\na | b\n- | -\n1 | 2')).toEqual([
    { kind: 'text', text: 'Words' },
    {
      kind: 'table',
      table: { head: ['a', 'b'], alignments: ['start', 'start'], rows: [['1', '2']] },
    },
  ])
})

it('keeps a bar that is escaped, and leaves out cells that no column has', () => {
  const [part] = markdownParts('| a | b |\n|---|---|\n| x \\| y | `z` | more |')
  expect(part).toMatchObject({ table: { rows: [['x | y', '`z`']] } })
})

it('has no table in code, and finds one after it', () => {
  const code = ['````', '```', ...TABLE, '````'].join('\n')
  expect(markdownParts(code)).toEqual([{ kind: 'text', text: code }])
  expect(markdownParts([code, ...TABLE].join('\n')).map(({ kind }) => kind)).toEqual([
    'text',
    'table',
  ])
})

it.each([
  'a | b\nc | d',
  '| a | b |\n|---|',
  'Words\n---\nmore | words',
  '- a | b\n- | -',
  '> | a | b |\n> |---|---|',
  '    | a | b |\n    |---|---|',
])('leaves %j as it is', (text) => {
  expect(markdownParts(text)).toEqual([{ kind: 'text', text }])
})

it('has no part for an empty text', () => {
  expect(markdownParts('')).toEqual([])
})
