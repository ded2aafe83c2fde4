/**
 * What the schemas at one place say of the fields and items there.
 *
 * CORE-F1 A field is known when any of the schemas speaks of it: in `properties`, by a pattern, in
 *    `required`, or by `additionalProperties` that is `true` or a schema.
 * CORE-F2 Where no schema speaks of fields at all (`{"type": "object"}`), every field is known.
 */
import { ownValue, type Schema, type SchemaNode } from '@tutti/protocol'

/** The schemas that a field must fit, none for any value; undefined when the field is unknown. */
export function findFieldSchemas(
  nodes: readonly SchemaNode[],
  key: string,
): readonly Schema[] | undefined {
  const schemas: Schema[] = []
  let known = false
  for (const node of nodes) {
    const own = findOwnSchemas(node, key)
    schemas.push(...own)
    const other = own.length > 0 ? undefined : findRestSchema(node)
    if (other !== undefined) schemas.push(other)
    known ||= own.length > 0 || other !== undefined || node.required?.includes(key) === true
  }
  return known || !nodes.some(declaresFields)
    ? schemas.filter((schema) => schema !== true)
    : undefined
}

/** Whether a field must be there. */
export function isRequired(nodes: readonly SchemaNode[], key: string): boolean {
  return nodes.some((node) => node.required?.includes(key) === true)
}

/** The names of the fields that are declared, each once. */
export function listDeclaredFields(nodes: readonly SchemaNode[]): readonly string[] {
  return [...new Set(nodes.flatMap((node) => Object.keys(node.properties ?? {})))]
}

/** Whether a node says which fields there are. */
export function declaresFields(node: SchemaNode): boolean {
  return (
    node.properties !== undefined ||
    node.patternProperties !== undefined ||
    node.additionalProperties === false ||
    node.unevaluatedProperties === false
  )
}

/** The schemas that an item must fit; none for any value. */
export function findItemSchemas(nodes: readonly SchemaNode[], index: number): readonly Schema[] {
  return nodes.map((node) => findItemSchema(node, index)).filter((schema) => schema !== true)
}

/** The items with a schema of their own, and what all others must fit. */
export function splitItems(node: SchemaNode): { leading: readonly Schema[]; rest: Schema } {
  const { items = true, prefixItems, additionalItems = true } = node
  if (isList(items)) return { leading: items, rest: additionalItems }
  return { leading: prefixItems ?? [], rest: items }
}

/** Patterns of a node with their schemas. */
export function compilePatterns(node: SchemaNode): readonly (readonly [RegExp, Schema])[] {
  let patterns = compiled.get(node)
  if (patterns === undefined) {
    patterns = Object.entries(node.patternProperties ?? {}).map(
      ([pattern, schema]) => [new RegExp(pattern, 'u'), schema] as const,
    )
    compiled.set(node, patterns)
  }
  return patterns
}

const compiled = new WeakMap<SchemaNode, readonly (readonly [RegExp, Schema])[]>()

function findOwnSchemas(node: SchemaNode, key: string): Schema[] {
  const schemas: Schema[] = []
  const property = ownValue(node.properties ?? {}, key)
  if (property !== undefined) schemas.push(property)
  if (node.patternProperties === undefined) return schemas
  for (const [pattern, schema] of compilePatterns(node)) if (pattern.test(key)) schemas.push(schema)
  return schemas
}

/** What a node says of the fields that it does not name: nothing, when it is closed or silent. */
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
