/**
 * Makes schemas of other systems usable. Their authors are not here to correct them, so a keyword that cannot be used
 * costs only itself. MCP tools and OpenAPI operations use the same rules; `defineTool` refuses such keywords, because
 * its author can correct them. Pure.
 *
 * REMOTE-X1 A regular expression runs on the engine of `foreignSchema` (CORE-X1), which also reads those refused only
 *    by the flag `u`. One that the engine does not support is dropped, like every other invalid keyword, and a default
 *    that does not match its schema.
 * REMOTE-X2 Values of `enum` get the type of the schema where their meaning is clear, such as 1 and "1"; others are
 *    dropped.
 * REMOTE-X3 A part that must be a schema and is not one allows any value.
 * REMOTE-X4 An invalid reference makes the whole schema unusable, because the part without it has another meaning.
 * REMOTE-X5 Every change has a warning that names the keyword and its path.
 */
import {
  findSchemaFaults,
  foreignSchema,
  isJsonObject,
  type ForeignSchema,
  type Problem,
} from '@tutti/core/internal'

import { adaptValues, type MutableNode } from './adapt-values.ts'

/** Maximum number of passes: a keyword that is dropped can reveal the fault of another one. */
const MAX_PASSES = 20

/**
 * Returns the schema without keywords that cannot be used, with a warning for each that was changed or dropped.
 *
 * @throws {TypeError} when it cannot be used, because of a reference or of its root.
 */
export function adaptForeignSchema(foreign: Readonly<Record<string, unknown>>): ForeignSchema {
  const node: MutableNode = structuredClone(foreign)
  const warnings = adaptValues(node)
  // Defaults are checked with its engine: a hostile expression must not run on another one.
  const { patterns, jsonSchema, warnings: unsupported } = foreignSchema(node)
  warnings.push(...unsupported)
  for (let pass = 0; ; pass += 1) {
    const faults = findSchemaFaults(jsonSchema, patterns)
    if (faults.length === 0) return { ...foreignSchema(jsonSchema), warnings }
    for (const fault of faults) {
      const fix = pass < MAX_PASSES ? fixFault(jsonSchema, fault) : undefined
      if (fix === undefined) throw new TypeError(`its schema at ${fault.path} ${fault.message}`)
      warnings.push(`${fault.path} ${fault.message}; ${fix}`)
    }
  }
}

/** Changes the schema so that it loses a fault; returns what was done, or undefined when nothing can be done. */
function fixFault(schema: object, { path, message }: Problem): string | undefined {
  const steps = path
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  const keyword = steps.at(-1)
  const node = nodeAt(schema, steps.slice(0, -1))
  if (keyword === undefined || node === undefined || keyword === '$ref') return undefined
  if (steps.length === 1 && (keyword === 'type' || keyword === 'properties')) return undefined
  if (message.startsWith('must be a schema')) {
    node[keyword] = {}
    return 'it allows any value'
  }
  delete node[keyword]
  return 'it was dropped'
}

/** Returns the object or list at a path. */
function nodeAt(schema: object, steps: readonly string[]): MutableNode | undefined {
  let node: unknown = schema
  for (const step of steps) {
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, step)) return undefined
    node = Reflect.get(node, step)
  }
  // NOTE: a list is changed by index, as an object is by name.
  return isJsonObject(node) || Array.isArray(node) ? (node as MutableNode) : undefined
}
