/** Cancels a run as a body or a message asks. */
import type { CancelBody } from '@tutti/protocol'
import type { RunService } from '@tutti/runs'

/**
 * Cancels a run; resolves with the status it has then.
 *
 * @throws {TuttiError} as `RunService.cancel`.
 */
export function cancelRun(
  runs: RunService,
  runId: string,
  mode: CancelBody['mode'],
): ReturnType<RunService['cancel']> {
  return runs.cancel(runId, mode === undefined ? {} : { mode })
}
