/** Cancels a run as a body or a message asks. */
import { notImplemented } from './not-implemented.ts'

import type { CancelBody } from '@tutti/protocol'
import type { RunService } from '@tutti/runs'

/**
 * Cancels a run; resolves with the status it has then.
 *
 * @throws {TuttiError} as `RunService.cancel`, and NOT_IMPLEMENTED for a mode that this version lacks.
 */
export function cancelRun(
  runs: RunService,
  runId: string,
  mode: CancelBody['mode'],
): ReturnType<RunService['cancel']> {
  if (mode === 'boundary') throw notImplemented('cancel mode "boundary"')
  return runs.cancel(runId)
}
