/** JSON types that the schemas of a location allow; an integer is a number. */
import type { Schema, SchemaNode } from '@tutti/protocol/internal'

import type { SchemaLocation, SchemaDocument } from './schema-document.ts'

/** Whether the schemas of a location allow the type; true if they do not restrict it. */
export function allowsJsonType(
  type: string,
  location: SchemaLocation,
  document: SchemaDocument,
): boolean {
  return location.nodes.every((node) => findTypes(node, document)?.has(type) ?? true)
}

/** Whether the schemas of a location explicitly allow the type. */
export function wantsJsonType(
  type: string,
  location: SchemaLocation,
  document: SchemaDocument,
): boolean {
  return (
    allowsJsonType(type, location, document) &&
    location.nodes.some((node) => findTypes(node, document)?.has(type))
  )
}

type Types = ReadonlySet<string> | 'any'

/** Allowed types of nodes, by document: a schema can be part of two documents and mean something different in each. */
const known = new WeakMap<SchemaDocument, Map<SchemaNode, Types>>()

/** Returns the types that a node allows; undefined if it does not restrict them. */
function findTypes(node: SchemaNode, document: SchemaDocument): ReadonlySet<string> | undefined {
  const inDocument = known.get(document) ?? new Map<SchemaNode, Types>()
  known.set(document, inDocument)
  let types = inDocument.get(node)
  if (types === undefined) {
    // A union that refers to itself adds no types.
    inDocument.set(node, 'any')
    types = findOwnTypes(node) ?? findUnionTypes(node.anyOf ?? node.oneOf, document) ?? 'any'
    inDocument.set(node, types)
  }
  return types === 'any' ? undefined : types
}

function findOwnTypes({
  type,
  enum: values,
  ...node
}: SchemaNode): ReadonlySet<string> | undefined {
  if (typeof type === 'string') return new Set([toJsonType(type)])
  if (type !== undefined) return new Set(type.map(toJsonType))
  if ('const' in node) return new Set([getJsonType(node.const)])
  return values === undefined ? undefined : new Set(values.map(getJsonType))
}

function findUnionTypes(
  members: readonly Schema[] | undefined,
  document: SchemaDocument,
): ReadonlySet<string> | undefined {
  if (members === undefined) return undefined
  const all = members.map((member) => findMemberTypes(member, document))
  return all.every((types) => types !== undefined)
    ? new Set(all.flatMap((types) => [...types]))
    : undefined
}

/** Returns the types of the first node of a member that restricts them; all nodes apply to it. */
function findMemberTypes(
  member: Schema,
  document: SchemaDocument,
): ReadonlySet<string> | undefined {
  if (member === false) return new Set()
  const types = document.locate([member]).nodes.map((node) => findTypes(node, document))
  return types.find((found) => found !== undefined)
}

function toJsonType(type: string): string {
  return type === 'integer' ? 'number' : type
}

function getJsonType(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
