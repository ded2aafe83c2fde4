/**
 * Collects the schemas of the protocol as components of an API document, each once and under its exported name. Pure.
 *
 * A TypeBox schema is already JSON Schema; only named schemas are replaced by `$ref`. Schemas are compared as JSON,
 * because TypeBox copies a schema to make it optional.
 */
import { isJsonObject } from '@tutti/protocol/internal'
import * as api from '@tutti/protocol'
import * as internal from '@tutti/protocol/internal'

import { SCHEMA_DESCRIPTIONS } from './schema-descriptions.ts'

export interface JsonSchema {
  readonly [keyword: string]: unknown
}

/** Components of one document: all referenced schemas, including those that they refer to. */
export interface SchemaComponents {
  /** Returns the schema for use in the document: a `$ref` if it has a name. */
  refer(schema: object): JsonSchema
  /** Returns the components so far, by name. */
  all(): Readonly<Record<string, JsonSchema>>
}

/** Location of the schemas in OpenAPI and AsyncAPI documents. */
const PREFIX = '#/components/schemas/'

/** Creates the components of a document. */
export function schemaComponents(): SchemaComponents {
  const components = new Map<string, JsonSchema>()
  const add = (name: string, schema: object): JsonSchema => {
    if (!components.has(name)) {
      // Registered first, so that a recursive schema refers to itself.
      components.set(name, {})
      components.set(name, addDescriptions(name, copySchema(schema, refer)))
    }
    return { $ref: `${PREFIX}${name}` }
  }
  const refer = (schema: object): JsonSchema => {
    const [name, target] = resolveRecursive(schema) ?? [findExportedName(schema), schema]
    return name === undefined ? copySchema(schema, refer) : add(name, target)
  }
  return {
    refer,
    all: () => Object.fromEntries([...components].toSorted(([a], [b]) => (a < b ? -1 : 1))),
  }
}

/** Returns the description of a schema that the protocol exports. */
export function findDescription(schema: object): string | undefined {
  return SCHEMA_DESCRIPTIONS[findExportedName(schema) ?? '']
}

/** Returns the description of a field of a schema that the protocol exports. */
export function findFieldDescription(schema: object, field: string): string | undefined {
  return SCHEMA_DESCRIPTIONS[`${findExportedName(schema)}.${field}`]
}

/** Adds the descriptions of an exported schema and of its fields. */
export function addDescriptions(name: string, schema: JsonSchema): JsonSchema {
  const { properties } = schema
  const fields = isJsonObject(properties)
    ? Object.entries(properties).map(([field, part]) => {
        const description = SCHEMA_DESCRIPTIONS[`${name}.${field}`]
        const isDescribed = description !== undefined && isJsonObject(part)
        return [field, isDescribed ? { ...part, description } : part]
      })
    : undefined
  return {
    ...describe(SCHEMA_DESCRIPTIONS[name]),
    ...schema,
    ...(fields === undefined ? {} : { properties: Object.fromEntries(fields) }),
  }
}

function describe(description: string | undefined): JsonSchema {
  return description === undefined ? {} : { description }
}

/** Resolves a recursive schema, which TypeBox writes as one of `$defs` and refers to by its bare name. */
function resolveRecursive(schema: object): readonly [string, object] | undefined {
  if (!('$defs' in schema && '$ref' in schema)) return undefined
  const { $defs: definitions, $ref: name } = schema
  if (typeof name !== 'string' || !isJsonObject(definitions)) return undefined
  const target = definitions[name]
  return isJsonObject(target) ? [name, target] : undefined
}

function copySchema(schema: object, refer: (schema: object) => JsonSchema): JsonSchema {
  const entries = Object.entries(schema).flatMap(([keyword, value]): [string, unknown][] => {
    // A recursive schema refers to itself by the name of its component.
    if (keyword === '$id') return []
    if (keyword === '$ref') return [[keyword, `${PREFIX}${String(value)}`]]
    return [[keyword, copyValue(value, refer)]]
  })
  return Object.fromEntries(entries)
}

function copyValue(value: unknown, refer: (schema: object) => JsonSchema): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => copyValue(item, refer))
  return isJsonObject(value) ? refer(value) : value
}

let names: ReadonlyMap<string, string> | undefined

/** Returns the name under which the protocol exports a schema; undefined if it exports none like it. */
function findExportedName(schema: object): string | undefined {
  names ??= new Map(
    Object.entries({ ...api, ...internal })
      .filter(([name, value]) => isJsonObject(value) && /^[A-Z][a-z]/.test(name))
      .map(([name, value]) => [JSON.stringify(value), name]),
  )
  return names.get(JSON.stringify(schema))
}
