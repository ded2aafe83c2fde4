import { expect, it } from 'vitest'

import { splitMarkdown } from './markdown.tsx'

const TABLE = ['| Name | Sold | Share |', '|---|---:|:-:|', '| a | 1 | 2 |', '| b | 3 |']

it('The table parser finds a table between texts, with its alignments', () => {
  expect(splitMarkdown(['Before', '', ...TABLE, '', 'After'].join('\n'))).toEqual([
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

it('The table parser accepts a table without outer bars, or directly after a text', () => {
  expect(splitMarkdown('Words\na | b\n- | -\n1 | 2')).toEqual([
    { kind: 'text', text: 'Words' },
    {
      kind: 'table',
      table: { head: ['a', 'b'], alignments: ['start', 'start'], rows: [['1', '2']] },
    },
  ])
})

it('The table parser keeps escaped bars, and drops cells without a column', () => {
  const [part] = splitMarkdown('| a | b |\n|---|---|\n| x \\| y | `z` | more |')
  expect(part).toMatchObject({ table: { rows: [['x | y', '`z`']] } })
})

it('The table parser ignores tables in code, and finds one after it', () => {
  const code = ['````', '```', ...TABLE, '````'].join('\n')
  expect(splitMarkdown(code)).toEqual([{ kind: 'text', text: code }])
  expect(splitMarkdown([code, ...TABLE].join('\n')).map(({ kind }) => kind)).toEqual([
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
])('The table parser finds no table in %j', (text) => {
  expect(splitMarkdown(text)).toEqual([{ kind: 'text', text }])
})

it('The table parser returns no part for an empty text', () => {
  expect(splitMarkdown('')).toEqual([])
})
