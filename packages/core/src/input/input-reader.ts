/**
 * Reading the input of a tool, and checking its output, by whatever schema its author wrote: a JSON
 * Schema (TypeBox makes them) or a schema of a library that speaks Standard Schema.
 *
 * Everything that can be known of a schema is known at definition: its faults are thrown there, and it
 * is compiled there, once.
 */
import { compiledCheck, decode, type Decoded } from '@tutti/protocol'

import { createJsonReader } from './json-reader.ts'
import { isStandardSchema, readJsonSchema, createStandardReader } from './standard-reader.ts'
import { compileOrThrow, openUsableSchema, type SchemaUse } from './usable-schema.ts'

import type { ToolSchema, ValueOf } from '../tool-schema.ts'
import type { TSchema } from 'typebox'

/** Reads values against one schema. */
export interface ValueReader<T> {
  /** The schema as JSON Schema, the author's own. */
  readonly jsonSchema: TSchema
  /** The value with its type, or every problem it has. Never throws. */
  read(value: unknown): Decoded<T> | Promise<Decoded<T>>
}

/** How values are read. */
export interface ReadOptions {
  /** For the error of a schema that cannot be used. */
  readonly toolName: string
  /** Whether slips of form are mended where the meaning is plain. @default true */
  readonly coerce?: boolean
}

/**
 * A reader for the input of a tool: unknown fields are dropped and defaults filled in, by the schema
 * or by its library.
 *
 * @throws {TypeError} naming everything that is wrong with the schema.
 */
export function createInputReader<Schema extends ToolSchema>(
  schema: Schema,
  { toolName, coerce = true }: ReadOptions,
): ValueReader<ValueOf<Schema>> {
  return createNormalizingReader(schema, {
    action: describeAction(toolName, 'input'),
    ofObject: true,
    coerce,
  })
}

/**
 * A reader that drops unknown fields, fills in defaults and, if `coerce` says so, mends slips of form.
 *
 * @throws {TypeError} naming everything that is wrong with the schema.
 */
export function createNormalizingReader<Schema extends ToolSchema>(
  schema: Schema,
  use: SchemaUse & { readonly coerce: boolean },
): ValueReader<ValueOf<Schema>> {
  const { coerce } = use
  if (isStandardSchema(schema)) {
    const jsonSchema = readJsonSchema(schema, use)
    return toReader(jsonSchema, createStandardReader(schema, coerce ? jsonSchema : undefined))
  }
  const document = openUsableSchema(schema, use)
  return toReader(
    schema,
    compileOrThrow(use, () => createJsonReader(schema, document, { coerce })),
  )
}

/**
 * A reader for the output of a tool: the value is only checked.
 *
 * @throws {TypeError} naming everything that is wrong with the schema.
 */
export function createOutputReader<Schema extends ToolSchema>(
  schema: Schema,
  { toolName }: Pick<ReadOptions, 'toolName'>,
): ValueReader<ValueOf<Schema>> {
  const use: SchemaUse = { action: describeAction(toolName, 'output'), ofObject: false }
  if (isStandardSchema(schema))
    return toReader(readJsonSchema(schema, use), createStandardReader(schema))
  openUsableSchema(schema, use)
  compileOrThrow(use, () => compiledCheck(schema))
  return toReader(schema, (value) => decode(schema, value))
}

function describeAction(toolName: unknown, part: string): string {
  return `Cannot define tool ${JSON.stringify(toolName)}: ${part}`
}

function toReader<T>(
  jsonSchema: TSchema,
  read: (value: unknown) => Decoded<unknown> | Promise<Decoded<unknown>>,
): ValueReader<T> {
  // NOTE: what is read has just been checked against the schema whose values T is the type of.
  return { jsonSchema, read: read as ValueReader<T>['read'] }
}
