/** What a form begins with. Pure. */
import { withoutNull, listOf, numberOf, partsOf, resolveNode, type FormSchema } from './schema.ts'

/** Objects inside of objects at most: a required field may ask for itself. */
const MAX_DEPTH = 12

/**
 * The value that a part begins with: its default, else what follows from its schema, with the required
 * fields of objects. Undefined where somebody has to say it.
 */
export function initialValue(schema: unknown, root: object, depth = 0): unknown {
  const node = resolveNode(schema, root)
  if (node === undefined || depth > MAX_DEPTH) return undefined
  if (node.default !== undefined) return structuredClone(node.default)
  const { node: plain } = withoutNull(node, root)
  if (Object.hasOwn(plain, 'const')) return plain.const
  const [first] = listOf(plain.anyOf ?? plain.oneOf)
  if (first !== undefined)
    return allConstants(plain, root) ? undefined : initialValue(first, root, depth + 1)
  switch (plain.type) {
    case 'boolean':
      return false
    case 'null':
      return null
    case 'array':
      return initialItems(plain, root, depth)
    case 'object':
      return initialFields(plain, root, depth)
    default:
      return plain.properties === undefined ? undefined : initialFields(plain, root, depth)
  }
}

/** The value with the defaults of fields that are left out, as a server fills them in. */
export function withDefaults(schema: unknown, value: unknown, root: object): unknown {
  const node = resolveNode(schema, root)
  if (node === undefined) return value
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value
    return items.map((item) => withDefaults(node.items, item, root))
  }
  if (typeof value !== 'object' || value === null) return value
  const fields = new Map<string, unknown>(Object.entries(value))
  for (const [key, part] of partsOf(node.properties)) {
    const given = fields.get(key)
    const filled =
      given === undefined ? resolveNode(part, root)?.default : withDefaults(part, given, root)
    if (filled !== undefined) fields.set(key, filled)
  }
  return Object.fromEntries(fields)
}

function allConstants(node: FormSchema, root: object): boolean {
  return listOf(node.anyOf ?? node.oneOf).every(
    (variant) => resolveNode(variant, root)?.const !== undefined,
  )
}

/** A new item of a list: an empty place where somebody has to say it. */
export function newItem(schema: unknown, root: object, depth = 0): unknown {
  const value = initialValue(schema, root, depth)
  if (value !== undefined) return value
  return resolveNode(schema, root)?.type === 'string' ? '' : null
}

/** As many items as there have to be, up to what somebody wants to see. */
function initialItems(node: FormSchema, root: object, depth: number): unknown {
  const length = Math.min(numberOf(node.minItems) ?? 0, 20)
  return Array.from({ length }, () => newItem(node.items, root, depth + 1))
}

function initialFields(node: FormSchema, root: object, depth: number): unknown {
  const required = new Set(listOf(node.required))
  return Object.fromEntries(
    partsOf(node.properties).flatMap(([key, part]) => {
      const value = required.has(key) ? initialValue(part, root, depth + 1) : undefined
      return value === undefined ? [] : [[key, value] as const]
    }),
  )
}
