/** Reading the input of a tool. */
import { decode, type Decoded } from '@tutti/protocol'

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

/** A reader for the input of a tool. */
export function inputReader<Schema extends ToolSchema>(
  schema: Schema,
  _options: ReadOptions,
): ValueReader<ValueOf<Schema>> {
  return { jsonSchema: schema, read: (value) => decode(schema, value) as Decoded<ValueOf<Schema>> }
}

/** A reader for the output of a tool: the value is only checked. */
export function outputReader<Schema extends ToolSchema>(
  schema: Schema,
  _options: Pick<ReadOptions, 'toolName'>,
): ValueReader<ValueOf<Schema>> {
  return { jsonSchema: schema, read: (value) => decode(schema, value) as Decoded<ValueOf<Schema>> }
}
