/** Cancels the run of a peer's task when its deadline passes, whoever listens then. */
import { sleep, TuttiError } from '@tutti/core'

import { cancelRun } from '../runs/cancel-run.ts'
import { waitForEnd } from '../runs/wait-for-end.ts'

import type { PeerCall } from './peer-call.ts'
import type { TaskUnderWay } from './report-task.ts'

/** When a cancel that could not be made is tried again, in milliseconds. */
const RETRY_MS = 1_000

/** What a cancel is answered with that comes too late. */
const OVER: readonly TuttiError['code'][] = ['RUN_COMPLETED', 'RUN_NOT_FOUND']

/** Resolves when the run has ended, or is cancelled. Never rejects: nobody waits for it. */
export async function cancelAtDeadline(
  { run, deadlineAt }: Omit<TaskUnderWay, 'requestId'>,
  { options, caller }: Pick<PeerCall, 'options' | 'caller'>,
): Promise<void> {
  if (deadlineAt === undefined) return
  const { runs, clock, logger } = options
  const { runId } = run
  for (;;) {
    try {
      const timeoutMs = Math.max(0, deadlineAt - clock.now())
      if (await waitForEnd(options, run, { timeoutMs })) return
      await cancelRun(runs, runId, { mode: 'abort', caller })
      return
    } catch (error) {
      if (TuttiError.isInstance(error) && OVER.includes(error.code)) return
      const canRetry = TuttiError.isInstance(error) && error.retryable && runs.state !== 'DRAINING'
      logger.warn('A run could not be cancelled at its deadline', { runId, canRetry, error })
      if (!canRetry) return
      await sleep(clock, RETRY_MS)
    }
  }
}
