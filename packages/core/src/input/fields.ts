/**
 * Fields and items that the schemas at one location declare.
 *
 * CORE-F1 A field is known when any of the schemas declares it: in `properties`, by a pattern, in `required`, or by
 *    `additionalProperties` that is `true` or a schema.
 * CORE-F2 Where no schema declares fields (`{"type": "object"}`), every field is known.
 */
import { ownValue, type CheckRun, type Schema, type SchemaNode } from '@tutti/protocol/internal'

import type { SchemaDocument } from './schema-document.ts'

/** Schema and step count for the lookup of a field. */
export interface FieldReading {
  readonly document: SchemaDocument
  /** Counts the steps. */
  readonly run: CheckRun
}

/** Steps of looking up a field in one schema. */
const STEPS_PER_LOOKUP = 1 / 2

/** Returns the schemas that a field must match, empty if any value is valid; undefined when the field is unknown. */
export function findFieldSchemas(
  nodes: readonly SchemaNode[],
  key: string,
  reading: FieldReading,
): readonly Schema[] | undefined {
  reading.run.spend(nodes.length * STEPS_PER_LOOKUP)
  const schemas: Schema[] = []
  let known = false
  for (const node of nodes) {
    const own = findOwnSchemas(node, key, reading)
    schemas.push(...own)
    const other = own.length > 0 ? undefined : findRestSchema(node)
    if (other !== undefined) schemas.push(other)
    known ||= own.length > 0 || other !== undefined || node.required?.includes(key) === true
  }
  return known || !nodes.some(declaresFields)
    ? schemas.filter((schema) => schema !== true)
    : undefined
}

/** Whether a field is required. */
export function isRequired(nodes: readonly SchemaNode[], key: string): boolean {
  return nodes.some((node) => node.required?.includes(key) === true)
}

/** Returns the names of the declared fields, each once. */
export function listDeclaredFields(nodes: readonly SchemaNode[]): readonly string[] {
  return [...new Set(nodes.flatMap((node) => Object.keys(node.properties ?? {})))]
}

/** Whether a node declares its fields. */
export function declaresFields(node: SchemaNode): boolean {
  return (
    node.properties !== undefined ||
    node.patternProperties !== undefined ||
    node.additionalProperties === false ||
    node.unevaluatedProperties === false
  )
}

/** Returns the schemas that an item must match; empty if any value is valid. */
export function findItemSchemas(nodes: readonly SchemaNode[], index: number): readonly Schema[] {
  return nodes.map((node) => findItemSchema(node, index)).filter((schema) => schema !== true)
}

/** Returns the schemas of the leading items, and the schema of all others. */
export function splitItems(node: SchemaNode): { leading: readonly Schema[]; rest: Schema } {
  const { items = true, prefixItems, additionalItems = true } = node
  if (isList(items)) return { leading: items, rest: additionalItems }
  return { leading: prefixItems ?? [], rest: items }
}

function findOwnSchemas(node: SchemaNode, key: string, { document, run }: FieldReading): Schema[] {
  const schemas: Schema[] = []
  const property = ownValue(node.properties ?? {}, key)
  if (property !== undefined) schemas.push(property)
  if (node.patternProperties === undefined) return schemas
  for (const [pattern, schema] of document.patternsOf(node)) {
    if (pattern.test(key, run)) schemas.push(schema)
  }
  return schemas
}

/** Returns the schema of fields that a node does not name; undefined when the node is closed or does not declare it. */
function findRestSchema(node: SchemaNode): Schema | undefined {
  const { additionalProperties: additional, unevaluatedProperties: unevaluated } = node
  const other = additional === undefined ? unevaluated : additional
  return other === false ? undefined : (other as Schema | undefined)
}

function findItemSchema(node: SchemaNode, index: number): Schema {
  const { leading, rest } = splitItems(node)
  return leading[index] ?? rest
}

function isList(items: Schema | readonly Schema[]): items is readonly Schema[] {
  return Array.isArray(items)
}
