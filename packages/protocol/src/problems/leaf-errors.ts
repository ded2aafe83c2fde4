/** Errors of the keywords that apply to a location itself, in the form of TypeBox's checker. */
import { isJsonObject, type Schema, type SchemaNode } from '../schema-node.ts'
import type { TValidationError } from 'typebox/error'

/** Returns whether a value matches a schema. */
type Fits = (schema: Schema, value: unknown) => boolean

const singles = new WeakMap<SchemaNode, readonly (readonly [string, SchemaNode])[]>()

/** Keywords that modify another one. */
const MODIFIERS: Readonly<Record<string, readonly string[]>> = {
  contains: ['minContains', 'maxContains'],
}

/** Returns the error of each keyword that the value does not match. */
export function findLeafErrors(
  leaf: SchemaNode,
  value: unknown,
  fits: Fits,
): readonly TValidationError[] {
  const failed = splitKeywords(leaf).filter(([, single]) => !fits(single, value))
  return failed.flatMap(([keyword, single]) => toErrors(keyword, single, { value, fits }))
}

/** Returns a schema for each keyword. */
function splitKeywords(leaf: SchemaNode): readonly (readonly [string, SchemaNode])[] {
  const known = singles.get(leaf)
  if (known !== undefined) return known
  const modifiers = Object.values(MODIFIERS).flat()
  const keywords = Object.keys(leaf)
    .filter((keyword) => !modifiers.includes(keyword))
    // The problem that shows least of the value comes last.
    .toSorted((a, b) => Number(a === 'uniqueItems') - Number(b === 'uniqueItems'))
  const split = keywords.map((keyword) => {
    const names = [keyword, ...(MODIFIERS[keyword] ?? [])].filter((name) => name in leaf)
    return [
      keyword,
      Object.fromEntries(names.map((name) => [name, Reflect.get(leaf, name)])),
    ] as const
  })
  singles.set(leaf, split)
  return split
}

/** Comparison of a bound with a value that matches it. */
const COMPARISONS: Readonly<Record<string, string>> = {
  minimum: '>=',
  maximum: '<=',
  exclusiveMinimum: '>',
  exclusiveMaximum: '<',
}

/** Keywords whose error has the value of the keyword, under this name. */
const PARAMETERS: Readonly<Record<string, string>> = {
  type: 'type',
  const: 'allowedValue',
  enum: 'allowedValues',
  format: 'format',
  pattern: 'pattern',
  multipleOf: 'multipleOf',
}

function toErrors(
  keyword: string,
  single: SchemaNode,
  { value, fits }: { readonly value: unknown; readonly fits: Fits },
): readonly TValidationError[] {
  const wanted: unknown = Reflect.get(single, keyword)
  switch (keyword) {
    case 'dependentRequired':
    case 'dependencies':
      return toDependencyErrors(wanted, value)
    case '~refine':
      return toRefinementErrors(wanted, value)
    case 'propertyNames':
      return [makeError(keyword, { propertyNames: findBadNames(wanted, value, fits) })]
    case 'contains':
      return [makeError(keyword, { minContains: Reflect.get(single, 'minContains') ?? 1 })]
    default:
      return [makeError(keyword, toParameters(keyword, wanted))]
  }
}

function toParameters(keyword: string, wanted: unknown): object {
  const comparison = COMPARISONS[keyword]
  const name = PARAMETERS[keyword]
  if (comparison !== undefined) return { comparison, limit: wanted }
  return name === undefined ? { limit: wanted } : { [name]: wanted }
}

function makeError(keyword: string, params: object): TValidationError {
  // NOTE: the parameters of each keyword are those of TypeBox.
  return { keyword, schemaPath: '#', instancePath: '', params } as TValidationError
}

function toDependencyErrors(wanted: unknown, value: unknown): readonly TValidationError[] {
  if (!isJsonObject(wanted) || !isJsonObject(value)) return []
  return Object.entries(wanted)
    .filter(
      ([key, names]) =>
        Object.hasOwn(value, key) &&
        Array.isArray(names) &&
        !names.every((name) => Object.hasOwn(value, name)),
    )
    .map(([property, dependencies]) => makeError('dependentRequired', { property, dependencies }))
}

function toRefinementErrors(wanted: unknown, value: unknown): readonly TValidationError[] {
  if (!Array.isArray(wanted)) return []
  const list: readonly { check(value: unknown): boolean; error(value: unknown): string }[] = wanted
  return list
    .filter((refinement) => !refinement.check(value))
    .map((refinement) => makeError('~refine', { message: refinement.error(value) }))
}

function findBadNames(wanted: unknown, value: unknown, fits: Fits): readonly string[] {
  if (!isJsonObject(value)) return []
  // NOTE: the value of this keyword is a schema, as it was not valid otherwise.
  return Object.keys(value).filter((key) => !fits(wanted as Schema, key))
}
