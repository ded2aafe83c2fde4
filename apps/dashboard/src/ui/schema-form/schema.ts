/**
 * Reads JSON Schemas for forms. `$ref` and `allOf` are resolved here, so that callers see one node
 * at a time.
 */
import { isJsonObject } from '@tutti/protocol/internal'

import { getValueAt } from './pointer.ts'

/** Keywords that a form uses. Schemas are untrusted, so all values are unknown. */
export interface FormSchema {
  readonly $ref?: unknown
  readonly $defs?: unknown
  readonly definitions?: unknown
  readonly title?: unknown
  readonly description?: unknown
  readonly default?: unknown
  readonly type?: unknown
  readonly const?: unknown
  readonly enum?: unknown
  readonly format?: unknown
  readonly pattern?: unknown
  readonly minLength?: unknown
  readonly maxLength?: unknown
  readonly minimum?: unknown
  readonly maximum?: unknown
  readonly exclusiveMinimum?: unknown
  readonly exclusiveMaximum?: unknown
  readonly multipleOf?: unknown
  readonly minItems?: unknown
  readonly maxItems?: unknown
  readonly uniqueItems?: unknown
  readonly properties?: unknown
  readonly required?: unknown
  readonly additionalProperties?: unknown
  readonly patternProperties?: unknown
  readonly items?: unknown
  readonly prefixItems?: unknown
  readonly anyOf?: unknown
  readonly oneOf?: unknown
  readonly allOf?: unknown
}

/** Maximum length of a chain of references, which may be circular. */
const MAX_REFERENCES = 20

/**
 * Resolves `schema`: follows its reference and merges its `allOf`. Returns undefined for a schema
 * that a form cannot represent.
 */
export function resolveNode(schema: unknown, root: FormSchema): FormSchema | undefined {
  const node = followReference(schema, root)
  if (node === undefined || !Array.isArray(node.allOf)) return node
  const { allOf, ...own } = node
  let merged: FormSchema | undefined = own
  for (const part of allOf) {
    const other = resolveNode(part, root)
    if (merged === undefined || other === undefined) return undefined
    merged = mergeNodes(merged, other)
  }
  return merged
}

/** Returns a keyword's list; empty when it is not a list. */
export function asList(keyword: unknown): readonly unknown[] {
  return Array.isArray(keyword) ? keyword : []
}

/** Returns the entries of a keyword's object; empty when it is not an object. */
export function asEntries(keyword: unknown): readonly (readonly [string, unknown])[] {
  return isJsonObject(keyword) ? Object.entries(keyword) : []
}

/** Returns a keyword's text; undefined when it is not a non-empty string. */
export function keywordText(keyword: unknown): string | undefined {
  return typeof keyword === 'string' && keyword !== '' ? keyword : undefined
}

/** Returns a keyword's number; undefined when it is not a number. */
export function asNumber(keyword: unknown): number | undefined {
  return typeof keyword === 'number' ? keyword : undefined
}

function followReference(schema: unknown, root: FormSchema): FormSchema | undefined {
  let current = schema === true ? {} : schema
  for (let steps = 0; steps < MAX_REFERENCES; steps += 1) {
    if (!isJsonObject(current)) return undefined
    const node: FormSchema = current
    if (node.$ref === undefined) return node
    const { $ref, ...siblings } = node
    const target = findReferenced($ref, root)
    if (!isJsonObject(target)) return undefined
    // Keywords next to a reference, such as its description, take precedence.
    current = { ...target, ...siblings }
  }
  return undefined
}

function findReferenced(reference: unknown, root: FormSchema): unknown {
  if (typeof reference !== 'string') return undefined
  if (reference === '#') return root
  if (reference.startsWith('#/')) return getValueAt(root, decodeURIComponent(reference.slice(1)))
  return getValueAt(root, `/$defs/${reference}`)
}

/** Merges two nodes; undefined when they contradict each other. */
function mergeNodes(one: FormSchema, other: FormSchema): FormSchema | undefined {
  for (const key of ['type', 'const', 'enum', 'anyOf', 'oneOf', 'items'] as const) {
    if (one[key] === undefined || other[key] === undefined) continue
    if (JSON.stringify(one[key]) !== JSON.stringify(other[key])) return undefined
  }
  return {
    ...other,
    ...one,
    properties: Object.fromEntries([...asEntries(one.properties), ...asEntries(other.properties)]),
    required: [...new Set([...asList(one.required), ...asList(other.required)])],
  }
}

/** Splits null off a schema that allows it among other things. */
export function splitNullable(
  schema: FormSchema,
  root: FormSchema,
): { readonly node: FormSchema; readonly isNullable: boolean } {
  const keyword = schema.anyOf === undefined ? 'oneOf' : 'anyOf'
  const variants = asList(schema[keyword])
  const others = variants.filter((variant) => resolveNode(variant, root)?.type !== 'null')
  if (others.length > 0 && others.length < variants.length) {
    const { [keyword]: _variants, ...siblings } = schema
    const [only] = others
    const single = others.length === 1 ? resolveNode(only, root) : undefined
    const node =
      single === undefined ? { ...siblings, [keyword]: others } : { ...single, ...siblings }
    return { node, isNullable: true }
  }
  const types = asList(schema.type)
  if (types.length === 0) return { node: schema, isNullable: false }
  const rest = types.filter((type) => type !== 'null')
  const type = rest.length === 1 ? rest[0] : rest
  const node = Array.isArray(schema.enum)
    ? { ...schema, type, enum: schema.enum.filter((option) => option !== null) }
    : { ...schema, type }
  return { node, isNullable: rest.length < types.length }
}
