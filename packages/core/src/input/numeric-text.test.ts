import { describe, expect, it } from 'vitest'

import { parseNumberText } from './numeric-text.ts'

describe('parseNumberText', () => {
  it.each([
    ['5', 5],
    ['-1.5', -1.5],
    ['1e3', 1000],
    ['1E-2', 0.01],
    [' 7\n', 7],
    ['0', 0],
    ['-0', 0],
    ['0.0', 0],
    ['0e999999999999999999', 0],
    ['5.0', 5],
    ['1200', 1200],
    ['0.001e3', 1],
    ['120e-1', 12],
    ['12.50', 12.5],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
    ['9007199254740992', 2 ** 53],
    ['100000000000000000000000', 1e23],
    ['1e23', 1e23],
    ['3.14159265358979323846', Math.PI],
    ['0.1', 0.1],
  ])('parseNumberText reads %j as the number that it spells', (text, number) => {
    expect(parseNumberText(text)).toBe(number)
  })

  it.each([
    '',
    ' ',
    '0x10',
    'NaN',
    'Infinity',
    '1,000',
    '+5',
    '05',
    '.5',
    '5.',
    '1e',
    '1_000',
    '5a',
    '١',
    '1 2',
    '--1',
    '1n',
  ])('parseNumberText rejects %j', (text) => {
    expect(parseNumberText(text)).toBeUndefined()
  })

  it.each([
    '9007199254740993',
    '-9007199254740993',
    '100000000000000000000001',
    '0.99999999999999999999',
    '9007199254740993.5',
    '1e400',
    '-1e400',
    '1e-400',
  ])('parseNumberText rejects %s, whose integer part a double cannot represent', (text) => {
    expect(parseNumberText(text)).toBeUndefined()
  })

  it('parseNumberText takes time proportional to the length of the text', () => {
    const zeros = '0'.repeat(1_000_000)
    expect(parseNumberText(`1.${zeros}1`)).toBeUndefined()
    expect(parseNumberText(`1.${zeros}`)).toBe(1)
    expect(parseNumberText('1'.repeat(1_000_000))).toBeUndefined()
  })
})
