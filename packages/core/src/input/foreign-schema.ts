/**
 * JSON Schemas that the author did not write in code: of MCP servers, documents, requests, forms, agents' cards.
 *
 * CORE-X1 Their regular expressions run on an engine without backtracking, so that a pattern and a value cannot block the
 *    process.
 * CORE-X2 A regular expression that this engine does not support is left out, and a warning names it.
 * CORE-X3 Nothing else is changed, and the caller's schema is not modified.
 */
import {
  createLinearPatterns,
  isJsonObject,
  pointer,
  previewOf,
  type PatternEngine,
} from '@tutti/protocol/internal'

import { errorMessage } from '../errors.ts'
import { setSource, TUTTI_VENDOR } from './schema-source.ts'
import { toStandardSchema } from './standard-schema.ts'
import { listSubSchemas } from './sub-schemas.ts'

import type { StandardToolSchema } from '../tool/tool-schema.ts'
import type { TSchema } from 'typebox'

/** A schema from outside, ready for `defineTool`, `schemaReader` and all others that take a schema. */
export interface ForeignSchema {
  /** Validates with the rules of tool input; its JSON Schema is the same as `jsonSchema`. */
  readonly schema: StandardToolSchema
  /** The schema without the omitted parts. */
  readonly jsonSchema: TSchema
  /** Engine of its regular expressions. */
  readonly patterns: PatternEngine
  /** Parts that were left out, each with its path and the reason. */
  readonly warnings: readonly string[]
}

/** Prepares a schema from outside. Never throws: what uses the schema lists its problems. */
export function foreignSchema(given: object): ForeignSchema {
  const patterns = createLinearPatterns()
  const warnings: string[] = []
  const kept = withoutUnsupported(given, { patterns, warnings })
  // NOTE: a JSON Schema is an object, and what uses it checks its keywords.
  const jsonSchema = kept as TSchema
  let standard: StandardToolSchema | undefined
  const schema: StandardToolSchema = {
    '~standard': {
      version: 1,
      vendor: TUTTI_VENDOR,
      validate(value) {
        standard ??= toStandardSchema(jsonSchema, { patterns })
        return standard['~standard'].validate(value)
      },
      // NOTE: a node is an object with any keywords; its type names those that this package reads.
      jsonSchema: { input: () => kept, output: () => kept },
    },
  }
  setSource(schema, { schema: jsonSchema, patterns, coerce: true })
  return { schema, jsonSchema, patterns, warnings }
}

interface Cleaning {
  readonly patterns: PatternEngine
  /** Mutable. */
  readonly warnings: string[]
}

/** Returns a copy of the schema without the regular expressions that the engine does not support. */
function withoutUnsupported(given: object, cleaning: Cleaning): Record<string, unknown> {
  const root: Record<string, unknown> = structuredClone({ ...given })
  const seen = new Set<object>()
  const open = [{ node: root, path: '' }]
  for (let visit = open.pop(); visit !== undefined; visit = open.pop()) {
    const { node, path } = visit
    if (seen.has(node)) continue
    seen.add(node)
    cleanNode(node, path, cleaning)
    for (const part of listSubSchemas(node).toReversed()) {
      if (isJsonObject(part.schema)) open.push({ node: part.schema, path: path + part.path })
    }
  }
  return root
}

/** Removes the regular expressions of one node. */
function cleanNode(
  node: Record<string, unknown>,
  path: string,
  { patterns, warnings }: Cleaning,
): void {
  const { pattern, patternProperties } = node
  const keep = (source: string, location: string): boolean => {
    try {
      patterns(source)
      return true
    } catch (error) {
      warnings.push(`${location} is not checked: ${previewOf(source)} ${errorMessage(error)}`)
      return false
    }
  }
  if (typeof pattern === 'string' && !keep(pattern, pointer(path, 'pattern'))) {
    delete node['pattern']
  }
  if (!isJsonObject(patternProperties)) return
  const names = Object.entries(patternProperties)
  const kept = names.filter(([source]) =>
    keep(source, pointer(pointer(path, 'patternProperties'), source)),
  )
  if (kept.length === names.length) return
  node['patternProperties'] = Object.fromEntries(kept)
  // Which other fields there may be is no longer known.
  delete node['additionalProperties']
  delete node['unevaluatedProperties']
}
