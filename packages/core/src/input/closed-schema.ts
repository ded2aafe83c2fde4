/**
 * Schema of the values that reading does not change: they have no unknown field, and no missing field that would be filled
 * in. One check of it replaces the whole reading of such a value.
 *
 * It is derived from the author's schema: each object is closed, and fields with a default are required. Intersections
 * are merged into one object first, and the schemas around a union are added to each of its members. Schemas that need
 * more than that (conditions, several unions at one location, `unevaluated…`) have no closed schema; their values are
 * read in full, with the same result.
 */
import {
  CheckLimitError,
  CheckRun,
  compileCheck,
  type Check,
  type Schema,
  type SchemaNode,
} from '@tutti/protocol/internal'

import { settleUnion, findOpenUnion, type Union } from './choose-member.ts'
import { listDeclaredFields, findFieldSchemas, splitItems, declaresFields } from './fields.ts'

import type { SchemaLocation, SchemaDocument } from './schema-document.ts'

/** Maximum number of nodes of a closed schema; nested unions multiply. */
const MAX_NODES = 2000

/** Returns the check; undefined when the schema has no closed form. */
export function compileClosedCheck(document: SchemaDocument): Check | undefined {
  const build: Build = {
    document,
    run: new CheckRun(),
    numbers: new Map(),
    references: {},
    left: MAX_NODES,
  }
  try {
    const schema = closeLocation(document.locate([document.root]), build)
    if (typeof schema === 'boolean') return undefined
    return compileCheck(schema, {
      references: { ...document.references, ...build.references },
      patterns: document.patterns,
    })
  } catch (error) {
    if (error === NOT_CLOSABLE || error instanceof CheckLimitError) return undefined
    throw error
  }
}

const NOT_CLOSABLE = Symbol('not closable')

/** State of the construction. Mutable: finished schemas are stored by name, for references to them. */
interface Build {
  readonly document: SchemaDocument
  readonly run: CheckRun
  readonly numbers: Map<object, number>
  readonly references: Record<string, Schema>
  left: number
}

/** Returns the closed form of all schemas of a location together. */
function closeLocation(location: SchemaLocation, build: Build): Schema {
  if (location.impossible) return false
  // Only a reference can lead back to a location that is under construction.
  if (!location.nodes.some((node) => node.$ref !== undefined)) return closeNodes(location, build)
  const name = `#closed-${assignNumber(location, build)}`
  if (build.references[name] === undefined) {
    build.references[name] = true
    build.references[name] = closeNodes(location, build)
  }
  return { $ref: name }
}

function assignNumber(part: object, { numbers }: Build): number {
  const number = numbers.get(part) ?? numbers.size
  numbers.set(part, number)
  return number
}

/** Keywords that declare fields in ways not supported here. */
const UNDECIDED = [
  '$dynamicRef',
  '$recursiveRef',
  'dependencies',
  'dependentSchemas',
  'if',
  'unevaluatedItems',
  'unevaluatedProperties',
]

function closeNodes(location: SchemaLocation, build: Build): Schema {
  const { nodes, settled } = location
  build.left -= 1 + (nodes.length + settled.length) / 8
  if (build.left < 0 || nodes.some((node) => UNDECIDED.some((keyword) => keyword in node))) {
    throw NOT_CLOSABLE
  }
  const union = findOpenUnion(location)
  if (union !== undefined) return closeUnion(location, union, build)
  const own = nodes.map(pickOwnKeywords).filter((part) => Object.keys(part).length > 0)
  const [first = {}, ...others] = own
  const parts: SchemaNode = others.length === 0 ? first : { allOf: own }
  return { ...parts, ...closeFields(nodes, build), ...closeItems(nodes, build) }
}

/** Adds the schemas around the union to each member. */
function closeUnion(location: SchemaLocation, union: Union, build: Build): Schema {
  const { members, exclusive } = union
  const anyOf = members.map((member) =>
    closeLocation(
      settleUnion(location, union, { members: [member], document: build.document }),
      build,
    ),
  )
  return exclusive ? { anyOf, allOf: [{ oneOf: members }] } : { anyOf }
}

/** Keywords that are rebuilt here or have no effect on validation. */
const REMADE: ReadonlySet<string> = new Set([
  '$anchor',
  '$comment',
  '$defs',
  '$id',
  '$ref',
  '$schema',
  'additionalItems',
  'additionalProperties',
  'allOf',
  'anyOf',
  'default',
  'definitions',
  'deprecated',
  'description',
  'examples',
  'items',
  'oneOf',
  'patternProperties',
  'prefixItems',
  'properties',
  'required',
  'title',
])

/** Returns the keywords of a node that apply to its own location; TypeBox makes some of them non-enumerable. */
function pickOwnKeywords(node: SchemaNode): SchemaNode {
  const names = Object.getOwnPropertyNames(node).filter((name) => !REMADE.has(name))
  return Object.fromEntries(names.map((name) => [name, Reflect.get(node, name)]))
}

function closeFields(nodes: readonly SchemaNode[], build: Build): SchemaNode {
  const speaking = nodes.filter(
    (node) => declaresFields(node) || node.additionalProperties !== undefined,
  )
  const [first] = speaking
  const required = [...new Set(nodes.flatMap((node) => node.required ?? []))]
  if (first === undefined) return required.length === 0 ? {} : { required }
  const { patternProperties, additionalProperties } = first
  const isPlain = speaking.every(
    (node) => node.patternProperties === undefined && node.additionalProperties === undefined,
  )
  if (speaking.length > 1 && !isPlain) throw NOT_CLOSABLE
  const names = [...new Set([...listDeclaredFields(nodes), ...required])]
  const locations = names.map((name) =>
    build.document.locate(findFieldSchemas(nodes, name, build) ?? []),
  )
  return {
    required: names.filter(
      (name, index) => required.includes(name) || hasDefault(locations[index]),
    ),
    properties: closeMap(names, locations, build),
    ...(patternProperties === undefined
      ? {}
      : {
          patternProperties: closeMap(
            Object.keys(patternProperties),
            Object.values(patternProperties).map((schema) => build.document.locate([schema])),
            build,
          ),
        }),
    additionalProperties: closeSchema(additionalProperties ?? false, build),
  }
}

function closeMap(
  names: readonly string[],
  locations: readonly SchemaLocation[],
  build: Build,
): Readonly<Record<string, Schema>> {
  const closed = locations.map((location) => closeLocation(location, build))
  return Object.fromEntries(names.map((name, index) => [name, closed[index] ?? true]))
}

function hasDefault(location: SchemaLocation | undefined): boolean {
  return location?.nodes.some((node) => node.default !== undefined) === true
}

function closeItems(nodes: readonly SchemaNode[], build: Build): SchemaNode {
  const [node, another] = nodes.filter(
    ({ items, prefixItems }) => items !== undefined || prefixItems !== undefined,
  )
  if (another !== undefined) throw NOT_CLOSABLE
  if (node === undefined) return {}
  const { leading, rest } = splitItems(node)
  const items = closeSchema(rest, build)
  if (leading.length === 0) return { items }
  return { prefixItems: leading.map((schema) => closeSchema(schema, build)), items }
}

function closeSchema(schema: Schema, build: Build): Schema {
  return typeof schema === 'boolean'
    ? schema
    : closeLocation(build.document.locate([schema]), build)
}
