/**
 * Reader of values by a JSON Schema.
 *
 *   value ─matches closed?─▶ unchanged
 *     └──▶ normalized ─matches?─▶ normalized, else its problems
 *
 * CORE-J1 A returned value matches the author's schema exactly as written.
 * CORE-J2 A value that matches the schema is never rejected: if it no longer matches once unknown fields are dropped
 *    (`minProperties`), it is returned with them.
 * CORE-J3 A value without changes is returned itself, after one compiled check.
 * CORE-J4 Never throws, for any value.
 */
import { compiledCheck, type Check, type Decoded } from '@tutti/protocol'

import { errorMessage } from '../errors.ts'
import { compileClosedCheck } from './closed-schema.ts'
import { findInputProblems } from './input-problems.ts'
import { normalize } from './normalize.ts'

import type { NormalizeRules } from './normalize-object.ts'
import type { SchemaDocument } from './schema-document.ts'
import type { TSchema } from 'typebox'

/** Reads a value synchronously; never throws. */
export type JsonRead = (value: unknown) => Decoded<unknown>

/**
 * Creates a reader by a valid schema, and compiles the schema.
 *
 * @throws {Error} when the schema cannot be compiled.
 */
export function createJsonReader(
  schema: TSchema,
  document: SchemaDocument,
  { coerce }: { readonly coerce: boolean },
): JsonRead {
  const rules = { coerce, fill: true, drop: true }
  const isAsWanted = compileClosedCheck(document)
  // With a closed check, few values need the full check, so it is compiled on first use.
  if (isAsWanted === undefined) compiledCheck(schema)

  function readSlowly(value: unknown): Decoded<unknown> {
    const fits = compiledCheck(schema)
    const normalized = tryNormalize(document, value, { ...rules, nearest: false })
    if (passes(fits, normalized)) return { ok: true, value: normalized }
    if (normalized !== value && passes(fits, value)) return { ok: true, value }
    const nearest = tryNormalize(document, value, { ...rules, nearest: true })
    return { ok: false, problems: findInputProblems(schema, { given: value, normalized: nearest }) }
  }

  return (value) => {
    try {
      if (isAsWanted !== undefined && passes(isAsWanted, value)) return { ok: true, value }
      return readSlowly(value)
    } catch (error) {
      return {
        ok: false,
        problems: [{ path: '', message: `cannot be checked: ${errorMessage(error)}` }],
      }
    }
  }
}

function tryNormalize(document: SchemaDocument, value: unknown, rules: NormalizeRules): unknown {
  try {
    return normalize(document, value, rules)
  } catch (error) {
    // The value is nested deeper than the stack: it is validated unchanged.
    if (error instanceof RangeError) return value
    throw error
  }
}

function passes(check: Check, value: unknown): boolean {
  try {
    return check(value)
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}
