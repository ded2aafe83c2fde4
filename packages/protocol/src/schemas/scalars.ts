/**
 * Scalar values shared by all schemas.
 *
 * They are built once, so that an instant or a duration has one definition. The package does not export them.
 */
import Type from 'typebox'
import { MAX_COST_USD, MAX_COUNT, MAX_DURATION_MS, MAX_TIME_MS } from '../limits.ts'
import { RUN_STATUS_LIST, RunStatus } from './enums.ts'

import type { Static } from '../static.ts'

/** Point in time: RFC 3339 date-time such as `2025-03-15T10:30:00Z`; the server always writes UTC. */
export const Instant = Type.String({ format: 'date-time' })

/** Integer of at least 0 that the server counts, such as a position or a sum. */
export const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

/** Integer of at least 1 that the server counts. */
export const PositiveCount = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

/** Limit that a client chooses: an integer from 0 to {@link MAX_COUNT}. */
export const Limit = Type.Integer({ minimum: 0, maximum: MAX_COUNT })

/** Limit that a client chooses: an integer from 1 to {@link MAX_COUNT}. */
export const PositiveLimit = Type.Integer({ minimum: 1, maximum: MAX_COUNT })

/** Limit in characters: an integer from 0 to {@link MAX_COUNT}, or -1 for no limit. */
export const LengthLimit = Type.Integer({ minimum: -1, maximum: MAX_COUNT })

/** Position in a log; a negative number counts from its end. */
export const LogPosition = Type.Integer({ minimum: -MAX_COUNT, maximum: MAX_COUNT })

/** Duration in whole milliseconds, up to 100 years. */
export const DurationMs = Type.Integer({ minimum: 0, maximum: MAX_DURATION_MS })

/** Duration in whole milliseconds above 0, up to 100 years. */
export const WorkingTimeMs = Type.Integer({ minimum: 1, maximum: MAX_DURATION_MS })

/** Point in time in milliseconds since 1970. */
export const TimeMs = Type.Integer({ minimum: 0, maximum: MAX_TIME_MS })

/** Number of tokens; -1 when the provider reports none. */
export const TokenCount = Type.Integer({ minimum: -1, maximum: Number.MAX_SAFE_INTEGER })

/** Difference of two counts or durations. */
export const Difference = Type.Integer({
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
})

/** Estimated cost in US dollars, by the prices that the server knows. */
export const CostUsd = Type.Number({ minimum: 0, maximum: Number.MAX_VALUE })

/** Limit on a cost that a client chooses, in US dollars. */
export const CostLimit = Type.Number({ exclusiveMinimum: 0, maximum: MAX_COST_USD })

const NON_BLANK = '\\S'
// `compare` is a segment of the path `/api/runs/compare`.
const RUN_ID = '^(?!compare$)[A-Za-z0-9][A-Za-z0-9_-]{0,127}$'
const IDEMPOTENCY_KEY = '^[!-~]{1,255}$'
const EXTERNAL_EVENT_NAME = '^[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}$'
const EXTERNAL_EVENT_KEY = '^[^\\p{Cc}\\p{Cs}]{1,200}$'
const LIST_CURSOR = '^[1-9][0-9]{0,14}$'
const TASK_REFERENCE = '^\\$.'
const ISO_DURATION =
  '^P(?=[0-9T])(?:\\d+Y)?(?:\\d+M)?(?:\\d+W)?(?:\\d+D)?(?:T(?=\\d)(?:\\d+H)?(?:\\d+M)?(?:\\d+(?:\\.\\d+)?S)?)?$'

/** Descriptions of the patterns of this package, for validation messages. */
export const PATTERN_MEANINGS: ReadonlyMap<string, string> = new Map([
  [NON_BLANK, 'text that is not blank'],
  [
    RUN_ID,
    'an id of 1 to 128 letters, digits, "_" or "-" that starts with a letter or digit and is not "compare"',
  ],
  [IDEMPOTENCY_KEY, '1 to 255 visible ASCII characters'],
  [
    EXTERNAL_EVENT_NAME,
    'a name of 1 to 100 letters, digits, "_", ".", ":" or "-" that starts with a letter or digit',
  ],
  [EXTERNAL_EVENT_KEY, '1 to 200 characters without control characters'],
  [TASK_REFERENCE, 'a task reference such as "$researcher" or "$0"'],
  [ISO_DURATION, 'an ISO-8601 duration such as "PT30S"'],
  [
    RUN_STATUS_LIST,
    `one of ${RunStatus.enum.map((status) => JSON.stringify(status)).join(', ')}, or several separated by commas`,
  ],
])

/** Text with at least one character that is not white space. */
export const NonBlank = Type.String({ pattern: NON_BLANK })

/** Maximum length of a fairness key, in characters. */
export const MAX_FAIRNESS_KEY_LENGTH = 200

/** Key by which waiting runs take turns. */
export const FairnessKey = Type.String({
  pattern: NON_BLANK,
  maxLength: MAX_FAIRNESS_KEY_LENGTH,
})

/**
 * Id of a message, chosen by the client and repeated in the reply. Its length is limited because the reply repeats it.
 */
export const RequestId = Type.String({ pattern: NON_BLANK, maxLength: 200 })

/** Id of a run or a thread, chosen by the server (`run-7f3a2b`) or by the client; safe in paths and file names. */
export const RunId = Type.String({ pattern: RUN_ID })

/** Title of something, for people. */
export const Title = Type.String({ pattern: NON_BLANK, maxLength: 500 })

/** Position in a list, as a page returned it. */
export const ListCursor = Type.String({ pattern: LIST_CURSOR })

/** Key that identifies a submission: visible ASCII, so that it fits into a header unchanged. */
export const IdempotencyKey = Type.String({ pattern: IDEMPOTENCY_KEY })

/** Name of an external event. */
export const ExternalEventName = Type.String({ pattern: EXTERNAL_EVENT_NAME })

/** Correlation key of an external event, such as the id of an order. */
export const ExternalEventKey = Type.String({ pattern: EXTERNAL_EVENT_KEY })

/** Reference to another task: `$name`, or `$0` for its position in the list. */
export const TaskReference = Type.String({ pattern: TASK_REFERENCE })

/**
 * ISO-8601 duration such as `PT1.234S`. A pattern is used because the format `duration` does not allow fractions of a
 * second, which Java writes.
 */
export const IsoDuration = Type.String({ pattern: ISO_DURATION })

/** Text or null, for keys that are always present. */
export const NullableText = Type.Union([Type.String(), Type.Null()])

/** Schema option that rejects unknown keys; used for everything that a client sends. */
export const CLOSED = { additionalProperties: false } as const

/** Any JSON object, such as a JSON Schema or the input of a tool. */
export const JsonObject = mapOf(Type.Unknown())

/** Value of a tag. Filters compare its text form, so `n:5` matches 5 and "5". */
export const TagValue = Type.Union([
  Type.String(),
  Type.Number({ minimum: -Number.MAX_VALUE, maximum: Number.MAX_VALUE }),
  Type.Boolean(),
])
export type TagValue = Static<typeof TagValue>

/** Tags of a run by name. */
export const TagMap = mapOf(TagValue)
export type TagMap = Static<typeof TagMap>

/** Object with string values. */
export const StringMap = mapOf(Type.String())

/**
 * Returns the schema of an object with any keys and values of one schema. It replaces the record of TypeBox, whose key
 * pattern `^.*$` does not check values under keys with a line break.
 */
export function mapOf<S extends Type.TSchema>(
  values: S,
  options: Type.TObjectOptions = {},
): Type.TUnsafe<Record<string, Static<S>>> {
  return Type.Unsafe({ type: 'object', additionalProperties: values, ...options })
}

/** Returns an object option: when `field` has `value`, the field `required` must be present. */
export function requiredWhen(field: string, value: string, required: string): Type.TObjectOptions {
  return {
    if: Type.Object({ [field]: Type.Literal(value) }),
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema, never awaited
    then: Type.Object({ [required]: Type.Unknown() }),
  }
}
