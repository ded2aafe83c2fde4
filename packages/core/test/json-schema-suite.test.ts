/**
 * The JSON Schema Test Suite, draft 2020-12, with both validators: `decode`, which follows JSON Schema, and the reader of tool
 * input without coercion.
 *
 * The suite is not part of this repository: set `JSON_SCHEMA_TEST_SUITE` to its folder `tests/draft2020-12` (on Debian, from
 * the package libtest-json-schema-acceptance-perl). Without it, `json-schema-rules.test.ts` still checks the rules of each
 * keyword.
 *
 * The reader may accept an invalid value only if it returns a changed, valid one.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { decode } from '@tutti/protocol'
import { Settings } from 'typebox/system'
import { afterEach, describe, expect, it } from 'vitest'

import { toStandardSchema } from '../src/input/standard-schema.ts'

import type { TSchema } from 'typebox'

interface Group {
  readonly description: string
  readonly schema: TSchema | boolean
  readonly tests: readonly Case[]
}

interface Case {
  readonly description: string
  readonly data: unknown
  readonly valid: boolean
}

const folder = process.env['JSON_SCHEMA_TEST_SUITE'] ?? ''

/** Groups whose schema is rejected at definition. */
const NOT_DEFINED: Readonly<Record<string, string>> = {
  'default.json: invalid type for default': 'the default does not fit',
  'default.json: invalid string value for default': 'the default does not fit',
  'default.json: the default keyword does not do anything if the property is missing':
    'the default does not fit',
}

/** Files of features that schemas of tools do not have: documents that refer to each other. */
const OTHER_FILES: ReadonlySet<string> = new Set([
  'dynamicRef.json',
  'id.json',
  'refRemote.json',
  'unknownKeyword.json',
  'vocabulary.json',
  'cross-draft.json',
])

const isThere = folder !== '' && existsSync(join(folder, 'allOf.json'))

describe.skipIf(!isThere)('JSON Schema Test Suite (skipped without JSON_SCHEMA_TEST_SUITE)', () => {
  afterEach(() => {
    Settings.Reset()
  })

  it.each(isThere ? filesIn(folder) : [])('%s', (file) => {
    expect(wrongIn(file)).toEqual([])
  })

  it.each(isThere ? filesIn(folder) : [])('%s, without generated code', (file) => {
    Settings.Set({ useAcceleration: false })
    expect(wrongIn(file)).toEqual([])
  })
})

function wrongIn(file: string): string[] {
  const groups: readonly Group[] = JSON.parse(readFileSync(join(folder, file), 'utf8'))
  return groups
    .filter(({ schema }) => !refersToMetaSchema(schema))
    .flatMap((group) => [...wrongByDecode(group), ...wrongByReader(file, group)])
}

/** Whether a schema refers to the meta schema, a separate document that the schema of a tool cannot use. */
function refersToMetaSchema(schema: object | boolean): boolean {
  return (
    typeof schema === 'object' &&
    '$ref' in schema &&
    /\/\/json-schema\.org\//.test(String(schema.$ref))
  )
}

function filesIn(root: string): string[] {
  const folders = ['.', 'optional', 'optional/format'].filter((name) =>
    existsSync(join(root, name)),
  )
  const files = folders.flatMap((name) =>
    readdirSync(join(root, name)).map((file) => join(name, file)),
  )
  return files.filter(
    (file) => file.endsWith('.json') && !OTHER_FILES.has(file.split('/').at(-1) ?? ''),
  )
}

function wrongByDecode({ description, schema, tests }: Group): string[] {
  return tests
    .filter(({ data, valid }) => decode(written(schema), data).ok !== valid)
    .map((test) => `decode, ${description}: ${test.description}`)
}

function wrongByReader(file: string, { description, schema, tests }: Group): string[] {
  if (`${file}: ${description}` in NOT_DEFINED) {
    expect(() => toStandardSchema(written(schema))).toThrow(TypeError)
    return []
  }
  const { validate } = toStandardSchema(written(schema), { coerce: false })['~standard']
  return tests
    .filter(({ data, valid }) => {
      const result = validate(data)
      if ('then' in result) return true
      if (result.issues !== undefined) return valid
      const isOther = result.value !== data
      return !(valid || isOther) || !decode(written(schema), result.value).ok
    })
    .map((test) => `reader, ${description}: ${test.description}`)
}

/** The suite has schemas that are `true` or `false`; a tool has only objects. */
function written(schema: TSchema | boolean): TSchema {
  return typeof schema === 'boolean' ? { allOf: [schema] } : schema
}
