/** Finds the keywords of a foreign schema that cannot be used, so that an importer can drop them. */
import { createSchemaDocument } from './schema-document.ts'
import { findDefaultFaults } from './usable-schema.ts'

import type { Problem } from '@tutti/protocol'

/**
 * Returns every keyword that a tool would refuse in its schema, with its JSON pointer. Defaults are checked only in a
 * schema without other problems. Never throws.
 */
export function findSchemaFaults(schema: unknown): readonly Problem[] {
  const document = createSchemaDocument(schema)
  return document.faults.length > 0 ? document.faults : [...findDefaultFaults(document)]
}
