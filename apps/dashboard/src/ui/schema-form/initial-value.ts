/** Initial values of form fields. Pure. */
import {
  splitNullable,
  asList,
  asNumber,
  asEntries,
  resolveNode,
  type FormSchema,
} from './schema.ts'

/** Maximum nesting depth: a required field may refer to itself. */
const MAX_DEPTH = 12

/**
 * Returns the initial value of a schema: its default, or a value that follows from it, with the
 * required fields of objects. Undefined when the reader must enter it.
 */
export function createInitialValue(schema: unknown, root: object, depth = 0): unknown {
  const node = resolveNode(schema, root)
  if (node === undefined || depth > MAX_DEPTH) return undefined
  if (node.default !== undefined) return structuredClone(node.default)
  const { node: plain } = splitNullable(node, root)
  if (Object.hasOwn(plain, 'const')) return plain.const
  const [first] = asList(plain.anyOf ?? plain.oneOf)
  if (first !== undefined)
    return hasOnlyConstants(plain, root) ? undefined : createInitialValue(first, root, depth + 1)
  switch (plain.type) {
    case 'boolean':
      return false
    case 'null':
      return null
    case 'array':
      return createItems(plain, root, depth)
    case 'object':
      return createFields(plain, root, depth)
    default:
      return plain.properties === undefined ? undefined : createFields(plain, root, depth)
  }
}

/** Returns the value with the defaults of absent fields filled in, as a server does. */
export function fillDefaults(schema: unknown, value: unknown, root: object): unknown {
  const node = resolveNode(schema, root)
  if (node === undefined) return value
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value
    return items.map((item) => fillDefaults(node.items, item, root))
  }
  if (typeof value !== 'object' || value === null) return value
  const fields = new Map<string, unknown>(Object.entries(value))
  for (const [key, part] of asEntries(node.properties)) {
    const given = fields.get(key)
    const filled =
      given === undefined ? resolveNode(part, root)?.default : fillDefaults(part, given, root)
    if (filled !== undefined) fields.set(key, filled)
  }
  return Object.fromEntries(fields)
}

function hasOnlyConstants(node: FormSchema, root: object): boolean {
  return asList(node.anyOf ?? node.oneOf).every(
    (variant) => resolveNode(variant, root)?.const !== undefined,
  )
}

/** Returns a new item of a list; empty text or null when the reader must enter it. */
export function createItem(schema: unknown, root: object, depth = 0): unknown {
  const value = createInitialValue(schema, root, depth)
  if (value !== undefined) return value
  return resolveNode(schema, root)?.type === 'string' ? '' : null
}

/** Returns `minItems` initial items, at most 20. */
function createItems(node: FormSchema, root: object, depth: number): unknown {
  const length = Math.min(asNumber(node.minItems) ?? 0, 20)
  return Array.from({ length }, () => createItem(node.items, root, depth + 1))
}

function createFields(node: FormSchema, root: object, depth: number): unknown {
  const required = new Set(asList(node.required))
  return Object.fromEntries(
    asEntries(node.properties).flatMap(([key, part]) => {
      const value = required.has(key) ? createInitialValue(part, root, depth + 1) : undefined
      return value === undefined ? [] : [[key, value] as const]
    }),
  )
}
