/**
 * Estimate of the work of a check before there is a value.
 *
 * Generated code is several times as fast as the evaluator, but cannot count its steps. It is used only for schemas
 * whose work is bounded by the size of the value alone: at each location of a value, at most `MAX_NODES_AT_LOCATION`
 * schemas apply.
 *
 * PROTO-B1 A recursive schema that leads to itself twice at one location is not bounded: each level of a value doubles
 *    the work.
 * PROTO-B2 Schemas that are too large for generated code (V8 parses nested expressions recursively) are not bounded
 *    either.
 */
import { isJsonObject } from '../schema-node.ts'
import { ReferenceScope } from '../schema-engine.ts'
import { findCycles } from './cycles.ts'
import { isSchema, isSchemaMap, type Node } from './part.ts'
import type { References } from './evaluator.ts'

/** Maximum number of schemas at one location of a value. */
const MAX_NODES_AT_LOCATION = 256

/** Maximum number of values of an enum, fields, or members of a union in one schema. */
const MAX_BRANCHES = 200

/** Maximum number of names that generated code tries for each field of a value, one after the other. */
const MAX_TRIED = 50

/** Maximum number of patterns that generated code tries for each field of a value; 50,000 fields take 70 ms. */
const MAX_PATTERNS = 2

/** Schemas that take as long as one with the keyword: it reads all names of a value, or compares all of its items. */
const WEIGHTS: Readonly<Record<string, number>> = {
  additionalProperties: 8,
  maxProperties: 8,
  minProperties: 8,
  patternProperties: 32,
  propertyNames: 8,
  uniqueItems: 64,
}

/** Maximum number of schemas that are visited. Real schemas need some hundred. */
const MAX_VISITS = 5_000

/** Keywords that are left to the evaluator: the schemas to which they lead depend on the path there. */
const UNSUPPORTED = [
  '$dynamicRef',
  '$dynamicAnchor',
  '$recursiveRef',
  '$recursiveAnchor',
  '$anchor',
  'unevaluatedItems',
  'unevaluatedProperties',
]

/** Returns whether the work of a check is bounded by the size of the value. */
export function isBounded(root: object | boolean, references: References): boolean {
  try {
    return new Estimate(root, references).isBounded()
  } catch (error) {
    // The schema is nested deeper than the stack.
    if (error === NOT_BOUNDED || error instanceof RangeError) return false
    throw error
  }
}

const NOT_BOUNDED = Symbol('not bounded')

/** Schemas that apply to a part of a value, by its location: `field a`, `field *`, `item 0`, `item *`. */
type Inside = ReadonlyMap<string, readonly object[]>

/** Schemas that apply to one location together. */
interface Cluster {
  readonly size: number
  readonly inside: Inside
}

class Estimate {
  readonly #root: object | boolean
  readonly #scope: ReferenceScope
  readonly #clusters = new Map<object, Cluster>()
  readonly #sizes = new Map<object, number>()
  #visits = MAX_VISITS

  constructor(root: object | boolean, references: References) {
    this.#root = root
    this.#scope = ReferenceScope.around(root, references)
  }

  isBounded(): boolean {
    if (typeof this.#root === 'boolean') return true
    const groups = findCycles([this.#root], (schema) =>
      [...this.#clusterOf(schema).inside.values()].flat(),
    )
    return this.#sizeOf(this.#root, groups) <= MAX_NODES_AT_LOCATION
  }

  /** Returns the maximum number of schemas at one location of a value. */
  #sizeOf(schema: object, groups: ReadonlyMap<object, number>): number {
    const known = this.#sizes.get(schema)
    if (known !== undefined) return known
    const { size, inside } = this.#clusterOf(schema)
    const group = groups.get(schema)
    const isWithin = (part: object): boolean => groups.get(part) === group
    let most = size
    this.#sizes.set(schema, most)
    for (const parts of listLocations(inside)) {
      if (parts.filter(isWithin).length > 1) throw NOT_BOUNDED
      const others = parts.filter((part) => !isWithin(part))
      const within = parts.filter(isWithin)
      const total = others.reduce((sum, part) => sum + this.#sizeOf(part, groups), 0)
      most = Math.max(
        most,
        total + within.reduce((sum, part) => sum + this.#sizeOf(part, groups), 0),
      )
      if (most > MAX_NODES_AT_LOCATION) throw NOT_BOUNDED
    }
    this.#sizes.set(schema, most)
    return most
  }

  #clusterOf(schema: object): Cluster {
    const known = this.#clusters.get(schema)
    if (known !== undefined) return known
    const inside = new Map<string, object[]>()
    let size = 0
    const open: unknown[] = [schema]
    while (open.length > 0) {
      const node = open.pop()
      if (!isJsonObject(node)) continue
      this.#visits -= 1
      if (this.#visits < 0 || size > MAX_NODES_AT_LOCATION) throw NOT_BOUNDED
      assertSupported(node, this.#root)
      size += weighNode(node)
      for (const part of listInPlace(node)) open.push(part)
      if (typeof node['$ref'] === 'string') open.push(this.#follow(node['$ref']))
      for (const [location, part] of listInside(node)) {
        if (isJsonObject(part)) inside.set(location, [...(inside.get(location) ?? []), part])
      }
    }
    const cluster = { size, inside }
    this.#clusters.set(schema, cluster)
    return cluster
  }

  /**
   * Returns the target of a reference. With ids inside of a document, the meaning of a pointer depends on its location.
   */
  #follow(reference: string): unknown {
    if (reference.startsWith('#') && !this.#scope.isPlain) throw NOT_BOUNDED
    return this.#scope.resolve(reference).schema
  }
}

function assertSupported(node: Node, root: unknown): void {
  const isUnsupported =
    UNSUPPORTED.some((keyword) => Object.hasOwn(node, keyword)) ||
    // A regular expression of a megabyte takes a second to parse.
    node['format'] === 'regex' ||
    (node !== root && typeof node['$id'] === 'string' && !/^\w+$/.test(node['$id']))
  const parts = ['enum', 'anyOf', 'oneOf', 'allOf', 'items', 'prefixItems', 'required']
  const lists = parts.map((keyword) => node[keyword])
  const { properties, patternProperties, additionalProperties = true } = node
  const isLarge =
    lists.some((list) => Array.isArray(list) && list.length > MAX_BRANCHES) ||
    countKeys(properties) > (additionalProperties === true ? MAX_BRANCHES : MAX_TRIED) ||
    countKeys(patternProperties) > MAX_PATTERNS ||
    countKeys(node['dependentSchemas']) > MAX_TRIED ||
    countKeys(node['dependentRequired']) > MAX_TRIED
  if (isUnsupported || isLarge) throw NOT_BOUNDED
}

function countKeys(map: unknown): number {
  return isJsonObject(map) ? Object.keys(map).length : 0
}

/** Returns the number of schemas that take as long as a node without those inside of it. */
function weighNode(node: Node): number {
  let weight = 1 + (Array.isArray(node['enum']) ? node['enum'].length : 0) / 16
  for (const [keyword, more] of Object.entries(WEIGHTS)) {
    const neutral = keyword !== 'uniqueItems'
    if (Object.hasOwn(node, keyword) && node[keyword] !== neutral) weight += more
  }
  return weight
}

/** Returns the schemas that apply to the same value. */
function* listInPlace(node: Node): Generator {
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
    const parts = node[keyword]
    if (Array.isArray(parts)) yield* parts
  }
  for (const keyword of ['if', 'then', 'else', 'not']) yield node[keyword]
  for (const keyword of ['dependentSchemas', 'dependencies']) {
    const parts = node[keyword]
    if (isJsonObject(parts)) yield* Object.values(parts)
  }
}

/** Returns the schemas that apply to fields and items, with their locations. */
function* listInside(node: Node): Generator<readonly [string, unknown]> {
  const { properties, patternProperties, items, prefixItems } = node
  if (isSchemaMap(properties)) {
    for (const [key, part] of Object.entries(properties)) yield [`field ${key}`, part]
  }
  if (isSchemaMap(patternProperties)) {
    for (const part of Object.values(patternProperties)) yield [ANY_FIELD, part]
  }
  yield [ANY_FIELD, node['additionalProperties']]
  yield ['name', node['propertyNames']]
  for (const parts of [prefixItems, items]) {
    if (Array.isArray(parts))
      for (const [index, part] of parts.entries()) yield [`item ${index}`, part]
  }
  if (isSchema(items)) yield [ANY_ITEM, items]
  yield [ANY_ITEM, node['additionalItems']]
  yield [ANY_ITEM, node['contains']]
  // TypeBox checks the items once more to count them.
  if ('minContains' in node) yield [ANY_ITEM, node['contains']]
  if ('maxContains' in node) yield [ANY_ITEM, node['contains']]
}

const ANY_FIELD = 'field *'
const ANY_ITEM = 'item *'

/** Returns the schemas of each location together with those of all fields or items. */
function listLocations(inside: Inside): readonly (readonly object[])[] {
  const anyField = inside.get(ANY_FIELD) ?? []
  const anyItem = inside.get(ANY_ITEM) ?? []
  return [...inside].map(([location, parts]) => {
    if (location === ANY_FIELD || location === ANY_ITEM || location === 'name') return parts
    return [...parts, ...(location.startsWith('field') ? anyField : anyItem)]
  })
}
