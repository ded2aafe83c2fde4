/**
 * The words for one error of TypeBox's checker: the wanted and the given value, where they are.
 *
 * Pure, and without any rule of what is valid: `describe-problems.ts` finds what to describe. Form of
 * a message: it follows a path, so it begins in lower case ("must be …"), has no full stop, quotes
 * values, and says what was wanted and what came.
 */
import type { TValidationError } from 'typebox/error'
import type { Problem } from '../schemas/problem.ts'
import { expectedOf, formatWords, oneOf, patternWords, typeWords } from './expected.ts'
import { pointer } from './json-pointer.ts'
import { previewOf, receivedOf } from './preview.ts'
import { ownValue, type SchemaNode } from './schema-node.ts'
import { suggest } from './suggest.ts'

/** Where something is wrong: its JSON pointer, the value there, and the schema it was held against. */
export interface ProblemPlace {
  readonly path: string
  readonly value: unknown
  readonly schema: SchemaNode
}

/** The problems behind one error: one, or one for each of the fields that it names. */
export function describeProblem(error: TValidationError, place: ProblemPlace): Problem[] {
  switch (error.keyword) {
    case 'required':
      return first(error.params.requiredProperties).map((key) => describeMissing(key, place))
    case 'additionalProperties':
      return first(error.params.additionalProperties).map((key) => describeUnknown(key, place))
    case 'unevaluatedProperties':
      return first(error.params.unevaluatedProperties).map((key) =>
        describeUnknown(String(key), place),
      )
    case 'propertyNames':
      return first(error.params.propertyNames).map((key) =>
        problemAt(field(place, key), 'has a name that is not allowed'),
      )
    case 'dependentRequired':
    case 'dependencies':
      return [
        mismatch(
          place,
          `have ${quoted(error.params.dependencies)} when it has "${error.params.property}"`,
        ),
      ]
    case '~refine':
      return [problemAt(place, error.params.message)]
    default:
      return [mismatch(place, demandOf(error))]
  }
}

/** Maximum number of fields that one error names: a value with a million unknown fields has one such error. */
const MAX_FIELDS = 100

function first<T>(fields: readonly T[]): readonly T[] {
  return fields.slice(0, MAX_FIELDS)
}

/** The message of a required field that is not there. */
export const IS_REQUIRED = 'is required'

/** A required field that is not there; its path is where it should be. */
export function describeMissing(key: string, place: ProblemPlace): Problem {
  const schema = ownValue(place.schema.properties ?? {}, key)
  const path = pointer(place.path, key)
  return schema === undefined
    ? { path, message: IS_REQUIRED }
    : { path, message: IS_REQUIRED, expected: expectedOf(schema) }
}

/** A field that a closed object does not have, with the known one it may be a slip of. */
export function describeUnknown(key: string, place: ProblemPlace): Problem {
  const known = Object.keys(place.schema.properties ?? {})
  const meant = suggest(key, known)
  const hint = meant === undefined ? '' : `; did you mean ${JSON.stringify(meant)}?`
  const message = `is not a known field${hint}`
  return problemAt(field(place, key), message, known.length === 0 ? undefined : oneOf(known))
}

/** A value that is none of the fixed ones, with the one it may be a slip of. */
export function describeNotOneOf(values: readonly unknown[], place: ProblemPlace): Problem {
  const words = values.filter((value) => typeof value === 'string')
  const meant = typeof place.value === 'string' ? suggest(place.value, words) : undefined
  const problem = mismatch(place, `be ${oneOf(values)}`)
  if (meant === undefined || words.length < 2) return problem
  return { ...problem, message: `${problem.message}; did you mean ${JSON.stringify(meant)}?` }
}

/** `must be <wanted>, got <value>`. */
export function describeMismatch(wanted: string, place: ProblemPlace): Problem {
  return mismatch(place, `be ${wanted}`)
}

/** A problem with a message of its own, carrying what came. */
export function problemAt(
  place: Omit<ProblemPlace, 'schema'>,
  message: string,
  expected?: string,
): Problem {
  const received = receivedOf(place.value)
  return expected === undefined
    ? { path: place.path, message, received }
    : { path: place.path, message, expected, received }
}

function mismatch(place: ProblemPlace, demand: string): Problem {
  const message = `must ${demand}, got ${previewOf(place.value)}`
  return problemAt(place, message, demand.replace(/^(?:be|have) /, ''))
}

function field(place: ProblemPlace, key: string): Omit<ProblemPlace, 'schema'> {
  const parent = place.value
  const value: unknown =
    typeof parent === 'object' && parent !== null ? Reflect.get(parent, key) : undefined
  return { path: pointer(place.path, key), value }
}

/** What the value must do, to go after "must". */
function demandOf(error: TValidationError): string {
  switch (error.keyword) {
    case 'type':
      return `be ${typeWords(error.params)}`
    case 'const':
      return `be ${previewOf(error.params.allowedValue)}`
    case 'enum':
      return `be ${oneOf(error.params.allowedValues)}`
    case 'format':
      return `be ${formatWords(error.params.format)}`
    case 'pattern':
      return `be ${patternWords(patternSource(error.params.pattern))}`
    case 'multipleOf':
      return `be a multiple of ${error.params.multipleOf}`
    case 'minimum':
    case 'maximum':
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
      return `be ${error.params.comparison} ${error.params.limit}`
    default:
      return sizeDemandOf(error)
  }
}

function sizeDemandOf(error: TValidationError): string {
  switch (error.keyword) {
    case 'minLength':
      return `have at least ${count(error.params.limit, 'character')}`
    case 'maxLength':
      return `have at most ${count(error.params.limit, 'character')}`
    case 'minItems':
      return `have at least ${count(error.params.limit, 'item')}`
    case 'maxItems':
      return `have at most ${count(error.params.limit, 'item')}`
    case 'minProperties':
      return `have at least ${count(error.params.limit, 'field')}`
    case 'maxProperties':
      return `have at most ${count(error.params.limit, 'field')}`
    case 'contains':
      return `contain at least ${count(error.params.minContains, 'item')} of the kind asked for`
    case 'uniqueItems':
      return 'not have the same item twice'
    case 'oneOf':
      return 'be of one kind only'
    case 'not':
      return 'not be of the kind that is ruled out'
    default:
      return 'fit its schema'
  }
}

function patternSource(pattern: string | RegExp): string {
  return typeof pattern === 'string' ? pattern : pattern.source
}

function quoted(words: readonly string[]): string {
  return words.map((word) => JSON.stringify(word)).join(', ')
}

function count(limit: number, unit: string): string {
  return `${limit} ${unit}${limit === 1 ? '' : 's'}`
}
