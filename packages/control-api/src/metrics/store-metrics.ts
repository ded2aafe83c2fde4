/**
 * Collects the cluster-wide metrics from the store on scrape. Two queries over unfinished work read all of them, and their
 * results are cached, so that scrapes cause little load.
 */
import type { Clock, Logger } from '@tutti/core'
import { sleep } from '@tutti/core/internal'
import { UNFINISHED_RUN_STATUSES } from '@tutti/protocol/internal'

import type { Instruments } from './instruments.ts'
import type { RunService } from '@tutti/runs'
import type { KnownBuild, StoreMetrics } from '@tutti/runs/adapter'

/** Options of {@link createStoreCollector}. */
export interface StoreCollectorOptions {
  readonly instruments: Instruments
  readonly runs: RunService
  readonly clock: Clock
  readonly logger: Logger
  /** Time for which a result is cached, in milliseconds. */
  readonly cacheMs: number
}

/** Timeout of the query in milliseconds; shorter than the scrape timeout of Prometheus. */
const TIMEOUT_MS = 2_000

/** Creates the function that updates the gauges before a scrape. They are removed if the store does not reply in time. */
export function createStoreCollector(options: StoreCollectorOptions): () => Promise<void> {
  const { instruments, runs, clock, cacheMs } = options
  let collectedAt = -Infinity
  let collecting: Promise<void> | undefined
  return () => {
    instruments.storeAvailable.set({}, runs.status.isStoreAvailable ? 1 : 0)
    instruments.runsExecuting.set({}, runs.status.running)
    const { name: engine, isConnected } = runs.status.engine
    if (engine !== 'store') instruments.dispatcherConnected.set({ engine }, isConnected ? 1 : 0)
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
    const measured = await Promise.race([
      Promise.all([runs.status.metrics(), runs.builds.list()]),
      sleep(clock, TIMEOUT_MS, timeout.signal).then(() => undefined),
    ])
    setGauges(instruments, measured?.[0])
    setBuildGauges(instruments, measured?.[1])
  } catch (error) {
    logger.debug('Failed to read the metrics of the store', { error })
    setGauges(instruments, undefined)
    setBuildGauges(instruments, undefined)
  } finally {
    timeout.abort()
  }
}

function setGauges(instruments: Instruments, measured: StoreMetrics | undefined): void {
  const { queueDepth, queueOldest, reviewsPending, webhookBacklog, runs } = instruments
  const { notificationQueue } = instruments
  const gauges = [queueDepth, queueOldest, reviewsPending, webhookBacklog, runs, notificationQueue]
  for (const gauge of gauges) gauge.clear()
  if (measured === undefined) return
  notificationQueue.set({}, measured.notificationQueueUsage)
  queueDepth.set({}, measured.queued)
  queueOldest.set({}, measured.oldestQueuedMs / 1_000)
  reviewsPending.set({}, measured.openReviews)
  webhookBacklog.set({}, measured.deliveries)
  // All are always reported, also with 0.
  for (const status of UNFINISHED_RUN_STATUSES)
    runs.set({ status }, measured.unfinished[status] ?? 0)
}

/** Reports the builds that live or have unfinished runs, so that the number of series stays small. */
function setBuildGauges(
  { buildProcesses, buildShare, buildRuns }: Instruments,
  builds: readonly KnownBuild[] = [],
): void {
  for (const gauge of [buildProcesses, buildShare, buildRuns]) gauge.clear()
  for (const { build, ensemble, processes, share, unfinished } of builds) {
    const counts = Object.entries(unfinished)
    if (processes === 0 && counts.length === 0) continue
    // Added, because processes with the same build id can have different code.
    buildProcesses.add({ build, ensemble }, processes)
    buildShare.set({ build }, share)
    for (const [status, count] of counts) buildRuns.add({ build, ensemble, status }, count)
  }
}
