/** Deletes a run as a request asks. */
import { TuttiError } from '@tutti/core'
import { type Caller, cancelUnlessOver, findRecord, runNotFound, waitForEnd } from '@tutti/gateway'

import type { ResolvedControlApiOptions } from './options.ts'

/** How long a run that is cancelled first may take to stop, in milliseconds. */
const STOP_MS = 10_000

/**
 * Deletes a run with its events; one that has not ended is cancelled first.
 *
 * @throws {TuttiError} RUN_NOT_FOUND; NOT_CONFIRMED when it has not stopped in time, and then it is kept.
 */
export async function deleteRun(
  options: Pick<ResolvedControlApiOptions, 'runs' | 'clock'>,
  runId: string,
  caller: Caller,
): Promise<void> {
  const { runs } = options
  const first = await runs.delete(runId)
  if (first === 'deleted') return
  const run = await findRecord(runs, runId)
  const status = await cancelUnlessOver(runs, runId, { mode: 'abort', caller })
  if (status !== undefined) await waitForEnd(options, run, { timeoutMs: STOP_MS })
  const end = await runs.delete(runId)
  if (end === 'deleted') return
  if (end === 'unknown') throw runNotFound(runId)
  throw new TuttiError(
    'NOT_CONFIRMED',
    `Run ${runId} is being cancelled, but has not stopped within ${STOP_MS} ms; delete it again`,
    { retryable: true },
  )
}
