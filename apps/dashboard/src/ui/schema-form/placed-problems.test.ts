import { describe, expect, it } from 'vitest'

import { placedProblems, shownProblems } from './placed-problems.ts'

describe('[P1] every problem is told at one place', () => {
  const drawn = new Set(['', '/a', '/a/list', '/a/list/0'])

  it.each([
    ['/a', '/a', 'Is wrong'],
    ['/a/list/0', '/a/list/0', 'Is wrong'],
    ['/a/list/0/x/y', '/a/list/0', 'x › y is wrong'],
    ['/other', '', 'other is wrong'],
    ['', '', 'Is wrong'],
  ])('%s at %s', (path, place, text) => {
    const placed = placedProblems([{ path, message: 'is wrong' }], drawn)
    expect([...placed]).toEqual([[place, [text]]])
  })

  it('once, when it comes twice', () => {
    const one = { path: '/a', message: 'is wrong' }
    expect(placedProblems([one, one, { ...one, message: 'is late' }], drawn).get('/a')).toEqual([
      'Is wrong',
      'Is late',
    ])
  })
})

describe('[P2] who has not come to a field', () => {
  const problems = ['/none', '/empty', '/null', '/list', '/bad'].map((path) => ({
    path,
    message: 'is wrong',
  }))
  const value = { empty: '', null: null, list: [], bad: 'x' }

  it('is not told that it is empty, and is told what is wrong in it', () => {
    const shown = shownProblems(problems, value, new Set())
    expect(shown.map(({ path }) => path)).toEqual(['/bad'])
  })

  it('is told after having been there', () => {
    const shown = shownProblems(problems, value, new Set(['/none', '/list']))
    expect(shown.map(({ path }) => path)).toEqual(['/none', '/list', '/bad'])
  })
})
