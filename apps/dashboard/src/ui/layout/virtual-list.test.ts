import { expect, it } from 'vitest'

import { findRowForKey } from './virtual-list.tsx'

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
])('The selection of a table moves with %s from row %i of ten to %s', (key, at, to) =>
  expect(findRowForKey(pressed(key), at, 10)).toBe(to),
)

it('The selection of a table ignores keys with a modifier, and tables without rows', () => {
  for (const modifier of ['ctrlKey', 'metaKey', 'altKey']) {
    expect(findRowForKey(pressed('j', { [modifier]: true }), 0, 10)).toBeUndefined()
  }
  expect(findRowForKey(pressed('End'), -1, 0)).toBeUndefined()
})
