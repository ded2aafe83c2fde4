/**
 * Description of every problem of a value, each at its place.
 *
 * TypeBox's own list stops at eight errors and, for a union, contains the errors of all members. Therefore this module walks
 * the structure (fields, items, unions, references), and TypeBox judges the keywords of each place (type, bounds, pattern,
 * format …). TypeBox decides what is valid.
 *
 * P1 No problem is missed: if the walk finds none and TypeBox does, TypeBox's list is described.
 * P2 A union with a distinguishing field is judged by the member that the value names. Other unions are judged by the
 *    members of the value's JSON type, and of these by the closest one (`distance.ts`).
 * P3 A value of the wrong type is one problem; its content is not judged.
 * P4 Work and result are bounded: at most `MAX_PROBLEMS` problems, `MAX_DEPTH` nested schemas, and not within a value that
 *    contains itself.
 */
import { Errors } from 'typebox/schema'
import { compiledCheck } from '../compiled-check.ts'
import type { Problem } from '../schemas/problem.ts'
import { discriminatorOf, narrowByTag } from './choose-member.ts'
import {
  describeMismatch,
  describeMissing,
  describeBadChoice,
  describeProblem,
  describeUnknown,
  type ProblemPlace,
  makeProblem,
} from './describe-problem.ts'
import { measureDistance, findNearest } from './distance.ts'
import { describeExpected } from './expected.ts'
import { pointer, valueAt } from './json-pointer.ts'
import { allowsValueType, pickLeafKeywords } from './keywords.ts'
import { resolveReference } from './references.ts'
import {
  findFixedValues,
  isJsonObject,
  ownValue,
  type Schema,
  type SchemaNode,
} from './schema-node.ts'

/** Maximum number of problems listed for one value. The walk stops there, so the rest is not counted. */
export const MAX_PROBLEMS = 100

/**
 * Maximum number of nested schemas; the stack allows several times as many. Only a recursive schema needs more than a
 * dozen.
 */
export const MAX_DEPTH = 500

/** Returns every problem of a value; empty when the value is valid. */
export function describeProblems(schema: object, value: unknown): Problem[] {
  const walk: Walk = { problems: [], depth: 0, scopes: [schema], inside: undefined }
  visit({ path: '', value, schema }, walk)
  if (walk.problems.length === 0) return describeRemaining({ path: '', value, schema })
  const problems = removeDuplicates(walk.problems.slice(0, MAX_PROBLEMS))
  if (walk.problems.length < MAX_PROBLEMS) return problems
  return [...problems, { path: '', message: `has more problems than the ${MAX_PROBLEMS} listed` }]
}

/** Returns the errors of TypeBox where the walk found none: those of keywords that the walk does not follow. */
function describeRemaining(place: ProblemPlace): Problem[] {
  try {
    return describeErrors(place)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return [TOO_DEEP]
  }
}

const TOO_DEEP: Problem = { path: '', message: 'is nested too deeply to be checked' }

/** One pass over a value. Mutable: it collects problems. */
interface Walk {
  readonly problems: Problem[]
  readonly depth: number
  /** Surrounding schemas that can contain definitions, the root first. */
  readonly scopes: readonly SchemaNode[]
  /** Surrounding places, the innermost first. */
  readonly inside: Inside | undefined
}

interface Inside {
  readonly value: unknown
  readonly schema: SchemaNode
  readonly inside: Inside | undefined
}

type UnknownPlace = Omit<ProblemPlace, 'schema'> & { readonly schema: Schema }

function visit(place: UnknownPlace, walk: Walk): void {
  const { schema } = place
  if (schema === true || walk.problems.length >= MAX_PROBLEMS) return
  if (schema === false) {
    walk.problems.push(makeProblem(place, 'is not allowed'))
  } else if (walk.depth > MAX_DEPTH) {
    walk.problems.push({ ...TOO_DEEP, path: place.path })
  } else {
    visitNode({ ...place, schema }, descend(walk, schema))
  }
}

function descend(walk: Walk, schema: SchemaNode): Walk {
  const scopes = schema.$defs === undefined ? walk.scopes : [...walk.scopes, schema]
  return { ...walk, depth: walk.depth + 1, scopes }
}

function visitNode(place: ProblemPlace, walk: Walk): void {
  const { schema, value } = place
  if (schema.unevaluatedProperties !== undefined || schema.unevaluatedItems !== undefined) {
    walk.problems.push(...describeErrors(place))
    return
  }
  const own = describeOwn(place)
  walk.problems.push(...own)
  if (own.length > 0 && !allowsValueType(schema, value)) return
  if (schema.$ref !== undefined) {
    visit({ ...place, schema: resolveReference(schema.$ref, walk.scopes) ?? true }, walk)
  }
  visitCombinations(place, walk)
  if (isScalar(value)) return
  if (isInside(place, walk.inside)) {
    walk.problems.push({ path: place.path, message: 'contains itself' })
    return
  }
  const within: Walk = { ...walk, inside: { value, schema, inside: walk.inside } }
  if (isJsonObject(value)) visitFields({ ...place, value }, within)
  else if (Array.isArray(value)) visitItems({ ...place, value }, within)
}

function isInside({ value, schema }: ProblemPlace, inside: Inside | undefined): boolean {
  for (let outer = inside; outer !== undefined; outer = outer.inside) {
    if (outer.value === value && outer.schema === schema) return true
  }
  return false
}

/** Describes errors of the keywords of the place itself, as judged by TypeBox. */
function describeOwn(place: ProblemPlace): Problem[] {
  const fixed = findFixedValues(place.schema)
  if (fixed !== undefined && fixed.every(isScalar)) {
    return fixed.includes(place.value) ? [] : [describeBadChoice(fixed, place)]
  }
  const leaf = pickLeafKeywords(place.schema)
  if (compiledCheck(leaf)(place.value)) return []
  // TypeBox lists repeated items in time that grows with the square of their number.
  const { uniqueItems, ...others } = leaf
  const problems = describeErrors({ ...place, schema: others })
  const repeats = uniqueItems === true && !compiledCheck(UNIQUE_ITEMS)(place.value)
  return repeats ? [...problems, ...describeProblem(REPEATED_ITEMS, place)] : problems
}

const UNIQUE_ITEMS = { uniqueItems: true }

const REPEATED_ITEMS: Parameters<typeof describeProblem>[0] = {
  keyword: 'uniqueItems',
  schemaPath: '#',
  instancePath: '',
  params: { duplicateItems: [] },
}

function describeErrors(place: ProblemPlace): Problem[] {
  const [, errors] = Errors(place.schema, place.value)
  const useful = errors.filter(
    (error) => !SUMMARIES.has(error.keyword) && !error.schemaPath.endsWith('/propertyNames'),
  )
  return (useful.length > 0 ? useful : errors).flatMap((error) =>
    describeProblem(error, {
      path: place.path + error.instancePath,
      value: valueAt(place.value, error.instancePath),
      schema: error.instancePath === '' ? place.schema : {},
    }),
  )
}

/** Keywords of errors that only state that others were found; errors of property names are described by the name. */
const SUMMARIES: ReadonlySet<string> = new Set(['anyOf', 'if', 'boolean'])

function visitCombinations(place: ProblemPlace, walk: Walk): void {
  const { schema } = place
  if (schema.anyOf !== undefined) visitUnion(place, { members: schema.anyOf, most: Infinity }, walk)
  if (schema.oneOf !== undefined) visitUnion(place, { members: schema.oneOf, most: 1 }, walk)
  if (schema.allOf !== undefined) visitIntersection(place, schema.allOf, walk)
  if (schema.if === undefined) return
  const holds = findProblems({ ...place, schema: schema.if }, walk).length === 0
  visit({ ...place, schema: (holds ? schema.then : schema.else) ?? true }, walk)
}

/** Visits every part; if one is a union and the value names no member, only that part. */
function visitIntersection(place: ProblemPlace, parts: readonly Schema[], walk: Walk): void {
  const unnamed = parts.find((part) => narrowByTag(part, place.value) === false)
  for (const part of unnamed === undefined ? parts : [unnamed]) {
    visit({ ...place, schema: part }, walk)
  }
}

/** Members of a union, and the maximum number that a value may match. */
interface Alternatives {
  readonly members: readonly Schema[]
  readonly most: number
}

function visitUnion(place: ProblemPlace, union: Alternatives, walk: Walk): void {
  const discriminator = isJsonObject(place.value) ? discriminatorOf(union.members) : undefined
  if (discriminator === undefined) return visitOpenUnion(place, union, walk)
  const { field, members: byTag } = discriminator
  const tags = [...byTag.keys()]
  if (!isJsonObject(place.value) || !Object.hasOwn(place.value, field)) {
    walk.problems.push(
      describeMissing(field, { ...place, schema: { properties: { [field]: { enum: tags } } } }),
    )
    return
  }
  const tag = { path: pointer(place.path, field), value: ownValue(place.value, field), schema: {} }
  const member = byTag.get(tag.value)
  if (member === undefined) walk.problems.push(describeBadChoice(tags, tag))
  else visit({ ...place, schema: member }, walk)
}

/** Visits a union without a distinguishing field: the closest member of the value's type. */
function visitOpenUnion(place: ProblemPlace, { members, most }: Alternatives, walk: Walk): void {
  const fixed = members.map(findFixedValues)
  if (fixed.every((values) => values !== undefined)) {
    const values = fixed.flat()
    if (!values.includes(place.value)) walk.problems.push(describeBadChoice(values, place))
    return
  }
  const candidates = members.filter(
    (member, index) =>
      allowsValueType(member, place.value) &&
      (fixed[index]?.some((one) => isScalar(one) === isScalar(place.value)) ?? true),
  )
  if (candidates.length === 0) {
    walk.problems.push(describeMismatch(describeExpected({ anyOf: members }), place))
    return
  }
  const results = candidates.map((schema) => findProblems({ ...place, schema }, walk))
  const fitting = results.filter((problems) => problems.length === 0).length
  if (fitting > most)
    walk.problems.push(describeMismatch('valid for exactly one alternative', place))
  if (fitting > 0) return
  const distances = candidates.map((schema, index) =>
    measureDistance({ ...place, schema }, results[index] ?? [], walk.scopes),
  )
  walk.problems.push(...(results[findNearest(distances)] ?? []))
}

function findProblems(place: UnknownPlace, walk: Walk): Problem[] {
  const problems: Problem[] = []
  visit(place, { ...walk, problems })
  return problems
}

type ObjectPlace = ProblemPlace & { readonly value: Readonly<Record<string, unknown>> }

function visitFields(place: ObjectPlace, walk: Walk): void {
  const { schema, value } = place
  const required = schema.required ?? []
  const patterns = Object.entries(schema.patternProperties ?? {}).map(
    ([pattern, member]) => [new RegExp(pattern, 'u'), member] as const,
  )
  for (const key of required) {
    if (!Object.hasOwn(value, key)) walk.problems.push(describeMissing(key, place))
  }
  for (const key of Object.keys(value)) {
    if (walk.problems.length >= MAX_PROBLEMS) return
    // As in TypeBox, an optional field that is undefined counts as absent.
    if (ownValue(value, key) === undefined && !required.includes(key)) continue
    const matching = patterns.filter(([pattern]) => pattern.test(key)).map(([, member]) => member)
    visitField(key, { place, members: [...findOwnMembers(schema, key), ...matching] }, walk)
  }
}

function findOwnMembers({ properties = {} }: SchemaNode, key: string): readonly Schema[] {
  const own = ownValue(properties, key)
  return own === undefined ? [] : [own]
}

/** Visits a given field with the schemas that declare it, or else with `additionalProperties`. */
function visitField(
  key: string,
  { place, members }: { readonly place: ObjectPlace; readonly members: readonly Schema[] },
  walk: Walk,
): void {
  const { additionalProperties = true } = place.schema
  if (members.length === 0 && additionalProperties === false) {
    walk.problems.push(describeUnknown(key, place))
    return
  }
  const field = { path: pointer(place.path, key), value: ownValue(place.value, key) }
  for (const schema of members.length === 0 ? [additionalProperties] : members) {
    visit({ ...field, schema }, walk)
  }
}

function visitItems(
  place: ProblemPlace & { readonly value: readonly unknown[] },
  walk: Walk,
): void {
  const { items = true, prefixItems } = place.schema
  const leading: readonly Schema[] = prefixItems ?? (isSchemaList(items) ? items : [])
  const rest: Schema = isSchemaList(items) ? true : items
  for (const [index, value] of place.value.entries()) {
    if (walk.problems.length >= MAX_PROBLEMS) return
    visit({ path: pointer(place.path, index), value, schema: leading[index] ?? rest }, walk)
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
