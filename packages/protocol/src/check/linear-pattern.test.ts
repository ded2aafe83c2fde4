import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { CheckRun } from './check-run.ts'
import { createLinearPatterns } from './linear-pattern.ts'

function test(source: string, text: string): boolean {
  return createLinearPatterns()(source).test(text, new CheckRun())
}

/** Parts of patterns, each with what the others can follow. */
const ATOMS = [
  'a',
  'b',
  '.',
  '^',
  '$',
  '-',
  ' ',
  '\\d',
  '\\w',
  '\\s',
  '\\S',
  '\\b',
  '\\B',
  '\\n',
  '\\.',
  '[ab]',
  '[^a]',
  '[a-c0]',
  '[\\d_]',
  '[^\\s]',
  '\\u0061',
  '\\x62',
  '\\p{L}',
  '\\P{Lu}',
]
const QUANTIFIERS = ['*', '+', '?', '{2}', '{1,3}', '{0,2}', '{2,}', '*?', '+?']

const pattern = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(...ATOMS),
    fc.array(tie('pattern'), { maxLength: 3 }).map((parts) => parts.join('')),
    fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => `(${a}|${b})`),
    fc
      .tuple(tie('pattern'), fc.constantFrom(...QUANTIFIERS))
      .map(([part, quantifier]) => `(?:${part})${quantifier}`),
  ),
})).pattern

const text = fc
  .array(fc.constantFrom('a', 'b', 'c', '0', '_', ' ', '\n', '\u2028', '\u00a0', 'é', '-', '.'), {
    maxLength: 8,
  })
  .map((parts) => parts.join(''))

describe('createLinearPatterns', () => {
  it('[PROTO-N1] createLinearPatterns agrees with the engine of JavaScript on generated patterns and texts', () => {
    fc.assert(
      fc.property(pattern, text, (source, given) => {
        expect(test(source, given)).toBe(new RegExp(source, 'u').test(given))
      }),
      { numRuns: 2_000 },
    )
  })

  it.each([
    ['\\s', '\u00a0'],
    ['^.$', '\u2028'],
    ['a$', 'a\n'],
    ['^.$', '😀'],
    ['^[😀]$', '😀'],
    ['\\uD83D\\uDE00', '😀'],
    ['^\\u{1F600}$', '😀'],
    ['(?<name>a)b', 'ab'],
    ['^\\p{Script=Greek}+$', 'αβγ'],
    ['[]', 'a'],
    ['[^]', '\n'],
    ['^[\\b]$', '\b'],
    ['^\\cJ$', '\n'],
    ['^.{1,5000}$', 'a'.repeat(5_000)],
    ['^.{1,5000}$', 'a'.repeat(5_001)],
  ])(
    '[PROTO-N1] createLinearPatterns gives %s the meaning of ECMAScript for %j',
    (source, given) => {
      expect(test(source, given)).toBe(new RegExp(source, 'u').test(given))
    },
  )

  it.each([
    ['^(a+)+$', `${'a'.repeat(10_000)}!`],
    ['^(a|a)*$', `${'a'.repeat(10_000)}!`],
    ['^(a|aa)+$', `${'a'.repeat(10_000)}!`],
    ['(x+x+)+y', 'x'.repeat(10_000)],
    ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a'.repeat(10_000)],
    ['(.*)*(.*)*b', 'a'.repeat(10_000)],
  ])(
    '[PROTO-N2] createLinearPatterns takes steps in proportion to the text: %s',
    (source, given) => {
      const compiled = createLinearPatterns()(source)
      const steps = [given, given + given].map((each) => {
        const run = new CheckRun()
        compiled.test(each, run)
        return run.steps
      })
      const [once = 0, twice = 0] = steps
      expect(once).toBeLessThan(300_000)
      expect(twice).toBeLessThan(once * 2 + 100)
    },
  )

  it('[PROTO-N2] createLinearPatterns throws when the run has no steps left', () => {
    const compiled = createLinearPatterns()('(a|aa)+$')
    expect(() => compiled.test('a'.repeat(1_000), new CheckRun(100))).toThrow(
      'the check needs more than 100 steps',
    )
  })

  it.each([
    ['(?=a)b', 'uses lookahead or lookbehind'],
    ['(?!a)b', 'uses lookahead or lookbehind'],
    ['(?<=a)b', 'uses lookahead or lookbehind'],
    ['(?<!a)b', 'uses lookahead or lookbehind'],
    ['(a)\\1', 'refers to a group'],
    ['(?<n>a)\\k<n>', 'refers to a group'],
    ['(?i)a', 'uses a group that starts with (?'],
    ['a\\Z', 'has the unknown escape \\Z'],
    ['(a{1,1000}){1,1000}', 'needs too many states'],
    ['(', 'has an unterminated group'],
    [')', 'has an unmatched ")"'],
    ['[a', 'has an unterminated class'],
    ['*a', 'has nothing to repeat'],
    ['a**', 'has nothing to repeat'],
    ['a{2,1}', 'has numbers out of order'],
    ['\\p{Foo}', 'Invalid property name'],
    ['[b-a]', 'Range out of order'],
    ['('.repeat(1_000), 'nests more than 200 groups'],
  ])('[PROTO-N3] createLinearPatterns refuses %s', (source, message) => {
    expect(() => createLinearPatterns()(source)).toThrow(SyntaxError)
    expect(() => createLinearPatterns()(source)).toThrow(message)
  })

  it('[PROTO-N3] createLinearPatterns limits the states of all patterns together', () => {
    const patterns = createLinearPatterns()
    for (let count = 0; count < 4; count += 1) patterns(`a{10000}${count}`)
    expect(() => patterns('a{10000}5')).toThrow('needs too many states')
    expect(patterns('a{10000}0')).toBe(patterns('a{10000}0'))
  })

  it.each([
    ['^https\\:\\/\\/', 'https://a', 'http://a'],
    ['^[\\w-\\.]+$', 'a-b.c', 'a b'],
    ['^a\\_b$', 'a_b', 'ab'],
    ['^{x}$', '{x}', 'x'],
    ['^[\\w\\-\\@]+$', 'a-@', 'a b'],
    ["^\\'$", "'", 'a'],
  ])(
    '[PROTO-N4] createLinearPatterns reads %s as without the flag `u`',
    (source, matching, other) => {
      expect([matching, other].map((each) => test(source, each))).toEqual([true, false])
      expect([matching, other].map((each) => new RegExp(source).test(each))).toEqual([true, false])
    },
  )
})
