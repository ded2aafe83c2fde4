import { describe, expect, it } from 'vitest'

import { placeProblems, selectShownProblems } from './placed-problems.ts'

describe('[DASH-P1] every problem is shown at one field', () => {
  const drawn = new Set(['', '/a', '/a/list', '/a/list/0'])

  it.each([
    ['/a', '/a', 'Is wrong'],
    ['/a/list/0', '/a/list/0', 'Is wrong'],
    ['/a/list/0/x/y', '/a/list/0', 'x › y is wrong'],
    ['/other', '', 'other is wrong'],
    ['', '', 'Is wrong'],
  ])('The form shows a problem of %s at %s', (path, place, text) => {
    const placed = placeProblems([{ path, message: 'is wrong' }], drawn)
    expect([...placed]).toEqual([[place, [text]]])
  })

  it('The form shows duplicate problems once', () => {
    const one = { path: '/a', message: 'is wrong' }
    expect(placeProblems([one, one, { ...one, message: 'is late' }], drawn).get('/a')).toEqual([
      'Is wrong',
      'Is late',
    ])
  })
})

describe('[DASH-P2] an unvisited field', () => {
  const problems = ['/none', '/empty', '/null', '/list', '/bad'].map((path) => ({
    path,
    message: 'is wrong',
  }))
  const value = { empty: '', null: null, list: [], bad: 'x' }

  it('An unvisited field is not reported as empty, but with wrong values', () => {
    const shown = selectShownProblems(problems, value, new Set())
    expect(shown.map(({ path }) => path)).toEqual(['/bad'])
  })

  it('An unvisited field is reported after it was visited', () => {
    const shown = selectShownProblems(problems, value, new Set(['/none', '/list']))
    expect(shown.map(({ path }) => path)).toEqual(['/none', '/list', '/bad'])
  })
})
