/**
 * The golden files define the wire independently of the language, so that clients in other languages can be tested with
 * them. `valid/<Schema>.<case>.json` contains a value; `invalid/<Schema>.<case>.json` a value and the paths of all its
 * problems.
 */
import { Check } from 'typebox/schema'
import { describe, expect, it } from 'vitest'
import { ClientMessage, decode } from '../src/index.ts'
import { describeProblems } from '../src/internal.ts'
import { fixturesIn, schemaNamed, schemas } from './fixtures.ts'

const valid = fixturesIn('valid')
const invalid = fixturesIn('invalid')

/** Schemas of values from outside, for which rejection matters as much as acceptance. */
const FROM_OUTSIDE = [...schemas.keys()].filter(
  (name) => name.endsWith('Body') || name.endsWith('Query') || isClientMessage(name),
)

describe('valid fixtures', () => {
  it.each(valid)('$name decodes to the same value', ({ schema, text }) => {
    const value: unknown = JSON.parse(text)
    const decoded = decode(schemaNamed(schema), value)

    expect(decoded).toEqual({ ok: true, value: JSON.parse(text) })
    expect(decoded.ok && JSON.stringify(decoded.value)).toBe(JSON.stringify(JSON.parse(text)))
    expect(describeProblems(schemaNamed(schema), value)).toEqual([])
  })

  it('Valid fixtures exist for every exported schema', () => {
    const covered = new Set(valid.map((fixture) => fixture.schema))
    expect([...schemas.keys()].filter((name) => !covered.has(name))).toEqual([])
  })
})

describe('invalid fixtures', () => {
  it.each(invalid)('$name has exactly the listed problems', ({ schema, text }) => {
    const { value, problems }: InvalidFixture = JSON.parse(text)
    const decoded = decode(schemaNamed(schema), value)

    expect(decoded.ok ? [] : decoded.problems.map((problem) => problem.path).toSorted()).toEqual(
      problems.toSorted(),
    )
    expect(Check(schemaNamed(schema), value)).toBe(false)
  })

  it('Invalid fixtures exist for everything that clients and peers send', () => {
    const covered = new Set(invalid.map((fixture) => fixture.schema))
    expect(FROM_OUTSIDE.filter((name) => !covered.has(name))).toEqual([])
  })
})

interface InvalidFixture {
  readonly value: unknown
  readonly problems: readonly string[]
}

function isClientMessage(name: string): boolean {
  return ClientMessage.anyOf.some((member) => member === schemas.get(name))
}
