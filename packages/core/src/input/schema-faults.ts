/** Finds the keywords of a foreign schema that cannot be used, so that an importer can drop them. */
import { createSchemaDocument } from './schema-document.ts'
import { findDefaultFaults } from './usable-schema.ts'

import type { PatternEngine, Problem } from '@tutti/protocol/internal'

/**
 * Returns every keyword that a tool would refuse in its schema, with its JSON pointer. `patterns` is the engine of its
 * regular expressions. Defaults are checked only in a schema without other problems. Never throws.
 */
export function findSchemaFaults(schema: unknown, patterns: PatternEngine): readonly Problem[] {
  const document = createSchemaDocument(schema, { patterns })
  return document.faults.length > 0 ? document.faults : [...findDefaultFaults(document)]
}
