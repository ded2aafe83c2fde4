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
 * CORE-J5 Ends after a bounded number of steps, for any schema and value. A value that needs more is rejected with that reason.
 * CORE-J6 An integer beyond 2^53 arrives as a `bigint` and keeps its digits. `integers.ts` says what the reader
 *    returns for it.
 */
import {
  compileCheck,
  compiledCheck,
  CheckRun,
  hasBigInt,
  type Check,
  type Decoded,
} from '@tutti/protocol/internal'

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
  const checkOf = createCheckSource(schema, document)
  // With a closed check, few values need the full check, so it is compiled on first use.
  if (isAsWanted === undefined) checkOf()

  function readSlowly(value: unknown, { by, accept, toShown }: Way): Decoded<unknown> {
    const check = checkOf()
    const run = new CheckRun()
    const fits: Check = (part) => passes((whole) => check(whole, run), part)
    const normalizeBy = (nearest: boolean): unknown =>
      tryNormalize(by, value, { ...rules, nearest, run })
    const normalized = normalizeBy(false)
    const accepted = accept(normalized, value, fits)
    if (accepted !== undefined) return { ok: true, value: accepted.value }
    // Without unions there is no other way to read the value.
    const nearest = document.hasUnions ? normalizeBy(true) : normalized
    const reading = { given: value, normalized: toShown(nearest) }
    const options = { check: fits, patterns: document.patterns }
    return { ok: false, problems: findInputProblems(schema, reading, options) }
  }

  const ways = {
    usual: { by: document, accept: acceptUsual, toShown: (value) => value },
    plainIntegers: { by: document, accept: acceptPlainIntegers, toShown: (value) => value },
    exactIntegers: { by: rounding, accept: acceptExactIntegers, toShown: roundIntegers },
  } satisfies Record<string, Way>

  return (value) => {
    try {
      if (hasBigInt(value)) {
        return readSlowly(value, exactIntegers ? ways.exactIntegers : ways.plainIntegers)
      }
      if (isAsWanted !== undefined && passes(isAsWanted, value)) return { ok: true, value }
      const decoded = readSlowly(value, ways.usual)
      // Only the other reader turns digits as text into an integer.
      return decoded.ok || !exactIntegers ? decoded : readSlowly(value, ways.exactIntegers)
    } catch (error) {
      return {
        ok: false,
        problems: [{ path: '', message: `cannot be checked: ${errorMessage(error)}` }],
      }
    }
  }
}

/** A way to read a value that does not match unchanged. */
interface Way {
  /** Document by which the value is normalized. */
  readonly by: SchemaDocument
  /** Returns the value to return; undefined when it does not match. */
  readonly accept: (normalized: unknown, given: unknown, fits: Check) => Accepted | undefined
  /** Returns the normalized value in the form whose problems are described. */
  readonly toShown: (normalized: unknown) => unknown
}

interface Accepted {
  readonly value: unknown
}

/** Applies CORE-J2. */
function acceptUsual(normalized: unknown, given: unknown, fits: Check): Accepted | undefined {
  if (fits(normalized)) return { value: normalized }
  return normalized !== given && fits(given) ? { value: given } : undefined
}

/** Applies CORE-I1 to CORE-I3. */
function acceptPlainIntegers(normalized: unknown, _: unknown, fits: Check): Accepted | undefined {
  const settled = settleIntegers(fits, normalized)
  return fits(settled) ? { value: settled } : undefined
}

/** Applies CORE-I4. */
function acceptExactIntegers(normalized: unknown, _: unknown, fits: Check): Accepted | undefined {
  return fits(roundIntegers(normalized)) || fits(normalized) ? { value: normalized } : undefined
}

/** Returns a function that returns the check of the whole schema, compiled on first use. */
function createCheckSource(schema: TSchema, { patterns }: SchemaDocument): () => Check {
  if (patterns === undefined) return () => compiledCheck(schema)
  let check: Check | undefined
  return () => (check ??= compileCheck(schema, { patterns }))
}

function tryNormalize(
  document: SchemaDocument,
  value: unknown,
  rules: NormalizeRules & { readonly run: CheckRun },
): unknown {
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
