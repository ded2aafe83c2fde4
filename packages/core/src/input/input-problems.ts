/** Problems of a value, described for the original value and not for its normalized form. */
import { decode } from '@tutti/protocol'
import {
  type DecodeOptions,
  isJsonObject,
  previewOf,
  receivedOf,
  suggest,
  valueAt,
  type Problem,
} from '@tutti/protocol/internal'

import type { TSchema } from 'typebox'

/** A value, and its normalized form. */
export interface Reading {
  readonly given: unknown
  readonly normalized: unknown
}

/** Returns the problems that remain after normalization; if none remain, those of the original value. */
export function findInputProblems(
  schema: TSchema,
  reading: Reading,
  options: DecodeOptions = {},
): readonly Problem[] {
  const decoded = decode(schema, reading.normalized, options)
  if (!decoded.ok) {
    return decoded.problems.map((each) =>
      explainInteger(addMisspelling(restoreGivenValue(each, reading), reading), reading),
    )
  }
  const plain = decode(schema, reading.given, options)
  return plain.ok ? [] : plain.problems
}

/** Describes a problem with the original value instead of the normalized one. */
function restoreGivenValue(problem: Problem, { given, normalized }: Reading): Problem {
  const [before, after] = [valueAt(given, problem.path), valueAt(normalized, problem.path)]
  if (before === undefined || Object.is(before, after)) return problem
  const message = problem.message.replace(
    `, got ${previewOf(after)}`,
    () => `, got ${previewOf(before)}`,
  )
  return { ...problem, message, received: receivedOf(before) }
}

const NUMBER = /\b(?:an integer|a number)\b/

/** Explains why an integer beyond 2^53 is refused where the schema allows numbers (CORE-I2). */
function explainInteger(problem: Problem, { given }: Reading): Problem {
  const { message, path } = problem
  if (typeof valueAt(given, path) !== 'bigint' || !NUMBER.test(message)) return problem
  const { MIN_SAFE_INTEGER: least, MAX_SAFE_INTEGER: most } = Number
  const range = message.replace(NUMBER, (type) => `${type} between ${least} and ${most}`)
  return { ...problem, message: `${range}; a tool can declare a string or BigInt for longer ones` }
}

/** Adds to a missing field the dropped field with a similar name. */
function addMisspelling(problem: Problem, { given, normalized }: Reading): Problem {
  if (problem.message !== 'is required') return problem
  const end = problem.path.lastIndexOf('/')
  const [before, after] = [given, normalized].map((value) =>
    valueAt(value, problem.path.slice(0, end)),
  )
  if (!isJsonObject(before) || !isJsonObject(after)) return problem
  const name = problem.path.slice(end + 1)
  const dropped = Object.keys(before).filter((key) => !Object.hasOwn(after, key))
  // Almost every name is similar to a very short one.
  if (name.length < 3) return problem
  const similar = dropped.find((key) => suggest(key, [name]) !== undefined)
  if (similar === undefined) return problem
  return { ...problem, message: `is required (${JSON.stringify(similar)} is not a known field)` }
}
