/** Deletes threads on behalf of callers. */
import { TuttiError } from '@tutti/core'
import { threadNotFound } from '@tutti/runs/internal'

import { deleteRun } from './delete-run.ts'

import type { Caller } from '../caller.ts'
import type { GatewayOptions } from '../gateway-options.ts'

/** Maximum number of times that a deletion looks for further runs. */
const MAX_PASSES = 1_000

/**
 * Deletes a thread with its runs, the oldest first. An unfinished run is cancelled first.
 *
 * @throws {TuttiError} THREAD_NOT_FOUND; NOT_CONFIRMED when a run has not stopped in time; THREAD_BUSY when runs are
 * submitted faster than they are deleted.
 */
export async function deleteThread(
  options: Pick<GatewayOptions, 'runs' | 'clock'>,
  threadId: string,
  caller: Caller,
): Promise<void> {
  for (let pass = 0; pass < MAX_PASSES; pass += 1) {
    const end = await options.runs.threads.delete(threadId)
    if (end.kind === 'has_runs') {
      for (const runId of end.runIds) await deleteUnlessGone(options, runId, caller)
    } else {
      // After the first pass, another request may have deleted it.
      if (end.kind === 'unknown' && pass === 0) throw threadNotFound(threadId)
      return
    }
  }
  const message = `Thread ${threadId} got new runs while it was being deleted; retry the deletion`
  throw new TuttiError('THREAD_BUSY', message, { retryable: true })
}

/** Deletes a run that another request may delete at the same time. */
async function deleteUnlessGone(
  options: Pick<GatewayOptions, 'runs' | 'clock'>,
  runId: string,
  caller: Caller,
): Promise<void> {
  try {
    await deleteRun(options, runId, caller)
  } catch (error) {
    if (!TuttiError.isInstance(error) || error.code !== 'RUN_NOT_FOUND') throw error
  }
}
