/** Invalid keywords of one schema node. */
import {
  isJsonObject,
  pointer,
  previewOf,
  type PatternEngine,
  type Problem,
} from '@tutti/protocol/internal'

import { errorMessage } from '../errors.ts'

/** Valid values of a keyword; `wanted` is their description, used after "must be". */
interface Rule {
  readonly wanted: string
  holds(value: unknown): boolean
}

/** Types of JSON Schema, and those that TypeBox adds. */
const TYPES: ReadonlySet<unknown> = new Set([
  'array',
  'boolean',
  'integer',
  'null',
  'number',
  'object',
  'string',
  'bigint',
  'constructor',
  'function',
  'symbol',
  'undefined',
  'void',
])

const TYPE: Rule = {
  wanted: 'a JSON type or a list of them',
  holds: (value) => (Array.isArray(value) ? value : [value]).every((type) => TYPES.has(type)),
}
const LIMIT: Rule = {
  wanted: 'a number',
  holds: (value) => typeof value === 'number' || typeof value === 'bigint',
}
const TEXT: Rule = { wanted: 'a string', holds: (value) => typeof value === 'string' }
const LIST: Rule = { wanted: 'a list', holds: Array.isArray }
const MAP: Rule = { wanted: 'an object', holds: isJsonObject }
const NAMES: Rule = {
  wanted: 'a list of names',
  holds: (value) => Array.isArray(value) && value.every((name) => typeof name === 'string'),
}

/** @see https://json-schema.org/draft/2020-12/json-schema-validation */
const RULES: ReadonlyMap<string, Rule> = new Map([
  ['type', TYPE],
  ['enum', LIST],
  ['allOf', LIST],
  ['anyOf', LIST],
  ['oneOf', LIST],
  ['prefixItems', LIST],
  ['required', NAMES],
  ['properties', MAP],
  ['patternProperties', MAP],
  ['dependentSchemas', MAP],
  ['dependentRequired', MAP],
  ['$defs', MAP],
  ['definitions', MAP],
  ['$ref', TEXT],
  ['format', TEXT],
  ['minimum', LIMIT],
  ['maximum', LIMIT],
  ['exclusiveMinimum', LIMIT],
  ['exclusiveMaximum', LIMIT],
  ['multipleOf', LIMIT],
  ['minLength', LIMIT],
  ['maxLength', LIMIT],
  ['minItems', LIMIT],
  ['maxItems', LIMIT],
  ['minContains', LIMIT],
  ['maxContains', LIMIT],
  ['minProperties', LIMIT],
  ['maxProperties', LIMIT],
])

/** Returns every invalid keyword of the node; paths begin at the node. */
export function findKeywordFaults(node: object, patterns: PatternEngine): Problem[] {
  const faults: Problem[] = []
  for (const [keyword, value] of Object.entries(node)) {
    const path = pointer('', keyword)
    const rule = value === undefined ? undefined : RULES.get(keyword)
    if (rule !== undefined && !rule.holds(value)) {
      faults.push({ path, message: `must be ${rule.wanted}, got ${previewOf(value)}` })
    } else if (keyword === 'pattern' && !(value instanceof RegExp)) {
      faults.push(...findPatternFaults(path, value, patterns))
    } else if (keyword === 'patternProperties' && isJsonObject(value)) {
      const sources = Object.keys(value)
      faults.push(
        ...sources.flatMap((source) => findPatternFaults(pointer(path, source), source, patterns)),
      )
    }
  }
  return faults
}

/** Checks a pattern with its engine; that of JavaScript has the flag `u`, as in JSON Schema and TypeBox. */
function findPatternFaults(path: string, pattern: unknown, patterns: PatternEngine): Problem[] {
  const wanted = `must be a regular expression, got ${previewOf(pattern)}`
  if (typeof pattern !== 'string') return [{ path, message: wanted }]
  try {
    patterns(pattern)
    return []
  } catch (error) {
    return [{ path, message: `${wanted}: ${errorMessage(error)}` }]
  }
}
