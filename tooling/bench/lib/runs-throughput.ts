/** Measures runs per second through a service, and the time of one run to its first event and its end. */
import { roundTrips } from './runs-round-trips.ts'
import { awaitEnd, openService } from './runs-services.ts'
import { median } from './measure.ts'
import { formatNumber, printClaim, type Claim } from './report.ts'
import { NONE, printStores, typicalMs, type StoreRow } from './runs-table.ts'
import { nowMs, teamNamed } from './runs-teams.ts'
import { sized } from './form.ts'

import type { StoreLocations } from './runs-locations.ts'
import type { RunService } from '../../../packages/runs/src/index.ts'

const WIDTHS = [1, 5, 20]
const ROUNDS = sized(3, 1)
const ROUND_MS = sized(1_500, 50)
const WARM_UP_MS = sized(700, 50)
const SINGLE_RUNS = sized(120, 2)
const WARM_UP_RUNS = sized(20, 1)
const QUEUED = 1_000

/** Runs per second on Postgres before they were made fast, by width, on two cores; the goal is three times as many. */
const POSTGRES_BEFORE: Readonly<Record<number, number>> = { 1: 74, 5: 223, 20: 396 }
const TIMES = 2

/** Maximum number of round trips to Postgres for one run alone. */
const MAX_ROUND_TRIPS = 12

/** Maximum time from a submit to `ensemble_started` on Postgres, in milliseconds. */
const MAX_START_MS = 4

/** Prints runs per second at several widths, each store in turn, and the round trips of a run to Postgres. */
export async function measureThroughput(locations: StoreLocations): Promise<void> {
  const rows: StoreRow[] = []
  const claims: Claim[] = []
  const team = await teamNamed('order')
  for (const width of WIDTHS) {
    const options = { maxConcurrentRuns: width, maxQueuedRuns: QUEUED }
    await using embedded = await openService(locations.embedded(), team, options)
    await using postgres = await openService(locations.postgres(), team, options)
    const all = { embedded: [] as number[], postgres: [] as number[], trips: [] as number[] }
    await runsPerSecond(embedded.service, width, WARM_UP_MS)
    await runsPerSecond(postgres.service, width, WARM_UP_MS)
    for (let round = 0; round < ROUNDS; round += 1) {
      const own = await runsPerSecond(embedded.service, width, ROUND_MS)
      const before = roundTrips()
      const other = await runsPerSecond(postgres.service, width, ROUND_MS)
      all.embedded.push(own.perSecond)
      all.postgres.push(other.perSecond)
      all.trips.push((roundTrips() - before) / other.runs)
    }
    const perSecond = median(all.postgres)
    const trips = median(all.trips)
    rows.push(
      [`runs/s, ${width} at once`, formatNumber(median(all.embedded)), formatNumber(perSecond)],
      [`round trips of a run, ${width} at once`, NONE, formatNumber(trips)],
    )
    claims.push({
      text: `Postgres, ${width} at once: at least ${TIMES} times the former ${POSTGRES_BEFORE[width]} runs/s`,
      atLeast: TIMES,
      measured: perSecond / (POSTGRES_BEFORE[width] ?? Number.NaN),
      unit: ' times',
    })
    if (width > 1) continue
    claims.push({
      text: `Postgres: at most ${MAX_ROUND_TRIPS} round trips for a run with one tool call`,
      atMost: MAX_ROUND_TRIPS,
      measured: trips,
    })
  }
  printStores('Runs with one typed tool call, without HTTP', rows)
  for (const claim of claims) printClaim(claim)
}

/** Prints the time of one run without other load. */
export async function measureLatency(locations: StoreLocations): Promise<void> {
  const team = await teamNamed('order')
  await using embedded = await openService(locations.embedded(), team)
  await using postgres = await openService(locations.postgres(), team)
  const [own, other] = [newLatencies(), newLatencies()]
  for (let index = 0; index < WARM_UP_RUNS + SINGLE_RUNS; index += 1) {
    const isWarm = index >= WARM_UP_RUNS
    await timeRun(embedded.service, isWarm ? own : newLatencies())
    await timeRun(postgres.service, isWarm ? other : newLatencies())
  }
  const labels = { submit: 'submit', first: 'submit to ensemble_started', end: 'submit to result' }
  printStores(
    'One run at a time, without HTTP',
    (['submit', 'first', 'end'] as const).map((key) => [
      labels[key],
      typicalMs(own[key]),
      typicalMs(other[key]),
    ]),
  )
  printClaim({
    text: `Postgres: submit to ensemble_started in at most ${MAX_START_MS} ms`,
    atMost: MAX_START_MS,
    measured: median(other.first),
    unit: ' ms',
  })
}

/** Executes runs, `width` at a time. */
export async function runsPerSecond(
  service: RunService,
  width: number,
  forMs: number,
): Promise<{ readonly runs: number; readonly perSecond: number }> {
  const beginMs = nowMs()
  let runs = 0
  const worker = async (): Promise<void> => {
    while (nowMs() - beginMs < forMs) {
      const { runId } = await service.submit({})
      await awaitEnd(service, runId)
      runs += 1
    }
  }
  await Promise.all(Array.from({ length: width }, worker))
  return { runs, perSecond: (runs / (nowMs() - beginMs)) * 1_000 }
}

interface Latencies {
  readonly submit: number[]
  readonly first: number[]
  readonly end: number[]
}

function newLatencies(): Latencies {
  return { submit: [], first: [], end: [] }
}

async function timeRun(service: RunService, { submit, first, end }: Latencies): Promise<void> {
  const beginMs = nowMs()
  const { runId } = await service.submit({})
  submit.push(nowMs() - beginMs)
  let hasBegun = false
  for await (const events of service.follow({ runId, from: 0 })) {
    if (!hasBegun && events.some(({ type }) => type === 'ensemble_started')) {
      hasBegun = true
      first.push(nowMs() - beginMs)
    }
  }
  end.push(nowMs() - beginMs)
}
