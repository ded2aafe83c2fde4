import { expect, it } from 'vitest'

import { formatInputFailure, problemList } from './input-failure.ts'

const PROBLEMS = [
  { path: '', message: 'must have at least 2 fields' },
  { path: '/a/0', message: 'is required' },
]

it('problemList lists every problem with its path, or with the name of the whole value', () => {
  expect(problemList(PROBLEMS)).toBe('input must have at least 2 fields; /a/0 is required')
  expect(problemList(PROBLEMS, 'answer')).toBe(
    'answer must have at least 2 fields; /a/0 is required',
  )
})

it('formatInputFailure names the tool and the problems', () => {
  expect(formatInputFailure('x', PROBLEMS)).toBe(`Invalid input for "x": ${problemList(PROBLEMS)}`)
  expect(formatInputFailure('x', PROBLEMS, 'output')).toMatch(
    /^Invalid output for "x": output must/,
  )
})
