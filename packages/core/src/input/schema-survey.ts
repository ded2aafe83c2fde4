/**
 * Survey of a JSON Schema at definition: all nodes, the targets of references, and all problems of the schema itself.
 *
 * TypeBox treats an invalid keyword as absent, and a reference without a target as a schema that no value matches; here
 * both are faults that the author sees.
 */
import {
  findCycles,
  nativePatterns,
  previewOf,
  ReferenceScope,
  type PatternEngine,
  type Problem,
  type Schema,
  type SchemaNode,
} from '@tutti/protocol/internal'

import { findKeywordFaults } from './keyword-faults.ts'
import { listSubSchemas } from './sub-schemas.ts'

/**
 * Maximum work of following references in a schema with ids or anchors, in visited schemas: each reference can lead
 * anywhere in the document. 200 references in a document of 1,000 schemas are within it; they take 40 ms.
 */
const MAX_SCOPED_WORK = 200_000

/** Result of a survey. */
export interface SchemaSurvey {
  readonly faults: readonly Problem[]
  /** All nodes, with their JSON pointers from the root. */
  readonly nodes: ReadonlyMap<SchemaNode, string>
  /** Targets of the nodes with `$ref`. */
  readonly targets: ReadonlyMap<SchemaNode, Schema>
  /** Targets by the text of their `$ref`, where the text has one meaning in the whole document. */
  readonly references: Readonly<Record<string, Schema>>
}

/** Surveys a schema. Never throws. */
export function surveySchema(
  root: unknown,
  patterns: PatternEngine = nativePatterns,
): SchemaSurvey {
  const faults: Problem[] = []
  const nodes = new Map<SchemaNode, string>()
  const targets = new Map<SchemaNode, Schema>()
  if (!isSchema(root))
    return { faults: [makeSchemaFault('', root)], nodes, targets, references: {} }
  const open: Visit[] = [{ schema: root, path: '', scope: ReferenceScope.around(root) }]
  let scopedWork = 0
  for (let visit = open.pop(); visit !== undefined; visit = open.pop()) {
    const { schema, path } = visit
    if (!isSchema(schema)) faults.push(makeSchemaFault(path, schema))
    if (isWithinItself(visit)) faults.push({ path, message: 'must not contain itself' })
    if (!isNode(schema) || nodes.has(schema)) continue
    nodes.set(schema, path)
    faults.push(
      ...findKeywordFaults(schema, patterns).map((fault) => ({
        ...fault,
        path: path + fault.path,
      })),
    )
    const scope = visit.scope.enter(schema)
    for (const part of listSubSchemas(schema).toReversed()) {
      open.push({ schema: part.schema, path: path + part.path, scope, within: visit })
    }
    if (typeof schema.$ref !== 'string') continue
    scopedWork += scope.isPlain ? 0 : nodes.size + open.length
    if (scopedWork > MAX_SCOPED_WORK) {
      const message = `has too many references for a schema with ids or anchors: ${targets.size} were followed`
      return { faults: [...faults, { path, message }], nodes, targets, references: {} }
    }
    const found = resolve(scope, schema.$ref)
    if (!isSchema(found.schema)) faults.push(makeReferenceFault(path, schema.$ref))
    else targets.set(schema, found.schema)
    // A definition can be at a path that no JSON Schema keyword leads to; only the reference finds it.
    if (isNode(found.schema)) open.unshift({ ...found, path: `${path}/$ref` })
  }
  faults.push(...findLoopFaults(nodes, targets))
  return { faults, nodes, targets, references: pickUnambiguous(targets) }
}

interface Visit {
  readonly schema: unknown
  readonly path: string
  readonly scope: ReferenceScope
  /** Visit of the surrounding schema. */
  readonly within?: Visit
}

/** Whether a schema contains itself, which is possible only for an object in memory and makes it infinite. */
function isWithinItself({ schema, within }: Visit): boolean {
  for (let around = within; around !== undefined; around = around.within) {
    if (around.schema === schema && isNode(schema)) return true
  }
  return false
}

function resolve(scope: ReferenceScope, reference: string): Omit<Visit, 'path'> {
  try {
    return scope.resolve(reference)
  } catch {
    // The text is not a valid reference, for example because of a broken escape.
    return { schema: undefined, scope }
  }
}

/** Returns the references whose text has the same meaning everywhere; an `$id` can give a text a second meaning. */
function pickUnambiguous(targets: ReadonlyMap<SchemaNode, Schema>): Record<string, Schema> {
  const meanings = new Map<string, Set<Schema>>()
  for (const [node, target] of targets) {
    const text = String(node.$ref)
    meanings.set(text, (meanings.get(text) ?? new Set()).add(target))
  }
  const clear = [...meanings].filter(([, { size }]) => size === 1)
  return Object.fromEntries(
    clear.flatMap(([text, [target]]) => (target === undefined ? [] : [[text, target]])),
  )
}

/**
 * Returns references that lead back to themselves without a field or item in between; checking them would not
 * terminate.
 */
function findLoopFaults(
  nodes: ReadonlyMap<SchemaNode, string>,
  targets: ReadonlyMap<SchemaNode, Schema>,
): Problem[] {
  const groups = findCycles(targets.keys(), (node) => listInPlace(node, targets))
  const sizes = new Map<number, number>()
  for (const group of groups.values()) sizes.set(group, (sizes.get(group) ?? 0) + 1)
  const isLooping = (node: SchemaNode): boolean =>
    (sizes.get(groups.get(node) ?? -1) ?? 0) > 1 || listInPlace(node, targets).includes(node)
  return [...targets.keys()].filter(isLooping).map((node) => ({
    path: `${nodes.get(node)}/$ref`,
    message: `must not lead back to itself, got ${previewOf(node.$ref)}`,
  }))
}

/** Returns the schemas that apply to the same value as a node. */
function listInPlace(
  node: SchemaNode,
  targets: ReadonlyMap<SchemaNode, Schema>,
): readonly SchemaNode[] {
  const { allOf = [], anyOf = [], oneOf = [], if: condition, then: yes, else: no } = node
  const parts = [targets.get(node), ...allOf, ...anyOf, ...oneOf, condition, yes, no, node.not]
  return [...parts, ...Object.values(node.dependentSchemas ?? {})].filter(isNode)
}

function makeSchemaFault(path: string, value: unknown): Problem {
  return { path, message: `must be a schema, got ${previewOf(value)}` }
}

function makeReferenceFault(path: string, reference: string): Problem {
  const message = `must lead to a schema in the same document, got ${previewOf(reference)}`
  return { path: `${path}/$ref`, message }
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'boolean' || isNode(value)
}

function isNode(value: unknown): value is SchemaNode {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
