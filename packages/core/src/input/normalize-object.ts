/**
 * Normalization of one object: its fields, missing fields and unknown fields.
 *
 * The caller (`normalize.ts`, which states the rules) normalizes the values of the fields.
 */
import { isJsonObject, type CheckRun, type Schema, type SchemaNode } from '@tutti/protocol/internal'

import { chooseMembers, type Trial } from './choose-member.ts'
import { listDeclaredFields, findFieldSchemas, isRequired } from './fields.ts'
import { allowsJsonType } from './json-types.ts'

import type { SchemaLocation, SchemaDocument } from './schema-document.ts'

/** Changes that normalization may make. */
export interface NormalizeRules {
  /** Whether values are coerced. */
  readonly coerce: boolean
  /** Whether defaults are filled in. */
  readonly fill: boolean
  /** Whether unknown fields are dropped. */
  readonly drop: boolean
  /** Whether a value that matches no member of a union is read as the closest one, to describe its problems. */
  readonly nearest: boolean
}

/** Number of dropped and filled-in fields. */
export interface Tally {
  dropped: number
  filled: number
}

/** Parts of the walk that normalization of an object needs. */
export interface ObjectWalk {
  readonly document: SchemaDocument
  readonly rules: NormalizeRules
  readonly tally: Tally
  readonly trial: Trial
  /** Counts the steps. */
  readonly run: CheckRun
  /** Returns the normalized value of a field. */
  read(location: SchemaLocation, value: unknown): unknown
  /** Returns a fresh copy of the default of a field; undefined when it has none. */
  freshDefault(location: SchemaLocation): unknown
}

type JsonObject = Readonly<Record<string, unknown>>

/** Returns the normalized object; the same object when it has no changes. */
export function normalizeObject(
  location: SchemaLocation,
  value: JsonObject,
  walk: ObjectWalk,
): unknown {
  const decided = new Set<Schema>()
  let whole = chooseMembers(location, value, walk.trial)
  while (whole !== undefined && !whole.nodes.some(isDynamic)) {
    const { nodes, settled } = whole
    const fields = normalizeFields(nodes, value, walk)
    const more = nodes.some(isConditional)
      ? findConditionalSchemas(nodes, toObject(fields, value), { decided, walk })
      : []
    if (more.length === 0)
      return walk.rules.drop ? dropUnknownFields(fields, value, walk) : toObject(fields, value)
    const all = walk.document.locate([...nodes, ...more], settled)
    whole = chooseMembers(all, value, walk.trial)
  }
  return value
}

/** Whether the meaning of a node depends on references that are resolved during validation. */
function isDynamic(node: SchemaNode): boolean {
  return '$dynamicRef' in node || '$recursiveRef' in node
}

/** Whether a node has schemas that apply because of the object's content. */
function isConditional(node: SchemaNode): boolean {
  return node.if !== undefined || node.dependentSchemas !== undefined
}

/** Mark of a field that is left out. */
const ABSENT = Symbol('absent')

/** Steps of reading a field and copying it, in addition to the lookup in each schema. */
const STEPS_PER_FIELD = 4

interface NormalizedFields {
  readonly entries: readonly (readonly [string, unknown])[]
  /** Names of the fields that no schema declares; their values are unchanged. */
  readonly unknown: ReadonlySet<string>
  /** Whether the entries differ from the fields of the object. */
  readonly changed: boolean
}

function normalizeFields(
  nodes: readonly SchemaNode[],
  value: JsonObject,
  walk: ObjectWalk,
): NormalizedFields {
  const entries: [string, unknown][] = []
  const unknown = new Set<string>()
  let changed = false
  for (const key of Object.keys(value)) {
    walk.run.spend(STEPS_PER_FIELD)
    const given = value[key]
    const schemas = findFieldSchemas(nodes, key, walk)
    if (schemas === undefined) unknown.add(key)
    const normalized =
      schemas === undefined ? given : normalizeField({ key, given, schemas, nodes }, walk)
    changed ||= !Object.is(normalized, given)
    if (normalized !== ABSENT) entries.push([key, normalized])
  }
  if (walk.rules.fill) {
    const missing = fillMissingFields(nodes, value, walk)
    changed ||= missing.length > 0
    for (const entry of missing) entries.push(entry)
  }
  return { entries, unknown, changed }
}

/** Returns the object of all fields; the original one when none has changed. */
function toObject({ entries, changed }: NormalizedFields, value: JsonObject): JsonObject {
  return changed ? Object.fromEntries(entries) : value
}

interface Field {
  readonly key: string
  readonly given: unknown
  readonly schemas: readonly Schema[]
  /** Schemas of the surrounding object. */
  readonly nodes: readonly SchemaNode[]
}

function normalizeField({ key, given, schemas, nodes }: Field, walk: ObjectWalk): unknown {
  const { document, rules } = walk
  const location = document.locate(schemas)
  if (given !== undefined && (given !== null || allowsNull(location, walk))) {
    return walk.read(location, given)
  }
  const fresh = rules.fill ? walk.freshDefault(location) : undefined
  if (fresh !== undefined) return fresh
  return given === null && rules.coerce && !isRequired(nodes, key) ? ABSENT : given
}

function allowsNull(location: SchemaLocation, { document, run }: ObjectWalk): boolean {
  return allowsJsonType('null', location, document) && document.fits(location, null, run)
}

function fillMissingFields(
  nodes: readonly SchemaNode[],
  value: JsonObject,
  walk: ObjectWalk,
): [string, unknown][] {
  const { document, freshDefault, tally } = walk
  const missing: [string, unknown][] = []
  for (const key of listDeclaredFields(nodes)) {
    if (Object.hasOwn(value, key)) continue
    const fresh = freshDefault(document.locate(findFieldSchemas(nodes, key, walk) ?? []))
    if (fresh !== undefined) missing.push([key, fresh])
  }
  tally.filled += missing.length
  return missing
}

/** Returns schemas that apply because of the object's content: branches of `if`, and `dependentSchemas`. */
function findConditionalSchemas(
  nodes: readonly SchemaNode[],
  fields: JsonObject,
  { decided, walk }: { readonly decided: Set<Schema>; readonly walk: ObjectWalk },
): Schema[] {
  const { document, run } = walk
  const more: Schema[] = []
  for (const node of nodes) {
    if (node.if !== undefined && !decided.has(node)) {
      decided.add(node)
      const holds = document.fits(document.locate([node.if]), fields, run)
      more.push(...(holds ? [node.if, node.then ?? true] : [node.else ?? true]))
    }
    for (const [key, schema] of Object.entries(node.dependentSchemas ?? {})) {
      if (decided.has(schema) || !Object.hasOwn(fields, key)) continue
      decided.add(schema)
      more.push(schema)
    }
  }
  return more.filter(isJsonObject)
}

function dropUnknownFields(
  fields: NormalizedFields,
  value: JsonObject,
  { tally }: ObjectWalk,
): JsonObject {
  const { entries, unknown } = fields
  if (unknown.size === 0) return toObject(fields, value)
  tally.dropped += unknown.size
  return Object.fromEntries(entries.filter(([key]) => !unknown.has(key)))
}
