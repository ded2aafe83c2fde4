/** Null as one of the values of a part. Pure. */
import { listOf, resolved, type SchemaNode } from './schema.ts'

/** The schema without null, when null is one of several things that it allows. */
export function withoutNull(
  schema: SchemaNode,
  root: SchemaNode,
): { readonly node: SchemaNode; readonly isNullable: boolean } {
  const keyword = schema.anyOf === undefined ? 'oneOf' : 'anyOf'
  const variants = listOf(schema[keyword])
  const others = variants.filter((variant) => resolved(variant, root)?.type !== 'null')
  if (others.length > 0 && others.length < variants.length) {
    const { [keyword]: _variants, ...beside } = schema
    const [only] = others
    const single = others.length === 1 ? resolved(only, root) : undefined
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
