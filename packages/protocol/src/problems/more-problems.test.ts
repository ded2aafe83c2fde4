import { expect, it } from 'vitest'

import { formatMoreProblems } from './more-problems.ts'

it('The number of further problems has the singular for one', () => {
  expect([1, 2, 49_995].map(formatMoreProblems)).toEqual([
    '1 more problem',
    '2 more problems',
    '49995 more problems',
  ])
})
