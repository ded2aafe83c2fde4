/**
 * Reader of values by a schema of a library that implements Standard Schema: Zod, Valibot, ArkType.
 *
 * The library validates and transforms, and handles unknown fields and defaults. Only if it rejects a value are values
 * coerced by its JSON Schema, and validated once more.
 *
 * @see https://standardschema.dev and https://standardschema.dev/json-schema
 */
import {
  hasBigInt,
  pointer,
  receivedOf,
  toPlainJson,
  valueAt,
  type Decoded,
  type Problem,
} from '@tutti/protocol/internal'

import { errorMessage } from '../errors.ts'
import { isPromise } from '../is-promise.ts'
import { normalize } from './normalize.ts'
import { createSchemaDocument } from './schema-document.ts'
import { TUTTI_VENDOR } from './schema-source.ts'
import { findObjectFaults, type SchemaUse } from './usable-schema.ts'

import type { StandardToolSchema } from '../tool/tool-schema.ts'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { TSchema } from 'typebox'

type Reading = Decoded<unknown> | Promise<Decoded<unknown>>

/** Whether a schema belongs to a library that implements Standard Schema; some of these are functions. */
export function isStandardSchema(schema: unknown): schema is StandardToolSchema {
  const canHold = typeof schema === 'object' || typeof schema === 'function'
  return canHold && schema !== null && '~standard' in schema
}

/**
 * Returns the JSON Schema of the input as the library gives it.
 *
 * @throws {TypeError} with the reason, when there is none or it does not describe an object where one is required.
 */
export function readJsonSchema(schema: StandardToolSchema, use: SchemaUse): TSchema {
  const jsonSchema = requestJsonSchema(schema['~standard'], use.action)
  const faults = use.ofObject ? findObjectFaults(createSchemaDocument(jsonSchema)) : []
  if (faults.length === 0) return jsonSchema
  throw new TypeError(faults.map(({ message }) => `${use.action} ${message}`).join('; '))
}

/** Creates a reader by the library; values are coerced only with a JSON Schema. */
export function createStandardReader(
  schema: StandardToolSchema,
  coerceBy?: TSchema,
): (value: unknown) => Reading {
  const { validate } = schema['~standard']
  // Schemas of another copy of this package coerce on their own, maybe with another engine of regular expressions.
  const isOwn = schema['~standard'].vendor === TUTTI_VENDOR
  const coerce = coerceBy === undefined || isOwn ? undefined : createCoercion(coerceBy)

  function attempt(value: unknown): Reading {
    try {
      const result = validate(value)
      if (!isThenable(result)) return toDecoded(result, value)
      return Promise.resolve(result).then(
        (settled) => toDecoded(settled, value),
        (error: unknown) => failCheck(error),
      )
    } catch (error) {
      return failCheck(error)
    }
  }

  function askAgain(value: unknown, first: Decoded<unknown>): Reading {
    const other = first.ok || coerce === undefined ? value : coerce(value)
    if (other === value) return first
    const second = attempt(other)
    return isPromise(second)
      ? second.then((late) => (late.ok ? late : first))
      : second.ok
        ? second
        : first
  }

  /** Applies CORE-I1 to CORE-I3: the library gets plain values, unless it accepts the integers as they are. */
  function readIntegers(value: unknown): Reading {
    const coerced = coerce?.(value) ?? value
    const plain = attempt(toPlainJson(coerced))
    const orExact = (settled: Decoded<unknown>): Reading =>
      settled.ok ? settled : attempt(coerced)
    return isPromise(plain) ? plain.then(orExact) : orExact(plain)
  }

  return (value) => {
    if (hasBigInt(value)) return readIntegers(value)
    const first = attempt(value)
    return isPromise(first) ? first.then((late) => askAgain(value, late)) : askAgain(value, first)
  }
}

/** Whether a result is pending; libraries can use their own promise type. */
function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && 'then' in value
}

function requestJsonSchema(standard: StandardToolSchema['~standard'], action: string): TSchema {
  const { jsonSchema, vendor }: Partial<StandardToolSchema['~standard']> = standard
  if (typeof jsonSchema?.input !== 'function') {
    throw new TypeError(
      `${action} is a schema of ${JSON.stringify(vendor)} without JSON Schema: ${describeRemedy(vendor)}`,
    )
  }
  try {
    return jsonSchema.input({ target: 'draft-2020-12' })
  } catch (error) {
    const reason = errorMessage(error)
    throw new TypeError(`${action} cannot be converted to JSON Schema: ${reason}`, { cause: error })
  }
}

function describeRemedy(vendor: unknown): string {
  return vendor === 'valibot'
    ? 'wrap it with toStandardJsonSchema of @valibot/to-json-schema'
    : 'use a version of the library that implements Standard JSON Schema, or write it with Type'
}

/** Returns a function that coerces values by a JSON Schema, and returns a value itself when it cannot be coerced. */
function createCoercion(jsonSchema: TSchema): (value: unknown) => unknown {
  const document = createSchemaDocument(jsonSchema)
  return (value) => {
    if (document.faults.length > 0) return value
    try {
      return normalize(document, value, { coerce: true, fill: false, drop: false, nearest: false })
    } catch {
      // The value is too deep or unreadable: the result of the library stands.
      return value
    }
  }
}

function toDecoded(result: StandardSchemaV1.Result<unknown>, value: unknown): Decoded<unknown> {
  if (result.issues === undefined) return { ok: true, value: result.value }
  const problems = result.issues.map((issue) => toProblem(issue, value))
  return { ok: false, problems: problems.length > 0 ? problems : [UNEXPLAINED] }
}

const UNEXPLAINED: Problem = { path: '', message: 'does not match its schema' }

function toProblem({ message, path = [] }: StandardSchemaV1.Issue, value: unknown): Problem {
  const keys = path.map((segment) => (typeof segment === 'object' ? segment.key : segment))
  const location = keys.map((key) => pointer('', String(key))).join('')
  const given = valueAt(value, location)
  if (given === undefined) return { path: location, message }
  const shown = typeof given === 'bigint' ? `${message}, got ${given}` : message
  return { path: location, message: shown, received: receivedOf(given) }
}

function failCheck(error: unknown): Decoded<unknown> {
  return {
    ok: false,
    problems: [{ path: '', message: `cannot be checked: ${errorMessage(error)}` }],
  }
}
