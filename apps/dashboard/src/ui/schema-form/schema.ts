/**
 * JSON Schema as a form reads it: plain keywords, whoever wrote them. What `$ref` and `allOf` mean is
 * resolved here, so that the rest sees one node at a time.
 */
import { isJsonObject } from '@tutti/protocol'

import { valueAtPointer } from './pointer.ts'

/** The keywords that a form looks at; every one may be absent. */
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

/** References that are followed in a row at most: a circle of them has no end. */
const MAX_REFERENCES = 20

/**
 * The node that `schema` is, with its reference followed and its `allOf` merged; undefined when it is none
 * that a form can read.
 */
export function resolveNode(schema: unknown, root: FormSchema): FormSchema | undefined {
  const node = followed(schema, root)
  if (node === undefined || !Array.isArray(node.allOf)) return node
  const { allOf, ...own } = node
  let merged: FormSchema | undefined = own
  for (const part of allOf) {
    const other = resolveNode(part, root)
    if (merged === undefined || other === undefined) return undefined
    merged = mergedNode(merged, other)
  }
  return merged
}

/** The parts of a keyword that holds a list; none when it holds something else. */
export function listOf(keyword: unknown): readonly unknown[] {
  return Array.isArray(keyword) ? keyword : []
}

/** The parts of a keyword that holds parts by name. */
export function partsOf(keyword: unknown): readonly (readonly [string, unknown])[] {
  return isJsonObject(keyword) ? Object.entries(keyword) : []
}

/** A text of a keyword; undefined when it is none. */
export function keywordText(keyword: unknown): string | undefined {
  return typeof keyword === 'string' && keyword !== '' ? keyword : undefined
}

/** A number of a keyword; undefined when it is none. */
export function numberOf(keyword: unknown): number | undefined {
  return typeof keyword === 'number' ? keyword : undefined
}

function followed(schema: unknown, root: FormSchema): FormSchema | undefined {
  let current = schema === true ? {} : schema
  for (let steps = 0; steps < MAX_REFERENCES; steps += 1) {
    if (!isJsonObject(current)) return undefined
    const node: FormSchema = current
    if (node.$ref === undefined) return node
    const { $ref, ...beside } = node
    const target = referred($ref, root)
    if (!isJsonObject(target)) return undefined
    // A title or description beside a reference says what it is for here.
    current = { ...target, ...beside }
  }
  return undefined
}

function referred(reference: unknown, root: FormSchema): unknown {
  if (typeof reference !== 'string') return undefined
  if (reference === '#') return root
  if (reference.startsWith('#/'))
    return valueAtPointer(root, decodeURIComponent(reference.slice(1)))
  return valueAtPointer(root, `/$defs/${reference}`)
}

/** Both nodes at once; undefined when they say different things that a form would have to choose from. */
function mergedNode(one: FormSchema, other: FormSchema): FormSchema | undefined {
  for (const key of ['type', 'const', 'enum', 'anyOf', 'oneOf', 'items'] as const) {
    if (one[key] === undefined || other[key] === undefined) continue
    if (JSON.stringify(one[key]) !== JSON.stringify(other[key])) return undefined
  }
  return {
    ...other,
    ...one,
    properties: Object.fromEntries([...partsOf(one.properties), ...partsOf(other.properties)]),
    required: [...new Set([...listOf(one.required), ...listOf(other.required)])],
  }
}

/** The schema without null, when null is one of several things that it allows. */
export function withoutNull(
  schema: FormSchema,
  root: FormSchema,
): { readonly node: FormSchema; readonly isNullable: boolean } {
  const keyword = schema.anyOf === undefined ? 'oneOf' : 'anyOf'
  const variants = listOf(schema[keyword])
  const others = variants.filter((variant) => resolveNode(variant, root)?.type !== 'null')
  if (others.length > 0 && others.length < variants.length) {
    const { [keyword]: _variants, ...beside } = schema
    const [only] = others
    const single = others.length === 1 ? resolveNode(only, root) : undefined
    const node = single === undefined ? { ...beside, [keyword]: others } : { ...single, ...beside }
    return { node, isNullable: true }
  }
  const types = listOf(schema.type)
  if (types.length === 0) return { node: schema, isNullable: false }
  const rest = types.filter((type) => type !== 'null')
  const type = rest.length === 1 ? rest[0] : rest
  const node = Array.isArray(schema.enum)
    ? { ...schema, type, enum: schema.enum.filter((option) => option !== null) }
    : { ...schema, type }
  return { node, isNullable: rest.length < types.length }
}
