/**
 * Checks of values, one for each schema, created on first use and cached as long as the schema exists.
 *
 * Schemas whose work is bounded by the size of the value become generated code, all others an evaluator that counts its
 * steps (`check/`). Pages can have a policy that forbids generated code (no `unsafe-eval`), and even an attempt is reported
 * to the console and to the collector of violations, so pages always use the evaluator.
 */
import { Compile } from 'typebox/schema'
import { Settings } from 'typebox/system'

import { CheckRun } from './check/check-run.ts'
import { isBounded } from './check/cost.ts'
import { createEvaluator, hasKeyword, type References } from './check/evaluator.ts'
import { isJsonObject } from './schema-node.ts'
import type { PatternEngine } from './check/pattern.ts'

/**
 * Returns whether a value is valid. `run` counts the steps; it is a new one for each value by default.
 *
 * @throws {CheckLimitError} when the run has no steps left.
 * @throws {RangeError} when the value is nested deeper than the stack.
 */
export type Check = (value: unknown, run?: CheckRun) => boolean

export interface CheckOptions {
  /** Schemas by the text of their `$ref`; any other reference leads to a part of the schema itself. */
  readonly references?: References | undefined
  /** Engine of the regular expressions. @default the one of JavaScript */
  readonly patterns?: PatternEngine | undefined
}

const checks = new WeakMap<object, Check>()

/** Returns the check of a schema; the same one for the same schema object. */
export function compiledCheck(schema: object | boolean): Check {
  if (typeof schema === 'boolean') return () => schema
  let check = checks.get(schema)
  if (check === undefined) {
    check = compileCheck(schema)
    checks.set(schema, check)
  }
  return check
}

/** Creates the check of a schema. */
export function compileCheck(schema: object | boolean, options: CheckOptions = {}): Check {
  if (typeof schema === 'boolean') return () => schema
  const { references = {}, patterns } = options
  const bounded = isBounded(schema, references)
  const documents = [schema, ...Object.values(references)]
  const hasPatterns = (): boolean => documents.some((part) => hasKeyword(part, PATTERNS))
  if (bounded && mayCompile() && (patterns === undefined || !hasPatterns())) {
    const check = compileWithCode(schema, references)
    if (check !== undefined) return check
  }
  const evaluator = createEvaluator(schema, { ...options, remember: !bounded })
  return (value, run = new CheckRun()) => evaluator.fits(schema, value, run)
}

const PATTERNS: ReadonlySet<string> = new Set(['pattern', 'patternProperties'])

/** Returns whether code may be generated here: outside of pages, unless TypeBox is configured otherwise. */
function mayCompile(): boolean {
  return Settings.Get().useAcceleration && typeof document === 'undefined'
}

/** Returns the generated code; undefined when there is none, for example because the schema is too large. */
function compileWithCode(schema: object, references: References): Check | undefined {
  try {
    const validator = Compile(references, schema)
    if (!validator.IsAccelerated()) return undefined
    const check = (value: unknown): boolean => validator.Check(value)
    if (!namesInherited(schema) && !Object.values(references).some(namesInherited)) return check
    return (value) => check(removePrototypes(value))
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

const inheriting = new WeakMap<object, boolean>()

/**
 * Whether a schema names a field that every object inherits, such as `toString`: TypeBox treats the inherited one as
 * present.
 */
function namesInherited(part: unknown): boolean {
  if (typeof part === 'string') return part in Object.prototype
  if (typeof part !== 'object' || part === null) return false
  let found = inheriting.get(part)
  if (found === undefined) {
    found = Object.entries(part).some((entry) => entry.some(namesInherited))
    inheriting.set(part, found)
  }
  return found
}

/** Returns a copy of the value whose objects inherit nothing. */
function removePrototypes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(removePrototypes)
  if (!isJsonObject(value)) return value
  const entries = Object.entries(value).map(([key, part]) => [key, removePrototypes(part)])
  return Object.assign(Object.create(null), Object.fromEntries(entries))
}
