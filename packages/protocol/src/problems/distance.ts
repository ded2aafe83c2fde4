/**
 * Distance of a value from a union member that it does not match.
 *
 * The missing fields of the member count first, then the fields that the member does not know, then all problems: a value
 * with the fields of a member means that member, however wrong the values are.
 */
import type { Problem } from '../schemas/problem.ts'
import { IS_REQUIRED, type ProblemPlace } from './describe-problem.ts'
import { resolveReference } from './references.ts'
import { isJsonObject, type Schema, type SchemaNode } from './schema-node.ts'

/** Three counts, the most significant first. */
export type Distance = readonly [lacking: number, unknown: number, problems: number]

/** Returns the distance of the value at a place from the schema there, which gave these problems. */
export function measureDistance(
  { path, value, schema }: Omit<ProblemPlace, 'schema'> & { readonly schema: Schema },
  problems: readonly Problem[],
  scopes: readonly SchemaNode[],
): Distance {
  const declared = new Set<string>()
  addDeclared(declared, schema, scopes)
  const given = isJsonObject(value) && declared.size > 0 ? Object.keys(value) : []
  const lacking = problems.filter(
    (problem) => problem.message === IS_REQUIRED && !problem.path.includes('/', path.length + 1),
  )
  return [lacking.length, given.filter((key) => !declared.has(key)).length, problems.length]
}

/** Returns the index of the shortest distance; the first of equal ones. */
export function findNearest(distances: readonly Distance[]): number {
  const ranked = distances.map((distance, index) => [distance, index] as const)
  const [first] = ranked.toSorted(([a], [b]) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2])
  return first?.[1] ?? -1
}

/** Adds the names of the fields that a schema declares in all its parts. */
function addDeclared(names: Set<string>, schema: Schema, scopes: readonly SchemaNode[]): void {
  const seen = new Set<Schema>()
  const open: (Schema | undefined)[] = [schema]
  while (open.length > 0) {
    const part = open.pop()
    if (typeof part !== 'object' || seen.has(part)) continue
    seen.add(part)
    for (const key of Object.keys(part.properties ?? {})) names.add(key)
    open.push(...(part.allOf ?? []), ...(part.anyOf ?? []), ...(part.oneOf ?? []))
    open.push(resolveReference(part.$ref, scopes))
  }
}
