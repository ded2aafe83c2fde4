/**
 * A JSON Schema made ready for reading values: its parts can be checked one by one, though they
 * refer to each other, and the schemas that hold at one place of a value are found together.
 */
import {
  compileCheck,
  type Check,
  type Problem,
  type Schema,
  type SchemaNode,
} from '@tutti/protocol'

import { surveySchema } from './schema-survey.ts'

/** What holds at one place of a value. The same schemas always give the same object. */
export interface SchemaPlace {
  /** The schemas that were put together. */
  readonly schemas: readonly Schema[]
  /** They, what they refer to and the parts of their intersections: all of it must hold. */
  readonly nodes: readonly SchemaNode[]
  /** Whether one of them is `false`: then nothing fits. */
  readonly impossible: boolean
  /** Unions of the nodes that are settled: the chosen member is among the schemas. */
  readonly settled: readonly (readonly Schema[])[]
}

/** A schema with what is needed to read values by it. */
export interface SchemaDocument {
  readonly root: Schema
  /** What is wrong with the schema itself; with any, it cannot be used. */
  readonly faults: readonly Problem[]
  /** Every node, with its JSON pointer from the root. */
  readonly nodes: ReadonlyMap<SchemaNode, string>
  /** What each `$ref` means, by its text. */
  readonly references: Readonly<Record<string, Schema>>
  /** The place where all of the schemas hold, with those of their unions that are settled. */
  place(schemas: readonly Schema[], settled?: SchemaPlace['settled']): SchemaPlace
  /** The schemas, and where one says nothing but `$ref`, what it means; the same list each time. */
  resolved(schemas: readonly Schema[]): readonly Schema[]
  /** Whether a value fits all the schemas of a place. Can throw `RangeError` on a very deep one. */
  fits(place: SchemaPlace, value: unknown): boolean
}

/** Things kept at most; a schema has a handful, but one of many unions has many combinations. */
const MAX_CACHED = 10_000

/** What is kept under a key, made when it is first asked for. */
function getCached<Key, Value>(known: Map<Key, Value>, key: Key, make: () => Value): Value {
  const found = known.get(key)
  if (found !== undefined) return found
  if (known.size >= MAX_CACHED) known.clear()
  const made = make()
  known.set(key, made)
  return made
}

/** Reads a schema once. Never throws: what cannot be used is a fault. */
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
    // NOTE: a schema that is none has a fault, and no document with a fault is read by.
    root: schema as Schema,
    faults,
    nodes,
    references,
    place,
    resolved: (schemas) => getCached(resolvedLists, schemas, () => schemas.map(resolve)),
    fits: (at, value) => at.schemas.every((part) => checkOf(part)(value)),
  }
}

/** The nodes that must all hold, each once. */
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
