/**
 * One validator per schema, compiled when it is first needed and kept as long as the schema lives.
 *
 * Where code may not be made from text (a content security policy without `unsafe-eval`), TypeBox
 * interprets the schema instead; slower, with the same verdicts.
 */
import { Compile } from 'typebox/schema'

/** A validator: true when the value fits. Can throw `RangeError` on a value nested beyond the stack. */
export type Check = (value: unknown) => boolean

const checks = new WeakMap<object, Check>()

/** The validator of a schema; the same one for the same schema object. */
export function compiledCheck(schema: object): Check {
  let check = checks.get(schema)
  if (check === undefined) {
    const validator = Compile(schema)
    check = (value) => validator.Check(value)
    checks.set(schema, check)
  }
  return check
}
