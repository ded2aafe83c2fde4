/**
 * The golden files are the wire, in no language: a client in another one can be tested against them.
 * `valid/<Schema>.<case>.json` holds a value; `invalid/<Schema>.<case>.json` a value and the paths of
 * all its problems.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { Check } from 'typebox/schema'
import { describe, expect, it } from 'vitest'
import * as protocol from '../src/index.ts'
import { decode, describeProblems } from '../src/index.ts'

const schemas = new Map<string, object>(
  Object.entries(protocol).filter((entry): entry is [string, object] => isSchema(entry)),
)
const valid = fixturesIn('valid')
const invalid = fixturesIn('invalid')

/** Schemas of values that come from outside, so that refusing matters as much as accepting. */
const FROM_OUTSIDE = [...schemas.keys()].filter(
  (name) => name.endsWith('Body') || name.endsWith('Query') || isClientMessage(name),
)

describe('valid fixtures', () => {
  it.each(valid)('$name decodes and comes back as it was', ({ schema, text }) => {
    const value: unknown = JSON.parse(text)
    const decoded = decode(schemaNamed(schema), value)

    expect(decoded).toEqual({ ok: true, value: JSON.parse(text) })
    expect(decoded.ok && JSON.stringify(decoded.value)).toBe(JSON.stringify(JSON.parse(text)))
    expect(describeProblems(schemaNamed(schema), value)).toEqual([])
  })

  it('exist for every exported schema', () => {
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

  it('exist for everything that comes from outside', () => {
    const covered = new Set(invalid.map((fixture) => fixture.schema))
    expect(FROM_OUTSIDE.filter((name) => !covered.has(name))).toEqual([])
  })
})

interface InvalidFixture {
  readonly value: unknown
  readonly problems: readonly string[]
}

interface Fixture {
  readonly name: string
  readonly schema: string
  readonly text: string
}

function fixturesIn(folder: string): Fixture[] {
  const directory = new URL(`../fixtures/${folder}/`, import.meta.url)
  return readdirSync(directory).map((file) => ({
    name: file,
    schema: file.slice(0, file.indexOf('.')),
    text: readFileSync(new URL(file, directory), 'utf8'),
  }))
}

function schemaNamed(name: string): object {
  const schema = schemas.get(name)
  if (schema === undefined) throw new Error(`Fixture names no exported schema: "${name}"`)
  return schema
}

/** Schemas are the capitalised objects of the door; tables are in capitals throughout. */
function isSchema([name, value]: [string, unknown]): boolean {
  return typeof value === 'object' && /^[A-Z][a-z]/.test(name)
}

function isClientMessage(name: string): boolean {
  return protocol.ClientMessage.anyOf.some((member) => member === schemas.get(name))
}
