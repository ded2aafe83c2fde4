/**
 * Renames the properties of an input schema that a provider refuses. Pure.
 *
 * A name has the same replacement everywhere in a schema, and no other property has that name, so
 * that keys of arguments can be mapped back without regard to their position. The description of a renamed
 * property begins with its own name, by which other texts of the tool refer to it.
 */
import {
  fieldsIn,
  isFields,
  listSchemas,
  mapSchema,
  mapValues,
  type PlainSchema,
} from './map-schema.ts'
import { isAccepted, replaceName } from './names.ts'

import type { NameRule } from './rule.ts'

/** A schema with accepted names of properties. */
export interface RenamedSchema {
  readonly schema: PlainSchema
  /** New names by the tool's own names; empty when no name was refused. */
  readonly names: ReadonlyMap<string, string>
}

/** Returns the schema with names that `rule` accepts. */
export function renameProperties(schema: PlainSchema, rule: NameRule | undefined): RenamedSchema {
  const own = listPropertyNames(schema)
  const refused = [...own].filter((name) => !isAccepted(name, rule))
  if (refused.length === 0) return { schema, names: new Map() }
  const taken = new Set(own)
  const names = new Map(refused.map((name) => [name, replaceName(name, rule, taken)]))
  const renamed = mapSchema(schema, (fields) => renameIn(fields, names))
  return { schema: fieldsIn(renamed), names }
}

function listPropertyNames(schema: PlainSchema): ReadonlySet<string> {
  const all = listSchemas(schema)
  return new Set(all.flatMap(({ fields }) => Object.keys(fieldsIn(fields['properties']))))
}

type Names = ReadonlyMap<string, string>

function renameIn(fields: PlainSchema, names: Names): PlainSchema {
  const entries = Object.entries(fields).map(([keyword, value]): [string, unknown] => [
    keyword,
    renameKeyword(keyword, value, names),
  ])
  return Object.fromEntries(entries)
}

function renameKeyword(keyword: string, value: unknown, names: Names): unknown {
  switch (keyword) {
    case 'properties':
      return renameDescribed(fieldsIn(value), names)
    case 'required':
      return renameTexts(value, names)
    case 'dependentRequired':
    case 'dependencies':
    case 'dependentSchemas':
      return renameFields(
        mapValues(fieldsIn(value), (each) => renameTexts(each, names)),
        names,
      )
    case '$ref':
      return typeof value === 'string' ? renamePointer(value, names) : value
    case 'const':
    case 'default':
    case 'enum':
    case 'examples':
      return renameDeep(value, names)
    default:
      return value
  }
}

function renameDescribed(properties: PlainSchema, names: Names): PlainSchema {
  const entries = Object.entries(properties).map(([name, schema]): [string, unknown] => {
    const replacement = names.get(name)
    if (replacement === undefined) return [name, schema]
    const shown = name.toWellFormed()
    const { description, ...others } = fieldsIn(schema)
    const said = typeof description === 'string' ? `${shown}: ${description}` : shown
    return [replacement, isFields(schema) ? { ...others, description: said } : schema]
  })
  return Object.fromEntries(entries)
}

function renameFields(fields: PlainSchema, names: Names): PlainSchema {
  const entries = Object.entries(fields)
  return Object.fromEntries(entries.map(([name, value]) => [names.get(name) ?? name, value]))
}

function renameTexts(value: unknown, names: Names): unknown {
  if (!Array.isArray(value)) return value
  return value.map((each: unknown) => (typeof each === 'string' ? (names.get(each) ?? each) : each))
}

/** Renames the keys of a value of any depth. */
function renameDeep(value: unknown, names: Names): unknown {
  if (Array.isArray(value)) return value.map((each) => renameDeep(each, names))
  if (!isFields(value)) return value
  return renameFields(
    mapValues(value, (each) => renameDeep(each, names)),
    names,
  )
}

/** Renames the properties in a reference such as `#/properties/%24top`. */
function renamePointer(pointer: string, names: Names): string {
  if (!pointer.startsWith('#/')) return pointer
  const parts = pointer.split('/')
  const renamed = parts.map((part, index) => {
    const name = parts[index - 1] === 'properties' ? names.get(readPart(part)) : undefined
    return name ?? part
  })
  return renamed.join('/')
}

function readPart(part: string): string {
  const text = part.replaceAll('~1', '/').replaceAll('~0', '~')
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
