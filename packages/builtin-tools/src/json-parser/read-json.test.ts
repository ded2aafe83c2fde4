import { describe, expect, it } from 'vitest'

import { randomFrom, type Random } from '../../test/random.ts'
import { formatJson } from './json-value.ts'
import { MAX_JSON_DEPTH, parseJsonText } from './read-json.ts'

/** Returns the error message for invalid JSON. */
function problemOf(text: string): string {
  try {
    parseJsonText(text)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  return 'none'
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe('[TOOLS-J1] parseJsonText', () => {
  it('parseJsonText returns the same values as JSON.parse', () => {
    const random = randomFrom(21)
    for (let round = 0; round < 2_000; round++) {
      const value = randomValue(random, 4)
      const text = JSON.stringify(value, undefined, random.pick([0, 1, '\t', '\r\n']))
      // A string is formatted without quotes, so the value is wrapped in an array.
      expect(formatJson(parseJsonText(`[${text}]`))).toBe(JSON.stringify([value]))
    }
  })

  it('parseJsonText accepts the same texts as JSON.parse', () => {
    const random = randomFrom(22)
    const seen = { yes: 0, no: 0 }
    for (let round = 0; round < 20_000; round++) {
      const text = damaged(JSON.stringify(randomValue(random, 3)), random)
      const accepted = problemOf(text) === 'none'
      expect(accepted, text).toBe(isJson(text))
      seen[accepted ? 'yes' : 'no'] += 1
    }
    expect(Math.min(seen.yes, seen.no)).toBeGreaterThan(1_000)
  })

  it.each([
    ' \t\r\n1 \t\r\n',
    '\u00a01',
    '\ufeff1',
    '\v1',
    '-',
    '-1',
    '+1',
    '01',
    '-01',
    '1.',
    '.1',
    '1.e1',
    '1e',
    '1e+',
    '1E-05',
    'true',
    'True',
    'nulls',
    'NaN',
    '"\\u00e9"',
    '"\\u00E"',
    '"\\x41"',
    '"\\',
    '"\u007f\u2028"',
    '"\u001f"',
    '"\t"',
    '[]',
    '[,]',
    '[1,]',
    '{}',
    '{,}',
    '{"a":1,}',
    '{a:1}',
    '{"a"}',
    '{"a":}',
    '[1}',
    '{"a":1]',
    '1 1',
    '[] []',
    '/**/1',
    "'a'",
    '',
  ])('parseJsonText treats %j as JSON.parse does', (text) => {
    expect(problemOf(text) === 'none').toBe(isJson(text))
  })

  it('parseJsonText limits nesting', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
    expect(formatJson(parseJsonText(nested(MAX_JSON_DEPTH)))).toBe(nested(MAX_JSON_DEPTH))
    expect(problemOf(nested(MAX_JSON_DEPTH + 1))).toBe(
      'Invalid JSON: nested deeper than 500 levels at position 501 (line 1, column 501)',
    )
    expect(problemOf('{"a":'.repeat(100_000))).toContain('nested deeper')
    expect(problemOf(`[${'[],'.repeat(1_000)}[]]`)).toBe('none')
  })
})

describe('[TOOLS-J2] an error names the position and what was expected', () => {
  it.each([
    ['', 'a value at position 1 (line 1, column 1), got the end'],
    ['  ', 'a value at position 3 (line 1, column 3), got the end'],
    ['{"a":x}', 'a value at position 6 (line 1, column 6), got "x"'],
    ['[1,]', 'a value at position 4 (line 1, column 4), got "]"'],
    ['{"a":1,}', 'a key in double quotes at position 8 (line 1, column 8), got "}"'],
    ["{'a':1}", 'a key in double quotes at position 2 (line 1, column 2), got "\'"'],
    ['{"a" 1}', '":" at position 6 (line 1, column 6), got "1"'],
    ['{"a":1 "b":2}', '"," or "}" at position 8 (line 1, column 8), got "\\""'],
    ['[1 2]', '"," or "]" at position 4 (line 1, column 4), got "2"'],
    ['[1', '"," or "]" at position 3 (line 1, column 3), got the end'],
    ['{} x', 'the end at position 4 (line 1, column 4), got "x"'],
    [
      '"abc',
      'the rest of a string and its closing quote at position 5 (line 1, column 5), got the end',
    ],
    [
      '"a\nb"',
      'the rest of a string and its closing quote at position 3 (line 1, column 3), got "\\n"',
    ],
    ['"\\x"', 'a valid escape, such as \\n at position 2 (line 1, column 2), got "\\\\"'],
    ['{\n  "a": 1,\n  "b": nope\n}', 'a value at position 20 (line 3, column 8), got "n"'],
    ['😀', 'a value at position 1 (line 1, column 1), got "😀"'],
  ])('The error of the text %j names the position and what was expected', (text, message) => {
    expect(problemOf(text)).toBe(`Invalid JSON: expected ${message}`)
  })
})

function randomValue(random: Random, depth: number): unknown {
  const kind = random.integer(depth === 0 ? 4 : 6)
  if (kind === 0) return random.pick([0, -1, 3, 1.5, 1e21, -2.5e-7, 123456789])
  if (kind === 1) return random.pick([true, false, null])
  if (kind <= 3)
    return random.pick(['', 'a', '"\\/\b\n', 'é😀\u2028', '\ud83d', '\u0000', '[1,{"a":2}]'])
  const items = Array.from({ length: random.integer(4) }, () => randomValue(random, depth - 1))
  if (kind === 4) return items
  return Object.fromEntries(
    items.map((item, index) => [
      random.pick(['a', 'b c', '"', '']) + String.fromCharCode(97 + index),
      item,
    ]),
  )
}

/** Returns the text with a few characters removed, added or replaced. */
function damaged(text: string, random: Random): string {
  let result = text
  for (let times = random.integer(3); times > 0; times--) {
    const at = random.integer(result.length + 1)
    const sign = random.pick([
      '',
      ' ',
      ',',
      ':',
      '"',
      '\\',
      '[',
      ']',
      '{',
      '}',
      '0',
      '-',
      '.',
      'e',
      'u',
      '\n',
      '\u0001',
      'true',
    ])
    result = result.slice(0, at) + sign + result.slice(at + random.integer(2))
  }
  return result
}
