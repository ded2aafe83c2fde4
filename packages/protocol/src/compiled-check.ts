/**
 * Validators, one for each schema, created on first use and cached as long as the schema exists.
 *
 * A compiled validator is generated code. Pages can have a policy that forbids it (no `unsafe-eval`), and even an attempt is
 * reported to the console and to the collector of violations. In a page, closures are used instead, or TypeBox interprets
 * the schema.
 */
import { Check as checkByInterpreting, Compile } from 'typebox/schema'
import { Settings } from 'typebox/system'

import { createClosureCheck } from './closure-check.ts'
import { isJsonObject } from './problems/schema-node.ts'

/** Validator: true when the value is valid. Can throw `RangeError` on a value nested deeper than the stack. */
export type Check = (value: unknown) => boolean

/** Schemas by `$ref`, for a schema that was taken out of its document. */
export type References = Readonly<Record<string, object | boolean>>

const checks = new WeakMap<object, Check>()

/** Returns the validator of a schema; the same one for the same schema object. */
export function compiledCheck(schema: object): Check {
  let check = checks.get(schema)
  if (check === undefined) {
    check = compileCheck(schema)
    checks.set(schema, check)
  }
  return check
}

/**
 * Creates a validator of a schema. A `$ref` that is a key of `references` refers to the schema there, any other one to a
 * part of the schema itself.
 *
 * @throws {SyntaxError} when a pattern is not a regular expression.
 */
export function compileCheck(schema: object, references: References = {}): Check {
  const check =
    (mayCompile() ? compileWithCode(schema, references) : createClosureCheck(schema)) ?? interpreted
  // A validator object that interprets would carry state of `unevaluated…` from one value to the next.
  function interpreted(value: unknown): boolean {
    return checkByInterpreting(references, schema, value)
  }
  if (!namesInherited(schema) && !Object.values(references).some(namesInherited)) {
    return check
  }
  return (value) => check(removePrototypes(value))
}

/** Whether code may be generated here: outside of pages, unless TypeBox is configured otherwise. */
function mayCompile(): boolean {
  return Settings.Get().useAcceleration && typeof document === 'undefined'
}

function compileWithCode(schema: object, references: References): Check | undefined {
  const validator = Compile(references, schema)
  return validator.IsAccelerated() ? (value) => validator.Check(value) : undefined
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
