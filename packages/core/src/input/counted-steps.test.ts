/** Reading any value by any schema takes a bounded number of steps, and each step a bounded time. */
import {
  CheckLimitError,
  CheckRun,
  MAX_CHECK_STEPS,
  parseExactJson,
} from '@tutti/protocol/internal'
import { describe, expect, it } from 'vitest'

import { createNormalizingReader } from './input-reader.ts'
import { foreignSchema } from './foreign-schema.ts'
import { normalize } from './normalize.ts'
import { createSchemaDocument } from './schema-document.ts'
import { surveySchema } from './schema-survey.ts'

type Json = Readonly<Record<string, unknown>>

const RULES = { coerce: true, fill: true, drop: true, nearest: false }

function toObject(length: number, entry: (index: number) => readonly [string, unknown]): Json {
  return Object.fromEntries(Array.from({ length }, (_, index) => entry(index)))
}

/** A union of members that each declare one other field. */
function unionOf(length: number): Json {
  return {
    anyOf: Array.from({ length }, (_, index) => ({
      type: 'object',
      properties: { [`f${index}`]: { type: 'string' } },
    })),
  }
}

function countSteps(schema: Json, value: unknown): number {
  const run = new CheckRun(1e9)
  normalize(createSchemaDocument(schema), value, { ...RULES, run })
  return run.steps
}

describe('reading a value', () => {
  it.each([200, 500, 2_000])(
    '[CORE-M7][CORE-J5] The reader of a value ends for a value with the fields of all %i members of a union',
    (length) => {
      const schema = { type: 'object', properties: { x: unionOf(length) } }
      const value = { x: toObject(length, (index) => [`f${index}`, 'v']) }
      const run = new CheckRun()
      const document = createSchemaDocument(schema)
      expect(() => normalize(document, value, { ...RULES, run })).toThrow(CheckLimitError)
      const { read } = createNormalizingReader(schema, {
        action: 'x',
        ofObject: true,
        coerce: true,
      })
      expect(read(value)).toEqual({
        ok: false,
        problems: [
          {
            path: '',
            message: `cannot be checked: the check needs more than ${MAX_CHECK_STEPS} steps`,
          },
        ],
      })
    },
  )

  it('[CORE-U3] The reader of a value tries no more members than it needs', () => {
    const value = { f1: 'v' }
    expect(countSteps(unionOf(1_500), value)).toBeLessThan(30_000)
    const { read } = createNormalizingReader(unionOf(1_500), {
      action: 'x',
      ofObject: true,
      coerce: true,
    })
    expect(read(value)).toEqual({ ok: true, value })
  })

  it('[CORE-M7] The reader of a value counts each field that it copies, for each schema that copies it', () => {
    const value = toObject(1_000, (index) => [`k${index}`, 1])
    const closed = { type: 'object', properties: { a: {} } }
    expect(countSteps(closed, value)).toBeGreaterThan(4_000)
    const members = { anyOf: [closed, { type: 'object', properties: { b: {} } }] }
    expect(countSteps(members, value)).toBeGreaterThan(8_000)
  })

  it('[CORE-M7] The reader of a value reads a table of 5,000 rows in few steps', () => {
    const row = {
      type: 'object',
      properties: toObject(5, (index) => [`c${index}`, { type: 'integer' }]),
    }
    const schema = { type: 'object', properties: { rows: { type: 'array', items: row } } }
    const rows = Array.from({ length: 5_000 }, () => toObject(5, (index) => [`c${index}`, '1']))
    const steps = countSteps(schema, { rows, unknown: 1 })
    expect(steps).toBeLessThan(MAX_CHECK_STEPS)
  })

  it('[PROTO-XJ4] The reader of a value does not parse text that is nested too deeply, so that it stays text', () => {
    const schema = { type: 'object', properties: { a: { type: 'object' } } }
    const { read } = createNormalizingReader(schema, { action: 'x', ofObject: true, coerce: true })
    const nest = (levels: number): string => `${'{"b":'.repeat(levels)}1${'}'.repeat(levels)}`
    expect(read({ a: nest(1_000) })).toEqual({
      ok: true,
      value: { a: parseExactJson(nest(1_000)) },
    })
    expect(read({ a: nest(1_001) })).toMatchObject({
      ok: false,
      problems: [{ path: '/a', message: expect.stringContaining('must be an object') }],
    })
  })
})

describe('a definition', () => {
  it.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])(
    'A schema definition can be named %s',
    async (name) => {
      const schema: Json = JSON.parse(
        `{"type":"object","properties":{"x":{"anyOf":[{"$ref":"#/$defs/${name}"},{"type":"number"}]},"y":{"$ref":"#/$defs/${name}"}},"required":["x"],"$defs":{"${name}":{"type":"object","properties":{"a":{"type":"string"},"${name}":{"$ref":"#/$defs/${name}"}},"required":["a"]}}}`,
      )
      const value: unknown = JSON.parse(`{"x":{"a":"b","${name}":{"a":"c"}},"y":{"a":"d"}}`)
      const wrong: unknown = JSON.parse(`{"x":{"a":"b","${name}":{"a":"c"}},"y":{"a":1}}`)
      for (const given of [schema, foreignSchema(schema).schema]) {
        const { read } = createNormalizingReader(given, {
          action: 'x',
          ofObject: true,
          coerce: true,
        })
        expect(await read(value)).toEqual({ ok: true, value })
        expect(await read(wrong)).toMatchObject({ ok: false, problems: [{ path: '/y/a' }] })
      }
    },
  )

  it('A schema definition cannot have more references than can be followed in a schema with ids', () => {
    const withReferences = (length: number, more: Json): Json => ({
      type: 'object',
      properties: toObject(length, (index) => [`p${index}`, { $ref: `#/$defs/d${index}` }]),
      $defs: { ...toObject(length, (index) => [`d${index}`, { type: 'string' }]), ...more },
    })
    expect(surveySchema(withReferences(5_000, {})).faults).toEqual([])
    const scoped = { z: { $id: 'https://example.com/z' } }
    expect(surveySchema(withReferences(200, scoped)).faults).toEqual([])
    expect(surveySchema(withReferences(5_000, scoped)).faults).toEqual([
      {
        path: expect.stringMatching(/^\/properties\/p\d+$/),
        message: expect.stringMatching(
          /^has too many references for a schema with ids or anchors: \d+ were followed$/,
        ),
      },
    ])
  })
})
