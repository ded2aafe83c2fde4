/**
 * Merges the input schemas of tools that receive the same input. Models accept only schemas that are objects with
 * properties at the top level, so the schemas are merged where possible.
 */
import { embedSchema } from './embed-schema.ts'

import type { TSchema } from '@tutti/core'

/** Whether the input must be valid for all tools, or for one of them. */
export type MergeMode = 'all' | 'one'

/** Creates a schema for inputs that are valid for all of the schemas, or for one of them. */
export function mergeInputs(schemas: readonly TSchema[], mode: MergeMode): TSchema {
  const different = removeDuplicates(schemas)
  const [first] = different
  if (first !== undefined && different.length === 1) return first
  const objects = different.filter(isPlainObject)
  if (objects.length === different.length) return mergeObjects(objects, mode)
  const keyword = KEYWORD[mode]
  return {
    type: 'object',
    [keyword]: different.map((schema, index) => embedSchema(schema, [keyword, String(index)])),
  }
}

const KEYWORD = { all: 'allOf', one: 'anyOf' } as const

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly required?: readonly string[]
}

/** Keywords of an object schema that can be merged, or dropped because tools ignore unknown fields. */
const MERGEABLE: ReadonlySet<string> = new Set([
  '$schema',
  'additionalProperties',
  'description',
  'properties',
  'required',
  'title',
  'type',
])

function isPlainObject(schema: TSchema): schema is TSchema & ObjectSchema {
  return (
    Object.keys(schema).every((keyword) => MERGEABLE.has(keyword)) &&
    !('additionalProperties' in schema && typeof schema.additionalProperties === 'object') &&
    embedSchema(schema, ['elsewhere']) === schema
  )
}

function mergeObjects(schemas: readonly ObjectSchema[], mode: MergeMode): TSchema {
  const byName = new Map<string, TSchema[]>()
  for (const { properties = {} } of schemas) {
    for (const [name, property] of Object.entries(properties)) {
      byName.set(name, [...(byName.get(name) ?? []), property])
    }
  }
  const properties = [...byName].map(([name, choices]) => [name, mergeProperty(choices, mode)])
  const required = [...byName.keys()].filter((name) => {
    const needs = (schema: ObjectSchema): boolean => schema.required?.includes(name) === true
    return mode === 'all' ? schemas.some(needs) : schemas.every(needs)
  })
  return {
    type: 'object',
    ...(required.length === 0 ? {} : { required }),
    properties: Object.fromEntries(properties),
  }
}

function mergeProperty(choices: readonly TSchema[], mode: MergeMode): TSchema {
  const different = removeDuplicates(choices)
  const [first] = different
  return first !== undefined && different.length === 1 ? first : { [KEYWORD[mode]]: different }
}

/** Returns the schemas without duplicates. */
function removeDuplicates(schemas: readonly TSchema[]): readonly TSchema[] {
  return [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()]
}
