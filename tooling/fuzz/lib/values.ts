/**
 * Arbitraries from JSON Schema: values that match a schema, and values that nearly do.
 *
 * Only the keywords of the wire schemas are supported, without `if` and `then`; a value of `valuesOf` can violate a
 * conditional rule. The server must respond in either case.
 */
import * as fc from 'fast-check'

import { HOSTILE_KEYS, hostileKey, hostileValue } from './hostile.ts'

/** Supported keywords. */
interface Keywords {
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly object[]
  readonly properties?: Readonly<Record<string, object>>
  readonly required?: readonly string[]
  /** Rule for values that do not match `if`. */
  readonly else?: { readonly required?: readonly string[] }
  readonly additionalProperties?: boolean | object
  readonly minProperties?: number
  readonly items?: object
  readonly minItems?: number
  readonly uniqueItems?: boolean
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly format?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
}

/** Maximum number of entries of a generated list or map. */
const MAX_ENTRIES = 4

/** Generates values that match a JSON Schema. `known` maps property names to values that exist on the server. */
export function valuesOf(json: object, known: KnownValues = {}): fc.Arbitrary<unknown> {
  const schema: Keywords = json
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  if (schema.anyOf !== undefined)
    return fc.oneof(...schema.anyOf.map((one) => valuesOf(one, known)))
  switch (typeof schema.type === 'string' ? schema.type : schema.type?.[0]) {
    case 'object':
      return objectsOf(schema, known)
    case 'array':
      return arraysOf(schema, known)
    case 'string':
      return stringsOf(schema)
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -10, max: schema.maximum ?? 100_000 })
    case 'number':
      return fc.double({
        min: schema.minimum ?? schema.exclusiveMinimum ?? -10,
        max: schema.maximum ?? 1e6,
        minExcluded: schema.exclusiveMinimum !== undefined,
        noNaN: true,
      })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    default:
      return fc.jsonValue({ maxDepth: 3 })
  }
}

/** Property name → values that exist on the server, such as ids of runs and names of tools. */
export type KnownValues = Readonly<Record<string, readonly unknown[]>>

function objectsOf(schema: Keywords, known: KnownValues): fc.Arbitrary<unknown> {
  const { properties = {}, additionalProperties, minProperties = 0 } = schema
  const fields = Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [name, fieldOf(name, field, known)]),
  )
  const first =
    minProperties > 0 && schema.required === undefined ? Object.keys(fields).slice(0, 1) : []
  const required = [...(schema.required ?? []), ...(schema.else?.required ?? []), ...first]
  const named = fc.record(fields, { requiredKeys: required })
  if (typeof additionalProperties !== 'object') return named
  const values = valuesOf(additionalProperties, known)
  const keys = fc.oneof(
    fc.string({ minLength: 1, maxLength: 12 }),
    fc.constantFrom(...HOSTILE_KEYS),
  )
  const others = fc.dictionary(keys, values, { minKeys: minProperties, maxKeys: MAX_ENTRIES })
  return fc.tuple(named, others).map(([own, rest]) => ({ ...rest, ...own }))
}

function fieldOf(name: string, schema: object, known: KnownValues): fc.Arbitrary<unknown> {
  const values = valuesOf(schema, known)
  const meaningful = Object.hasOwn(known, name) ? (known[name] ?? []) : []
  if (meaningful.length === 0) return values
  return fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...meaningful) }, values)
}

function arraysOf(schema: Keywords, known: KnownValues): fc.Arbitrary<unknown> {
  const items = valuesOf(schema.items ?? {}, known)
  const minLength = schema.minItems ?? 0
  const lengths = { minLength, maxLength: Math.max(minLength, MAX_ENTRIES) }
  return schema.uniqueItems === true
    ? fc.uniqueArray(items, { ...lengths, comparator: 'IsStrictlyEqual' })
    : fc.array(items, lengths)
}

/** Look-ahead, which string generation from an expression does not support. */
const LOOK_AHEAD = /\(\?[=!]/

/** A pattern that excludes one word. */
const RESERVED = /^\^\(\?!\w+\$\)(.+)$/

function stringsOf({
  pattern,
  format,
  minLength = 0,
  maxLength = 40,
}: Keywords): fc.Arbitrary<string> {
  if (format === 'date-time') return instants()
  if (pattern?.startsWith('^P(?='))
    return fc.constantFrom('PT1S', 'PT0.5S', 'P1D', 'P9999Y', 'PT0S')
  const [, rest] = RESERVED.exec(pattern ?? '') ?? []
  if (pattern !== undefined && rest !== undefined) {
    return stringsOf({ pattern: `^${rest}` }).filter((text) => new RegExp(pattern).test(text))
  }
  if (pattern !== undefined && !LOOK_AHEAD.test(pattern)) {
    return fc.stringMatching(new RegExp(pattern)).map((text) => text.slice(0, 200))
  }
  return fc.string({ minLength, maxLength, unit: 'grapheme' })
}

function instants(): fc.Arbitrary<string> {
  return fc
    .date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) })
    .map((date) => date.toISOString())
}

/** Generates values that match `schema` except for a few hostile values. */
export function nearValuesOf(schema: object, known: KnownValues = {}): fc.Arbitrary<unknown> {
  const mutations = fc.array(mutation(), { minLength: 1, maxLength: 3 })
  return fc
    .tuple(valuesOf(schema, known), mutations)
    .map(([value, changes]) => changes.reduce(mutated, value))
}

/** A change to one part of a value. */
type Mutation =
  | { readonly kind: 'replace'; readonly at: number; readonly value: unknown }
  | { readonly kind: 'add'; readonly at: number; readonly key: string; readonly value: unknown }
  | { readonly kind: 'remove'; readonly at: number }
  | { readonly kind: 'repeat'; readonly at: number; readonly times: number }
  | { readonly kind: 'nest'; readonly at: number; readonly depth: number; readonly inList: boolean }

function mutation(): fc.Arbitrary<Mutation> {
  const at = fc.nat({ max: 50 })
  return fc.oneof(
    fc.record({ kind: fc.constant('replace' as const), at, value: hostileValue() }),
    fc.record({ kind: fc.constant('add' as const), at, key: hostileKey(), value: hostileValue() }),
    fc.record({ kind: fc.constant('remove' as const), at }),
    fc.record({
      kind: fc.constant('repeat' as const),
      at,
      times: fc.constantFrom(2, 40, 1_000, 10_000),
    }),
    fc.record({
      kind: fc.constant('nest' as const),
      at,
      depth: fc.constantFrom(3, 60, 1_000, 20_000),
      inList: fc.boolean(),
    }),
  )
}

function mutated(value: unknown, change: Mutation): unknown {
  // An earlier change has removed everything.
  if (value === undefined) return undefined
  const paths = pathsOf(value)
  return changedAt(value, paths[change.at % paths.length] ?? [], (node) =>
    mutatedNode(node, change),
  )
}

/** Returns the changed node; undefined removes it. */
function mutatedNode(node: unknown, change: Mutation): unknown {
  switch (change.kind) {
    case 'replace':
      return change.value
    case 'add':
      return isObject(node) ? { ...node, [change.key]: change.value } : node
    case 'remove':
      return undefined
    case 'repeat':
      return repeated(node, change.times)
    case 'nest':
      return nested(node, change)
  }
}

/** A list repeats its entries; an object repeats its first value under numbered keys; text repeats itself. */
function repeated(node: unknown, wanted: number): unknown {
  const times = Math.min(wanted, Math.ceil(MAX_REPEATED / sizeOf(node)))
  if (typeof node === 'string') return node.repeat(times)
  if (Array.isArray(node)) return Array.from({ length: times }).flatMap(() => node)
  if (!isObject(node)) return node
  const [first = null] = Object.values(node)
  const more = Array.from({ length: times }, (_, index) => [`key-${index}`, first])
  return { ...node, ...Object.fromEntries(more) }
}

/** Maximum size of a repetition, in characters of JSON: below the limit of a request, so that it is read. */
const MAX_REPEATED = 600_000

/** Returns the length of a value as JSON. A value that is nested too deeply is not repeated. */
function sizeOf(node: unknown): number {
  try {
    return Math.max(1, JSON.stringify(node).length)
  } catch (error) {
    if (error instanceof RangeError) return MAX_REPEATED
    throw error
  }
}

function nested(
  node: unknown,
  { depth, inList }: { readonly depth: number; readonly inList: boolean },
): unknown {
  let outer = node
  for (let level = 0; level < depth; level += 1) outer = inList ? [outer] : { a: outer }
  return outer
}

/** Keys that lead from a value to a node in it. */
type Path = readonly string[]

/** Maximum depth of a changed node, in levels. */
const MAX_PATH_DEPTH = 8

/** Maximum number of visited entries of a list or object, so that a repeated list does not become slow. */
const MAX_WALKED = 20

/** Returns the paths of all nodes, the outermost first. */
function pathsOf(value: unknown, depth = MAX_PATH_DEPTH): readonly Path[] {
  const children = depth === 0 ? [] : entriesOf(value).slice(0, MAX_WALKED)
  const below = children.flatMap(([key, child]) =>
    pathsOf(child, depth - 1).map((path) => [key, ...path]),
  )
  return [[], ...below]
}

/** Returns `value` with the node at `path` replaced by the result of `change`; undefined removes it. */
function changedAt(
  value: unknown,
  [key, ...rest]: Path,
  change: (node: unknown) => unknown,
): unknown {
  if (key === undefined) return change(value)
  const entries = entriesOf(value)
    .map(([name, child]): [string, unknown] => [
      name,
      name === key ? changedAt(child, rest, change) : child,
    ])
    .filter(([, child]) => child !== undefined)
  return Array.isArray(value) ? entries.map(([, child]) => child) : Object.fromEntries(entries)
}

function entriesOf(value: unknown): readonly [string, unknown][] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : []
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
