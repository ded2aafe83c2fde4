/** Cancels the run of a call that its client has given up. */
import { sleep, TuttiError } from '@tutti/core'

import { audited } from '../http/audited.ts'
import { cancelUnlessOver } from '../runs/cancel-run.ts'

import type { Caller } from '../caller.ts'
import type { GatewayOptions } from '../gateway-options.ts'

/** Where runs are cancelled. */
export type AbandonedDesk = Pick<GatewayOptions, 'runs' | 'trail' | 'clock' | 'logger'>

/** When a cancel that could not be made is tried again, in milliseconds. */
const RETRY_MS = 1_000

/** A call that was given up. */
export interface AbandonedCall {
  readonly runId: string
  readonly caller: Caller
  /** Whether the client said so, and not only its connection was lost. */
  readonly isSaid: boolean
}

/**
 * Resolves when the run is cancelled, or over. Never rejects: nobody waits for it. While a server stops,
 * connections are lost that no client has closed, so only what a client says cancels then: the run goes on
 * where it is taken up.
 */
export async function cancelAbandoned(
  { runs, trail, clock, logger }: AbandonedDesk,
  { runId, caller, isSaid }: AbandonedCall,
): Promise<void> {
  const asked = { caller, action: 'cancelRun', via: 'http', runId } as const
  while (isSaid || runs.state !== 'DRAINING') {
    try {
      await audited(asked, { trail, now: clock.now() }, () =>
        cancelUnlessOver(runs, runId, { mode: 'abort', caller }),
      )
      return
    } catch (error) {
      const canRetry = TuttiError.isInstance(error) && error.retryable
      logger.warn('The run of a call that was given up could not be cancelled', {
        runId,
        canRetry,
        error,
      })
      if (!canRetry) return
      await sleep(clock, RETRY_MS)
    }
  }
}
