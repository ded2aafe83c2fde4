/** How stores and the service refuse, in the same words whichever store it is. */
import { errorMessage, TuttiError } from '@tutti/core'

import type { Quota } from './ports/run-store.ts'
import type { RunRecord } from './run-record.ts'
import type { StepError } from '@tutti/ensemble'

/** How long a caller that was refused should wait, in milliseconds; AgentEnsemble's number. */
const RETRY_AFTER_MS = 5_000

/** The id is taken. */
export function runExists(runId: string): TuttiError {
  return new TuttiError('RUN_EXISTS', `A run with ID ${runId} already exists`)
}

/** The idempotency key was used for something else. */
export function idempotencyConflict(idempotencyKey: string): TuttiError {
  return new TuttiError(
    'IDEMPOTENCY_CONFLICT',
    `The idempotency key "${idempotencyKey}" was used for another request`,
  )
}

/** @throws {TuttiError} CONCURRENCY_LIMIT when as many runs have not ended as may. */
export function assertRoom(unfinished: number, maxUnfinishedRuns: number): void {
  if (unfinished < maxUnfinishedRuns) return
  throw new TuttiError(
    'CONCURRENCY_LIMIT',
    `So many runs (${unfinished}) wait or execute already. Retry later.`,
    { retryable: true, details: { retryAfterMs: RETRY_AFTER_MS, reason: 'unfinished_runs' } },
  )
}

/** What the runs of an actor are and have cost, as a store counts them. */
export interface ActorUse {
  /** Runs that have not ended; those that wait for a person are counted. */
  readonly unfinished: number
  /** In US dollars, since the instant of the quota. */
  readonly spentUsd: number
}

/** @throws {TuttiError} CONCURRENCY_LIMIT or SPEND_LIMIT when the quota has no place for one more run. */
export function assertWithinQuota(
  { actor, maxUnfinishedRuns = Infinity, spend }: Quota,
  { unfinished, spentUsd }: ActorUse,
): void {
  if (unfinished >= maxUnfinishedRuns) {
    const runs = unfinished === 1 ? '1 run that has' : `${unfinished} runs that have`
    const rule =
      unfinished === maxUnfinishedRuns ? 'as many as it may' : `it may have ${maxUnfinishedRuns}`
    throw new TuttiError('CONCURRENCY_LIMIT', `Key "${actor}" has ${runs} not ended, ${rule}`, {
      retryable: true,
      details: { retryAfterMs: RETRY_AFTER_MS, reason: 'unfinished_runs_of_key' },
    })
  }
  if (spend === undefined || spentUsd < spend.maxCostUsd) return
  const { maxCostUsd, since } = spend
  throw new TuttiError(
    'SPEND_LIMIT',
    `Key "${actor}" has spent ${dollars(spentUsd)} since ${new Date(since).toISOString()}, ` +
      `it may spend ${dollars(maxCostUsd)}`,
    { retryable: true, details: { spentUsd, maxCostUsd } },
  )
}

/** An amount without the noise of adding fractions. */
function dollars(amount: number): string {
  return `$${Number(amount.toFixed(6))}`
}

/** Nobody can say whether there is room. */
export function storeAway(): TuttiError {
  return new TuttiError('STORE_UNAVAILABLE', 'The run store cannot be reached', {
    retryable: true,
    details: { retryAfterMs: RETRY_AFTER_MS },
  })
}

/** Error of a run whose stored data exceeds its limit. */
export function runTooLarge(runId: string, bytes: number, maxBytes: number): TuttiError {
  return new TuttiError(
    'RUN_TOO_LARGE',
    `Run ${runId} has ${bytes} bytes in the store, at most ${maxBytes} are allowed (maxStoredRunBytes)`,
    { details: { bytes, maxBytes } },
  )
}

/** Error of a run whose stored data cannot be read. */
export function runUnreadable(runId: string, cause: unknown): TuttiError {
  const message = `Cannot read the steps of run ${runId}: ${errorMessage(cause)}`
  return new TuttiError('RUN_UNREADABLE', message, { cause })
}

/** Error of a command for a run that has ended. */
export function runCompleted({ runId, status }: Pick<RunRecord, 'runId' | 'status'>): StepError {
  const message = `Run ${runId} already completed with status ${status}`
  return { code: 'RUN_COMPLETED', message, retryable: false }
}
