/** Corrects keywords of foreign schemas that are valid, but that no value can match. */
import { isJsonObject } from '@tutti/core/internal'

/** An object of a schema, which is changed in place. */
export type MutableNode = Record<string, unknown>

/** Keywords whose values are not schemas. */
const VALUES: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'example', 'examples'])

/** Changes the nodes of a schema; returns a warning for each change. */
export function adaptValues(schema: MutableNode): string[] {
  const warnings: string[] = []
  const open: { readonly node: unknown; readonly path: string }[] = [{ node: schema, path: '' }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, path } = next
    if (isJsonObject(node)) {
      // NOTE: the schema was copied, so that its nodes can be changed.
      const own = node as MutableNode
      warnings.push(...adaptEnum(own, path), ...dropEmptyUnions(own, path))
    }
    if (typeof node !== 'object' || node === null) continue
    for (const [key, part] of Object.entries(node).toReversed()) {
      const isValue = VALUES.has(key) && !isJsonObject(part)
      if (!isValue) open.push({ node: part, path: `${path}/${escapeStep(key)}` })
    }
  }
  return warnings
}

function escapeStep(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** Gives the values of an `enum` the type of the schema. */
function adaptEnum(node: MutableNode, path: string): readonly string[] {
  const { enum: values, type } = node
  if (!Array.isArray(values)) return []
  const types = [type].flat().filter((one) => typeof one === 'string')
  const adapted = type === undefined ? values : values.flatMap((value) => toType(value, types))
  const isSame =
    adapted.length === values.length && adapted.every((value, index) => value === values[index])
  if (isSame && values.length > 0) return []
  if (adapted.length === 0) {
    delete node['enum']
    const wanted = types.length === 0 ? '' : ` of the type ${types.join(' or ')}`
    return [`${path}/enum has no value${wanted}; it was dropped`]
  }
  node['enum'] = [...new Set(adapted)]
  return [`${path}/enum must have values of the type ${types.join(' or ')}; they were converted`]
}

/** Returns the value as one of the types, in a list; empty when it has no such form. */
function toType(value: unknown, types: readonly string[]): readonly unknown[] {
  if (types.some((type) => hasType(value, type))) return [value]
  if (types.includes('string') && ['number', 'boolean'].includes(typeof value)) {
    return [String(value)]
  }
  const read = typeof value === 'string' ? parseScalar(value) : undefined
  return types.some((type) => read !== undefined && hasType(read, type)) ? [read] : []
}

function hasType(value: unknown, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isJsonObject(value)
    case 'integer':
      return Number.isInteger(value)
    default:
      return typeof value === type
  }
}

function parseScalar(text: string): number | boolean | undefined {
  if (text === 'true' || text === 'false') return text === 'true'
  return /^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : undefined
}

function dropEmptyUnions(node: MutableNode, path: string): readonly string[] {
  const empty = ['anyOf', 'oneOf'].filter((keyword) => {
    const members = node[keyword]
    return Array.isArray(members) && members.length === 0
  })
  for (const keyword of empty) delete node[keyword]
  return empty.map((keyword) => `${path}/${keyword} has no members; it was dropped`)
}
