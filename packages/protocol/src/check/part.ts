/** Parts of an evaluator: what the files of this folder share. */
import { isJsonObject, type Schema } from '../schema-node.ts'
import type { ReferenceScope } from '../schema-engine.ts'
import type { CheckRun } from './check-run.ts'
import type { PatternEngine } from './pattern.ts'

/** Fields and items that a schema has evaluated, for `unevaluated…`. Mutable. */
export interface Evaluated {
  readonly keys: Set<string>
  readonly items: Set<number>
}

/** Check of a value by one schema, which adds to `outer` what it has evaluated of a valid value. */
export type CheckPart = (value: unknown, run: CheckRun, outer: Evaluated | undefined) => boolean

/** Check of a value by one keyword of a schema, which adds to `marks` what it has evaluated. */
export type PartRule = (value: unknown, run: CheckRun, marks: Evaluated | undefined) => boolean

/** Material from which the rules of a schema are built. */
export interface Build {
  /** Returns the part of a schema that is inside of this one. */
  partOf(schema: unknown, scope: ReferenceScope): CheckPart
  readonly scope: ReferenceScope
  readonly patterns: PatternEngine
  /** Whether evaluated fields and items are needed. */
  readonly isMarking: boolean
  /** Whether the targets of references store their results. */
  readonly remember: boolean
}

/** Schema with any keywords. */
export type Node = Readonly<Record<string, unknown>>

/** Returns whether a value can be a schema. */
export function isSchema(value: unknown): value is Schema {
  return typeof value === 'boolean' || isJsonObject(value)
}

/** Returns whether a value is a list of schemas. */
export function isSchemaList(value: unknown): value is readonly Schema[] {
  return Array.isArray(value) && value.every(isSchema)
}

/** Returns whether a value has schemas by name. */
export function isSchemaMap(value: unknown): value is Readonly<Record<string, Schema>> {
  return isJsonObject(value) && Object.values(value).every(isSchema)
}

/** Returns whether a value is a list of texts. */
export function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

/** Adds evaluated fields and items to others. */
export function addMarks(to: Evaluated, from: Evaluated, run: CheckRun): void {
  run.spend(2 * countMarks(from))
  for (const key of from.keys) to.keys.add(key)
  for (const item of from.items) to.items.add(item)
}

/** Returns the number of evaluated fields and items; storing one takes a step, copying one two. */
export function countMarks({ keys, items }: Evaluated): number {
  return keys.size + items.size
}

/**
 * Returns the result of a part for a value, which is computed once per run: whether it matches, or the evaluated fields and
 * items of a match when they are needed.
 */
export function fitsOnce(
  part: CheckPart,
  value: unknown,
  { run, isMarking }: { readonly run: CheckRun; readonly isMarking: boolean },
): Evaluated | boolean {
  const results = run.resultsOf<Evaluated | boolean>(part)
  const before = results.get(value)
  if (before !== undefined) return before
  run.spend(STEPS_PER_RESULT)
  const marks = isMarking ? { keys: new Set<string>(), items: new Set<number>() } : undefined
  const result = part(value, run, marks) && (marks ?? true)
  results.set(value, result)
  return result
}

/** Steps of storing a result; a map of a hundred thousand objects takes 150 ms. */
const STEPS_PER_RESULT = 12
