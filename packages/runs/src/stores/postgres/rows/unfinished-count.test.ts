import { fakeClock } from '@tutti/testing'
import { expect, it } from 'vitest'

import { LastUnfinishedCount } from './unfinished-count.ts'

const SECOND = 1_000

it('The unfinished count allows row ids up to half of the limit after a count', () => {
  const { count } = setUp()
  expect(count.findLimit(100)).toBeUndefined()
  count.remember({ unfinished: 20, lastId: 1_000 })
  expect(count.findLimit(100)).toBe(1_030)
  expect(count.findLimit(42)).toBe(1_001)
  expect(count.findLimit(41)).toBeUndefined()
  expect(count.findLimit(Number.MAX_SAFE_INTEGER)).toBeGreaterThan(1e15)
})

it('The unfinished count requires another count after a second', async () => {
  const { count, clock } = setUp()
  count.remember({ unfinished: 0, lastId: 0 })
  await clock.advance(SECOND)
  expect(count.findLimit(100)).toBe(50)
  await clock.advance(1)
  expect(count.findLimit(100)).toBeUndefined()
})

function setUp() {
  const clock = fakeClock()
  return { clock, count: new LastUnfinishedCount(() => clock.elapsed()) }
}
