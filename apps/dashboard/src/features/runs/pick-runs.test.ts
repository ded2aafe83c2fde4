import { expect, it } from 'vitest'

import { pickRun } from './pick-runs.tsx'

it('The selection contains at most two runs; a third replaces the second, and a selected one is deselected', () => {
  expect(pickRun(undefined, 'a')).toEqual(['a'])
  expect(pickRun(['a'], 'b')).toEqual(['a', 'b'])
  expect(pickRun(['a', 'b'], 'c')).toEqual(['a', 'c'])
  expect(pickRun(['a', 'b'], 'a')).toEqual(['b'])
})
