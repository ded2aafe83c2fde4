/**
 * Messages for single errors of TypeBox's checker, with the expected and the actual value.
 *
 * This module does not decide what is valid: `describe-problems.ts` finds the errors. A message follows a path, so it begins
 * in lower case ("must be …"), has no full stop, quotes values, and states the expected and the actual value.
 */
import type { TValidationError } from 'typebox/error'
import type { Problem } from '../schemas/problem.ts'
import {
  describeExpected,
  describeFormat,
  listChoices,
  describePattern,
  describeTypes,
} from './expected.ts'
import { pointer } from '../json-pointer.ts'
import { previewOf, receivedOf } from './preview.ts'
import { ownValue, type SchemaNode } from '../schema-node.ts'
import { suggest } from './suggest.ts'

/** Location of a problem: its JSON pointer, its value and its schema. */
export interface ProblemLocation {
  readonly path: string
  readonly value: unknown
  readonly schema: SchemaNode
}

/** Returns the problems of one error: one, or one for each field that it names. */
export function describeProblem(error: TValidationError, location: ProblemLocation): Problem[] {
  switch (error.keyword) {
    case 'required':
      return takeFirst(error.params.requiredProperties).map((key) => describeMissing(key, location))
    case 'additionalProperties':
      return takeFirst(error.params.additionalProperties).map((key) =>
        describeUnknown(key, location),
      )
    case 'unevaluatedProperties':
      return takeFirst(error.params.unevaluatedProperties).map((key) =>
        describeUnknown(String(key), location),
      )
    case 'propertyNames':
      return takeFirst(error.params.propertyNames).map((key) =>
        makeProblem(fieldLocation(location, key), 'has a name that is not allowed'),
      )
    case 'dependentRequired':
    case 'dependencies':
      return [
        makeMismatch(
          location,
          `have ${quoteAll(error.params.dependencies)} when it has "${error.params.property}"`,
        ),
      ]
    case '~refine':
      return [makeProblem(location, error.params.message)]
    default:
      return [makeMismatch(location, describeDemand(error))]
  }
}

/** Maximum number of fields that one error lists: a value with a million unknown fields has one such error. */
const MAX_FIELDS = 100

function takeFirst<T>(fields: readonly T[]): readonly T[] {
  return fields.slice(0, MAX_FIELDS)
}

/** Message of a missing required field. */
export const IS_REQUIRED = 'is required'

/** Describes a missing required field; the path is that of the field. */
export function describeMissing(key: string, location: ProblemLocation): Problem {
  const schema = ownValue(location.schema.properties ?? {}, key)
  const path = pointer(location.path, key)
  return schema === undefined
    ? { path, message: IS_REQUIRED }
    : { path, message: IS_REQUIRED, expected: describeExpected(schema) }
}

/** Describes a field that a closed object does not have, and suggests a known one. */
export function describeUnknown(key: string, location: ProblemLocation): Problem {
  const known = Object.keys(location.schema.properties ?? {})
  const meant = suggest(key, known)
  const hint = meant === undefined ? '' : `; did you mean ${JSON.stringify(meant)}?`
  const message = `is not a known field${hint}`
  return makeProblem(
    fieldLocation(location, key),
    message,
    known.length === 0 ? undefined : listChoices(known),
  )
}

/** Describes a value that is not one of the fixed ones, and suggests one. */
export function describeBadChoice(values: readonly unknown[], location: ProblemLocation): Problem {
  const words = values.filter((value) => typeof value === 'string')
  const meant = typeof location.value === 'string' ? suggest(location.value, words) : undefined
  const problem = makeMismatch(location, `be ${listChoices(values)}`)
  if (meant === undefined || words.length < 2) return problem
  return { ...problem, message: `${problem.message}; did you mean ${JSON.stringify(meant)}?` }
}

/** Returns a problem with the message `must be <wanted>, got <value>`. */
export function describeMismatch(wanted: string, location: ProblemLocation): Problem {
  return makeMismatch(location, `be ${wanted}`)
}

/** Returns a problem with a custom message and the received value. */
export function makeProblem(
  location: Omit<ProblemLocation, 'schema'>,
  message: string,
  expected?: string,
): Problem {
  const received = receivedOf(location.value)
  return expected === undefined
    ? { path: location.path, message, received }
    : { path: location.path, message, expected, received }
}

function makeMismatch(location: ProblemLocation, demand: string): Problem {
  const message = `must ${demand}, got ${previewOf(location.value)}`
  return makeProblem(location, message, demand.replace(/^(?:be|have) /, ''))
}

function fieldLocation(location: ProblemLocation, key: string): Omit<ProblemLocation, 'schema'> {
  const parent = location.value
  const value: unknown =
    typeof parent === 'object' && parent !== null ? Reflect.get(parent, key) : undefined
  return { path: pointer(location.path, key), value }
}

/** Describes the requirement on the value, for a message after "must". */
function describeDemand(error: TValidationError): string {
  switch (error.keyword) {
    case 'type':
      return `be ${describeTypes(error.params)}`
    case 'const':
      return `be ${previewOf(error.params.allowedValue)}`
    case 'enum':
      return `be ${listChoices(error.params.allowedValues)}`
    case 'format':
      return `be ${describeFormat(error.params.format)}`
    case 'pattern':
      return `be ${describePattern(getPatternSource(error.params.pattern))}`
    case 'multipleOf':
      return `be a multiple of ${error.params.multipleOf}`
    case 'minimum':
    case 'maximum':
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
      return `be ${error.params.comparison} ${error.params.limit}`
    default:
      return describeSizeDemand(error)
  }
}

function describeSizeDemand(error: TValidationError): string {
  switch (error.keyword) {
    case 'minLength':
      return `have at least ${formatCount(error.params.limit, 'character')}`
    case 'maxLength':
      return `have at most ${formatCount(error.params.limit, 'character')}`
    case 'minItems':
      return `have at least ${formatCount(error.params.limit, 'item')}`
    case 'maxItems':
      return `have at most ${formatCount(error.params.limit, 'item')}`
    case 'minProperties':
      return `have at least ${formatCount(error.params.limit, 'field')}`
    case 'maxProperties':
      return `have at most ${formatCount(error.params.limit, 'field')}`
    case 'contains':
      return `contain at least ${formatCount(error.params.minContains, 'matching item')}`
    case 'uniqueItems':
      return 'not have the same item twice'
    case 'oneOf':
      return 'be valid for exactly one alternative'
    case 'not':
      return 'not match the excluded schema'
    default:
      return 'match its schema'
  }
}

function getPatternSource(pattern: string | RegExp): string {
  return typeof pattern === 'string' ? pattern : pattern.source
}

function quoteAll(words: readonly string[]): string {
  return words.map((word) => JSON.stringify(word)).join(', ')
}

function formatCount(limit: number, unit: string): string {
  return `${limit} ${unit}${limit === 1 ? '' : 's'}`
}
