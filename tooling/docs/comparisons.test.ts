import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

import { expect, it } from 'vitest'

import { comparisonProblems } from './comparisons.ts'
import { parsePage } from './pages.ts'

const HERE = dirname(fileURLToPath(import.meta.url))

it('A comparison needs an existing test and a cited page in each row, and a date', () => {
  const table = [
    '| [other](https://other.example) | Tutti | tested by |',
    '| --- | --- | --- |',
    '| a | b | [test](comparisons.test.ts) |',
    '| a | b | [test](missing.test.ts) |',
    '',
    '| other | Tutti | tested by |',
    '| --- | --- | --- |',
    '| [a](https://other.example/a) | b | a promise |',
    '| a | b | [test](comparisons.test.ts) |',
    '| a | – | [test](comparisons.test.ts) |',
    '',
    '| not | compared |',
    '| --- | --- |',
    '| a | b |',
  ]
  const readme = parsePage('README.md', table.join('\n'))
  const other = parsePage('docs/coming-from.md', 'The docs were read on 2026-11-29.')
  expect(comparisonProblems(HERE, [readme, other])).toEqual([
    'README.md: no date on which the other products were read',
    'README.md:4: the test missing.test.ts does not exist',
    'README.md:8: the row links no test',
    'README.md:9: the row cites no page of the other product',
    'docs/coming-from.md: no table ends with "tested by"',
  ])
})
