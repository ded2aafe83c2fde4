/**
 * Description of every problem of a value, each at its location.
 *
 * This module walks the structure (fields, items, unions, references), and the evaluator (`check/evaluator.ts`) judges
 * the keywords of each location (type, bounds, pattern, format …).
 *
 * PROTO-P1 No problem is missed within the limits of PROTO-P4.
 * PROTO-P2 A union with a distinguishing field is judged by the member that the value names. Other unions are judged
 *    by the members of the value's JSON type, and of these by the closest one (`distance.ts`).
 * PROTO-P3 A value of the wrong type is one problem; its content is not judged.
 * PROTO-P4 Work and result are bounded: at most `MAX_PROBLEMS` problems, `MAX_DEPTH` nested schemas,
 *    `MAX_DESCRIPTION_STEPS`, and not within a value that contains itself. What a member of a union, or the target of
 *    a reference, finds at a location is found once.
 */
import { CheckLimitError, CheckRun, MAX_DESCRIPTION_STEPS } from '../check/check-run.ts'
import { createEvaluator, type Evaluator } from '../check/evaluator.ts'
import { nativePatterns, type Pattern, type PatternEngine } from '../check/pattern.ts'
import type { ReferenceScope } from '../schema-engine.ts'
import type { Problem } from '../schemas/problem.ts'
import { discriminatorOf, narrowByTag } from './choose-member.ts'
import {
  describeMismatch,
  describeMissing,
  describeBadChoice,
  describeProblem,
  describeUnknown,
  type ProblemLocation,
  makeProblem,
} from './describe-problem.ts'
import { measureDistance, findNearest } from './distance.ts'
import { describeExpected } from './expected.ts'
import { pointer } from '../json-pointer.ts'
import { allowsValueType, pickLeafKeywords } from './keywords.ts'
import { findLeafErrors } from './leaf-errors.ts'
import {
  findFixedValues,
  isJsonObject,
  ownValue,
  type Schema,
  type SchemaNode,
} from '../schema-node.ts'

/** Maximum number of problems listed for one value. The walk stops there, so the rest is not counted. */
export const MAX_PROBLEMS = 100

/**
 * Maximum number of nested schemas; the stack allows several times as many. Only a recursive schema needs more than a
 * dozen.
 */
export const MAX_DEPTH = 500

export interface DescribeOptions {
  /** Engine of the regular expressions. @default the one of JavaScript */
  readonly patterns?: PatternEngine | undefined
  /** Counts the steps. @default a new one of `MAX_DESCRIPTION_STEPS` */
  readonly run?: CheckRun | undefined
}

/** Returns every problem of a value; empty when the value is valid. */
export function describeProblems(
  schema: object,
  value: unknown,
  { patterns = nativePatterns, run = new CheckRun(MAX_DESCRIPTION_STEPS) }: DescribeOptions = {},
): Problem[] {
  const evaluator = createEvaluator(schema, { patterns, remember: true })
  const walk: Walk = {
    problems: [],
    depth: 0,
    scope: evaluator.scope,
    inside: undefined,
    shared: { evaluator, run, patterns, compiled: new Map(), found: new Map() },
  }
  try {
    visit({ path: '', value, schema }, walk)
  } catch (error) {
    if (!(error instanceof CheckLimitError)) throw error
    walk.problems.push({ path: '', message: `cannot be checked completely: ${error.message}` })
  }
  const problems = removeDuplicates(walk.problems.slice(0, MAX_PROBLEMS))
  if (walk.problems.length < MAX_PROBLEMS) return problems
  return [...problems, { path: '', message: `has more problems than the ${MAX_PROBLEMS} listed` }]
}

const TOO_DEEP: Problem = { path: '', message: 'is nested too deeply to be checked' }

/** One pass over a value. Mutable: it collects problems. */
interface Walk {
  readonly problems: Problem[]
  readonly depth: number
  /** Scope of references outside of the location's schema. */
  readonly scope: ReferenceScope
  /** Surrounding locations, the innermost first. */
  readonly inside: Inside | undefined
  readonly shared: Shared
}

/** State that all parts of a walk share. */
interface Shared {
  readonly evaluator: Evaluator
  readonly run: CheckRun
  readonly patterns: PatternEngine
  readonly compiled: Map<string, Pattern>
  /** Problems by schema and value, with the path of the value. */
  readonly found: Map<Schema, Map<unknown, Found>>
}

interface Found {
  readonly path: string
  readonly problems: readonly Problem[]
}

interface Inside {
  readonly value: unknown
  readonly schema: SchemaNode
  readonly inside: Inside | undefined
}

type UnknownLocation = Omit<ProblemLocation, 'schema'> & { readonly schema: Schema }

function visit(location: UnknownLocation, walk: Walk): void {
  const { schema } = location
  walk.shared.run.spend(STEPS_PER_VISIT)
  if (schema === true || walk.problems.length >= MAX_PROBLEMS) return
  if (schema === false) {
    walk.problems.push(makeProblem(location, 'is not allowed'))
  } else if (walk.depth > MAX_DEPTH) {
    walk.problems.push({ ...TOO_DEEP, path: location.path })
  } else {
    visitNode({ ...location, schema }, descend(walk, schema))
  }
}

/** Visits a field or an item. Most of them are valid, and a check is faster than a visit. */
function visitInside(location: UnknownLocation, walk: Walk): void {
  const { evaluator, run } = walk.shared
  const isChecked = isScalar(location.value) || walk.depth < MAX_CHECKED_DEPTH
  if (
    !isChecked ||
    !fitsIfShallow(() => evaluator.fits(location.schema, location.value, run, walk.scope))
  ) {
    visit(location, walk)
  }
}

/** Returns the result of a check; false when the value is nested deeper than the stack, which a visit reports. */
function fitsIfShallow(check: () => boolean): boolean {
  try {
    return check()
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

/** Maximum depth at which lists and objects are checked before they are visited: each level checks what is below it. */
const MAX_CHECKED_DEPTH = 8

/** Steps of a visit: it takes about as long as twenty of a check. */
const STEPS_PER_VISIT = 20

/** Steps of entering a schema of a document with ids or anchors. */
const STEPS_PER_SCOPE = 50

function descend(walk: Walk, schema: SchemaNode): Walk {
  if (!walk.scope.hasEntered(schema)) walk.shared.run.spend(STEPS_PER_SCOPE)
  return { ...walk, depth: walk.depth + 1, scope: walk.scope.enter(schema) }
}

function visitNode(location: ProblemLocation, walk: Walk): void {
  const { schema, value } = location
  const before = walk.problems.length
  const own = describeOwn(location, walk)
  walk.problems.push(...own)
  if (own.length > 0 && !allowsValueType(schema, value)) return
  visitReferences(location, walk)
  visitCombinations(location, walk)
  if (isScalar(value)) return
  if (isInside(location, walk.inside)) {
    walk.problems.push({ path: location.path, message: 'contains itself' })
    return
  }
  const within: Walk = { ...walk, inside: { value, schema, inside: walk.inside } }
  if (isJsonObject(value)) visitFields({ ...location, value }, within)
  else if (Array.isArray(value)) visitItems({ ...location, value }, within)
  if (walk.problems.length === before) visitUnevaluated(location, within)
}

function visitReferences(location: ProblemLocation, walk: Walk): void {
  const { $ref, $dynamicRef, $recursiveRef } = location.schema
  const targets = [
    typeof $ref === 'string' ? walk.scope.resolve($ref) : undefined,
    typeof $dynamicRef === 'string' ? walk.scope.resolveDynamic($dynamicRef) : undefined,
    typeof $recursiveRef === 'string' ? walk.scope.resolveRecursive($recursiveRef) : undefined,
  ]
  for (const target of targets) {
    if (target === undefined) continue
    const { schema = false, scope } = target
    if (typeof schema !== 'boolean' && !isJsonObject(schema)) continue
    walk.problems.push(...findProblems({ ...location, schema }, { ...walk, scope }))
  }
}

/** Visits what no other keyword of the schema has evaluated. */
function visitUnevaluated(location: ProblemLocation, walk: Walk): void {
  const { schema, value } = location
  const { unevaluatedProperties: fields, unevaluatedItems: items } = schema
  const { evaluator, run } = walk.shared
  if (fields === undefined && items === undefined) return
  const marks = evaluator.evaluated(schema, value, run, walk.scope)
  if (marks === undefined) return
  if (Array.isArray(value) && isSchema(items)) {
    for (const [index, item] of value.entries()) {
      if (marks.items.has(index)) continue
      visit({ path: pointer(location.path, index), value: item, schema: items }, walk)
    }
  } else if (isJsonObject(value) && isSchema(fields)) {
    for (const key of Object.keys(value)) {
      if (marks.keys.has(key)) continue
      visitField(key, { location: { ...location, value }, members: [], rest: fields }, walk)
    }
  }
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'boolean' || isJsonObject(value)
}

function isInside({ value, schema }: ProblemLocation, inside: Inside | undefined): boolean {
  for (let outer = inside; outer !== undefined; outer = outer.inside) {
    if (outer.value === value && outer.schema === schema) return true
  }
  return false
}

/** Describes errors of the location's own keywords. */
function describeOwn(location: ProblemLocation, walk: Walk): Problem[] {
  const fixed = findFixedValues(location.schema)
  if (fixed !== undefined && fixed.every(isScalar)) {
    walk.shared.run.spend(fixed.length / 16)
    return fixed.includes(location.value) ? [] : [describeBadChoice(fixed, location)]
  }
  const leaf = pickLeafKeywords(location.schema)
  const { evaluator, run } = walk.shared
  const fits = (schema: Schema, value: unknown): boolean =>
    evaluator.fits(schema, value, run, walk.scope)
  try {
    if (fits(leaf, location.value)) return []
    return findLeafErrors(leaf, location.value, fits).flatMap((error) =>
      describeProblem(error, location),
    )
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return [{ ...TOO_DEEP, path: location.path }]
  }
}

function visitCombinations(location: ProblemLocation, walk: Walk): void {
  const { schema } = location
  if (schema.anyOf !== undefined)
    visitUnion(location, { members: schema.anyOf, most: Infinity }, walk)
  if (schema.oneOf !== undefined) visitUnion(location, { members: schema.oneOf, most: 1 }, walk)
  if (schema.allOf !== undefined) visitIntersection(location, schema.allOf, walk)
  visitDependents(location, walk)
  if (schema.if === undefined) return
  const holds = findProblems({ ...location, schema: schema.if }, walk).length === 0
  visit({ ...location, schema: (holds ? schema.then : schema.else) ?? true }, walk)
}

/** Visits the schemas that apply because the value has a field. */
function visitDependents(location: ProblemLocation, walk: Walk): void {
  const { schema, value } = location
  const { dependentSchemas = {}, dependencies = {} } = schema
  if (!isJsonObject(value)) return
  for (const [key, part] of [
    ...Object.entries(dependentSchemas),
    ...Object.entries(dependencies),
  ]) {
    if (Object.hasOwn(value, key) && isSchema(part)) visit({ ...location, schema: part }, walk)
  }
}

/** Visits every part; if one is a union and the value names no member, only that part. */
function visitIntersection(location: ProblemLocation, parts: readonly Schema[], walk: Walk): void {
  const unnamed = parts.find((part) => narrowByTag(part, location.value) === false)
  for (const part of unnamed === undefined ? parts : [unnamed]) {
    visit({ ...location, schema: part }, walk)
  }
}

/** Members of a union, and the maximum number that a value may match. */
interface Alternatives {
  readonly members: readonly Schema[]
  readonly most: number
}

function visitUnion(location: ProblemLocation, union: Alternatives, walk: Walk): void {
  const discriminator = isJsonObject(location.value) ? discriminatorOf(union.members) : undefined
  if (discriminator === undefined) return visitOpenUnion(location, union, walk)
  const { field, members: byTag } = discriminator
  const tags = [...byTag.keys()]
  if (!isJsonObject(location.value) || !Object.hasOwn(location.value, field)) {
    walk.problems.push(
      describeMissing(field, { ...location, schema: { properties: { [field]: { enum: tags } } } }),
    )
    return
  }
  const tag = {
    path: pointer(location.path, field),
    value: ownValue(location.value, field),
    schema: {},
  }
  const member = byTag.get(tag.value)
  if (member === undefined) walk.problems.push(describeBadChoice(tags, tag))
  else visit({ ...location, schema: member }, walk)
}

/** Visits a union without a distinguishing field: the closest member of the value's type. */
function visitOpenUnion(
  location: ProblemLocation,
  { members, most }: Alternatives,
  walk: Walk,
): void {
  const fixed = members.map(findFixedValues)
  if (fixed.every((values) => values !== undefined)) {
    const values = fixed.flat()
    if (!values.includes(location.value)) walk.problems.push(describeBadChoice(values, location))
    return
  }
  const candidates = members.filter(
    (member, index) =>
      allowsValueType(member, location.value) &&
      (fixed[index]?.some((one) => isScalar(one) === isScalar(location.value)) ?? true),
  )
  if (candidates.length === 0) {
    walk.problems.push(describeMismatch(describeExpected({ anyOf: members }), location))
    return
  }
  const results = candidates.map((schema) => findProblems({ ...location, schema }, walk))
  const fitting = results.filter((problems) => problems.length === 0).length
  if (fitting > most)
    walk.problems.push(describeMismatch('valid for exactly one alternative', location))
  if (fitting > 0) return
  const distances = candidates.map((schema, index) =>
    measureDistance({ ...location, schema }, results[index] ?? [], {
      scope: walk.scope,
      run: walk.shared.run,
    }),
  )
  walk.problems.push(...(results[findNearest(distances)] ?? []))
}

/** Returns the problems of a location by one schema, which are found once. */
function findProblems(location: UnknownLocation, walk: Walk): readonly Problem[] {
  const { schema, value, path } = location
  const { found } = walk.shared
  const byValue = found.get(schema) ?? new Map<unknown, Found>()
  found.set(schema, byValue)
  const before = byValue.get(value)
  if (before?.path === path) return before.problems
  const problems: Problem[] = []
  visit(location, { ...walk, problems })
  byValue.set(value, { path, problems })
  return problems
}

type ObjectLocation = ProblemLocation & { readonly value: Readonly<Record<string, unknown>> }

function visitFields(location: ObjectLocation, walk: Walk): void {
  const { schema, value } = location
  const required = schema.required ?? []
  const patterns = Object.entries(schema.patternProperties ?? {}).map(
    ([pattern, member]) => [compilePattern(pattern, walk.shared), member] as const,
  )
  for (const key of required) {
    if (!Object.hasOwn(value, key)) walk.problems.push(describeMissing(key, location))
  }
  for (const key of Object.keys(value)) {
    if (walk.problems.length >= MAX_PROBLEMS) return
    // As in TypeBox, an optional field that is undefined counts as absent.
    if (ownValue(value, key) === undefined && !required.includes(key)) continue
    const matching = patterns
      .filter(([pattern]) => pattern.test(key, walk.shared.run))
      .map(([, member]) => member)
    const members = [...findOwnMembers(schema, key), ...matching]
    visitField(key, { location, members, rest: schema.additionalProperties ?? true }, walk)
  }
}

function compilePattern(source: string, { compiled, patterns }: Shared): Pattern {
  const pattern = compiled.get(source) ?? patterns(source)
  compiled.set(source, pattern)
  return pattern
}

function findOwnMembers({ properties = {} }: SchemaNode, key: string): readonly Schema[] {
  const own = ownValue(properties, key)
  return own === undefined ? [] : [own]
}

interface Field {
  /** Location of the object. */
  readonly location: ObjectLocation
  /** Schemas that declare the field. */
  readonly members: readonly Schema[]
  /** Schema of a field that none declares. */
  readonly rest: Schema
}

/** Visits a present field with the schemas that declare it, otherwise with the schema for all others. */
function visitField(key: string, { location, members, rest }: Field, walk: Walk): void {
  if (members.length === 0 && rest === false) {
    walk.problems.push(describeUnknown(key, location))
    return
  }
  const field = { path: pointer(location.path, key), value: ownValue(location.value, key) }
  for (const schema of members.length === 0 ? [rest] : members) {
    visitInside({ ...field, schema }, walk)
  }
}

function visitItems(
  location: ProblemLocation & { readonly value: readonly unknown[] },
  walk: Walk,
): void {
  const { items = true, prefixItems, additionalItems = true } = location.schema
  const leading: readonly Schema[] = prefixItems ?? (isSchemaList(items) ? items : [])
  const rest: Schema = isSchemaList(items) ? additionalItems : items
  for (const [index, value] of location.value.entries()) {
    if (walk.problems.length >= MAX_PROBLEMS) return
    visitInside(
      { path: pointer(location.path, index), value, schema: leading[index] ?? rest },
      walk,
    )
  }
}

function isSchemaList(items: Schema | readonly Schema[]): items is readonly Schema[] {
  return Array.isArray(items)
}

function isScalar(value: unknown): boolean {
  return typeof value !== 'object' || value === null
}

/** Removes duplicates, which the parts of an intersection can produce. */
function removeDuplicates(problems: readonly Problem[]): Problem[] {
  const seen = new Map(problems.map((problem) => [`${problem.path} ${problem.message}`, problem]))
  return [...seen.values()]
}
