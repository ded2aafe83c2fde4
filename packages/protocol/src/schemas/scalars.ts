/**
 * The small values that every message is made of.
 *
 * Built once and shared, so that "an instant" or "a number of milliseconds" means the same in each
 * schema. Not part of the public door: a reader meets them as fields of the shapes that are.
 */
import Type from 'typebox'
import { RUN_STATUS_LIST, RunStatus } from './enums.ts'

/** A point in time: RFC 3339 date-time such as `2025-03-15T10:30:00Z`; the server always writes UTC. */
export const Instant = Type.String({ format: 'date-time' })

/** A whole number from 0 up: counts, and indexes where 0 is a value. */
export const Count = Type.Integer({ minimum: 0 })

/** A whole number from 1 up. */
export const PositiveCount = Type.Integer({ minimum: 1 })

/** A length of time in whole milliseconds. */
export const DurationMs = Type.Integer({ minimum: 0 })

/** A number of tokens; -1 when the provider gave none (AgentEnsemble's convention). */
export const TokenCount = Type.Integer({ minimum: -1 })

/** An estimated cost in US dollars, by the prices the server knows. */
export const CostUsd = Type.Number({ minimum: 0 })

const NON_BLANK = '\\S'
const RUN_ID = '^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$'
const IDEMPOTENCY_KEY = '^[!-~]{1,255}$'
const TASK_REFERENCE = '^\\$.'
const ISO_DURATION =
  '^P(?=[0-9T])(?:\\d+Y)?(?:\\d+M)?(?:\\d+W)?(?:\\d+D)?(?:T(?=\\d)(?:\\d+H)?(?:\\d+M)?(?:\\d+(?:\\.\\d+)?S)?)?$'

/** What the patterns of this package ask for, in words; `describeProblem` says them to the reader. */
export const PATTERN_MEANINGS: ReadonlyMap<string, string> = new Map([
  [NON_BLANK, 'text that is not blank'],
  [RUN_ID, 'a run id of 1 to 128 letters, digits, "_" or "-" that starts with a letter or digit'],
  [IDEMPOTENCY_KEY, '1 to 255 visible ASCII characters'],
  [TASK_REFERENCE, 'a task reference such as "$researcher" or "$0"'],
  [ISO_DURATION, 'an ISO-8601 duration such as "PT30S"'],
  [
    RUN_STATUS_LIST,
    `one of ${RunStatus.enum.map((status) => JSON.stringify(status)).join(', ')}, or several with commas between them`,
  ],
])

/** Text with at least one character that is not white space. */
export const NonBlank = Type.String({ pattern: NON_BLANK })

/**
 * Id that a client gives to a message and gets back in the reply. Limited, because a reply must not grow with
 * what it repeats.
 */
export const RequestId = Type.String({ pattern: NON_BLANK, maxLength: 200 })

/** A run's id, chosen by the server (`run-7f3a2b`) or by the client; safe in paths and file names. */
export const RunId = Type.String({ pattern: RUN_ID })

/** What a client calls one submission: visible ASCII, so that it fits into a header as it is. */
export const IdempotencyKey = Type.String({ pattern: IDEMPOTENCY_KEY })

/** One task named by another: `$name`, or `$0` by its place in the list. Control API seed §4.1. */
export const TaskReference = Type.String({ pattern: TASK_REFERENCE })

/**
 * An ISO-8601 duration such as `PT1.234S`. A pattern and not the format `duration`, which has no
 * fractions of a second while Java writes them.
 */
export const IsoDuration = Type.String({ pattern: ISO_DURATION })

/** Text or JSON null: the reference's `|null`, where the key is always present. */
export const NullableText = Type.Union([Type.String(), Type.Null()])

/** An object that refuses keys it does not know; for everything a client sends. */
export const CLOSED = { additionalProperties: false } as const

/** Any JSON object, such as a JSON Schema or a tool's input. */
export const JsonObject = mapOf(Type.Unknown())

/** The value of a tag: text, a number or a boolean. Filters compare its text form, so that `n:5` finds 5 and "5". */
export const TagValue = Type.Union([Type.String(), Type.Number(), Type.Boolean()])
export type TagValue = Type.Static<typeof TagValue>

/** Tags of a run by name. */
export const TagMap = mapOf(TagValue)
export type TagMap = Type.Static<typeof TagMap>

/** An object from names to strings. */
export const StringMap = mapOf(Type.String())

/**
 * An object from any names to values of one schema. Used in place of a TypeBox record, whose key
 * pattern `^.*$` leaves the values under keys with a line break unchecked.
 */
export function mapOf<S extends Type.TSchema>(
  values: S,
  options: Type.TObjectOptions = {},
): Type.TUnsafe<Record<string, Type.Static<S>>> {
  return Type.Unsafe({ type: 'object', additionalProperties: values, ...options })
}

/** An object option: when a field has this value, another field must be there too. */
export function requiredWhen(field: string, value: string, required: string): Type.TObjectOptions {
  return {
    if: Type.Object({ [field]: Type.Literal(value) }),
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema, never awaited
    then: Type.Object({ [required]: Type.Unknown() }),
  }
}
