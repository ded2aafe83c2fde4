/**
 * One input schema for tools that are given the same input. It is what a model is shown, and models
 * take an object with properties at the top only, so the schemas are merged where they can be.
 */
import { embedSchema } from './embed-schema.ts'

import type { TSchema } from '@tutti/core'

/** Whether the input is for all of the tools, or for one of them. */
export type MergeMode = 'all' | 'one'

/** Schema of an input that fits all of the schemas, or one of them. */
export function mergeInputs(schemas: readonly TSchema[], mode: MergeMode): TSchema {
  const different = distinct(schemas)
  const [first] = different
  if (first !== undefined && different.length === 1) return first
  const objects = different.filter(isPlainObject)
  if (objects.length === different.length) return mergedObject(objects, mode)
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

/** Keywords of an object schema that can be merged, or left out because tools ignore unknown fields. */
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

function mergedObject(schemas: readonly ObjectSchema[], mode: MergeMode): TSchema {
  const byName = new Map<string, TSchema[]>()
  for (const { properties = {} } of schemas) {
    for (const [name, property] of Object.entries(properties)) {
      byName.set(name, [...(byName.get(name) ?? []), property])
    }
  }
  const properties = [...byName].map(([name, choices]) => [name, mergedProperty(choices, mode)])
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

function mergedProperty(choices: readonly TSchema[], mode: MergeMode): TSchema {
  const different = distinct(choices)
  const [first] = different
  return first !== undefined && different.length === 1 ? first : { [KEYWORD[mode]]: different }
}

/** Those that do not say the same as one before. */
function distinct(schemas: readonly TSchema[]): readonly TSchema[] {
  return [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()]
}
