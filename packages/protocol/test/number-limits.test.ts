/** Every number of the wire has a minimum and a maximum, so that no sum of it, date or column overflows. */
import { describe, expect, it } from 'vitest'

import { decode, RunCommand, SubmitRunBody } from '../src/index.ts'
import { describeProblems, MAX_COUNT, MAX_DURATION_MS, maximumOf } from '../src/internal.ts'
import { findNumbers } from '../../../tooling/test-kit/find-numbers.ts'
import { SENT_BY_CLIENTS, SENT_BY_SERVERS } from './wire-schemas.ts'

/** Tags are metadata: they are stored as JSON and never computed with. */
const isTag = (path: string): boolean => /\/(tags|inputs)\//.test(path)

describe('every number', () => {
  it.each([
    ['of clients', SENT_BY_CLIENTS],
    ['of servers', SENT_BY_SERVERS],
    ['of commands', [RunCommand]],
  ])('Every number %s has a minimum and a maximum', (_, schemas) => {
    const numbers = schemas.flatMap((schema) => findNumbers(schema))
    expect(numbers.length).toBeGreaterThan(0)
    expect(numbers.filter(({ least, most }) => least === undefined || most === undefined)).toEqual(
      [],
    )
  })

  it('Every number that clients send has a maximum that can be added to the time and multiplied by a thousand', () => {
    const numbers = [...SENT_BY_CLIENTS, RunCommand].flatMap((schema) => findNumbers(schema))
    const greatest = numbers.filter(({ path }) => !isTag(path)).map(({ most = Infinity }) => most)
    expect(Math.max(...greatest)).toBe(MAX_DURATION_MS)
    expect(Number.isSafeInteger(MAX_DURATION_MS * 1_000)).toBe(true)
    expect(Number.isSafeInteger(MAX_COUNT * 1_000)).toBe(true)
    expect(new Date(Date.now() + MAX_DURATION_MS).toISOString()).toMatch(/^2\d{3}-/)
  })

  it('Every integer that servers send is a safe integer', () => {
    const integers = SENT_BY_SERVERS.flatMap((schema) => findNumbers(schema)).filter(
      ({ isInteger }) => isInteger,
    )
    expect(integers.filter(({ most = Infinity }) => !Number.isSafeInteger(most))).toEqual([])
  })
})

describe('a request with a number that is too large', () => {
  const task = { description: 'x' }
  const TOO_LONG = 9_007_199_254_740_991
  it.each<[string, unknown, number]>([
    [
      '/tasks/0/review/timeoutMs',
      { tasks: [{ ...task, review: { timeoutMs: TOO_LONG } }] },
      MAX_DURATION_MS,
    ],
    [
      '/tasks/0/beforeReview/timeoutMs',
      { tasks: [{ ...task, beforeReview: { timeoutMs: TOO_LONG } }] },
      MAX_DURATION_MS,
    ],
    [
      '/tasks/0/review/maxRevisions',
      { tasks: [{ ...task, review: { maxRevisions: TOO_LONG } }] },
      MAX_COUNT,
    ],
    ['/tasks/0/maxIterations', { tasks: [{ ...task, maxIterations: TOO_LONG }] }, MAX_COUNT],
    ['/tasks/0/maxOutputTokens', { tasks: [{ ...task, maxOutputTokens: TOO_LONG }] }, MAX_COUNT],
    [
      '/options/review/timeoutMs',
      { options: { review: { timeoutMs: TOO_LONG } } },
      MAX_DURATION_MS,
    ],
    ['/options/maxToolOutputLength', { options: { maxToolOutputLength: TOO_LONG } }, MAX_COUNT],
    ['/budget/maxDurationMs', { budget: { maxDurationMs: TOO_LONG } }, MAX_DURATION_MS],
    ['/budget/maxTokens', { budget: { maxTokens: TOO_LONG } }, MAX_COUNT],
    ['/budget/maxCostUsd', { budget: { maxCostUsd: 1e308 } }, 1_000_000_000],
    [
      '/clientTools/0/timeoutMs',
      { clientTools: [{ name: 'a', inputSchema: {}, timeoutMs: TOO_LONG }] },
      MAX_DURATION_MS,
    ],
  ])(
    'A request with a number that is too large is refused with the field %s and its maximum',
    (path, body, most) => {
      expect(describeProblems(SubmitRunBody, body)).toEqual([
        expect.objectContaining({ path, message: expect.stringContaining(`must be <= ${most}`) }),
      ])
    },
  )

  it('A request with a number that is too large is accepted up to the maximum', () => {
    const review = { timeoutMs: MAX_DURATION_MS, onTimeout: 'FAIL' }
    expect(decode(SubmitRunBody, { tasks: [{ ...task, review }] }).ok).toBe(true)
  })
})

it.each([
  ['timeoutMs', MAX_DURATION_MS],
  ['maxCostUsd', 1_000_000_000],
  ['maxCostUsdPerDay', 1_000_000_000],
  ['cachedInputPerMillion', 1_000_000_000],
  ['maxTokens', MAX_COUNT],
  ['maxBodyBytes', MAX_COUNT],
])('The maximum of %s follows from the unit in its name', (name, most) => {
  expect(maximumOf(name)).toBe(most)
})
