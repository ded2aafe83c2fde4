/** Selects and names the variants of a union. Pure. */
import { describeProblems } from '@tutti/protocol/internal'

import { asEntries, resolveNode, keywordText, type FormSchema } from './schema.ts'

/** Returns the index of the variant that a value matches best; 0 when there is no value. */
export function findClosestVariant(
  variants: readonly unknown[],
  value: unknown,
  root: FormSchema,
): number {
  if (value === undefined) return 0
  const distances = variants.map((variant) => measureDistance(variant, value, root))
  return distances.indexOf(Math.min(...distances))
}

/** Weight of a mismatched constant: more than any number of wrong or missing fields. */
const OTHER_KIND = 1_000

function measureDistance(variant: unknown, value: unknown, root: FormSchema): number {
  const node = resolveNode(variant, root)
  if (node === undefined) return OTHER_KIND
  const { $defs, definitions } = root
  // References inside the node are resolved at the root.
  const schema = {
    ...node,
    ...($defs === undefined ? {} : { $defs }),
    ...(definitions === undefined ? {} : { definitions }),
  }
  const fixed = new Set(
    asEntries(node.properties).flatMap(([key, part]) =>
      resolveNode(part, root)?.const === undefined ? [] : `/${key}`,
    ),
  )
  return describeProblems(schema, value).reduce(
    (sum, { path }) => sum + (path === '' || fixed.has(path) ? OTHER_KIND : 1),
    0,
  )
}

/** Names each variant: its title, its distinguishing constant, or its type. */
export function nameVariants(nodes: readonly (FormSchema | undefined)[]): readonly string[] {
  const names = nodes.map((node) => (node === undefined ? 'other' : nameVariant(node)))
  return names.map((name, index) =>
    names.indexOf(name) === names.lastIndexOf(name) ? name : `${name} (${index + 1})`,
  )
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'whole number',
  array: 'list',
  boolean: 'yes or no',
}

function nameVariant(node: FormSchema): string {
  const title = keywordText(node.title)
  if (title !== undefined) return title
  for (const [, part] of asEntries(node.properties)) {
    const constant: unknown =
      part !== null && typeof part === 'object' ? Reflect.get(part, 'const') : undefined
    if (typeof constant === 'string') return constant
  }
  if (Object.hasOwn(node, 'const')) return JSON.stringify(node.const)
  const type = keywordText(node.type)
  if (type === undefined) return 'any'
  return TYPE_NAMES[type] ?? type
}
