/** Keywords that judge a value without other schemas: types, bounds, fixed values, patterns, formats. */
import Format from 'typebox/format'
import Guard from 'typebox/guard'

import { isJsonObject } from '../schema-node.ts'
import { areDifferent, isDeepEqual, isScalarValue } from './equality.ts'
import { toPattern } from './pattern.ts'
import { isTextList, type Build, type Node, type PartRule } from './part.ts'
import type { CheckRun } from './check-run.ts'

/** Returns the rules of the keywords that a schema has. */
export function buildAssertions(schema: Node, build: Build): readonly PartRule[] {
  const rules: (PartRule | undefined)[] = [
    buildTypes(schema['type']),
    Object.hasOwn(schema, 'const') ? buildChoice([schema['const']]) : undefined,
    Array.isArray(schema['enum']) ? buildChoice(schema['enum']) : undefined,
    buildRequired(schema['required']),
    buildDependentRequired(schema['dependentRequired']),
    ...buildSizes(schema),
    ...buildTexts(schema, build),
    ...buildBounds(schema),
    schema['uniqueItems'] === true
      ? (value, run) => !Array.isArray(value) || areDifferent(value, run)
      : undefined,
    buildRefinements(schema['~refine']),
  ]
  return rules.filter((rule) => rule !== undefined)
}

type Test = (value: unknown) => boolean

const TYPES: Readonly<Record<string, Test>> = {
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  object: isJsonObject,
  array: Array.isArray,
  number: Number.isFinite,
  integer: Number.isInteger,
  bigint: (value) => typeof value === 'bigint',
  constructor: Guard.IsConstructor,
  function: (value) => typeof value === 'function',
  symbol: (value) => typeof value === 'symbol',
  undefined: (value) => value === undefined,
  void: (value) => value === undefined,
}

function buildTypes(type: unknown): PartRule | undefined {
  if (typeof type === 'string') return Object.hasOwn(TYPES, type) ? TYPES[type] : undefined
  if (!isTextList(type)) return undefined
  const tests = type.map((name) => (Object.hasOwn(TYPES, name) ? TYPES[name] : undefined))
  if (tests.includes(undefined)) return undefined
  return (value) => tests.some((test) => test?.(value))
}

/** Builds the rule of fixed values: scalars are found in a set, so that their number does not matter. */
function buildChoice(values: readonly unknown[]): PartRule {
  const scalars = new Set(values.filter(isScalarValue))
  const others = values.filter((value) => !isScalarValue(value))
  return (value, run) => {
    // A set equates NaN with itself.
    if (scalars.has(value)) return true
    return !isScalarValue(value) && others.some((other) => isDeepEqual(value, other, run))
  }
}

function buildRequired(names: unknown): PartRule | undefined {
  if (!isTextList(names) || names.length === 0) return undefined
  return (value, run) => !isJsonObject(value) || hasAll(value, names, run)
}

function hasAll(value: object, names: readonly string[], run: CheckRun): boolean {
  run.spend(names.length / NAMES_PER_STEP)
  for (const name of names) if (!Object.hasOwn(value, name)) return false
  return true
}

/** Number of fields that are looked up in the time of a step. */
const NAMES_PER_STEP = 4

function buildDependentRequired(names: unknown): PartRule | undefined {
  if (!isJsonObject(names)) return undefined
  const entries = Object.entries(names)
  if (!entries.every((entry): entry is [string, readonly string[]] => isTextList(entry[1]))) {
    return undefined
  }
  return (value, run) => {
    if (!isJsonObject(value)) return true
    run.spend(entries.length)
    return entries.every(
      ([key, needed]) => !Object.hasOwn(value, key) || hasAll(value, needed, run),
    )
  }
}

function buildSizes(schema: Node): readonly (PartRule | undefined)[] {
  const count = (value: object, run: CheckRun): number => {
    const { length } = Object.keys(value)
    run.spend(length)
    return length
  }
  return [
    withNumber(
      schema['minItems'],
      (least) => (value) => !Array.isArray(value) || value.length >= least,
    ),
    withNumber(
      schema['maxItems'],
      (most) => (value) => !Array.isArray(value) || value.length <= most,
    ),
    withNumber(
      schema['minProperties'],
      (least) => (value, run) => !isJsonObject(value) || count(value, run) >= least,
    ),
    withNumber(
      schema['maxProperties'],
      (most) => (value, run) => !isJsonObject(value) || count(value, run) <= most,
    ),
  ]
}

function withNumber(limit: unknown, build: (limit: number) => PartRule): PartRule | undefined {
  return typeof limit === 'number' && Number.isFinite(limit) ? build(limit) : undefined
}

/** Number of characters that are counted, or read by a format, in the time of a step. */
const CHARACTERS_PER_STEP = 16

function buildTexts(schema: Node, build: Build): readonly (PartRule | undefined)[] {
  const { pattern, format } = schema
  const onText =
    (test: (text: string) => boolean): PartRule =>
    (value, run) => {
      if (typeof value !== 'string') return true
      run.spend(value.length / CHARACTERS_PER_STEP)
      return test(value)
    }
  return [
    withNumber(schema['minLength'], (least) => onText((text) => Guard.IsMinLength(text, least))),
    withNumber(schema['maxLength'], (most) => onText((text) => Guard.IsMaxLength(text, most))),
    typeof format === 'string' ? buildFormat(format) : undefined,
    buildPattern(pattern, build),
  ]
}

/** Number of steps that reading a character takes, by format. All others read sixteen characters in a step. */
const STEPS_PER_CHARACTER: Readonly<Record<string, number>> = { regex: 20 }

function buildFormat(format: string): PartRule {
  const steps = STEPS_PER_CHARACTER[format] ?? 1 / CHARACTERS_PER_STEP
  return (value, run) => {
    if (typeof value !== 'string') return true
    run.spend(value.length * steps)
    return Format.Test(format, value)
  }
}

function buildPattern(source: unknown, { patterns }: Build): PartRule | undefined {
  if (typeof source !== 'string' && !(source instanceof RegExp)) return undefined
  const pattern = typeof source === 'string' ? patterns(source) : toPattern(source)
  return (value, run) => typeof value !== 'string' || pattern.test(value, run)
}

type Numeric = number | bigint

function isNumeric(value: unknown): value is Numeric {
  return Number.isFinite(value) || typeof value === 'bigint'
}

function buildBounds(schema: Node): readonly (PartRule | undefined)[] {
  const bound = (
    keyword: string,
    holds: (value: Numeric, limit: Numeric) => boolean,
  ): PartRule | undefined => {
    const limit = schema[keyword]
    return isNumeric(limit) ? (value) => !isNumeric(value) || holds(value, limit) : undefined
  }
  return [
    bound('minimum', (value, limit) => value >= limit),
    bound('maximum', (value, limit) => value <= limit),
    bound('exclusiveMinimum', (value, limit) => value > limit),
    bound('exclusiveMaximum', (value, limit) => value < limit),
    bound('multipleOf', (value, limit) => Guard.IsMultipleOf(value, limit)),
  ]
}

/** Builds the rule of the functions that TypeBox adds to a schema. */
function buildRefinements(refinements: unknown): PartRule | undefined {
  if (!Array.isArray(refinements)) return undefined
  const list: readonly { check(value: unknown): boolean }[] = refinements
  return (value) => list.every((refinement) => refinement.check(value))
}
