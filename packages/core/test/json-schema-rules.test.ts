/**
 * The rules of JSON Schema with both validators: `decode`, and the reader of tool input without coercion.
 *
 * The reader may accept an invalid value only if it returns a changed, valid one: with an unknown field dropped or a default
 * filled in.
 */
import { decode } from '@tutti/protocol'
import { Settings } from 'typebox/system'
import { afterEach, describe, expect, it } from 'vitest'

import { toStandardSchema } from '../src/input/standard-schema.ts'
import { RULES } from './json-schema-rules.ts'

import type { TSchema } from 'typebox'

const table = Object.entries(RULES).flatMap(([keyword, rules]) =>
  rules.map(([words, ...rest]) => [keyword, words, ...rest] as const),
)

describe.each([true, false])('JSON Schema rules with generated code: %s', (useAcceleration) => {
  afterEach(() => {
    Settings.Reset()
  })

  it.each(table)('The rule of %s: %s', (_keyword, _words, written, fitting, others) => {
    Settings.Set({ useAcceleration })
    // A new schema object: one that was checked before has a cached check.
    const schema = { ...written }
    const { validate } = toStandardSchema(schema, { coerce: false })['~standard']
    for (const value of fitting) {
      expect([value, decode(schema, value).ok]).toEqual([value, true])
      expect([value, validate(value)]).not.toEqual([value, { issues: expect.anything() }])
    }
    for (const value of others) {
      expect([value, decode(schema, value).ok]).toEqual([value, false])
      expectRefusedOrMended(schema, value, validate(value))
    }
  })
})

function expectRefusedOrMended(schema: TSchema, value: unknown, result: object): void {
  if (!('value' in result)) return
  expect(result.value).not.toEqual(value)
  expect(decode(schema, result.value).ok).toBe(true)
}
