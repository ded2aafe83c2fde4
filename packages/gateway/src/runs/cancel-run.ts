/** Cancels one run on behalf of a caller. */
import { TuttiError } from '@tutti/core'

import { actorOf, type Caller } from '../caller.ts'

import type { RunStatus } from '@tutti/protocol'
import type { CancelAccepted, CancelBody, CancelCause } from '@tutti/protocol/internal'
import type { RunService } from '@tutti/runs'

/** Mode, cause and caller of a cancel. */
export interface CancelRequest {
  readonly mode: CancelBody['mode']
  readonly cause: CancelCause
  readonly caller: Caller
}

/**
 * Cancels a run and returns its status after that.
 *
 * @throws {TuttiError} as `RunService.send`.
 */
export async function cancelRun(
  runs: RunService,
  runId: string,
  { mode, cause, caller }: CancelRequest,
): Promise<CancelAccepted['status']> {
  const how = { cause, ...actorOf(caller), ...(mode === undefined ? {} : { mode }) }
  const { status } = await runs.send(runId, { kind: 'cancel', ...how })
  return status
}

/** Cancels a run and returns its status after that; undefined for a run that has ended or does not exist. */
export async function cancelUnlessOver(
  runs: RunService,
  runId: string,
  request: CancelRequest,
): Promise<RunStatus | undefined> {
  try {
    return await cancelRun(runs, runId, request)
  } catch (error) {
    const isOver =
      TuttiError.isInstance(error) && ['RUN_COMPLETED', 'RUN_NOT_FOUND'].includes(error.code)
    if (!isOver) throw error
    return undefined
  }
}
