/**
 * TypeBox or JSON Schema as a Standard Schema, for APIs that accept one: a router, a form, another agent framework.
 *
 * @see https://standardschema.dev and https://standardschema.dev/json-schema
 */
import {
  valueAt,
  type Decoded,
  type PatternEngine,
  type Problem,
  type Static,
} from '@tutti/protocol/internal'

import { isPromise } from '../is-promise.ts'
import { assertDialect } from './assert-dialect.ts'
import { createJsonReader } from './json-reader.ts'
import { setSource, TUTTI_VENDOR } from './schema-source.ts'
import { withUnicodePatterns } from './unicode-pattern.ts'
import { compileOrThrow, openUsableSchema, type SchemaUse } from './usable-schema.ts'

import type { StandardToolSchema } from '../tool/tool-schema.ts'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { TSchema } from 'typebox'

export interface StandardSchemaOptions {
  /** Whether values are coerced where their meaning is clear. @default true */
  readonly coerce?: boolean
  /**
   * Engine of the regular expressions in the schema. One that does not backtrack is required for a schema from outside:
   * `foreignSchema` uses one.
   *
   * @default the engine of JavaScript
   */
  readonly patterns?: PatternEngine | undefined
}

const USE: SchemaUse = { action: 'Cannot create Standard Schema:', ofObject: false }

/**
 * Returns the schema with `~standard`. It validates with the rules of tool input (unknown fields dropped, defaults filled
 * in, values coerced), and returns its JSON Schema, unchanged, for every target in which it has the same meaning.
 *
 * @throws {TypeError} listing every problem of the schema.
 */
export function toStandardSchema<Schema extends TSchema>(
  schema: Schema,
  { coerce = true, patterns }: StandardSchemaOptions = {},
): StandardToolSchema<Static<Schema>> {
  const readable = patterns === undefined ? withUnicodePatterns(schema) : schema
  const document = openUsableSchema(readable, USE, { patterns })
  const read = compileOrThrow(USE, () => createJsonReader(readable, document, { coerce }))
  const standard = createStandardSchema<Static<Schema>>(schema, read)
  setSource(standard, { schema, patterns, coerce, opened: { document, read } })
  return standard
}

/** Creates a Standard Schema over an existing reader, without compiling again. */
export function createStandardSchema<Value>(
  schema: TSchema,
  read: (value: unknown) => Decoded<unknown> | Promise<Decoded<unknown>>,
): StandardToolSchema<Value> {
  const resultOf = (decoded: Decoded<unknown>, value: unknown): StandardSchemaV1.Result<Value> =>
    // NOTE: the value was validated against the schema of this type.
    decoded.ok
      ? { value: decoded.value as Value }
      : { issues: decoded.problems.map((each) => toIssue(each, value)) }
  const inTarget = ({ target }: { readonly target: string }): Record<string, unknown> =>
    assertDialect(schema, target)
  return {
    '~standard': {
      version: 1,
      vendor: TUTTI_VENDOR,
      validate(value) {
        const reading = read(value)
        return isPromise(reading)
          ? reading.then((decoded) => resultOf(decoded, value))
          : resultOf(reading, value)
      },
      jsonSchema: { input: inTarget, output: inTarget },
    },
  }
}

function toIssue({ path, message }: Problem, value: unknown): StandardSchemaV1.Issue {
  const keys = path.split('/').slice(1)
  if (keys.length === 0) return { message }
  return {
    message,
    path: keys.map((key, index) =>
      toPathSegment(key, valueAt(value, ['', ...keys.slice(0, index)].join('/'))),
    ),
  }
}

/** Returns the key of a member: the index of an item, the name of a field. */
function toPathSegment(key: string, parent: unknown): PropertyKey {
  if (Array.isArray(parent)) return Number(key)
  return key.replaceAll('~1', '/').replaceAll('~0', '~')
}
