/**
 * Durable runs on the embedded store and on Postgres: runs per second, time of a run to its first event and its
 * end, events per second, latency of tokens, commands and takeovers, load of idle workers on the database, and
 * memory that runs leave.
 *
 * How it is fair:
 * - Both stores wait for the disk at each commit, and have their files below the directory for temporary files. The
 *   speed of the disk is printed first, and again at the end.
 * - Postgres is on this machine: a separate server with its default settings, or that of `TUTTI_TEST_DATABASE_URL`,
 *   whose network then counts.
 * - Services have their defaults, except for the limits of a measurement. Models answer immediately.
 * - Times between processes are by a clock that all processes of this machine share.
 * - Where a run is measured, the stores take turns; results are medians.
 */
import { printDisk } from './lib/runs-disk.ts'
import { isQuick } from './lib/form.ts'
import { measureIdle } from './lib/runs-idle.ts'
import { openLocations } from './lib/runs-locations.ts'
import { describeServer } from './lib/query.ts'
import { openReports } from './lib/runs-reports.ts'
import { measureSteering } from './lib/runs-steering.ts'
import { measureTakeover } from './lib/runs-takeover.ts'
import { measureLatency, measureThroughput } from './lib/runs-throughput.ts'
import { measureTokens } from './lib/runs-token-latency.ts'

/** Three times the duration on a busy machine. */
const LIMIT_MS = 10 * 60_000

setTimeout(() => {
  console.error(`The benchmark of durable runs was stopped after ${LIMIT_MS} ms`)
  process.exit(1)
}, LIMIT_MS).unref()
await using locations = await openLocations()
console.log(await describeServer(locations.url))
printDisk()
await measureThroughput(locations)
await measureLatency(locations)
if (!isQuick()) {
  await using reports = await openReports()
  await measureTokens(locations, reports)
  await measureSteering(locations, reports)
  await measureTakeover(locations, reports)
  await measureIdle(locations)
}
