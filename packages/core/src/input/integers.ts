/**
 * Integers beyond 2^53 in the input of a tool.
 *
 * CORE-I1 Where the schema allows text but no number, an integer beyond 2^53 becomes its digits as text. Where it allows
 *    a `bigint` (`Type.BigInt()`), the body gets every integer as a `bigint`. Neither depends on `coerce`.
 * CORE-I2 Where the schema allows numbers, the body gets a number if the number has exactly these digits. Otherwise the
 *    input is refused; the problem has the digits.
 * CORE-I3 Where the schema allows any value, the body gets a number or text, by the same rule.
 * CORE-I4 With `exactIntegers` (for tools that forward their input as JSON), an integer stays a `bigint` where the
 *    schema allows numbers or any value, and digits as text become one. Limits of the schema compare the rounded value.
 */
import { hasBigInt, mapBigInts, toPlainJson, type Check } from '@tutti/protocol/internal'

import type { TSchema } from 'typebox'
import type { SchemaDocument } from './schema-document.ts'

/** Applies CORE-I2 and CORE-I3; returns the value unchanged if it does not match then. */
export function settleIntegers(fits: Check, value: unknown): unknown {
  const plain = toPlainJson(value)
  return fits(plain) ? plain : value
}

/** Returns a copy with each `bigint` as the nearest number, for checks. */
export function roundIntegers(value: unknown): unknown {
  return mapBigInts(value, Number)
}

/** Returns the document with checks that also accept a value with each `bigint` as the nearest number. */
export function toRoundingDocument(document: SchemaDocument): SchemaDocument {
  return {
    ...document,
    fits: (location, value, run) =>
      document.fits(location, value, run) ||
      (hasBigInt(value) && document.fits(location, roundIntegers(value), run)),
  }
}

/** Returns the schema as JSON Schema, in which the type `bigint` of TypeBox is `integer`; the same schema without it. */
export function toStandardTypes(schema: TSchema, { nodes }: SchemaDocument): TSchema {
  const usesBigInt = [...nodes.keys()].some(({ type }) => [type].flat().includes('bigint'))
  if (!usesBigInt) return schema
  const copy: TSchema = JSON.parse(
    JSON.stringify(mapBigInts(schema, Number)),
    (key, part: unknown) => (key === 'type' && part === 'bigint' ? 'integer' : part),
  )
  return copy
}

/** Returns the candidates for an integer, as {@link coerceText} does for a text. */
export function coerceInteger(
  value: number | bigint,
  wants: (type: string) => boolean,
): readonly unknown[] {
  if (typeof value === 'number') {
    return Number.isInteger(value) && wants('bigint') ? [BigInt(value)] : []
  }
  const plain = toPlainJson(value)
  const number = typeof plain === 'number' && wants('number') ? [plain] : []
  return wants('string') ? [...number, String(value)] : number
}
