/**
 * What is counted over all processes, from the store: asked for when somebody reads, in one query that does not look at
 * what has ended, and not again for a while, so that reading the metrics is no load.
 */
import { sleep, type Clock, type Logger } from '@tutti/core'

import type { Instruments } from './instruments.ts'
import type { RunService, StoreMetrics } from '@tutti/runs'

/** What the figures are made with. */
export interface StoreCollectorOptions {
  readonly instruments: Instruments
  readonly runs: RunService
  readonly clock: Clock
  readonly logger: Logger
  /** How long an answer of the store is good, in milliseconds. */
  readonly cacheMs: number
}

/** How long a reader waits for the store, in milliseconds: less than Prometheus waits for us. */
const TIMEOUT_MS = 2_000

/** Makes what sets the gauges before they are read. A store that does not answer in time has none. */
export function createStoreCollector(options: StoreCollectorOptions): () => Promise<void> {
  const { instruments, runs, clock, cacheMs } = options
  let collectedAt = -Infinity
  let collecting: Promise<void> | undefined
  return () => {
    instruments.storeAvailable.set({}, runs.isStoreAvailable ? 1 : 0)
    instruments.runsExecuting.set({}, runs.running)
    if (collecting === undefined && clock.elapsed() - collectedAt < cacheMs)
      return Promise.resolve()
    collecting ??= collect(options).finally(() => {
      collectedAt = clock.elapsed()
      collecting = undefined
    })
    return collecting
  }
}

async function collect({ instruments, runs, clock, logger }: StoreCollectorOptions): Promise<void> {
  const timeout = new AbortController()
  try {
    const figures = await Promise.race([
      runs.metrics(),
      sleep(clock, TIMEOUT_MS, timeout.signal).then(() => undefined),
    ])
    setGauges(instruments, figures)
  } catch (error) {
    logger.debug('The store could not be asked for its figures', { error })
    setGauges(instruments, undefined)
  } finally {
    timeout.abort()
  }
}

function setGauges(instruments: Instruments, figures: StoreMetrics | undefined): void {
  const { queueDepth, queueOldest, reviewsPending, webhookBacklog, runs } = instruments
  for (const gauge of [queueDepth, queueOldest, reviewsPending, webhookBacklog, runs]) gauge.clear()
  if (figures === undefined) return
  queueDepth.set({}, figures.queued)
  queueOldest.set({}, figures.oldestQueuedMs / 1_000)
  reviewsPending.set({}, figures.openReviews)
  webhookBacklog.set({}, figures.deliveries)
  for (const status of UNFINISHED) runs.set({ status }, figures.unfinished[status] ?? 0)
}

/** Statuses of runs that have not ended; each is told, so that none is missing when it falls to 0. */
const UNFINISHED = ['ACCEPTED', 'RUNNING', 'WAITING_REVIEW', 'CANCELLING'] as const
