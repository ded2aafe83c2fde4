import { expect, it } from 'vitest'

import { formatInputFailure, problemList } from './input-failure.ts'

const PROBLEMS = [
  { path: '', message: 'must have at least 2 fields' },
  { path: '/a/0', message: 'is required' },
]

it('every problem is told with its path, or with what the whole value is', () => {
  expect(problemList(PROBLEMS)).toBe('input must have at least 2 fields; /a/0 is required')
  expect(problemList(PROBLEMS, 'answer')).toBe(
    'answer must have at least 2 fields; /a/0 is required',
  )
})

it('a failure names the tool and what did not fit', () => {
  expect(formatInputFailure('x', PROBLEMS)).toBe(`Invalid input for "x": ${problemList(PROBLEMS)}`)
  expect(formatInputFailure('x', PROBLEMS, 'output')).toMatch(/^Invalid output for "x": input must/)
})
