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
 * CORE-J5 An integer beyond 2^53, which is given as a `bigint`, keeps its digits. `integers.ts` says what the reader
 *    returns for it.
 */
import { compiledCheck, hasBigInt, type Check, type Decoded } from '@tutti/protocol'

import { errorMessage } from '../errors.ts'
import { compileClosedCheck } from './closed-schema.ts'
import { findInputProblems } from './input-problems.ts'
import { roundIntegers, settleIntegers, toRoundingDocument } from './integers.ts'
import { normalize } from './normalize.ts'

import type { NormalizeRules } from './normalize-object.ts'
import type { SchemaDocument } from './schema-document.ts'
import type { TSchema } from 'typebox'

/** Reads a value synchronously; never throws. */
export type JsonRead = (value: unknown) => Decoded<unknown>

/** Options of a reader. */
export interface JsonReaderOptions {
  readonly coerce: boolean
  /** Whether the reader returns a `bigint` where the schema allows numbers. @default false */
  readonly exactIntegers?: boolean
}

/**
 * Creates a reader by a valid schema, and compiles the schema.
 *
 * @throws {Error} when the schema cannot be compiled.
 */
export function createJsonReader(
  schema: TSchema,
  document: SchemaDocument,
  { coerce, exactIntegers = false }: JsonReaderOptions,
): JsonRead {
  const rules = { coerce, fill: true, drop: true }
  const isAsWanted = compileClosedCheck(document)
  const rounding = toRoundingDocument(document)
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

  /** Applies CORE-I1 to CORE-I3. */
  function readPlainIntegers(value: unknown): Decoded<unknown> {
    const fits = compiledCheck(schema)
    const normalized = tryNormalize(document, value, { ...rules, nearest: false })
    const settled = settleIntegers(fits, normalized)
    if (passes(fits, settled)) return { ok: true, value: settled }
    const nearest = tryNormalize(document, value, { ...rules, nearest: true })
    return { ok: false, problems: findInputProblems(schema, { given: value, normalized: nearest }) }
  }

  /** Applies CORE-I4. */
  function readExactIntegers(value: unknown): Decoded<unknown> {
    const normalized = tryNormalize(rounding, value, { ...rules, nearest: false })
    const fits = compiledCheck(schema)
    if (passes(fits, roundIntegers(normalized)) || passes(fits, normalized)) {
      return { ok: true, value: normalized }
    }
    const nearest = roundIntegers(tryNormalize(rounding, value, { ...rules, nearest: true }))
    return { ok: false, problems: findInputProblems(schema, { given: value, normalized: nearest }) }
  }

  return (value) => {
    try {
      if (hasBigInt(value))
        return exactIntegers ? readExactIntegers(value) : readPlainIntegers(value)
      if (isAsWanted !== undefined && passes(isAsWanted, value)) return { ok: true, value }
      const decoded = readSlowly(value)
      // Only the other reader turns digits as text into an integer.
      return decoded.ok || !exactIntegers ? decoded : readExactIntegers(value)
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
