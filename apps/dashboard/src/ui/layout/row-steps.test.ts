import { expect, it } from 'vitest'

import { stepOf } from './virtual-table.tsx'

const pressed = (key: string, more = {}) => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  ...more,
})

it.each([
  ['ArrowDown', -1, 0],
  ['j', 3, 4],
  ['j', 9, 9],
  ['k', 3, 2],
  ['ArrowUp', 0, 0],
  ['ArrowUp', -1, 0],
  ['Home', 5, 0],
  ['End', 5, 9],
  ['x', 5, undefined],
])('%s goes from row %i of ten to %s', (key, at, to) =>
  expect(stepOf(pressed(key), at, 10)).toBe(to),
)

it('goes nowhere with a modifier, and without rows', () => {
  for (const modifier of ['ctrlKey', 'metaKey', 'altKey']) {
    expect(stepOf(pressed('j', { [modifier]: true }), 0, 10)).toBeUndefined()
  }
  expect(stepOf(pressed('End'), -1, 0)).toBeUndefined()
})
