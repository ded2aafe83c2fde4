import { describe, expect, it } from 'vitest'

import { TextBudget } from './cut-text.ts'

describe('TextBudget', () => {
  it('TextBudget returns a text that fits unchanged, with its size in bytes', () => {
    const budget = new TextBudget({ maxBytes: 100, maxTextBytes: 10 })
    expect(budget.cut('é🙂').shown).toEqual({ text: 'é🙂', bytes: 6 })
    expect(budget.cut('').shown).toEqual({ text: '', bytes: 0 })
  })

  it('TextBudget cuts a longer text before the character that does not fit, and marks the text', () => {
    const budget = new TextBudget({ maxBytes: 100, maxTextBytes: 5 })
    expect(budget.cut('abc🙂d').shown).toEqual({ text: 'abc', bytes: 8, cut: true })
    expect(budget.cut('ééé').shown).toEqual({ text: 'éé', bytes: 6, cut: true })
    expect(budget.cut('\uD83D\uDE42\uD83D\uDE42').shown.text).toBe('🙂')
  })

  it('TextBudget cuts later texts when all together are too long', () => {
    const budget = new TextBudget({ maxBytes: 6, maxTextBytes: 4 })
    expect(budget.cut('abcd').shown).toEqual({ text: 'abcd', bytes: 4 })
    expect(budget.cut('efgh').shown).toEqual({ text: 'ef', bytes: 4, cut: true })
    expect(budget.cut('i').shown).toEqual({ text: '', bytes: 1, cut: true })
  })

  it('TextBudget returns the digest of the whole text', () => {
    const digests = ['abcdX', 'abcdY', 'abcdX'].map(
      (text) => new TextBudget({ maxBytes: 4, maxTextBytes: 4 }).cut(text).digest,
    )
    expect(digests[0]).not.toBe(digests[1])
    expect(digests[0]).toBe(digests[2])
  })
})
