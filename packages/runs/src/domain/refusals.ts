/** Errors of stores and the service, with the same texts for every store. */
import { errorMessage, TuttiError } from '@tutti/core/basics'
import { shortText } from '@tutti/protocol/basics'

import type { Quota } from './quota.ts'
import type { NewThreadRun, RunRecord } from './run-record.ts'
import type { RunStep, StepError } from '@tutti/ensemble/internal'

/** Time that a refused caller should wait, in milliseconds. */
const RETRY_AFTER_MS = 5_000

/** Error of a run id that is taken. */
export function runExists(runId: string): TuttiError {
  return new TuttiError('RUN_EXISTS', `A run with ID ${runId} already exists`)
}

/** Error of a run that did not begin in time. */
export function queueTimeout({
  runId,
  createdAt,
  startAt = createdAt,
  startBy = createdAt,
}: Pick<RunRecord, 'runId' | 'createdAt' | 'startAt' | 'startBy'>): TuttiError {
  return new TuttiError(
    'QUEUE_TIMEOUT',
    `Run ${runId} did not begin within its maxQueueMs of ${startBy - startAt} ms`,
  )
}

/** Error for a reader with events that are no longer in the log. */
export function logIsShorter(runId: string, lastSeq: number): TuttiError {
  return new TuttiError(
    'CURSOR_PAST_END',
    `Run ${runId} has events up to ${lastSeq}: the store has lost later ones, as after a failover. Read again from ` +
      `the event that follows ${lastSeq}`,
    { details: { lastSeq } },
  )
}

/** Error of a build that has never started, or that is no longer stored. */
export function buildNotFound(build: string): TuttiError {
  return new TuttiError('BUILD_NOT_FOUND', `No build with ID ${shortText(build)}`)
}

/** Error of a thread that does not exist. */
export function threadNotFound(threadId: string): TuttiError {
  return new TuttiError('THREAD_NOT_FOUND', `No thread with ID ${threadId}`)
}

/** Error of a thread id that is taken. */
export function threadExists(threadId: string): TuttiError {
  const message = `Thread ${threadId} already exists with another title or other tags`
  return new TuttiError('THREAD_EXISTS', message)
}

/** Error of a submission to a thread whose newest run has not ended. */
export function threadBusy(threadId: string): TuttiError {
  const message = `The newest run of thread ${threadId} has not ended. Wait until it ends, or cancel it.`
  return new TuttiError('THREAD_BUSY', message, { retryable: true })
}

/** The newest run of a thread, as a store reads it. */
export interface NewestThreadRun {
  /** 0 for a thread without runs. */
  readonly number: number
  /** Absent for a thread without runs. */
  readonly runId?: string
  readonly hasEnded: boolean
}

/**
 * Returns whether a new run follows the newest one of its thread with all of its messages. `newest` is undefined when
 * there is no such thread (RUNS-H1, RUNS-H2).
 *
 * @throws {TuttiError} THREAD_NOT_FOUND, THREAD_BUSY.
 */
export function followsNewest(
  { threadId, number, follows }: NewThreadRun,
  newest: NewestThreadRun | undefined,
): boolean {
  if (newest === undefined) throw threadNotFound(threadId)
  if (!newest.hasEnded) throw threadBusy(threadId)
  return number === newest.number + 1 && follows === newest.runId
}

/** Makes an idempotency key unique to its actor. */
export function toActorKey(idempotencyKey: string, actor: string | undefined): string {
  return actor === undefined ? idempotencyKey : JSON.stringify([actor, idempotencyKey])
}

/** Returns the idempotency key as its caller sent it. */
function readActorKey(key: string, actor: string | undefined): string {
  const start = actor === undefined ? undefined : `${JSON.stringify([actor]).slice(0, -1)},`
  if (start === undefined || !key.startsWith(start)) return key
  return String(JSON.parse(key.slice(start.length, -1)))
}

/** Error of an idempotency key that was used for another submission. */
export function idempotencyConflict(key: string, actor?: string): TuttiError {
  return new TuttiError(
    'IDEMPOTENCY_CONFLICT',
    `The idempotency key "${readActorKey(key, actor)}" was used for another request`,
  )
}

/** @throws {TuttiError} CONCURRENCY_LIMIT when the maximum number of unfinished runs is reached. */
export function assertRoom(unfinished: number, maxUnfinishedRuns: number): void {
  if (unfinished < maxUnfinishedRuns) return
  throw new TuttiError(
    'CONCURRENCY_LIMIT',
    `The limit of ${maxUnfinishedRuns} waiting and executing runs is reached. Retry later.`,
    { retryable: true, details: { retryAfterMs: RETRY_AFTER_MS, reason: 'unfinished_runs' } },
  )
}

/** Number and cost of the runs of an actor, as a store counts them. */
export interface ActorUse {
  /** Number of unended runs. Runs that wait for a person are counted. */
  readonly unfinished: number
  /** Cost since the instant of the quota, in US dollars. */
  readonly spentUsd: number
}

/** @throws {TuttiError} CONCURRENCY_LIMIT or SPEND_LIMIT when the quota does not allow one more run. */
export function assertWithinQuota(
  { actor, maxUnfinishedRuns = Infinity, spend }: Quota,
  { unfinished, spentUsd }: ActorUse,
): void {
  if (unfinished >= maxUnfinishedRuns) {
    const runs = unfinished === 1 ? '1 unfinished run' : `${unfinished} unfinished runs`
    const message = `Key "${actor}" has ${runs}; its limit is ${maxUnfinishedRuns}`
    throw new TuttiError('CONCURRENCY_LIMIT', message, {
      retryable: true,
      details: { retryAfterMs: RETRY_AFTER_MS, reason: 'unfinished_runs_of_key' },
    })
  }
  if (spend === undefined || spentUsd < spend.maxCostUsd) return
  const { maxCostUsd, since } = spend
  throw new TuttiError(
    'SPEND_LIMIT',
    `Key "${actor}" has spent ${formatDollars(spentUsd)} since ${new Date(since).toISOString()}; ` +
      `its limit is ${formatDollars(maxCostUsd)}`,
    { retryable: true, details: { spentUsd, maxCostUsd } },
  )
}

/** Formats an amount, without the noise of adding fractions. */
function formatDollars(amount: number): string {
  return `$${Number(amount.toFixed(6))}`
}

/** Error of a submit while the store cannot be reached. */
export function storeUnavailable(): TuttiError {
  return new TuttiError('STORE_UNAVAILABLE', 'The run store cannot be reached', {
    retryable: true,
    details: { retryAfterMs: RETRY_AFTER_MS },
  })
}

/** Error of a run whose stored data exceeds its limit. */
export function runTooLarge(runId: string, bytes: number, maxBytes: number): TuttiError {
  return new TuttiError(
    'RUN_TOO_LARGE',
    `Run ${runId} has ${bytes} bytes in the store; at most ${maxBytes} are allowed (maxStoredRunBytes)`,
    { details: { bytes, maxBytes } },
  )
}

/** Error of a run with a value that the store refuses; `cause` is the reason of the store. */
export function storeRefused(runId: string, cause: unknown): TuttiError {
  const message = `The run store refused to record a value of run ${runId}: ${errorMessage(cause)}`
  return new TuttiError('STORE_REFUSED', message, { cause })
}

/** Error of a run whose stored data cannot be read. */
export function runUnreadable(
  runId: string,
  what: 'steps' | 'columns',
  cause: unknown,
): TuttiError {
  const message = `Cannot read the ${what} of run ${runId}: ${errorMessage(cause)}`
  return new TuttiError('RUN_UNREADABLE', message, { cause })
}

/** Steps of an unowned run, or the reason why they cannot be read. */
export interface UnownedSteps {
  readonly steps: readonly RunStep[]
  readonly unreadable?: TuttiError
}

/** Reads the steps of an unowned run. Damaged ones do not prevent a command from reaching the run. */
export function readUnownedSteps(runId: string, read: () => readonly RunStep[]): UnownedSteps {
  try {
    return { steps: read() }
  } catch (error) {
    return { steps: [], unreadable: runUnreadable(runId, 'steps', error) }
  }
}

/** Error of a command for a run that has ended. */
export function runCompleted({ runId, status }: Pick<RunRecord, 'runId' | 'status'>): StepError {
  const message = `Run ${runId} already completed with status ${status}`
  return { code: 'RUN_COMPLETED', message, retryable: false }
}

/** Error of an external event for a run that opens no more waits. */
export function eventRunEnded(runId: string, name: string): TuttiError {
  const message = `Run ${runId} has ended, so nothing in it waits for event "${name}"`
  return new TuttiError('RUN_COMPLETED', message)
}

/** Error of a command for an unowned run whose ensemble this process cannot build. */
export function ensembleUnavailable({ runId }: RunRecord, cause: unknown): TuttiError {
  return new TuttiError(
    'ENSEMBLE_UNAVAILABLE',
    `Run ${runId} cannot take the command: ${errorMessage(cause)}. Repeat it when its ensemble is deployed`,
    { retryable: true, cause, details: { retryAfterMs: RETRY_AFTER_MS } },
  )
}

/** Creates the error for a run that is submitted while the server shuts down. */
export function draining(): TuttiError {
  return new TuttiError('DRAINING', 'This server is shutting down and does not accept new runs', {
    retryable: true,
  })
}

/** Creates the error for a fork of a run that does not exist. */
export function parentNotFound(runId: string): TuttiError {
  return new TuttiError('RUN_NOT_FOUND', `Unknown run "${runId}"`)
}

/** Creates the error for a replay of a run that cannot be replayed. */
export function replayRefused(runId: string, reason: string): TuttiError {
  return new TuttiError('RUN_NOT_REPLAYABLE', `Run ${runId} cannot be replayed: ${reason}`)
}

/** Creates the error for a fork of a run without all of its steps. */
export function stepsNotRetained(runId: string): TuttiError {
  return new TuttiError(
    'STEPS_NOT_RETAINED',
    `Run ${runId} cannot be forked or replayed: its steps were deleted, or capture mode OFF removed its prompts`,
  )
}
