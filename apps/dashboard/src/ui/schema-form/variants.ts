/** Which variant of a union a value is, and what variants are called. Pure. */
import { describeProblems } from '@tutti/protocol'

import { partsOf, resolveNode, keywordText, type FormSchema } from './schema.ts'

/** The place of the variant that a value fits, or comes closest to; the first when there is no value. */
export function chosenVariant(
  variants: readonly unknown[],
  value: unknown,
  root: FormSchema,
): number {
  if (value === undefined) return 0
  const distances = variants.map((variant) => distanceOf(variant, value, root))
  return distances.indexOf(Math.min(...distances))
}

/** A constant of another variant weighs more than any field that is wrong or missing. */
const OTHER_KIND = 1_000

function distanceOf(variant: unknown, value: unknown, root: FormSchema): number {
  const node = resolveNode(variant, root)
  if (node === undefined) return OTHER_KIND
  const { $defs, definitions } = root
  // What it refers to is found at the root.
  const schema = {
    ...node,
    ...($defs === undefined ? {} : { $defs }),
    ...(definitions === undefined ? {} : { definitions }),
  }
  const fixed = new Set(
    partsOf(node.properties).flatMap(([key, part]) =>
      resolveNode(part, root)?.const === undefined ? [] : `/${key}`,
    ),
  )
  return describeProblems(schema, value).reduce(
    (sum, { path }) => sum + (path === '' || fixed.has(path) ? OTHER_KIND : 1),
    0,
  )
}

/** A name for each variant: its title, the constant that tells it from the others, or its type. */
export function variantNames(nodes: readonly (FormSchema | undefined)[]): readonly string[] {
  const names = nodes.map((node) => (node === undefined ? 'other' : nameOf(node)))
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

function nameOf(node: FormSchema): string {
  const title = keywordText(node.title)
  if (title !== undefined) return title
  for (const [, part] of partsOf(node.properties)) {
    const constant: unknown =
      part !== null && typeof part === 'object' ? Reflect.get(part, 'const') : undefined
    if (typeof constant === 'string') return constant
  }
  if (Object.hasOwn(node, 'const')) return JSON.stringify(node.const)
  const type = keywordText(node.type)
  if (type === undefined) return 'any'
  return TYPE_NAMES[type] ?? type
}
