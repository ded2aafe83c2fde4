/** Waits of handlers for external events and times. */
import { TuttiError, Type } from '@tutti/core'
import { schemaReader, type ToolSchema } from '@tutti/core/internal'

import { MAX_DURATION_MS, type AwaitedEvent } from '@tutti/protocol/internal'

import { askReview, readOutcome, toEditCheck, type HandlerReview } from './handler-review.ts'
import {
  findAwaitedProblems,
  findSleepProblems,
  findWaitProblems,
  invalidWait,
  listAwaitedEvents,
  toTime,
  type EventsToAwait,
  type EventToAwait,
  type WaitLimit,
  type WaitForOptions,
  type WaitOutcome,
  type WaitReview,
} from '../definition/wait.ts'

import type { ReviewOutcome } from '../reviews/review-end.ts'
import type { RunTooling } from '../agent/tool-call-options.ts'
import type { TaskScope } from '../scope/task-scope.ts'
import type { OperationFrame } from './operation-frame.ts'

/** Waits for events, or returns the recorded end; see `HandlerOperations.waitFor`. */
export async function waitForEvents(
  frame: OperationFrame,
  events: EventsToAwait,
  { schema = Type.Unknown(), ...options }: WaitForOptions<ToolSchema>,
): Promise<WaitOutcome> {
  const awaited = listAwaitedEvents(events, options.key)
  const problems = [...findAwaitedProblems(awaited), ...findWaitProblems(options)]
  if (problems.length > 0) throw invalidWait('Cannot wait for an event', problems)
  const { jsonSchema, read } = schemaReader(schema, { action: 'Cannot wait for an event: schema' })
  const { review, timeoutMs, until } = options
  const limit = {
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(until === undefined ? {} : { until }),
  }
  const outcome = await openWait(frame, {
    awaited,
    limit,
    jsonSchema,
    review: review === true ? {} : review === false ? undefined : review,
    checkEdit: toEditCheck(read),
  })
  const invalid = `The event for task "${frame.scope.identity.taskName}" has invalid data`
  const reviewed = await readOutcome(frame, outcome, { read, invalid })
  if (!reviewed.isGiven) return { arrived: false, timedOut: reviewed.timedOut }
  const { decision, value: data } = reviewed
  const event = 'input' in decision ? decision.event : undefined
  return {
    arrived: true,
    data,
    ...(event === undefined ? {} : { name: event.name, eventId: event.id }),
  }
}

/** Waits for a time, or returns its recorded end; see `HandlerOperations.sleep`. */
export async function sleepUntil(
  frame: OperationFrame,
  duration: number | { readonly until: Date | string | number },
): Promise<void> {
  // A duration of 0 is a valid sleep; a wait of 0 ms on the wire has no limit.
  const limit =
    typeof duration === 'number' ? { timeoutMs: duration === 0 ? 1 : duration } : duration
  const problems = findSleepProblems(limit)
  if (problems.length > 0) throw invalidWait('Cannot sleep', problems)
  const outcome = await openWait(frame, {
    awaited: [],
    limit,
    jsonSchema: Type.Unknown(),
    review: undefined,
    // Only the time ends a sleep.
    checkEdit: () => Promise.resolve([{ path: '', message: 'is not used by a sleep' }]),
  })
  const read = (value: unknown) => Promise.resolve({ ok: true, value } as const)
  await readOutcome(frame, outcome, { read, invalid: '' })
}

/** Returns the URL with which a service sends an event to a run; see `HandlerContext.callbackUrl`. */
export async function createCallbackUrl(
  { run, identity }: TaskScope,
  { callbackUrl }: Pick<RunTooling, 'callbackUrl'>,
  event: EventToAwait,
): Promise<string> {
  const { taskName, attempt } = identity
  const what = `Task "${taskName}" cannot have a callback URL`
  const [awaited] = listAwaitedEvents(event, undefined)
  const problems = awaited === undefined ? [] : findAwaitedProblems([awaited])
  if (awaited === undefined || problems.length > 0) throw invalidWait(what, problems)
  if (callbackUrl !== undefined) {
    return callbackUrl({ ...awaited, runId: run.runId, taskName, attempt })
  }
  throw invalidWait(what, ['the run is not on a server that has a public URL: set "publicUrl"'])
}

interface Wait {
  readonly awaited: readonly AwaitedEvent[]
  readonly limit: WaitLimit
  readonly jsonSchema: Type.TSchema
  /** Present if people may decide. */
  readonly review: WaitReview | undefined
  readonly checkEdit: HandlerReview['checkEdit']
}

async function openWait(
  frame: OperationFrame,
  { awaited, limit, jsonSchema, review, checkEdit }: Wait,
): Promise<ReviewOutcome> {
  const { run, identity } = frame.scope
  const { taskName } = identity
  const { reviews } = frame.settings.tooling
  const operation = frame.take()
  const what = describeWait(awaited)
  frame.assertSame(operation, 'wait', { asked: what, isSame: () => true })
  const canEnd =
    review === undefined ? awaited.length === 0 || reviews.canDeliver : reviews.hasReviewer
  if (!canEnd) {
    throw new TuttiError(
      'CONFIG_INVALID',
      `Task "${taskName}" has ${what}, but nothing can deliver to this run: use start() and the deliver() of its handle, or a server`,
    )
  }
  const { until, timeoutMs = Infinity } = limit
  const endsAt = until === undefined ? undefined : toTime(until)
  if (endsAt !== undefined && endsAt - run.clock.now() > MAX_DURATION_MS) {
    throw invalidWait(`Task "${taskName}" cannot wait`, [
      `until must be at most ${MAX_DURATION_MS} ms ahead, got ${new Date(endsAt).toISOString()}`,
    ])
  }
  return askReview(frame, operation, {
    kind: review === undefined ? 'EVENT' : 'QUESTION',
    operation: 'wait',
    toolName: 'waitFor',
    description: review?.prompt ?? what,
    settings: {
      timeoutMs,
      onTimeout: 'CONTINUE',
      ...(review?.requiredRole === undefined ? {} : { requiredRole: review.requiredRole }),
    },
    input: { waitsFor: awaited, answerSchema: jsonSchema },
    inputSchema: jsonSchema,
    checkEdit,
    ...(endsAt === undefined ? {} : { endsAt }),
    waitsFor: awaited,
  })
}

function describeWait(awaited: readonly AwaitedEvent[]): string {
  if (awaited.length === 0) return 'a sleep'
  const names = awaited.map(({ name, key }) =>
    key === undefined ? `"${name}"` : `"${name}" with key "${key}"`,
  )
  return `a wait for event ${names.join(' or ')}`
}
