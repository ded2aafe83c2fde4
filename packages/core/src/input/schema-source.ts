/** JSON Schemas of the Standard Schemas that this package creates, so that its readers read them and do not wrap them. */
import type { PatternEngine } from '@tutti/protocol/internal'
import type { TSchema } from 'typebox'
import type { JsonRead } from './json-reader.ts'
import type { SchemaDocument } from './schema-document.ts'

/** Vendor of the Standard Schemas of this package. */
export const TUTTI_VENDOR = 'tutti'

/** JSON Schema with the way to read values by it. */
export interface SchemaSource {
  readonly schema: TSchema
  /** Engine of the regular expressions; undefined for the one of JavaScript. */
  readonly patterns: PatternEngine | undefined
  /** Whether values are coerced. */
  readonly coerce: boolean
  /** The schema prepared for use, if it was. */
  readonly opened?: OpenedSchema
}

/** A usable schema with its reader. */
export interface OpenedSchema {
  readonly document: SchemaDocument
  readonly read: JsonRead
}

const sources = new WeakMap<object, SchemaSource>()

/** Stores the source of a Standard Schema. */
export function setSource(standard: object, source: SchemaSource): void {
  sources.set(standard, source)
}

/** Returns the source of a Standard Schema; undefined when a library created it. */
export function findSource(schema: unknown): SchemaSource | undefined {
  return typeof schema === 'object' && schema !== null ? sources.get(schema) : undefined
}
