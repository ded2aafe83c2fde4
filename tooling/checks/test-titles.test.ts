import { describe, expect, it } from 'vitest'

import { findTitlesWithoutSubject, hasSubject } from './test-titles.ts'

describe('hasSubject', () => {
  it.each([
    'An error without a body reports its HTTP status',
    '[RUNS-P1] [RUNS-P2] A run is stored once',
    'CORE-GET-001 CORE-GET-002: The server finds a task by its id',
    'backoffMs doubles the first delay',
    'task() fills in defaults',
    'task_failed has the reason',
    'context.callTool names its step',
    'tasks/send returns the result',
    '`decode` returns a valid value unchanged',
    '200 calls at once leave nothing behind',
    '%s is refused',
  ])('hasSubject accepts "%s"', (title) => {
    expect(hasSubject(title)).toBe(true)
  })

  it.each([
    'is its status when it has no body',
    'of an earlier version keeps its time',
    '[RUNS-P1] returns undefined',
    'CORE-GET-001: finds a task by its id',
    'Returns undefined',
    'decode returns a valid value unchanged',
    'type-checks',
  ])('hasSubject rejects "%s"', (title) => {
    expect(hasSubject(title)).toBe(false)
  })
})

describe('findTitlesWithoutSubject', () => {
  it('findTitlesWithoutSubject reads titles in every form of a test, with their lines', () => {
    const text = [
      "describe('a group', () => {",
      "  it('is one', () => {})",
      "  it.each([1])('is two: %s', (value) => {})",
      "  it.runIf(ok)('A third is right', () => {})",
      '  test.skipIf(ok)(',
      "    'is four',",
      '    () => {},',
      '  )',
      '  it(`is ${five}`, () => {})',
      '})',
    ].join('\n')
    expect(findTitlesWithoutSubject('a.test.ts', text)).toEqual([
      { line: 2, title: 'is one' },
      { line: 3, title: 'is two: %s' },
      { line: 6, title: 'is four' },
      { line: 9, title: 'is ${five}' },
    ])
  })

  it('findTitlesWithoutSubject reads the names of cases, and no other names or calls', () => {
    const text = [
      "const cases = [{ name: 'is one', run: () => {} }, { name: 'is two', async run() {} }]",
      "const tool = { name: 'is a tool', run: 'now' }, runner = { name: 'warm', run: () => {} }",
      "RULE.test('is text')",
      "test('is text')",
    ].join('\n')
    expect(findTitlesWithoutSubject('a-cases.ts', text)).toEqual([
      { line: 1, title: 'is one' },
      { line: 1, title: 'is two' },
    ])
  })
})
