/**
 * Durable runs, on the embedded store and on Postgres side by side: runs a second, how long a run takes to
 * its first event and its end, events a second, how long tokens, wishes and a take-over take, what idle
 * workers ask of the database, and what runs leave in memory.
 *
 * How it is fair:
 * - Both stores wait for the disk at each commit; both have their files below the directory for temporary
 *   files. What the disk gives is printed first, and again at the end.
 * - Postgres is on this machine: a server of its own with the settings it comes with, or that of
 *   `TUTTI_TEST_DATABASE_URL`, whose network then counts.
 * - Services have their defaults but for the limits that a measurement is about. Models answer at once.
 * - Times between processes are by the clock that all processes of this machine share.
 * - Where a run is measured the stores take turns; figures are medians.
 */
import { printDisk } from './lib/runs-disk.ts'
import { measureAppend } from './lib/runs-append.ts'
import { measureIdle } from './lib/runs-idle.ts'
import { measureMemory } from './lib/runs-memory.ts'
import { openPlaces } from './lib/runs-places.ts'
import { openReports } from './lib/runs-reports.ts'
import { measureSteering } from './lib/runs-steering.ts'
import { measureTakeover } from './lib/runs-takeover.ts'
import { measureLatency, measureThroughput } from './lib/runs-throughput.ts'
import { measureTokens } from './lib/runs-token-latency.ts'

/** Three times what a busy machine takes. */
const LIMIT_MS = 10 * 60_000

setTimeout(() => {
  console.error(`The benchmark of durable runs was stopped after ${LIMIT_MS} ms`)
  process.exit(1)
}, LIMIT_MS).unref()
await using places = await openPlaces()
await using reports = await openReports()
printDisk()
await measureThroughput(places)
await measureLatency(places)
await measureAppend(places)
await measureTokens(places, reports)
await measureSteering(places, reports)
await measureTakeover(places, reports)
// Memory takes the processor, and what idle workers ask does not depend on it.
const [printMemory] = await Promise.all([measureMemory(places), measureIdle(places)])
printMemory()
printDisk()
