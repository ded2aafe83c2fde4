/** How stores and the service refuse, in the same words whichever store it is. */
import { TuttiError } from '@tutti/core'

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
    { retryable: true, details: { retryAfterMs: RETRY_AFTER_MS } },
  )
}

/** Nobody can say whether there is room. */
export function storeAway(): TuttiError {
  return new TuttiError('STORE_UNAVAILABLE', 'The run store cannot be reached', {
    retryable: true,
    details: { retryAfterMs: RETRY_AFTER_MS },
  })
}

/** The run has ended, as a wish for it is answered. */
export function runCompleted({ runId, status }: Pick<RunRecord, 'runId' | 'status'>): StepError {
  const message = `Run ${runId} already completed with status ${status}`
  return { code: 'RUN_COMPLETED', message, retryable: false }
}
