/**
 * JSON Schema prepared for reading values: its parts can be checked individually although they refer to each other, and the
 * schemas that apply at one place of a value are combined.
 */
import {
  compileCheck,
  type Check,
  type Problem,
  type Schema,
  type SchemaNode,
} from '@tutti/protocol'

import { surveySchema } from './schema-survey.ts'

/** Schemas that apply at one place of a value. The same schemas always give the same object. */
export interface SchemaPlace {
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
  /** Returns the place where all of the schemas apply, with those of their unions that are settled. */
  place(schemas: readonly Schema[], settled?: SchemaPlace['settled']): SchemaPlace
  /** Returns the schemas, with references resolved where a schema consists only of `$ref`; the same list each time. */
  resolved(schemas: readonly Schema[]): readonly Schema[]
  /** Whether a value matches all schemas of a place. Can throw `RangeError` on a very deep value. */
  fits(place: SchemaPlace, value: unknown): boolean
}

/** Maximum number of cached entries. A schema has a handful, but one with many unions has many combinations. */
const MAX_CACHED = 10_000

/** Returns the cached value of a key, created on first use. */
function getCached<Key, Value>(known: Map<Key, Value>, key: Key, make: () => Value): Value {
  const found = known.get(key)
  if (found !== undefined) return found
  if (known.size >= MAX_CACHED) known.clear()
  const made = make()
  known.set(key, made)
  return made
}

/** Reads a schema once. Never throws: unusable parts are faults. */
export function createSchemaDocument(schema: unknown): SchemaDocument {
  const { faults, nodes, targets, references } = surveySchema(schema)
  const checks = new Map<Schema, Check>()
  const single = new Map<Schema, SchemaPlace>()
  const joint = new Map<string, SchemaPlace>()
  const numbers = new Map<unknown, number>()
  const resolvedLists = new Map<readonly Schema[], readonly Schema[]>()

  function place(schemas: readonly Schema[], settled: SchemaPlace['settled'] = []): SchemaPlace {
    const [first, second] = schemas
    if (first === undefined || second !== undefined || settled.length > 0) {
      const key = [...schemas.map(numberOf), 'of', ...settled.map(numberOf)].join()
      return getCached(joint, key, () => ({ schemas, settled, ...flatten(schemas, targets) }))
    }
    return getCached(single, first, () => ({ schemas, settled, ...flatten(schemas, targets) }))
  }

  function numberOf(part: unknown): number {
    return getCached(numbers, part, () => numbers.size)
  }

  function checkOf(part: Schema): Check {
    return getCached(checks, part, () =>
      typeof part === 'boolean' ? () => part : compileCheck(part, references),
    )
  }

  function resolve(part: Schema): Schema {
    const target = typeof part === 'boolean' ? undefined : targets.get(part)
    return target !== undefined && Object.keys(part).length === 1 ? target : part
  }

  return {
    // NOTE: a value that is not a schema has a fault, and documents with faults are not used for reading.
    root: schema as Schema,
    faults,
    nodes,
    references,
    place,
    resolved: (schemas) => getCached(resolvedLists, schemas, () => schemas.map(resolve)),
    fits: (at, value) => at.schemas.every((part) => checkOf(part)(value)),
  }
}

/** Returns all nodes that must match, each once. */
function flatten(
  schemas: readonly Schema[],
  targets: ReadonlyMap<SchemaNode, Schema>,
): Pick<SchemaPlace, 'nodes' | 'impossible'> {
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
