/** What is wrong with a value, told about the value that came and not about what was made of it. */
import {
  decode,
  isJsonObject,
  previewOf,
  receivedOf,
  suggest,
  valueAt,
  type Problem,
} from '@tutti/protocol'

import type { TSchema } from 'typebox'

/** A value as it came, and as far as it could be normalized. */
export interface Reading {
  readonly given: unknown
  readonly normalized: unknown
}

/** The problems that are left after mending, or if by chance none is, those of the value that came. */
export function findInputProblems(schema: TSchema, reading: Reading): readonly Problem[] {
  const decoded = decode(schema, reading.normalized)
  if (!decoded.ok) {
    return decoded.problems.map((each) => addMisspelling(restoreGivenValue(each, reading), reading))
  }
  const plain = decode(schema, reading.given)
  return plain.ok ? [] : plain.problems
}

/** The problem with the value that came in place of a normalized one. */
function restoreGivenValue(problem: Problem, { given, normalized }: Reading): Problem {
  const [came, told] = [valueAt(given, problem.path), valueAt(normalized, problem.path)]
  if (came === undefined || Object.is(came, told)) return problem
  const message = problem.message.replace(
    `, got ${previewOf(told)}`,
    () => `, got ${previewOf(came)}`,
  )
  return { ...problem, message, received: receivedOf(came) }
}

/** A missing field with the dropped one that is nearly its name. */
function addMisspelling(problem: Problem, { given, normalized }: Reading): Problem {
  if (problem.message !== 'is required') return problem
  const end = problem.path.lastIndexOf('/')
  const [came, kept] = [given, normalized].map((value) =>
    valueAt(value, problem.path.slice(0, end)),
  )
  if (!isJsonObject(came) || !isJsonObject(kept)) return problem
  const name = problem.path.slice(end + 1)
  const dropped = Object.keys(came).filter((key) => !Object.hasOwn(kept, key))
  // Of a short name, nearly every other one is a slip.
  if (name.length < 3) return problem
  const slip = dropped.find((key) => suggest(key, [name]) !== undefined)
  if (slip === undefined) return problem
  return { ...problem, message: `is required (${JSON.stringify(slip)} is not a known field)` }
}
