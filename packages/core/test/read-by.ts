/** Reads a value by any schema, for tests, and returns the value or the list of problems. */
import { createJsonReader } from '../src/input/json-reader.ts'
import { openUsableSchema } from '../src/input/usable-schema.ts'

import type { TSchema } from 'typebox'

export interface ReadByOptions {
  /** @default true */
  readonly coerce?: boolean
}

/** Returns the value as read; fails the test when it is rejected. */
export function readBy(schema: TSchema, value: unknown, options: ReadByOptions = {}): unknown {
  const decoded = decodeBy(schema, value, options)
  if (decoded.ok) return decoded.value
  throw new Error(`Refused ${JSON.stringify(value)}: ${JSON.stringify(decoded.problems)}`)
}

/** Returns the problems of a value, each with its path; empty when it is valid. */
export function problemsBy(
  schema: TSchema,
  value: unknown,
  options: ReadByOptions = {},
): readonly string[] {
  const decoded = decodeBy(schema, value, options)
  return decoded.ok ? [] : decoded.problems.map(({ path, message }) => `${path} ${message}`.trim())
}

function decodeBy(
  schema: TSchema,
  value: unknown,
  { coerce = true }: ReadByOptions,
): ReturnType<ReturnType<typeof createJsonReader>> {
  const document = openUsableSchema(schema, { action: 'Cannot read:', ofObject: false })
  return createJsonReader(schema, document, { coerce })(value)
}
