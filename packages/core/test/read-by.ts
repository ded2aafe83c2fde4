/** Reading a value by any schema, for tests: what came out, or what was wrong, in one list of words. */
import { createJsonReader } from '../src/input/json-reader.ts'
import { openUsableSchema } from '../src/input/usable-schema.ts'

import type { TSchema } from 'typebox'

/** How to read. */
export interface ReadByOptions {
  /** @default true */
  readonly coerce?: boolean
}

/** The value as it is read; fails the test when it is refused. */
export function readBy(schema: TSchema, value: unknown, options: ReadByOptions = {}): unknown {
  const decoded = decodeBy(schema, value, options)
  if (decoded.ok) return decoded.value
  throw new Error(`Refused ${JSON.stringify(value)}: ${JSON.stringify(decoded.problems)}`)
}

/** The problems with the value, each with its path; none when it is read. */
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
