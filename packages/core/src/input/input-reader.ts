/**
 * Readers of the input of a tool, and of its output, for a JSON Schema (TypeBox creates them) or a schema of a library that
 * implements Standard Schema.
 *
 * Problems of a schema are thrown at definition, where it is also compiled once.
 */
import { decode } from '@tutti/protocol'
import {
  compileCheck,
  compiledCheck,
  type Decoded,
  type PatternEngine,
} from '@tutti/protocol/internal'

import { toStandardTypes } from './integers.ts'
import { createJsonReader, type JsonReaderOptions } from './json-reader.ts'
import { findSource } from './schema-source.ts'
import { isStandardSchema, readJsonSchema, createStandardReader } from './standard-reader.ts'
import { withUnicodePatterns } from './unicode-pattern.ts'
import {
  assertNoFaults,
  compileOrThrow,
  findObjectFaults,
  openUsableSchema,
  type SchemaUse,
} from './usable-schema.ts'

import type { ToolSchema, ValueOf } from '../tool/tool-schema.ts'
import type { SchemaDocument } from './schema-document.ts'
import type { TSchema } from 'typebox'

/** Reader of values by one schema. */
export interface ValueReader<T> {
  /** The author's schema as JSON Schema. */
  readonly jsonSchema: TSchema
  /** Returns the typed value, or every problem. Never throws. */
  read(value: unknown): Decoded<T> | Promise<Decoded<T>>
}

export interface ReadOptions {
  /** Name of the tool, for errors of its schema. */
  readonly toolName: string
  /** Whether values are coerced where their meaning is clear. @default true */
  readonly coerce?: boolean
  /** Whether the reader returns a `bigint` where the schema allows numbers. @default false */
  readonly exactIntegers?: boolean
}

/**
 * Creates the reader of the input of a tool. The schema or its library drops unknown fields and fills in defaults.
 *
 * @throws {TypeError} listing every problem of the schema.
 */
export function createInputReader<Schema extends ToolSchema>(
  schema: Schema,
  { toolName, coerce = true, exactIntegers = false }: ReadOptions,
): ValueReader<ValueOf<Schema>> {
  return createNormalizingReader(schema, {
    action: describeAction(toolName, 'input'),
    ofObject: true,
    coerce,
    exactIntegers,
  })
}

/**
 * Creates a reader that drops unknown fields, fills in defaults and, with `coerce`, coerces values.
 *
 * @throws {TypeError} listing every problem of the schema.
 */
export function createNormalizingReader<Schema extends ToolSchema>(
  schema: Schema,
  use: SchemaUse & JsonReaderOptions,
): ValueReader<ValueOf<Schema>> {
  const { exactIntegers = false } = use
  const source = findSource(schema)
  const coerce = use.coerce && source?.coerce !== false
  if (source === undefined && isStandardSchema(schema)) {
    const jsonSchema = readJsonSchema(schema, use)
    return toReader(jsonSchema, createStandardReader(schema, coerce ? jsonSchema : undefined))
  }
  const jsonSchema = source?.schema ?? schema
  if (source?.opened !== undefined && source.coerce === coerce && !exactIntegers) {
    const { document, read } = source.opened
    if (use.ofObject) assertNoFaults(findObjectFaults(document), use)
    return toReader(toStandardTypes(jsonSchema, document), read)
  }
  const { document, readable } = openReadable(jsonSchema, use, source?.patterns)
  return toReader(
    toStandardTypes(jsonSchema, document),
    compileOrThrow(use, () => createJsonReader(readable, document, { coerce, exactIntegers })),
  )
}

/**
 * Creates the reader of the output of a tool, which only validates.
 *
 * @throws {TypeError} listing every problem of the schema.
 */
export function createOutputReader<Schema extends ToolSchema>(
  schema: Schema,
  { toolName }: Pick<ReadOptions, 'toolName'>,
): ValueReader<ValueOf<Schema>> {
  const use: SchemaUse = { action: describeAction(toolName, 'output'), ofObject: false }
  const source = findSource(schema)
  if (source === undefined && isStandardSchema(schema))
    return toReader(readJsonSchema(schema, use), createStandardReader(schema))
  const jsonSchema = source?.schema ?? schema
  const patterns = source?.patterns
  const { document, readable } = openReadable(jsonSchema, use, patterns)
  const check = compileOrThrow(use, () =>
    patterns === undefined ? compiledCheck(readable) : compileCheck(readable, { patterns }),
  )
  return toReader(toStandardTypes(jsonSchema, document), (value) =>
    decode(readable, value, { check, patterns }),
  )
}

/** Opens a schema, and returns it with expressions that the engine of its patterns reads. */
function openReadable(
  jsonSchema: TSchema,
  use: SchemaUse,
  patterns: PatternEngine | undefined,
): { readonly document: SchemaDocument; readonly readable: TSchema } {
  const readable = patterns === undefined ? withUnicodePatterns(jsonSchema) : jsonSchema
  return { document: openUsableSchema(readable, use, { patterns }), readable }
}

function describeAction(toolName: unknown, part: string): string {
  return `Cannot define tool ${JSON.stringify(toolName)}: ${part}`
}

function toReader<T>(
  jsonSchema: TSchema,
  read: (value: unknown) => Decoded<unknown> | Promise<Decoded<unknown>>,
): ValueReader<T> {
  // NOTE: the value was validated against the schema of T.
  return { jsonSchema, read: read as ValueReader<T>['read'] }
}
