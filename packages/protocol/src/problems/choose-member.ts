/**
 * Choice of the union member that a value claims to be.
 *
 * A union whose members differ in one fixed field (`type` on the wire; any other field works too) is decided by that field
 * alone. The problems of a value are then those of one member, not of all forty. The decision table of a union is built
 * once.
 */
import { findFixedValues, isJsonObject, ownValue, type Schema } from '../schema-node.ts'

/** Field that distinguishes the members of a union, and the member of each of its values. */
export interface Discriminator {
  readonly field: string
  readonly members: ReadonlyMap<unknown, Schema>
}

const discriminators = new WeakMap<readonly Schema[], Discriminator | 'none'>()

/** Returns the field that distinguishes the members; undefined when there is none. */
export function discriminatorOf(members: readonly Schema[]): Discriminator | undefined {
  let found = discriminators.get(members)
  if (found === undefined) {
    found = findDiscriminator(members) ?? 'none'
    discriminators.set(members, found)
  }
  return found === 'none' ? undefined : found
}

/**
 * Returns the schema with its outermost union replaced by the member that the value names. Returns false when the
 * value names no member, and the schema itself when there is no union. The result is always the same object, so it can
 * be a cache key.
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

/** Intersections with a narrowed part in place of its union, by that part. */
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

/** Adds the member under each of its values of the field; returns false when it has no values or one is taken. */
function addTags(table: Map<unknown, Schema>, member: Schema, field: string): boolean {
  const tags = findTags(member, field)
  if (tags === undefined || tags.some((tag) => table.has(tag))) return false
  for (const tag of tags) table.set(tag, member)
  return true
}

/** Returns the fixed values of a required field, in any object of this schema. */
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

/** Returns the fields of the first member that could distinguish the members, `type` first. */
function listCandidateFields(schema: Schema): readonly string[] {
  if (typeof schema === 'boolean') return []
  const [nested] = schema.anyOf ?? schema.allOf ?? []
  if (nested !== undefined) return listCandidateFields(nested)
  const fields = (schema.required ?? []).filter((field) => findTags(schema, field) !== undefined)
  return fields.toSorted((a, b) => Number(b === 'type') - Number(a === 'type'))
}
