/**
 * The JSON Schema Test Suite, draft 2020-12, with both readers: of tool output, which follows JSON Schema, and of tool input
 * without coercion. Every difference is listed by name with its reason.
 */
import { readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { createOutputReader } from '../src/input/input-reader.ts'
import { toStandardSchema } from '../src/input/standard-schema.ts'

import type { TSchema } from 'typebox'

interface Group {
  readonly description: string
  readonly schema: TSchema
  readonly tests: readonly Case[]
}

interface Case {
  readonly description: string
  readonly data: unknown
  readonly valid: boolean
}

// NOTE: the file is part of this repository.
const suite = JSON.parse(
  readFileSync(new URL('json-schema-suite/draft2020-12.json', import.meta.url), 'utf8'),
) as Readonly<Record<string, readonly Group[]>>

const REMOTE = 'references lead to other documents or to the metaschema, which are not loaded'
const DEFAULT = 'a default must match its own schema'
const TYPEBOX = 'TypeBox takes ids in unknown keywords for identifiers'
const VOCABULARY = 'a metaschema cannot remove keywords'
const BOOLEAN = 'a tool describes its values by keywords'
const DROPPED = 'input without unknown fields is valid, so they are dropped'

/** Schemas that are refused at definition. */
const REFUSED: Readonly<Record<string, string>> = {
  'anchor | invalid anchors': REMOTE,
  "boolean_schema | boolean schema 'true'": BOOLEAN,
  "boolean_schema | boolean schema 'false'": BOOLEAN,
  'default | invalid type for default': DEFAULT,
  'default | invalid string value for default': DEFAULT,
  'default | the default keyword does not do anything if the property is missing': DEFAULT,
  'defs | validate definition against metaschema': REMOTE,
  'dynamicRef | strict-tree schema, guards against misspelled properties': REMOTE,
  'dynamicRef | tests for implementation dynamic anchor and reference link': REMOTE,
  'dynamicRef | $ref and $dynamicAnchor are independent of order - $defs first': REMOTE,
  'dynamicRef | $ref and $dynamicAnchor are independent of order - $ref first': REMOTE,
  'id | Invalid use of fragments in location-independent $id': REMOTE,
  'id | Valid use of empty fragments in location-independent $id': REMOTE,
  'id | Unnormalized $ids are allowed but discouraged': REMOTE,
  'ref | remote ref, containing refs itself': REMOTE,
  'ref | URN base URI with f-component': REMOTE,
  'refRemote | remote ref': REMOTE,
  'refRemote | fragment within remote ref': REMOTE,
  'refRemote | anchor within remote ref': REMOTE,
  'refRemote | ref within remote ref': REMOTE,
  'refRemote | base URI change': REMOTE,
  'refRemote | base URI change - change folder': REMOTE,
  'refRemote | base URI change - change folder in subschema': REMOTE,
  'refRemote | root ref in remote ref': REMOTE,
  'refRemote | remote ref with ref to defs': REMOTE,
  'refRemote | Location-independent identifier in remote ref': REMOTE,
  'refRemote | retrieved nested refs resolve relative to their URI not $id': REMOTE,
  'refRemote | remote HTTP ref with different $id': REMOTE,
  'refRemote | remote HTTP ref with different URN $id': REMOTE,
  'refRemote | remote HTTP ref with nested absolute ref': REMOTE,
}

/** Cases with another verdict. */
const OTHER: Readonly<Record<string, string>> = {
  'unknownKeyword | $id inside an unknown keyword is not a real identifier | type matches second anyOf, which has a real schema in it':
    TYPEBOX,
  'unknownKeyword | $id inside an unknown keyword is not a real identifier | type matches non-schema in third anyOf':
    TYPEBOX,
  'vocabulary | schema that uses custom metaschema with with no validation vocabulary | no validation: invalid number, but it still validates':
    VOCABULARY,
}

/** Cases that only input reads differently: an invalid value is accepted without its unknown fields. */
const DROPPING: Readonly<Record<string, string>> = {
  'additionalProperties | additionalProperties being false does not allow other properties | an additional property is invalid':
    DROPPED,
  'additionalProperties | non-ASCII pattern with additionalProperties | not matching the pattern is invalid':
    DROPPED,
  'ref | root pointer ref | mismatch': DROPPED,
  'ref | root pointer ref | recursive mismatch': DROPPED,
  'unevaluatedProperties | unevaluatedProperties false | with unevaluated properties': DROPPED,
  'unevaluatedProperties | unevaluatedProperties with adjacent properties | with unevaluated properties':
    DROPPED,
  'unevaluatedProperties | unevaluatedProperties with adjacent patternProperties | with unevaluated properties':
    DROPPED,
  'unevaluatedProperties | unevaluatedProperties with nested properties | with additional properties':
    DROPPED,
  'unevaluatedProperties | unevaluatedProperties with nested patternProperties | with additional properties':
    DROPPED,
  'unevaluatedProperties | unevaluatedProperties with anyOf | when one matches and has unevaluated properties':
    DROPPED,
  'unevaluatedProperties | unevaluatedProperties with anyOf | when two match and has unevaluated properties':
    DROPPED,
  'unevaluatedProperties | unevaluatedProperties with oneOf | with unevaluated properties': DROPPED,
  'unevaluatedProperties | unevaluatedProperties with if/then/else | when if is true and has unevaluated properties':
    DROPPED,
  'unevaluatedProperties | unevaluatedProperties with if/then/else | when if is false and has unevaluated properties':
    DROPPED,
  'unevaluatedProperties | unevaluatedProperties with if/then/else, then not defined | when if is true and has no unevaluated properties':
    DROPPED,
  'unevaluatedProperties | unevaluatedProperties with if/then/else, then not defined | when if is true and has unevaluated properties':
    DROPPED,
  'unevaluatedProperties | unevaluatedProperties with if/then/else, then not defined | when if is false and has unevaluated properties':
    DROPPED,
  'unevaluatedProperties | unevaluatedProperties with if/then/else, else not defined | when if is true and has unevaluated properties':
    DROPPED,
  'unevaluatedProperties | unevaluatedProperties with if/then/else, else not defined | when if is false and has no unevaluated properties':
    DROPPED,
  'unevaluatedProperties | unevaluatedProperties with if/then/else, else not defined | when if is false and has unevaluated properties':
    DROPPED,
  'unevaluatedProperties | unevaluatedProperties with dependentSchemas | with unevaluated properties':
    DROPPED,
  'unevaluatedProperties | unevaluatedProperties with boolean schemas | with unevaluated properties':
    DROPPED,
  'unevaluatedProperties | unevaluatedProperties with $ref | with unevaluated properties': DROPPED,
  'unevaluatedProperties | unevaluatedProperties + single cyclic ref | Unevaluated on 1st level is invalid':
    DROPPED,
  'unevaluatedProperties | unevaluatedProperties + single cyclic ref | Unevaluated on 2nd level is invalid':
    DROPPED,
  'unevaluatedProperties | unevaluatedProperties + single cyclic ref | Unevaluated on 3rd level is invalid':
    DROPPED,
  'unevaluatedProperties | dynamic evalation inside nested refs | xx + foo is invalid': DROPPED,
}

const groups = Object.entries(suite).flatMap(([file, list]) =>
  list.map((group) => ({ ...group, name: `${file} | ${group.description}` })),
)

/** Returns the names of the refused schemas, and of the cases whose verdict differs. */
async function compare(
  createReader: (schema: TSchema) => (value: unknown) => Promise<boolean>,
): Promise<{ readonly refused: string[]; readonly other: string[]; readonly agreeing: number }> {
  const refused: string[] = []
  const other: string[] = []
  let agreeing = 0
  for (const { name, schema, tests } of groups) {
    let read: (value: unknown) => Promise<boolean>
    try {
      read = createReader(schema)
    } catch (error) {
      expect(error).toBeInstanceOf(TypeError)
      refused.push(name)
      continue
    }
    for (const { description, data, valid } of tests) {
      if ((await read(data)) === valid) agreeing += 1
      else other.push(`${name} | ${description}`)
    }
  }
  return { refused, other, agreeing }
}

describe('the JSON Schema Test Suite', () => {
  it('The JSON Schema Test Suite agrees with the reader of output, except for the listed cases', async () => {
    const { refused, other, agreeing } = await compare((schema) => {
      const { read } = createOutputReader(schema, { toolName: 't' })
      return async (value) => (await read(value)).ok
    })
    expect(refused).toEqual(Object.keys(REFUSED))
    expect(other).toEqual(Object.keys(OTHER))
    expect(agreeing).toBe(1087)
  })

  it('The JSON Schema Test Suite agrees with the reader of input, except for the listed cases', async () => {
    const { refused, other, agreeing } = await compare((schema) => {
      const { validate } = toStandardSchema(schema, { coerce: false })['~standard']
      const strict = createOutputReader(schema, { toolName: 't' })
      return async (value) => {
        const result = await validate(value)
        if (result.issues !== undefined) return false
        expect((await strict.read(result.value)).ok).toBe(true)
        return true
      }
    })
    expect(refused).toEqual(Object.keys(REFUSED))
    expect(other.toSorted()).toEqual([...Object.keys(OTHER), ...Object.keys(DROPPING)].toSorted())
    expect(agreeing).toBe(1060)
  })
})
