/** Reading values other than the arguments of a tool, such as the answer of a model, as tools read theirs. */
import { wantsJsonType } from './json-types.ts'
import { createNormalizingReader } from './input-reader.ts'
import { createSchemaDocument } from './schema-document.ts'

import type { Decoded } from '@tutti/protocol'
import type { ToolSchema, ValueOf } from '../tool-schema.ts'
import type { TSchema } from 'typebox'

/** Reads values of any type against one schema. */
export interface SchemaReader<Value> {
  /** The schema as JSON Schema, the author's own. */
  readonly jsonSchema: TSchema
  /** Whether the schema says that a text, number, boolean or null may fit, maybe among others. */
  readonly takesScalar: boolean
  /** The value with its type, or every problem it has. Never rejects. */
  read(value: unknown): Promise<Decoded<Value>>
}

/** How a schema is used. */
export interface SchemaReaderOptions {
  /** Start of the message of an error: `Cannot make task "x": output`. */
  readonly action: string
}

const SCALARS = ['string', 'number', 'boolean', 'null']

/**
 * A reader that reads as tools read their input: unknown fields are dropped, defaults filled in and
 * slips of form mended; but of values of any type, not of objects only.
 *
 * @throws {TypeError} naming everything that is wrong with the schema.
 */
export function schemaReader<Schema extends ToolSchema>(
  schema: Schema,
  { action }: SchemaReaderOptions,
): SchemaReader<ValueOf<Schema>> {
  const { jsonSchema, read } = createNormalizingReader(schema, {
    action,
    ofObject: false,
    coerce: true,
  })
  return {
    jsonSchema,
    takesScalar: takesScalar(jsonSchema),
    read: async (value) => read(value),
  }
}

function takesScalar(jsonSchema: TSchema): boolean {
  const document = createSchemaDocument(jsonSchema)
  // A library reads by itself, also where its JSON Schema cannot be read by.
  if (document.faults.length > 0) return false
  const place = document.place([document.root])
  return SCALARS.some((type) => wantsJsonType(type, place, document))
}
