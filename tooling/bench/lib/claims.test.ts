import { afterEach, expect, test, vi } from 'vitest'

import { isMet, printClaim } from './claims.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

test('meets a claim at its limit and beyond it', () => {
  expect(isMet({ text: 'fast', atLeast: 5, measured: 5 })).toBe(true)
  expect(isMet({ text: 'fast', atLeast: 5, measured: 4.99 })).toBe(false)
  expect(isMet({ text: 'small', atMost: 16, measured: 16 })).toBe(true)
  expect(isMet({ text: 'small', atMost: 16, measured: 16.1 })).toBe(false)
})

test('counts a measurement below 0 as under every maximum', () => {
  expect(isMet({ text: 'small', atMost: 16, measured: -3 })).toBe(true)
})

test('does not meet a claim with a failed measurement', () => {
  expect(isMet({ text: 'fast', atLeast: 5, measured: Number.NaN })).toBe(false)
  expect(isMet({ text: 'small', atMost: 16, measured: Number.NaN })).toBe(false)
})

test('prints one line with the measurement and whether it is enough', () => {
  const print = vi.spyOn(console, 'log').mockReturnValue()
  printClaim({ text: 'fast', atLeast: 5, measured: 7.25, unit: ' times' })
  printClaim({ text: 'small', atMost: 16, measured: 20 })
  expect(print.mock.calls).toEqual([['CLAIM fast: 7.3 times, met'], ['CLAIM small: 20.0, NOT met']])
})
