/** Ends runs that did not begin in time (RUNS-X12), regardless of the limits of concurrent runs. */
import { lookMs } from '../domain/fleet-pace.ts'
import { DueLoop } from './due-loop.ts'

import type { RunStorage } from '../ports/run-storage.ts'
import type { ResolvedRunServiceOptions } from '../settings/options.ts'
import type { RunExecutor } from './run-executor.ts'

/** Maximum number of runs that one process ends at the same time. */
const EXPIRED_TOGETHER = 20

/** Interval at which a process looks for runs of processes that have died, in milliseconds. */
const LOOK_EVERY_MS = 10_000

/** Parts that end expired runs. */
export interface ExpiryParts {
  readonly storage: Pick<RunStorage, 'queue'>
  readonly executor: Pick<RunExecutor, 'executeNow'>
  readonly settings: Pick<ResolvedRunServiceOptions, 'clock' | 'logger'>
}

/** Creates the loop that ends expired runs. */
export function createExpiryLoop({ storage, executor, settings }: ExpiryParts): DueLoop {
  const { clock, logger } = settings
  return new DueLoop({
    clock,
    maxWaitMs: () => lookMs(LOOK_EVERY_MS, storage.queue.fleet.processes),
    async task() {
      const { runIds, nextInMs } = await storage.queue.findExpired(EXPIRED_TOGETHER)
      await Promise.all(runIds.map((runId) => executor.executeNow(runId)))
      return nextInMs
    },
    onError: (error) => {
      logger.warn('Failed to end runs that did not begin in time', { error })
    },
  })
}
