/** Measures the time without an owner after the process of a run dies or is stopped. */
import { setTimeout as sleep } from 'node:timers/promises'

import { startProcess, type RunProcess } from './runs-processes.ts'
import { NONE, ms, printStores, quantile, type StoreRow } from './runs-table.ts'
import { nowMs, STEP_MS } from './runs-teams.ts'
import { sized } from './form.ts'

import type { StoreLocation, StoreLocations } from './runs-locations.ts'
import type { Reports } from './runs-reports.ts'

/** Number of kill times, spread between two lease renewals. */
const DEATHS = sized(5, 1)
const RENEWALS_PER_LEASE = 3
const LEASES_MS = sized([2_000, 10_000], [1_000])
const RESTARTS = sized(5, 1)
const HAND_OVERS = sized(7, 1)

interface Bench {
  readonly locations: StoreLocations
  readonly reports: Reports
}

/** Prints the time until `run_resumed` is durable in another process. */
export async function measureTakeover(locations: StoreLocations, reports: Reports): Promise<void> {
  const bench = { locations, reports }
  const restarts = await restartTimes(bench)
  const rows: StoreRow[] = [
    ['SIGKILL and a new process at once, to run_resumed', range(restarts), NONE],
  ]
  for (const leaseMs of LEASES_MS) {
    const phases = Array.from({ length: DEATHS }, (_, index) => (index + 0.5) / DEATHS)
    const times = await Promise.all(
      phases.map((phase) => takeoverTime(bench, { leaseMs, phase, name: `${leaseMs}-${phase}` })),
    )
    rows.push([`SIGKILL, leases of ${leaseMs} ms, to run_resumed elsewhere`, NONE, range(times)])
  }
  const label = `SIGTERM, tool calls of ${STEP_MS} ms, to run_resumed elsewhere`
  rows.push([label, NONE, range(await handOverTimes(bench))])
  printStores('A process ends during a tool call', rows)
}

/**
 * Only one process at a time can open an embedded store: the next one starts when the previous one has died. Each restart
 * has a new run, because a run that was lost several times waits before it is tried again.
 */
async function restartTimes({ locations, reports }: Bench): Promise<readonly number[]> {
  const times: number[] = []
  for (let index = 1; index <= RESTARTS; index += 1) {
    const location = locations.embedded()
    const runId = `restarted-${index}`
    const common = { port: reports.port, location, team: 'held' } as const
    await using owner = startProcess('runs-worker', {
      ...common,
      name: `killed-${index}`,
      submits: [runId],
    })
    await reports.next({ kind: 'called', from: owner.name, runId })
    const beginMs = nowMs()
    await owner.end('SIGKILL')
    await using heir = startProcess('runs-worker', { ...common, name: `restart-${index}` })
    const { atMs } = await reports.next({ kind: 'resumed', from: heir.name, runId })
    times.push(atMs - beginMs)
  }
  return times
}

interface Death {
  readonly leaseMs: number
  /** Time between two renewals of the lease: 0 to 1. */
  readonly phase: number
  readonly name: string
}

async function takeoverTime(
  { locations, reports }: Bench,
  { leaseMs, phase, name }: Death,
): Promise<number> {
  const location = locations.postgres()
  const runId = `run-${name}`
  const common = { port: reports.port, location, team: 'held', options: { leaseMs } } as const
  await using owner = startProcess('runs-worker', {
    ...common,
    name: `a-${name}`,
    submits: [runId],
  })
  await reports.next({ kind: 'called', from: owner.name, runId })
  await using heir = startProcess('runs-worker', { ...common, name: `b-${name}` })
  await reports.next({ kind: 'ready', from: heir.name })
  await sleep((phase * leaseMs) / RENEWALS_PER_LEASE)
  const beginMs = nowMs()
  await owner.end('SIGKILL')
  const { atMs } = await reports.next({ kind: 'resumed', from: heir.name, runId })
  return atMs - beginMs
}

/** Hands one run from process to process. */
async function handOverTimes({ locations, reports }: Bench): Promise<readonly number[]> {
  const location: StoreLocation = locations.postgres()
  const runId = 'handed-over'
  const start = (name: string, submits: readonly string[]): RunProcess =>
    startProcess('runs-worker', { port: reports.port, name, location, team: 'stepping', submits })
  const times: number[] = []
  let owner = start('hand-0', [runId])
  for (let index = 1; index <= HAND_OVERS; index += 1) {
    await reports.next({ kind: 'called', from: owner.name, runId })
    const heir = start(`hand-${index}`, [])
    await reports.next({ kind: 'ready', from: heir.name })
    const beginMs = nowMs()
    const gone = owner.end('SIGTERM')
    const { atMs } = await reports.next({ kind: 'resumed', from: heir.name, runId })
    times.push(atMs - beginMs)
    await gone
    owner = heir
  }
  await owner.end('SIGKILL')
  return times
}

function range(times: readonly number[]): string {
  const [least, middle, most] = [0, 0.5, 1].map((q) => ms(quantile(times, q)))
  return `median ${middle} (${least} to ${most}, ${times.length} times)`
}
