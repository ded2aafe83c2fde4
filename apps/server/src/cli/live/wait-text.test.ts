import { describe, expect, it } from 'vitest'

import { describeWait, formatDecideHint, type Waiting } from './wait-text.ts'

type Events = NonNullable<Waiting['waitsFor']>

const review = { reviewId: 'review-1', kind: 'TASK_OUTPUT' } as const

describe('describeWait', () => {
  it.each<[Events, string]>([
    [[], 'sleeping'],
    [[{ name: 'paid' }], 'waiting for event "paid"'],
    [
      [{ name: 'paid', key: 'o-1' }, { name: 'failed' }],
      'waiting for event "paid" with key "o-1" or "failed"',
    ],
  ])('describeWait names the events %j: %s', (waitsFor, text) => {
    expect(describeWait({ kind: 'EVENT', waitsFor })).toBe(text)
  })

  it('describeWait leaves reviews out', () => {
    expect(describeWait(review)).toBeUndefined()
  })
})

describe('formatDecideHint', () => {
  it.each<[Events, string | undefined]>([
    [[], undefined],
    [[{ name: 'paid' }], 'deliver with: tutti deliver paid'],
    [[{ name: 'paid', key: 'o-1' }], 'deliver with: tutti deliver paid --key o-1'],
    [[{ name: 'paid', key: "it's" }], String.raw`deliver with: tutti deliver paid --key 'it'\''s'`],
  ])('formatDecideHint for the events %j: %s', (waitsFor, hint) => {
    expect(formatDecideHint({ ...review, kind: 'EVENT', waitsFor })).toBe(hint)
  })

  it('formatDecideHint names the command that decides a review', () => {
    expect(formatDecideHint(review)).toBe('decide with: tutti review review-1')
  })
})
