/** Finds nodes of a schema that no value can match. */
import { pointer, type Problem, type SchemaNode } from '@tutti/protocol/internal'

import { surveySchema } from './schema-survey.ts'

/** Pairs of keywords; the first must not exceed the second. */
const RANGES = [
  ['minimum', 'maximum'],
  ['minLength', 'maxLength'],
  ['minItems', 'maxItems'],
  ['minProperties', 'maxProperties'],
] as const

/**
 * Returns the limits of a schema that exclude each other, and its empty enums, with their JSON pointers. It finds mistakes
 * that are visible in one node: a schema without problems can still be impossible. Never throws.
 */
export function findContradictions(schema: unknown): readonly Problem[] {
  return [...surveySchema(schema).nodes].flatMap(([node, path]) => [
    ...findRangeProblems(node, path),
    ...('enum' in node && Array.isArray(node.enum) && node.enum.length === 0
      ? [{ path: pointer(path, 'enum'), message: 'must have a value, got an empty list' }]
      : []),
  ])
}

function findRangeProblems(node: SchemaNode, path: string): readonly Problem[] {
  const limits = new Map<string, unknown>(Object.entries(node))
  return RANGES.flatMap(([lower, upper]) => {
    const [least, greatest] = [limits.get(lower), limits.get(upper)]
    if (!isLimit(least) || !isLimit(greatest) || least <= greatest) return []
    const message = `must be at most ${upper} (${greatest}), got ${least}`
    return [{ path: pointer(path, lower), message }]
  })
}

function isLimit(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}
