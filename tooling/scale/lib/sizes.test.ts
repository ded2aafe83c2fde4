import { expect, it } from 'vitest'

import { chooseSizes, replaceSizes } from './sizes.ts'

const whole = chooseSizes(false)

it('The reader of sizes replaces the given sizes only', () => {
  expect(replaceSizes(whole, ['owned=500', 'hosts=3'])).toEqual({ ...whole, owned: 500, hosts: 3 })
  expect(replaceSizes(whole, [])).toEqual(whole)
})

it('The reader of sizes names what is wrong, and what would be right', () => {
  expect(() => replaceSizes(whole, ['runs=5'])).toThrow(
    /Unknown size "runs" in "runs=5"\. Expected one of executed, copies/,
  )
  for (const text of ['owned', 'owned=', 'owned=-1', 'owned=many', 'owned=1.5']) {
    expect(() => replaceSizes(whole, [text])).toThrow(
      `Cannot use "${text}": expected owned= and an integer >= 0`,
    )
  }
})
