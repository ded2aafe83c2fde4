/**
 * JSON Schema prepared for reading values: its parts can be checked individually although they refer to each other, and
 * the schemas that apply at one location of a value are combined.
 */
import {
  BoundedMap,
  createEvaluator,
  isBounded,
  nativePatterns,
  type CheckRun,
  type Evaluator,
  type Pattern,
  type PatternEngine,
  type Problem,
  type Schema,
  type SchemaNode,
} from '@tutti/protocol/internal'

import { surveySchema } from './schema-survey.ts'

/** Schemas that apply at one location of a value. The same schemas always give the same object. */
export interface SchemaLocation {
  /** Combined schemas. */
  readonly schemas: readonly Schema[]
  /** The schemas, their references and the parts of their intersections; all must match. */
  readonly nodes: readonly SchemaNode[]
  /** Whether one of them is `false`: then no value is valid. */
  readonly impossible: boolean
  /** Unions of the nodes that are settled: the chosen member is among the schemas. */
  readonly settled: readonly (readonly Schema[])[]
}

/** Schema with everything that is needed to read values by it. */
export interface SchemaDocument {
  readonly root: Schema
  /** Problems of the schema itself; a schema with any cannot be used. */
  readonly faults: readonly Problem[]
  /** All nodes, with their JSON pointers from the root. */
  readonly nodes: ReadonlyMap<SchemaNode, string>
  /** Schemas by the text of their `$ref`. */
  readonly references: Readonly<Record<string, Schema>>
  /** Returns the location to which all schemas apply, including union members already chosen. */
  locate(schemas: readonly Schema[], settled?: SchemaLocation['settled']): SchemaLocation
  /** Returns the patterns of a node with their schemas. */
  patternsOf(node: SchemaNode): readonly (readonly [Pattern, Schema])[]
  /** Returns the schemas, with references resolved where a schema consists only of `$ref`; the same list each time. */
  resolved(schemas: readonly Schema[]): readonly Schema[]
  /** Whether a value can be one of several members somewhere. */
  readonly hasUnions: boolean
  /** Engine of the regular expressions; undefined for the one of JavaScript. */
  readonly patterns: PatternEngine | undefined
  /**
   * Whether a value matches all schemas of a location. Each value is read once per run.
   *
   * @throws {CheckLimitError} when the run has no steps left.
   * @throws {RangeError} when the value is nested deeper than the stack.
   */
  fits(location: SchemaLocation, value: unknown, run: CheckRun): boolean
}

export interface SchemaDocumentOptions {
  /** Engine of the regular expressions. @default the one of JavaScript */
  readonly patterns?: PatternEngine | undefined
}

/** Maximum number of cached entries. A schema has a handful, but one with many unions has many combinations. */
const MAX_CACHED = 10_000

/** Returns the cached value of a key, created on first use. */
function getCached<Key, Value>(known: BoundedMap<Key, Value>, key: Key, make: () => Value): Value {
  const found = known.get(key)
  if (found !== undefined) return found
  const made = make()
  known.set(key, made)
  return made
}

/** Reads a schema once. Never throws: unusable parts are faults. */
export function createSchemaDocument(
  schema: unknown,
  { patterns }: SchemaDocumentOptions = {},
): SchemaDocument {
  const { faults, nodes, targets, references } = surveySchema(schema, patterns ?? nativePatterns)
  // NOTE: a value that is not a schema has a fault, and documents with faults are not used for reading.
  const root = schema as Schema
  let evaluator: Evaluator | undefined
  const single = new BoundedMap<Schema, SchemaLocation>(MAX_CACHED)
  const joint = new BoundedMap<string, SchemaLocation>(MAX_CACHED)
  const numbers = new Map<unknown, number>()
  const patternsByNode = new BoundedMap<SchemaNode, readonly (readonly [Pattern, Schema])[]>(
    MAX_CACHED,
  )
  const resolvedLists = new BoundedMap<readonly Schema[], readonly Schema[]>(MAX_CACHED)

  function locate(
    schemas: readonly Schema[],
    settled: SchemaLocation['settled'] = [],
  ): SchemaLocation {
    const [first, second] = schemas
    if (first === undefined || second !== undefined || settled.length > 0) {
      const key = [...schemas.map(numberOf), 'of', ...settled.map(numberOf)].join()
      return getCached(joint, key, () => ({ schemas, settled, ...flatten(schemas, targets) }))
    }
    return getCached(single, first, () => ({ schemas, settled, ...flatten(schemas, targets) }))
  }

  /** Returns the number of a part. They are never forgotten: the keys of `joint` contain them. */
  function numberOf(part: unknown): number {
    const number = numbers.get(part) ?? numbers.size
    numbers.set(part, number)
    return number
  }

  function compilePatterns(node: SchemaNode): readonly (readonly [Pattern, Schema])[] {
    const engine = patterns ?? nativePatterns
    return Object.entries(node.patternProperties ?? {}).map(
      ([source, part]) => [engine(source), part] as const,
    )
  }

  function resolve(part: Schema): Schema {
    const target = typeof part === 'boolean' ? undefined : targets.get(part)
    return target !== undefined && Object.keys(part).length === 1 ? target : part
  }

  return {
    root,
    hasUnions: [...nodes.keys()].some((node) => 'anyOf' in node || 'oneOf' in node),
    patterns,
    faults,
    nodes,
    references,
    locate,
    patternsOf: (node) => getCached(patternsByNode, node, () => compilePatterns(node)),
    resolved: (schemas) => getCached(resolvedLists, schemas, () => schemas.map(resolve)),
    fits(at, value, run) {
      evaluator ??= createEvaluator(root, {
        references,
        patterns,
        remember: typeof root === 'object' && !isBounded(root, references),
      })
      for (const part of at.schemas) if (!evaluator.fits(part, value, run)) return false
      return true
    },
  }
}

/** Returns all nodes that must match, each once. */
function flatten(
  schemas: readonly Schema[],
  targets: ReadonlyMap<SchemaNode, Schema>,
): Pick<SchemaLocation, 'nodes' | 'impossible'> {
  const nodes = new Set<SchemaNode>()
  let impossible = false
  const open = schemas.toReversed()
  for (let schema = open.pop(); schema !== undefined; schema = open.pop()) {
    impossible ||= schema === false
    if (typeof schema === 'boolean' || nodes.has(schema)) continue
    nodes.add(schema)
    open.push(...(schema.allOf ?? []).toReversed())
    const target = targets.get(schema)
    if (target !== undefined) open.push(target)
  }
  return { nodes: [...nodes], impossible }
}
