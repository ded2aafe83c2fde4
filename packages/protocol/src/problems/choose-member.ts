/**
 * Which member of a union a value means to be.
 *
 * A union whose members differ in one fixed field (`type` on our wire; any other works too) is decided
 * by that field alone, so that the problems of a value are those of the member it claims to be, and
 * not of all forty. The decision is a table per union, made once.
 */
import { findFixedValues, isJsonObject, ownValue, type Schema } from './schema-node.ts'

/** How a union is decided: the field, and the member for each of its values. */
export interface Discriminator {
  readonly field: string
  readonly members: ReadonlyMap<unknown, Schema>
}

const discriminators = new WeakMap<readonly Schema[], Discriminator | 'none'>()

/** The field that tells the members apart, or nothing when there is none. */
export function discriminatorOf(members: readonly Schema[]): Discriminator | undefined {
  let found = discriminators.get(members)
  if (found === undefined) {
    found = findDiscriminator(members) ?? 'none'
    discriminators.set(members, found)
  }
  return found === 'none' ? undefined : found
}

/**
 * The schema with its outermost union replaced by the member the value claims to be: what has to be
 * compiled and checked. False when the value claims to be none, the schema itself when there is
 * nothing to choose. The same object each time, so that it can be a key of a cache.
 */
export function narrowByTag(schema: Schema, value: unknown): Schema {
  if (typeof schema === 'boolean' || !isJsonObject(value)) return schema
  if (schema.anyOf !== undefined) return narrowUnion(schema, schema.anyOf, value)
  return schema.allOf === undefined ? schema : narrowIntersection(schema, schema.allOf, value)
}

function narrowUnion(
  schema: Schema,
  members: readonly Schema[],
  value: Readonly<Record<string, unknown>>,
): Schema {
  const discriminator = discriminatorOf(members)
  if (discriminator === undefined) return schema
  const member = discriminator.members.get(ownValue(value, discriminator.field))
  return member === undefined ? false : narrowByTag(member, value)
}

/** Narrowed part → the intersection with that part in place of its union. */
const intersections = new WeakMap<readonly Schema[], Map<Schema, Schema>>()

function narrowIntersection(schema: Schema, parts: readonly Schema[], value: unknown): Schema {
  const index = parts.findIndex((part) => typeof part === 'object' && part.anyOf !== undefined)
  const union = parts[index]
  if (union === undefined || typeof schema === 'boolean') return schema
  const narrowed = narrowByTag(union, value)
  if (narrowed === union || narrowed === false) return narrowed === false ? false : schema
  const known = intersections.get(parts) ?? new Map<Schema, Schema>()
  intersections.set(parts, known)
  const result = known.get(narrowed) ?? { ...schema, allOf: parts.with(index, narrowed) }
  known.set(narrowed, result)
  return result
}

function findDiscriminator(members: readonly Schema[]): Discriminator | undefined {
  const [first] = members
  if (first === undefined || members.length < 2) return undefined
  for (const field of listCandidateFields(first)) {
    const table = new Map<unknown, Schema>()
    if (members.every((member) => addTags(table, member, field))) return { field, members: table }
  }
  return undefined
}

/** Adds the member under each of its values of the field; false when it has none or one is taken. */
function addTags(table: Map<unknown, Schema>, member: Schema, field: string): boolean {
  const tags = findTags(member, field)
  if (tags === undefined || tags.some((tag) => table.has(tag))) return false
  for (const tag of tags) table.set(tag, member)
  return true
}

/** The values that a required field is fixed to, in any object of this schema. */
function findTags(schema: Schema, field: string): readonly unknown[] | undefined {
  if (typeof schema === 'boolean') return undefined
  if (schema.anyOf !== undefined) {
    const tags = schema.anyOf.map((member) => findTags(member, field))
    return tags.every((values) => values !== undefined) ? tags.flat() : undefined
  }
  if (schema.allOf !== undefined) {
    return schema.allOf.map((part) => findTags(part, field)).find((values) => values !== undefined)
  }
  const property = schema.required?.includes(field)
    ? ownValue(schema.properties ?? {}, field)
    : undefined
  return property === undefined ? undefined : findFixedValues(property)
}

/** Fields of the first member that could be the one; `type` before all others. */
function listCandidateFields(schema: Schema): readonly string[] {
  if (typeof schema === 'boolean') return []
  const [nested] = schema.anyOf ?? schema.allOf ?? []
  if (nested !== undefined) return listCandidateFields(nested)
  const fields = (schema.required ?? []).filter((field) => findTags(schema, field) !== undefined)
  return fields.toSorted((a, b) => Number(b === 'type') - Number(a === 'type'))
}
