/**
 * The rules of JSON Schema against both ways a value is judged: `decode`, and the reader of tool input
 * without coercions.
 *
 * The reader may accept what JSON Schema refuses only where it made something else of it that fits:
 * an unknown field dropped, a default filled in.
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

describe.each([true, false])('with code from text: %s', (useAcceleration) => {
  afterEach(() => {
    Settings.Reset()
  })

  it.each(table)('%s: %s', (_keyword, _words, written, fitting, others) => {
    Settings.Set({ useAcceleration })
    // A schema of its own: one that was checked before keeps its check.
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
