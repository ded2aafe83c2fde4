import { describe, expect, it } from 'vitest'

import {
  findBrokenProblems,
  createFormDraft,
  setDraftJson,
  removeDraftValue,
  setDraftValue,
} from './form-draft.ts'

describe('form draft', () => {
  it('The draft of a form takes valid JSON as a value, and keeps invalid text', () => {
    const good = setDraftJson(createFormDraft({ a: 1 }), '/b', ' {"c": 2}')
    expect(good).toEqual({ value: { a: 1, b: { c: 2 } }, broken: {} })
    const bad = setDraftJson(good, '/b', '{"c": ')
    expect(bad).toEqual({
      value: good.value,
      broken: { '/b': { text: '{"c": ', why: expect.stringContaining('is not valid JSON: ') } },
    })
    expect(findBrokenProblems(bad)).toEqual([
      { path: '/b', message: expect.stringContaining('is not valid JSON: ') },
    ])
    expect(setDraftJson(bad, '/b', 'null')).toEqual({ value: { a: 1, b: null }, broken: {} })
  })

  it('The draft of a form drops an invalid text when a value at, around or inside its place changes', () => {
    const bad = setDraftJson(createFormDraft({ list: [{ a: 1 }, { a: 2 }] }), '/list/1/a', '{')
    expect(setDraftValue(bad, '/list/1/a', 3).broken).toEqual({})
    expect(setDraftValue(bad, '', {}).broken).toEqual({})
    expect(setDraftValue(bad, '/list/1', {}).broken).toEqual({})
    expect(setDraftValue(setDraftJson(createFormDraft({}), '', 'x'), '/a', 1)).toEqual({
      value: { a: 1 },
      broken: {},
    })
    expect(setDraftValue(bad, '/list/0/a', 3).broken).toMatchObject({ '/list/1/a': { text: '{' } })
  })

  it('The draft of a form drops the invalid texts of a list when an item is removed, because the positions change', () => {
    const bad = setDraftJson(createFormDraft({ list: [1, 2] }), '/list/1', '{')
    expect(removeDraftValue(bad, '/list/0')).toEqual({ value: { list: [2] }, broken: {} })
  })

  it('The draft of a form reports empty text as invalid JSON', () => {
    expect(findBrokenProblems(setDraftJson(createFormDraft(1), '', ' '))).toEqual([
      { path: '', message: 'is not valid JSON: it is empty' },
    ])
  })

  it('The draft of a form removes objects that become empty with a value, if asked to', () => {
    const draft = createFormDraft({ a: { b: { c: 1 } }, list: [{ d: 1 }] })
    expect(removeDraftValue(draft, '/a/b/c', true).value).toEqual({ list: [{ d: 1 }] })
    expect(removeDraftValue(draft, '/a/b/c').value).toEqual({ a: { b: {} }, list: [{ d: 1 }] })
    expect(removeDraftValue(createFormDraft({ a: 1 }), '/a', true).value).toEqual({})
  })
})
