/** Deletes runs on behalf of callers. */
import { TuttiError } from '@tutti/core'

import { cancelUnlessOver } from './cancel-run.ts'
import { locateRun, runNotFound } from './find-run.ts'
import { waitForEnd } from './wait-for-end.ts'

import type { Caller } from '../caller.ts'
import type { GatewayOptions } from '../gateway-options.ts'

/** Time for which a deletion waits until the run has stopped, in milliseconds. */
const STOP_MS = 10_000

/**
 * Deletes a run with its events. An unfinished run is cancelled first.
 *
 * @throws {TuttiError} RUN_NOT_FOUND; NOT_CONFIRMED when the run has not stopped in time and is therefore not deleted.
 */
export async function deleteRun(
  options: Pick<GatewayOptions, 'runs' | 'clock'>,
  runId: string,
  caller: Caller,
): Promise<void> {
  const { runs } = options
  const first = await runs.delete(runId)
  if (first === 'deleted') return
  const run = await locateRun(runs, runId)
  const status = await cancelUnlessOver(runs, runId, { mode: 'abort', cause: 'CALLER', caller })
  if (status !== undefined) await waitForEnd(options, run, { timeoutMs: STOP_MS })
  const end = await runs.delete(runId)
  if (end === 'deleted') return
  if (end === 'unknown') throw runNotFound(runId)
  throw new TuttiError(
    'NOT_CONFIRMED',
    `Run ${runId} is being cancelled but has not stopped within ${STOP_MS} ms; retry the deletion`,
    { retryable: true },
  )
}
