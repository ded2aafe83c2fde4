/**
 * Waits for external events and times, as options of handlers and of tasks.
 *
 * ENS-I1 A wait is a review with the external events that decide it and a time limit. Its first end counts: one of its
 *    events, a person if it has `review`, the time limit, or the end of its task.
 * ENS-I2 A wait without `review` has the kind EVENT, and no inbox and no reviewer gets it. With `review` it is a QUESTION.
 * ENS-I3 The data of an event matches the schema of the wait. Other data is refused, and the wait stays open.
 * ENS-I4 `until` is a time by the clock of the run; a resumed wait ends at the same time. Times can be up to 100 years ahead.
 * ENS-I6 A callback URL sends one event to the run of its handler. It is the same for the same event of an attempt.
 */
import { TuttiError, type Type } from '@tutti/core'
import {
  findOptionProblems,
  type OptionNames,
  type ToolSchema,
  type ValueOf,
} from '@tutti/core/internal'
import { decode } from '@tutti/protocol'
import {
  ExternalEventKey,
  ExternalEventName,
  MAX_AWAITED_EVENTS,
  MAX_DURATION_MS,
  previewOf,
  type AwaitedEvent,
  type Problem,
} from '@tutti/protocol/internal'

import { toOptionText } from './option-text.ts'

/** An external event: its name, or its name with a separate correlation key. */
export type EventToAwait = string | { readonly name: string; readonly key?: string }

/** An event for which a handler asks for a URL. */
export interface CallbackEvent extends Readonly<AwaitedEvent> {
  readonly runId: string
  readonly taskName: string
  readonly attempt: number
}

/** Returns the URL with which a service without a key sends an event to a run, the same for the same event. */
export type CreateCallbackUrl = (event: CallbackEvent) => string | Promise<string>

/** External events of a wait: one, or any of several. */
export type EventsToAwait = EventToAwait | { readonly any: readonly EventToAwait[] }

/** Time limit of a wait: one of the two fields, or none for a wait without a limit. */
export interface WaitLimit {
  /** Maximum time from its opening, in milliseconds, above 0. @default no limit */
  readonly timeoutMs?: number
  /** Time at which it ends: a date, ISO 8601 text, or milliseconds since 1970. @default no limit */
  readonly until?: Date | string | number
}

/** Review of a wait that people may decide too. */
export interface WaitReview {
  /** Question to the reviewer. @default the names of the events */
  readonly prompt?: string
  /** Role that the reviewer must have. */
  readonly requiredRole?: string
}

/** Events' key and data, time limit and reviewers of a wait. */
export interface WaitForOptions<Schema extends ToolSchema = Type.TUnknown> extends WaitLimit {
  /** Correlation key of the events, such as the id of an order, 1 to 200 characters. @default events without a key */
  readonly key?: string
  /** Schema of the event data. @default any JSON */
  readonly schema?: Schema
  /** Lets people answer too, with data that matches the schema. @default only events and the time limit */
  readonly review?: boolean | WaitReview
}

/** Result of a wait. */
export type WaitOutcome<Data = unknown> =
  | {
      readonly arrived: true
      readonly data: Data
      /** Name of the event; absent if a person answered. */
      readonly name?: string
      /** Id of the event; absent if a person answered. */
      readonly eventId?: string
    }
  /** The time limit passed, or a person continued without data. */
  | { readonly arrived: false; readonly timedOut: boolean }

/** Waits for events; see {@link HandlerOperations.waitFor}. */
export type WaitFor = <Schema extends ToolSchema = Type.TUnknown>(
  event: EventsToAwait,
  options?: WaitForOptions<Schema>,
) => Promise<WaitOutcome<ValueOf<Schema>>>

const LIMIT_NAMES = { timeoutMs: true, until: true } as const satisfies OptionNames<WaitLimit>

const WAIT_NAMES = {
  ...LIMIT_NAMES,
  key: true,
  schema: true,
  review: true,
} as const satisfies OptionNames<WaitForOptions>

const REVIEW_NAMES = { prompt: true, requiredRole: true } as const satisfies OptionNames<WaitReview>

/** Returns the events of a wait with their keys. */
export function listAwaitedEvents(
  events: EventsToAwait,
  key: string | undefined,
): readonly AwaitedEvent[] {
  const list = typeof events === 'object' && 'any' in events ? events.any : [events]
  return list.map((event) => {
    const { name, key: own = key } = typeof event === 'string' ? { name: event } : event
    return own === undefined ? { name } : { name, key: own }
  })
}

/** Returns the problems of the events of a wait, one text each. */
export function findAwaitedProblems(events: readonly AwaitedEvent[]): readonly string[] {
  const { length } = events
  const problems: string[] = []
  if (length === 0 || length > MAX_AWAITED_EVENTS) {
    problems.push(`a wait must have 1 to ${MAX_AWAITED_EVENTS} events, got ${length}`)
  }
  for (const { name, key } of events) {
    if (!decode(ExternalEventName, name).ok) {
      problems.push(
        `the name of an event must be 1 to 100 letters, digits, "_", ".", ":" or "-" and start with a letter or digit, got ${previewOf(name)}`,
      )
    }
    if (key !== undefined && !decode(ExternalEventKey, key).ok) {
      problems.push(
        `the key of an event must be 1 to 200 characters without control characters, got ${previewOf(key)}`,
      )
    }
  }
  return problems
}

/** Returns the problems of the options of a wait, one text each. */
export function findWaitProblems(options: WaitForOptions<ToolSchema>): readonly string[] {
  const { review } = options
  return [
    ...findOptionProblems(options, WAIT_NAMES),
    ...findWaitLimitProblems(options).map(toOptionText),
    ...(review === undefined || typeof review === 'boolean'
      ? []
      : typeof review === 'object' && review !== null
        ? findOptionProblems(review, REVIEW_NAMES, 'review')
        : [`review must be true, false or an object, got ${previewOf(review)}`]),
  ]
}

/** Returns the problems of the argument of `sleep`, one text each. */
export function findSleepProblems(limit: WaitLimit): readonly string[] {
  const { timeoutMs, until } = limit
  return [
    ...findOptionProblems(limit, LIMIT_NAMES),
    ...findWaitLimitProblems(limit).map(toOptionText),
    ...(timeoutMs === undefined && until === undefined
      ? ['a sleep needs milliseconds or { until }']
      : []),
  ]
}

/** Returns the problems of the time limit of a wait, with the paths of their options. */
export function findWaitLimitProblems({ timeoutMs, until }: WaitLimit): readonly Problem[] {
  const problems: Problem[] = []
  if (timeoutMs !== undefined && !(timeoutMs > 0 && timeoutMs <= MAX_DURATION_MS)) {
    const message = `must be > 0 and <= ${MAX_DURATION_MS}, got ${previewOf(timeoutMs)}`
    problems.push({ path: '/timeoutMs', message })
  }
  if (until !== undefined && !Number.isFinite(toTime(until))) {
    const message = `must be a date, ISO 8601 text or milliseconds since 1970, got ${previewOf(until)}`
    problems.push({ path: '/until', message })
  }
  if (timeoutMs !== undefined && until !== undefined) {
    problems.push({ path: '/until', message: 'and timeoutMs exclude each other' })
  }
  return problems
}

/** Returns milliseconds since 1970; NaN for another value. */
export function toTime(until: Date | string | number): number {
  return until instanceof Date
    ? until.getTime()
    : typeof until === 'string'
      ? Date.parse(until)
      : until
}

/** Returns the error of a wait with these problems. */
export function invalidWait(what: string, problems: readonly string[]): TuttiError {
  return new TuttiError('CONFIG_INVALID', `${what}: ${problems.join('; ')}`, {
    details: { problems },
  })
}
