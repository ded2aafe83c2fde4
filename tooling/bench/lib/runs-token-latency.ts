/**
 * Measures the latency of tokens of many runs from the model to a reader, and the number of events that a
 * store accepts.
 */
import { setTimeout as sleep } from 'node:timers/promises'

import { openService } from './runs-services.ts'
import { NONE, ms, printStores, quantile } from './runs-table.ts'
import { nowMs, stampsOf, teamNamed, TOKENS } from './runs-teams.ts'
import { startProcess } from './runs-processes.ts'
import { sized } from './form.ts'

import type { StoreLocation, StoreLocations } from './runs-locations.ts'
import type { Reports } from './runs-reports.ts'
import type { RunService } from '../../../packages/runs/src/index.ts'

/** Interval at which a reader polls for its run: several times while the run warms up. */
const LOOK_EVERY_MS = sized(100, 10)

/** Number of runs that write tokens concurrently. */
const RUNS = sized(100, 5)

/** Prints the latency from emit to reader: one in the executing process, and one in another. */
export async function measureTokens(locations: StoreLocations, reports: Reports): Promise<void> {
  const rate = 1_000 / TOKENS.everyMs
  const own = await readHere(locations.embedded())
  const other = await readHere(locations.postgres())
  const elsewhere = await readElsewhere(locations.postgres(), reports)
  printStores(
    `Tokens of ${RUNS} runs, each ${rate} tokens/s for ${TOKENS.measuredMs / 1_000} s, to a reader`,
    [
      ['in the same process', told(own), told(other)],
      ['in another process', NONE, told(elsewhere)],
    ],
  )
}

/** Reads runs from beginning to end; returns the latency of each token. */
export async function tokenLatencies(
  service: RunService,
  runIds: readonly string[],
): Promise<readonly number[]> {
  const latencies: number[] = []
  const read = async (runId: string): Promise<void> => {
    // A reader of a run that does not exist ends immediately.
    while ((await service.record(runId)) === undefined) await sleep(LOOK_EVERY_MS)
    for await (const events of service.follow({ runId, from: 0 })) {
      const atMs = nowMs()
      for (const event of events) {
        if (event.type !== 'token') continue
        for (const stamp of stampsOf(event.token)) latencies.push(atMs - stamp)
      }
    }
  }
  await Promise.all(runIds.map(read))
  return latencies
}

const RUN_IDS = Array.from({ length: RUNS }, (_, index) => `tokens-${index}`)

async function readHere(location: StoreLocation): Promise<readonly number[]> {
  await using opened = await openWriter(location)
  const latencies = tokenLatencies(opened.service, RUN_IDS)
  await submitAll(opened.service)
  // Otherwise the service would be closed before.
  return await latencies
}

async function readElsewhere(
  location: StoreLocation,
  reports: Reports,
): Promise<readonly number[]> {
  await using opened = await openWriter(location)
  const { port } = reports
  await using reader = startProcess('runs-reader', {
    port,
    name: 'reader',
    location,
    runIds: RUN_IDS,
  })
  await reports.next({ kind: 'ready', from: reader.name })
  await submitAll(opened.service)
  const { values = [] } = await reports.next({ kind: 'latencies', from: reader.name })
  return values
}

async function openWriter(location: StoreLocation) {
  const team = await teamNamed('tokens')
  return openService(location, team, { maxConcurrentRuns: RUNS, maxQueuedRuns: RUNS })
}

async function submitAll(service: RunService): Promise<void> {
  await Promise.all(RUN_IDS.map((runId) => service.submit({ runId })))
}

function told(latencies: readonly number[]): string {
  if (latencies.length === 0) throw new Error('The reader received no tokens')
  const perSecond = latencies.length / (TOKENS.measuredMs / 1_000)
  const [p50, p99] = [0.5, 0.99].map((q) => ms(quantile(latencies, q)))
  return `median ${p50}, p99 ${p99} (${perSecond.toFixed(0)} tokens/s)`
}
