import { describe, expect, test } from 'vitest'

import { isAccepted, replaceName } from './names.ts'
import { PROVIDER_RULES } from './provider-rules.ts'

import type { NameRule } from './rule.ts'

const RULES = Object.entries(PROVIDER_RULES).flatMap(
  ([provider, { toolCallId, toolName, propertyName }]) =>
    Object.entries({ toolCallId, toolName, propertyName }).flatMap(([what, rule]) =>
      rule === undefined ? [] : [[`${what} of ${provider}`, rule] as const],
    ),
)

const REFUSED = [
  '',
  ' ',
  '_',
  '9',
  '-',
  'functions.log:0',
  'filter[name]',
  '$top',
  'größe',
  '名前',
  'a\ud800b',
  'a\ud801b',
  '\ud800',
  '🧀',
  'call_1#2',
  'x'.repeat(500),
  `${'x'.repeat(500)}y`,
  ...Array.from({ length: 200 }, (_, index) => `name ${index}`),
]

describe.each(RULES)('%s', (_, rule: NameRule) => {
  test('A rule for names accepts every replacement, and replacements are unique', () => {
    const taken = new Set<string>()
    const replacements = REFUSED.map((name) => replaceName(name, rule, taken))
    expect(replacements.filter((name) => !isAccepted(name, rule))).toEqual([])
    expect(new Set(replacements).size).toBe(REFUSED.length)
  })

  test('A rule for names replaces a name in the same way every time', () => {
    const [first, second] = [0, 1].map(() => replaceName('functions.log:0', rule, new Set()))
    expect(first).toBe(second)
  })

  test('A rule for names replaces a name differently when its replacement is taken', () => {
    const taken = new Set<string>()
    const first = replaceName('a b', rule, taken)
    const second = replaceName('a b', rule, taken)
    expect(second).not.toBe(first)
    expect(isAccepted(second, rule)).toBe(true)
  })
})

test('A replacement starts with the readable part of the name', () => {
  const rule = PROVIDER_RULES['anthropic']?.propertyName
  expect(replaceName('filter[name]', rule, new Set())).toMatch(/^filter_name_[a-zA-Z0-9]{6}$/)
  expect(replaceName('$top', rule, new Set())).toMatch(/^top_[a-zA-Z0-9]{6}$/)
  expect(replaceName('x'.repeat(70), rule, new Set())).toMatch(/^x{57}_[a-zA-Z0-9]{6}$/)
})

test('No rule accepts a lone surrogate', () => {
  expect(isAccepted('a\ud800', undefined)).toBe(false)
  expect(isAccepted('a🧀', undefined)).toBe(true)
})
