/** Reader of values other than tool arguments, such as the answer of a model, with the rules of tool input. */
import { wantsJsonType } from './json-types.ts'
import { createNormalizingReader } from './input-reader.ts'
import { createSchemaDocument } from './schema-document.ts'

import type { Decoded } from '@tutti/protocol/internal'
import type { ToolSchema, ValueOf } from '../tool/tool-schema.ts'
import type { TSchema } from 'typebox'

/** Reader of values of any type by one schema. */
export interface SchemaReader<Value> {
  /** The author's schema as JSON Schema. */
  readonly jsonSchema: TSchema
  /** Whether the schema explicitly allows a text, number, boolean or null. */
  readonly takesScalar: boolean
  /** Returns the typed value, or every problem. Never rejects. */
  read(value: unknown): Promise<Decoded<Value>>
}

export interface SchemaReaderOptions {
  /** Start of error messages, such as `Cannot create task "x": output`. */
  readonly action: string
}

const SCALARS = ['string', 'number', 'boolean', 'null']

/**
 * Creates a reader with the rules of tool input (unknown fields are dropped, defaults filled in, values coerced) for
 * values of any type.
 *
 * @throws {TypeError} listing every problem of the schema.
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
  // A library validates values even if its JSON Schema cannot be used here.
  if (document.faults.length > 0) return false
  const location = document.locate([document.root])
  return SCALARS.some((type) => wantsJsonType(type, location, document))
}
