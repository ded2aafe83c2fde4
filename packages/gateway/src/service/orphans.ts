/**
 * Runs whose only reader was a connection, after their process has died.
 *
 * GW-G7 A run that only the connection of its request could read is cancelled when the next process takes it over: a
 *    chat completion or a synchronous response without an `Idempotency-Key`, before it has given its client a call or a
 *    review to answer. A lost connection would have cancelled it too. This needs a store of one process, because
 *    otherwise the process that has the connection may live.
 */
import { eventPages, type RunRecord, type RunService } from '@tutti/runs'

import { anyone } from '../caller.ts'
import { cancelUnlessOver } from '../runs/cancel-run.ts'

import type { Logger } from '@tutti/core'

/** Reviews by which a client can ask for its run again. */
export type KnownReviews = 'clientTools' | 'all'

/** Key of {@link KnownReviews} in the memo of a run. */
const MEMO = 'onlyReader'

/** Returns the memo of a run that only the connection of its request can read, until it has one of these reviews. */
export function toReaderMemo(known: KnownReviews): Readonly<Record<string, unknown>> {
  return { [MEMO]: known }
}

/** The runs that a process found unfinished when it started. */
export interface UnfinishedRuns {
  readonly runIds: readonly string[]
  /** Time at which the process began to accept runs, in milliseconds since 1970; later runs are its own. */
  readonly before: number
}

/** Cancels those of the unfinished runs of an earlier process that no client can read. Never rejects. */
export async function cancelOrphans(
  { runs, logger }: { readonly runs: RunService; readonly logger: Logger },
  { runIds, before }: UnfinishedRuns,
): Promise<void> {
  for (const runId of runIds) {
    try {
      const run = await runs.record(runId)
      if (run === undefined || run.createdAt >= before) continue
      if (!(await isOrphan(runs, run))) continue
      await cancelUnlessOver(runs, runId, {
        mode: 'abort',
        cause: 'CLIENT_LEFT',
        caller: anyone(),
      })
      logger.info('Cancelled a run whose client was connected to the earlier process', { runId })
    } catch (error) {
      logger.warn('Failed to cancel a run whose client was connected to the earlier process', {
        runId,
        error,
      })
    }
  }
}

async function isOrphan(
  runs: Pick<RunService, 'readEvents'>,
  { runId, request }: RunRecord,
): Promise<boolean> {
  const known = request?.memo?.[MEMO]
  if (known === undefined) return false
  for await (const page of eventPages(runs, { runId, from: 0 })) {
    const isKnown = page.some(
      (event) =>
        event.type === 'review_requested' && (known === 'all' || event.kind === 'CLIENT_TOOL'),
    )
    if (isKnown) return false
  }
  return true
}
