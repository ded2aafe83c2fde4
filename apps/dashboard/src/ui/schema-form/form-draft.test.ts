import { describe, expect, it } from 'vitest'

import { brokenProblems, draftOf, withJson, withoutValue, withValue } from './form-draft.ts'

describe('a draft', () => {
  it('takes JSON as the value of its place, and keeps text that is none', () => {
    const good = withJson(draftOf({ a: 1 }), '/b', ' {"c": 2}')
    expect(good).toEqual({ value: { a: 1, b: { c: 2 } }, broken: {} })
    const bad = withJson(good, '/b', '{"c": ')
    expect(bad).toEqual({ value: good.value, broken: { '/b': '{"c": ' } })
    expect(brokenProblems(bad)).toEqual([
      { path: '/b', message: expect.stringContaining('is not JSON: ') },
    ])
    expect(withJson(bad, '/b', 'null')).toEqual({ value: { a: 1, b: null }, broken: {} })
  })

  it('forgets a text when its place, what is round it or what is inside of it changes', () => {
    const bad = withJson(draftOf({ list: [{ a: 1 }, { a: 2 }] }), '/list/1/a', '{')
    expect(withValue(bad, '/list/1/a', 3).broken).toEqual({})
    expect(withValue(bad, '', {}).broken).toEqual({})
    expect(withValue(bad, '/list/1', {}).broken).toEqual({})
    expect(withValue(withJson(draftOf({}), '', 'x'), '/a', 1)).toEqual({
      value: { a: 1 },
      broken: {},
    })
    expect(withValue(bad, '/list/0/a', 3).broken).toEqual({ '/list/1/a': '{' })
  })

  it('forgets the texts of a list when an item is taken out: the others have another place', () => {
    const bad = withJson(draftOf({ list: [1, 2] }), '/list/1', '{')
    expect(withoutValue(bad, '/list/0')).toEqual({ value: { list: [2] }, broken: {} })
  })

  it('reads nothing as no JSON', () => {
    expect(brokenProblems(withJson(draftOf(1), '', ' '))).toEqual([
      { path: '', message: 'is not JSON: it is empty' },
    ])
  })
})
