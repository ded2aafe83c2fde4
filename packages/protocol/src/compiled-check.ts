/**
 * One validator per schema, made when it is first needed and kept as long as the schema lives.
 *
 * A compiled validator is code made from text. Pages may have a policy that forbids it (no `unsafe-eval`),
 * and even trying is told to their console and to whoever collects violations; so nothing is tried in a page,
 * where functions that call each other take its place, or TypeBox interprets the schema.
 */
import { Check as checkByInterpreting, Compile } from 'typebox/schema'
import { Settings } from 'typebox/system'

import { createClosureCheck } from './closure-check.ts'
import { isJsonObject } from './problems/schema-node.ts'

/** A validator: true when the value fits. Can throw `RangeError` on a value nested beyond the stack. */
export type Check = (value: unknown) => boolean

/** Schemas by the `$ref` that means them, for a schema taken out of its document. */
export type References = Readonly<Record<string, object | boolean>>

const checks = new WeakMap<object, Check>()

/** The validator of a schema; the same one for the same schema object. */
export function compiledCheck(schema: object): Check {
  let check = checks.get(schema)
  if (check === undefined) {
    check = compileCheck(schema)
    checks.set(schema, check)
  }
  return check
}

/**
 * A new validator of a schema. A `$ref` that is a key of `references` means the schema there, any
 * other one is looked for in the schema itself.
 *
 * @throws {SyntaxError} when a pattern is not a regular expression.
 */
export function compileCheck(schema: object, references: References = {}): Check {
  const check =
    (mayCompile() ? compileWithCode(schema, references) : createClosureCheck(schema)) ?? interpreted
  // A validator that interprets keeps what it knows of `unevaluated…` from one value to the next.
  function interpreted(value: unknown): boolean {
    return checkByInterpreting(references, schema, value)
  }
  if (!namesInherited(schema) && !Object.values(references).some(namesInherited)) {
    return check
  }
  return (value) => check(removePrototypes(value))
}

/** Whether code may be made from text here: in programs, unless they say otherwise, and never in a page. */
function mayCompile(): boolean {
  return Settings.Get().useAcceleration && typeof document === 'undefined'
}

function compileWithCode(schema: object, references: References): Check | undefined {
  const validator = Compile(references, schema)
  return validator.IsAccelerated() ? (value) => validator.Check(value) : undefined
}

const inheriting = new WeakMap<object, boolean>()

/**
 * Whether a schema speaks of a field that every object inherits, such as `toString`: TypeBox takes
 * the inherited one for given.
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

/** The value with objects that inherit nothing, of the same fields. */
function removePrototypes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(removePrototypes)
  if (!isJsonObject(value)) return value
  const entries = Object.entries(value).map(([key, part]) => [key, removePrototypes(part)])
  return Object.assign(Object.create(null), Object.fromEntries(entries))
}
