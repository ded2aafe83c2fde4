/** Measures runs per second through a service, and the time of one run to its first event and its end. */
import { roundTrips } from './runs-round-trips.ts'
import { awaitEnd, openService } from './runs-services.ts'
import { NONE, printHeading, printRow, quantile, typicalMs } from './runs-table.ts'
import { nowMs, teamNamed } from './runs-teams.ts'
import { sized } from './form.ts'

import type { Places } from './runs-places.ts'
import type { RunService } from '../../../packages/runs/src/index.ts'

const WIDTHS = [1, 5, 20]
const ROUNDS = sized(3, 1)
const ROUND_MS = sized(1_500, 50)
const WARM_UP_MS = sized(700, 50)
const SINGLE_RUNS = sized(120, 2)
const WARM_UP_RUNS = sized(20, 1)
const QUEUED = 1_000

/** Prints runs per second at several widths, each store in turn, and the round trips of a run to Postgres. */
export async function measureThroughput(places: Places): Promise<void> {
  printHeading('runs a second, one typed tool call each')
  const team = await teamNamed('order')
  for (const width of WIDTHS) {
    const options = { maxConcurrentRuns: width, maxQueuedRuns: QUEUED }
    await using embedded = await openService(places.embedded(), team, options)
    await using postgres = await openService(places.postgres(), team, options)
    const figures = { embedded: [] as number[], postgres: [] as number[], trips: [] as number[] }
    await runsPerSecond(embedded.service, width, WARM_UP_MS)
    await runsPerSecond(postgres.service, width, WARM_UP_MS)
    for (let round = 0; round < ROUNDS; round += 1) {
      const own = await runsPerSecond(embedded.service, width, ROUND_MS)
      const before = roundTrips()
      const other = await runsPerSecond(postgres.service, width, ROUND_MS)
      figures.embedded.push(own.perSecond)
      figures.postgres.push(other.perSecond)
      figures.trips.push((roundTrips() - before) / other.runs)
    }
    const [a, b] = [figures.embedded, figures.postgres].map((it) => quantile(it, 0.5).toFixed(0))
    printRow(`${width} at once`, `${a} runs/s`, `${b} runs/s`)
    const trips = quantile(figures.trips, 0.5).toFixed(1)
    printRow(`round trips to the database a run, ${width} at once`, NONE, trips)
  }
}

/** Prints the time of one run without other load. */
export async function measureLatency(places: Places): Promise<void> {
  printHeading('one run at a time')
  const team = await teamNamed('order')
  await using embedded = await openService(places.embedded(), team)
  await using postgres = await openService(places.postgres(), team)
  const [own, other] = [newLatencies(), newLatencies()]
  for (let index = 0; index < WARM_UP_RUNS + SINGLE_RUNS; index += 1) {
    const isWarm = index >= WARM_UP_RUNS
    await timeRun(embedded.service, isWarm ? own : newLatencies())
    await timeRun(postgres.service, isWarm ? other : newLatencies())
  }
  const labels = { submit: 'submit', first: 'submit to ensemble_started', end: 'submit to result' }
  for (const key of ['submit', 'first', 'end'] as const) {
    printRow(labels[key], typicalMs(own[key]), typicalMs(other[key]))
  }
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
