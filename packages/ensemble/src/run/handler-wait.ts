/** Waits of handlers for external events and times. */
import { TuttiError, Type } from '@tutti/core'
import { limitText, schemaReader, type ToolSchema } from '@tutti/core/internal'

import { MAX_DURATION_MS, type AwaitedEvent } from '@tutti/protocol/internal'

import { exitEarlyError, rejectionError } from '../reviews/review-end.ts'
import { createToolSlotPrefix } from '../reviews/review-slots.ts'
import { toOperationId } from '../scope/recorded-operations.ts'
import {
  findAwaitedProblems,
  findSleepProblems,
  findWaitProblems,
  invalidWait,
  listAwaitedEvents,
  toTime,
  type EventsToAwait,
  type WaitLimit,
  type WaitForOptions,
  type WaitOutcome,
  type WaitReview,
} from '../definition/wait.ts'

import type { ReviewOutcome } from '../reviews/review-end.ts'
import type { OperationFrame } from './operation-frame.ts'

/** Maximum length of the prompt of a wait, in characters. */
const MAX_PROMPT_LENGTH = 8_000

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
  const { decision, timedOut } = await openWait(frame, {
    awaited,
    limit,
    jsonSchema,
    review: review === true ? {} : review === false ? undefined : review,
    async checkEdit(data) {
      const decoded = await read(data)
      return decoded.ok ? [] : decoded.problems
    },
  })
  const { taskName } = frame.scope.identity
  switch (decision.action) {
    case 'CONTINUE':
      return { arrived: false, timedOut }
    case 'EDIT': {
      const decoded = await read('input' in decision ? decision.input : decision.text)
      if (!decoded.ok) {
        throw new TuttiError(
          'OUTPUT_INVALID',
          `The event for task "${taskName}" has invalid data`,
          {
            details: { problems: decoded.problems },
          },
        )
      }
      const event = 'input' in decision ? decision.event : undefined
      return {
        arrived: true,
        data: decoded.value,
        ...(event === undefined ? {} : { name: event.name, eventId: event.id }),
      }
    }
    case 'REJECT':
      throw rejectionError(taskName, decision.feedback, timedOut)
    case 'EXIT_EARLY':
      throw frame.end(exitEarlyError(taskName, timedOut))
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
  const { decision, timedOut } = await openWait(frame, {
    awaited: [],
    limit,
    jsonSchema: Type.Unknown(),
    review: undefined,
    // Only the time ends a sleep.
    checkEdit: () => Promise.resolve([{ path: '', message: 'is not used by a sleep' }]),
  })
  const { taskName } = frame.scope.identity
  if (decision.action === 'REJECT') throw rejectionError(taskName, decision.feedback, timedOut)
  if (decision.action === 'EXIT_EARLY') throw frame.end(exitEarlyError(taskName, timedOut))
}

interface Wait {
  readonly awaited: readonly AwaitedEvent[]
  readonly limit: WaitLimit
  readonly jsonSchema: Type.TSchema
  /** Present if people may decide. */
  readonly review: WaitReview | undefined
  checkEdit(data: unknown): Promise<readonly { readonly path: string; readonly message: string }[]>
}

async function openWait(
  frame: OperationFrame,
  { awaited, limit, jsonSchema, review, checkEdit }: Wait,
): Promise<ReviewOutcome> {
  const { run, identity } = frame.scope
  const { taskName, agentRole } = identity
  const { reviews } = frame.settings.tooling
  const operation = frame.take()
  const { ordinal, recorded } = operation
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
  await frame.turn(recorded)
  const callId = toOperationId('wait', ordinal)
  const { until, timeoutMs = Infinity } = limit
  const endsAt = until === undefined ? undefined : toTime(until)
  if (endsAt !== undefined && endsAt - run.clock.now() > MAX_DURATION_MS) {
    throw invalidWait(`Task "${taskName}" cannot wait`, [
      `until must be at most ${MAX_DURATION_MS} ms ahead, got ${new Date(endsAt).toISOString()}`,
    ])
  }
  const settings = { timeoutMs, onTimeout: 'CONTINUE' } as const
  const begun = recorded?.endedAt === undefined ? 'begun' : 'ended'
  const progress = recorded === undefined ? 'new' : begun
  const description = review?.prompt ?? what
  return frame.perform('Wait', { progress }, () =>
    reviews.ask(frame.scope, {
      kind: review === undefined ? 'EVENT' : 'QUESTION',
      timing: 'DURING_EXECUTION',
      slot: `${createToolSlotPrefix(0, callId)}1`,
      taskDescription: limitText(description, MAX_PROMPT_LENGTH),
      settings: {
        ...settings,
        prompt: limitText(description, MAX_PROMPT_LENGTH),
        ...(review?.requiredRole === undefined ? {} : { requiredRole: review.requiredRole }),
      },
      ...(endsAt === undefined ? {} : { endsAt }),
      waitsFor: awaited,
      signal: frame.signal,
      approval: {
        ...settings,
        description,
        toolName: 'waitFor',
        callId,
        agentRole,
        taskName,
        runId: run.runId,
        input: { waitsFor: awaited, answerSchema: jsonSchema },
        inputSchema: jsonSchema,
        hasBegun: true,
        isRepeatable: true,
        asksForAnswer: true,
        checkEdit,
      },
    }),
  )
}

function describeWait(awaited: readonly AwaitedEvent[]): string {
  if (awaited.length === 0) return 'a sleep'
  const names = awaited.map(({ name, key }) =>
    key === undefined ? `"${name}"` : `"${name}" with key "${key}"`,
  )
  return `a wait for event ${names.join(' or ')}`
}
