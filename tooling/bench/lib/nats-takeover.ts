/** Measures how long a run waits for another process when its process dies, without polls of the database. */
import { setTimeout as sleep } from 'node:timers/promises'

import { openNatsStorage, type NatsLocations } from './nats-stores.ts'
import { sized } from './form.ts'
import { formatNumber, printClaim, printTable } from './report.ts'
import { quantile } from './runs-table.ts'
import { nowMs } from './runs-teams.ts'

import type {
  ClaimedRun,
  ClaimRequest,
  NewRun,
  RunStorage,
} from '../../../packages/runs/src/adapter.ts'

const ROUNDS = sized(5, 1)
const LEASE_MS = 2_000
const NEVER_MS = 600_000
const TRY_MS = 5

/** Prints the time from the last heartbeat of a process to the claim by another one. */
export async function measureNatsTakeover({ locations, cluster }: NatsLocations): Promise<void> {
  const location = locations.postgres()
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const open = () => openNatsStorage(location, cluster, { storePollMs: NEVER_MS })
    await using first = await open()
    await using second = await open()
    await second.dispatcher.take(requestOf(second))
    await first.dispatcher.take(requestOf(first))
    second.dispatcher.stop()
    await createRun(first, round)
    await take(first)
    const lastMs = nowMs()
    await using third = await open()
    await third.dispatcher.take(requestOf(third))
    const claim = await take(third)
    times.push(nowMs() - lastMs)
    await third.queue.release({ runId: claim.run.runId, token: claim.token }, { kind: 'parked' })
    third.dispatcher.return(claim.run.runId)
  }
  const longest = quantile(times, 1)
  printTable({
    title: `Takeover of a run whose process died, leases of ${formatNumber(LEASE_MS)} ms, ms`,
    columns: ['', 'median', 'longest'],
    rows: [['NATS, three servers', formatNumber(quantile(times, 0.5)), formatNumber(longest)]],
  })
  printClaim({
    text: 'NATS: a takeover takes at most the lease and 1 s',
    atMost: LEASE_MS + 1_000,
    measured: longest,
    unit: ' ms',
  })
}

async function createRun({ runs }: RunStorage, n: number): Promise<void> {
  const run: NewRun = {
    runId: `run-${n}`,
    ensemble: 'team',
    workflow: 'SEQUENTIAL',
    inputs: {},
    tags: {},
    taskCount: 1,
    createdAt: Date.now(),
  }
  const { ensemble, workflow, inputs, tags, taskCount: totalTasks } = run
  const queuedAt = new Date(run.createdAt).toISOString()
  const firstEvent = {
    type: 'run_queued',
    queuedAt,
    ensemble,
    workflow,
    totalTasks,
    inputs,
    tags,
  } as const
  await runs.create(run, { firstEvent, maxUnfinishedRuns: 1_000 })
}

function requestOf(storage: RunStorage): ClaimRequest {
  return {
    owner: `${storage.processName}-bench`,
    leaseMs: LEASE_MS,
    wanted: 1,
    maxConcurrentRuns: 10,
    known: { ensembles: ['team'], othersAfterMs: NEVER_MS },
  }
}

async function take(storage: RunStorage): Promise<ClaimedRun> {
  for (;;) {
    const [claim] = (await storage.dispatcher.take(requestOf(storage))) ?? []
    if (claim !== undefined) return claim
    await sleep(TRY_MS)
  }
}
