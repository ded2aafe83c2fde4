/** Measures events per second of a store, batch by batch, as the group commit of one process writes them. */
import { openStorage, type Place, type Places } from './runs-places.ts'
import { printHeading, printRow } from './runs-table.ts'
import { sized } from './form.ts'
import { nowMs } from './runs-teams.ts'

import type { RunEvent } from '../../../packages/protocol/src/index.ts'
import type { ClaimedRun, RunStorage } from '../../../packages/runs/src/index.ts'

const RUNS = sized(50, 5)
const EVENTS_PER_RUN = 20
const FOR_MS = sized(2_500, 50)
const WARM_UP_BATCHES = 10

/** Prints events per second. */
export async function measureAppend(places: Places): Promise<void> {
  printHeading(`batches of ${RUNS} runs, ${EVENTS_PER_RUN} events each`)
  const own = await appendsPerSecond(places.embedded())
  const other = await appendsPerSecond(places.postgres())
  printRow('one after the other', own, other)
}

async function appendsPerSecond(place: Place): Promise<string> {
  await using storage = await openStorage(place)
  const claims = await claimedRuns(storage)
  const events = Array.from({ length: EVENTS_PER_RUN }, (_, index) => tokenEvent(index))
  let writeNo = 0
  const commit = async (): Promise<void> => {
    writeNo += 1
    const results = await storage.runs.commit(
      claims.map(({ run: { runId }, token }) => ({ runId, token, writeNo, events, steps: [] })),
    )
    const lost = results.find(({ kind }) => kind !== 'written')
    if (lost !== undefined) throw new Error(`A write was not kept: ${JSON.stringify(lost)}`)
  }
  while (writeNo < WARM_UP_BATCHES) await commit()
  const beginMs = nowMs()
  while (nowMs() - beginMs < FOR_MS) await commit()
  const batches = writeNo - WARM_UP_BATCHES
  const batchMs = (nowMs() - beginMs) / batches
  const perSecond = (RUNS * EVENTS_PER_RUN * 1_000) / batchMs
  return `${perSecond.toFixed(0)} events/s, ${batchMs.toFixed(1)} ms a batch`
}

async function claimedRuns(storage: RunStorage): Promise<readonly ClaimedRun[]> {
  for (let index = 0; index < RUNS; index += 1) {
    const run = { runId: `append-${index}`, ensemble: 'shop', workflow: 'SEQUENTIAL' } as const
    await storage.runs.create(
      { ...run, inputs: {}, tags: {}, taskCount: 1, createdAt: Date.now() },
      {
        maxUnfinishedRuns: RUNS,
        firstEvent: {
          type: 'run_queued',
          queuedAt: new Date().toISOString(),
          ensemble: run.ensemble,
          workflow: run.workflow,
          totalTasks: 1,
          inputs: {},
          tags: {},
        },
      },
    )
  }
  const owner = { owner: 'bench', leaseMs: 60_000 }
  return storage.queue.claimNext({ ...owner, wanted: RUNS, maxConcurrentRuns: RUNS })
}

function tokenEvent(index: number): RunEvent {
  return {
    type: 'token',
    token: `some words of an answer, number ${index} `,
    agentRole: 'Buyer',
    taskDescription: 'Order two teas',
    sentAt: new Date().toISOString(),
    taskIndex: 1,
    taskName: 'order',
    attempt: 1,
    iterationIndex: 0,
  }
}
