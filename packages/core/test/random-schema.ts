/** Random schemas and values, for property tests. The same seed gives the same ones. */
import type { TSchema } from 'typebox'

/** Generator of schemas, and of values that nearly match them. */
export interface RandomSchemas {
  /** Returns an object schema, with a definition `R` that others refer to. */
  schema(): TSchema
  /** Returns a value that matches the schema, except for some errors. */
  value(schema: TSchema): unknown
}

type Json = Readonly<Record<string, unknown>>

const NAMES = ['a', 'b', 'c', 'd']

const LEAVES: readonly (() => unknown)[] = [
  () => ({ type: 'string' }),
  () => ({ type: 'string', minLength: 2 }),
  () => ({ type: 'string', default: 'dd' }),
  () => ({ type: 'integer' }),
  () => ({ type: 'integer', default: 7 }),
  () => ({ type: ['integer', 'null'] }),
  () => ({ type: 'number', minimum: 2 }),
  () => ({ type: 'boolean' }),
  () => ({ type: 'null' }),
  () => ({ enum: ['x', 1, true] }),
  () => ({ const: 5 }),
  () => ({ $ref: '#/$defs/R' }),
  () => ({}),
  () => true,
]

const DEFINITIONS: readonly (() => unknown)[] = [
  () => ({ type: 'integer' }),
  () => ({ type: 'object', properties: { a: { $ref: '#/$defs/R' }, b: { type: 'integer' } } }),
  () => ({
    anyOf: [
      { type: 'object', properties: { a: { $ref: '#/$defs/R' } }, required: ['a'] },
      { type: 'string' },
    ],
  }),
]

const SCALARS = [
  'x',
  'dd',
  '5',
  '',
  'true',
  'abc',
  '{"a":1}',
  '[1]',
  5,
  7,
  0,
  1.5,
  true,
  false,
  null,
]

export function randomSchemas(seed: number): RandomSchemas {
  const random = mulberry32(seed)
  const pick = <T>(choices: readonly [T, ...T[]] | readonly T[]): T => {
    const index = Math.floor(random() * choices.length)
    // NOTE: the index is within a list that is not empty.
    return choices[index] as T
  }
  const chance = (share: number): boolean => random() < share

  function schemaOf(depth: number): unknown {
    if (depth <= 0 || chance(0.35)) return pick(LEAVES)()
    const make = pick<() => unknown>([
      () => objectOf(depth),
      () => objectOf(depth),
      () => objectOf(depth),
      () => ({ type: 'array', items: schemaOf(depth - 1) }),
      () => ({ type: 'array', prefixItems: [schemaOf(depth - 1)], items: schemaOf(depth - 1) }),
      () => ({ anyOf: [schemaOf(depth - 1), schemaOf(depth - 1), schemaOf(depth - 1)] }),
      () => ({ oneOf: [schemaOf(depth - 1), schemaOf(depth - 1)] }),
      () => ({ allOf: [objectOf(depth - 1), objectOf(depth - 1)] }),
      () => ({ ...objectOf(depth - 1), anyOf: [objectOf(depth - 1), objectOf(depth - 1)] }),
      () => ({ ...objectOf(depth - 1), if: { required: ['a'] }, else: objectOf(depth - 1) }),
    ])
    return make()
  }

  function objectOf(depth: number): Json {
    const names = NAMES.filter(() => chance(0.55))
    return {
      type: 'object',
      ...(chance(0.9) && {
        properties: Object.fromEntries(names.map((name) => [name, schemaOf(depth - 1)])),
        required: names.filter(() => chance(0.5)),
      }),
      ...(chance(0.5) && { additionalProperties: pick([false, false, true, schemaOf(depth - 1)]) }),
      ...(chance(0.05) && { patternProperties: { '^d': schemaOf(depth - 1) } }),
      ...(chance(0.05) && { minProperties: 1 }),
      ...(chance(0.05) && { default: {} }),
    }
  }

  function anyValue(depth: number): unknown {
    if (depth <= 0 || chance(0.5)) return pick(SCALARS)
    if (chance(0.2)) return [anyValue(depth - 1), anyValue(depth - 1)]
    return Object.fromEntries(
      NAMES.filter(() => chance(0.5)).map((name) => [name, anyValue(depth - 1)]),
    )
  }

  function sampleOf(schema: unknown, root: Json, depth: number): unknown {
    if (!isJson(schema)) return anyValue(1)
    const inside = (part: unknown): unknown => slipped(part, root, depth - 1)
    if (schema['$ref'] !== undefined) return depth <= 0 ? 'x' : inside(at(root, '$defs', 'R'))
    if ('const' in schema) return schema['const']
    if (Array.isArray(schema['enum'])) return pick(schema['enum'])
    const members = listOf(schema['anyOf'] ?? schema['oneOf'])
    const parts = [...listOf(schema['allOf']), ...(members.length > 0 ? [pick(members)] : [])]
    const own = schema['type'] === 'object' ? objectFor(schema, inside) : undefined
    if (parts.length > 0) return joined([...parts.map(inside), own])
    if (own !== undefined) return own
    switch (pick([schema['type']].flat())) {
      case 'string':
        return pick(['ab', 'xyz', '5', 'true'])
      case 'integer':
        return pick([0, 7, 12, -3])
      case 'number':
        return pick([2.5, 3])
      case 'boolean':
        return chance(0.5)
      case 'null':
        return null
      case 'array':
        return [...listOf(schema['prefixItems']), schema['items']].map(inside)
      default:
        return anyValue(1)
    }
  }

  function objectFor(schema: Json, inside: (part: unknown) => unknown): Json {
    const names = Object.keys(isJson(schema['properties']) ? schema['properties'] : {})
    const given = names.filter((name) =>
      chance(listOf(schema['required']).includes(name) ? 0.95 : 0.5),
    )
    const fields = given.map((name) => [name, inside(at(schema, 'properties', name))] as const)
    return { ...Object.fromEntries(fields), ...(chance(0.15) && { z: anyValue(1) }) }
  }

  /** Returns a sample, sometimes in a form that needs coercion, or that cannot be coerced. */
  function slipped(schema: unknown, root: Json, depth: number): unknown {
    const sample = sampleOf(schema, root, depth)
    if (chance(0.08) && typeof sample !== 'string') return JSON.stringify(sample) ?? sample
    if (chance(0.03)) return [sample]
    if (chance(0.03) && Array.isArray(sample)) return sample[0]
    if (chance(0.02)) return null
    return chance(0.02) ? anyValue(2) : sample
  }

  return {
    schema: () => ({ ...objectOf(3), $defs: { R: pick(DEFINITIONS)() } }),
    value: (schema) => (chance(0.2) ? anyValue(3) : slipped(schema, { ...schema }, 4)),
  }
}

function joined(parts: readonly unknown[]): unknown {
  const objects = parts.filter(isJson)
  return objects.length === 0 ? parts[0] : Object.assign({}, ...objects)
}

function at(value: Json, ...keys: readonly string[]): unknown {
  return keys.reduce<unknown>((inside, key) => (isJson(inside) ? inside[key] : undefined), value)
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns pseudo-random numbers from 0 to 1. */
function mulberry32(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
