/**
 * Distance of a value from a union member that it does not match.
 *
 * The missing fields of the member count first, then the fields that the member does not know, then all problems: a value
 * with the fields of a member means that member, however wrong the values are.
 */
import type { Problem } from '../schemas/problem.ts'
import { IS_REQUIRED, type ProblemLocation } from './describe-problem.ts'
import { isJsonObject, type Schema, type SchemaNode } from '../schema-node.ts'
import type { CheckRun } from '../check/check-run.ts'
import type { ReferenceScope } from '../schema-engine.ts'

/** Three counts, the most significant first. */
export type Distance = readonly [lacking: number, unknown: number, problems: number]

/** Check and references for the measurement of a distance. */
export interface DistanceContext {
  readonly scope: ReferenceScope
  /** Counts the schemas that are read. */
  readonly run: CheckRun
}

/** Returns the distance of a value from the schema that it does not match with these problems. */
export function measureDistance(
  { path, value, schema }: Omit<ProblemLocation, 'schema'> & { readonly schema: Schema },
  problems: readonly Problem[],
  { scope, run }: DistanceContext,
): Distance {
  const declared = new Set<string>()
  addDeclared(declared, schema, { scope, run })
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
function addDeclared(names: Set<string>, schema: Schema, { scope, run }: DistanceContext): void {
  const seen = new Set<unknown>()
  const open: (readonly [unknown, ReferenceScope])[] = [[schema, scope]]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [part, around] = next
    if (!isJsonObject(part) || seen.has(part)) continue
    seen.add(part)
    const { properties = {}, allOf = [], anyOf = [], oneOf = [], $ref } = toNode(part)
    const keys = Object.keys(properties)
    run.spend(1 + keys.length / 4)
    for (const key of keys) names.add(key)
    const inside = around.enter(part)
    for (const member of [...allOf, ...anyOf, ...oneOf]) open.push([member, inside])
    if (typeof $ref !== 'string') continue
    const target = inside.resolve($ref)
    open.push([target.schema, target.scope])
  }
}

function toNode(part: object): SchemaNode {
  // NOTE: keywords of other types were refused with the schema.
  return part
}
