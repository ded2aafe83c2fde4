import { afterEach, expect, test, vi } from 'vitest'

import { formatNumber, formatTable, isMet, printClaim } from './report.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

test('A measurement meets a claim at its limit and beyond it', () => {
  expect(isMet({ text: 'fast', atLeast: 5, measured: 5 })).toBe(true)
  expect(isMet({ text: 'fast', atLeast: 5, measured: 4.99 })).toBe(false)
  expect(isMet({ text: 'small', atMost: 16, measured: 16 })).toBe(true)
  expect(isMet({ text: 'small', atMost: 16, measured: 16.1 })).toBe(false)
})

test('A measurement below 0 counts as under every maximum', () => {
  expect(isMet({ text: 'small', atMost: 16, measured: -3 })).toBe(true)
})

test('A failed measurement does not meet its claim', () => {
  expect(isMet({ text: 'fast', atLeast: 5, measured: Number.NaN })).toBe(false)
  expect(isMet({ text: 'small', atMost: 16, measured: Number.NaN })).toBe(false)
})

test('The report prints one line with the measurement and whether it is enough', () => {
  const print = vi.spyOn(console, 'log').mockReturnValue()
  printClaim({ text: 'fast', atLeast: 5, measured: 7.25, unit: ' times' })
  printClaim({ text: 'small', atMost: 16, measured: 20 })
  printClaim({ text: 'known', atMost: 16, measured: Number.NaN })
  expect(print.mock.calls).toEqual([
    ['CLAIM fast: 7.25 times, met'],
    ['CLAIM small: 20, NOT met'],
    ['CLAIM known: not measured, NOT met'],
  ])
})

test('The report formats numbers with the digits that count', () => {
  expect([0.1234, 1.234, 12.34, 1234.5].map(formatNumber)).toEqual([
    '0.123',
    '1.23',
    '12.3',
    '1,235',
  ])
})

test('The report aligns the columns of a table', () => {
  const table = { title: 'speed', columns: ['server', 'runs/s'], rows: [['Tutti', '1,000']] }
  expect(formatTable(table)).toBe(
    ['| server | runs/s |', '| ------ | ------ |', '| Tutti  | 1,000  |'].join('\n'),
  )
})
