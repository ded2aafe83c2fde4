/** Runs in every state, for tests that migrate a store of an earlier version. */
import {
  completed,
  ODD_TEXT,
  reviewRequested,
  started,
  step,
  taskStarted,
} from './event-fixtures.ts'
import {
  createRun,
  endedRun,
  OWNER,
  ownedRun,
  toOwner,
  parkedRun,
  readAll,
  type Owner,
} from './run-fixtures.ts'

import type { RunStorage } from '../ports/run-storage.ts'

const RUN_IDS = ['run-ready', 'run-owned', 'run-parked', 'run-ended']

/** Creates a run in each state and returns the owner of `run-owned`. */
export async function keepRunsInFlight(storage: RunStorage): Promise<Owner> {
  const submission = { idempotencyKey: 'key', fingerprint: 'print' }
  await createRun(storage, 'run-ready', { tags: { by: ODD_TEXT }, submission })
  const owner = await ownedRun(storage, 'run-owned')
  await owner.commit([started, completed, taskStarted(2)], { steps: [step(1), step(2)] })
  await storage.commands.send('run-owned', { kind: 'switch_model', model: ODD_TEXT })
  await parkedRun(storage, 'run-parked', { events: [reviewRequested('review-a')] })
  await endedRun(storage, 'run-ended')
  return owner
}

/** Returns the same owner over the reopened store; the migration gave its run a token. */
export async function goOnAs(
  { claimed, runId }: Owner,
  storage: RunStorage,
  writeNo: number,
): Promise<Owner> {
  const held = await storage.queue.renew(OWNER)
  const { token } = held.find((run) => run.runId === runId) ?? claimed
  const owner = toOwner(storage, { ...claimed, token })
  for (let n = 0; n < writeNo; n += 1) owner.next([])
  return owner
}

/** Returns all data that can be read of those runs. */
export async function readEverything(storage: RunStorage): Promise<unknown> {
  const runs = RUN_IDS.map(async (runId) => ({
    run: await storage.runs.get(runId),
    tasks: await storage.runs.tasks(runId),
    steps: await storage.runs.steps(runId),
    events: await readAll(storage, runId),
  }))
  return {
    runs: await Promise.all(runs),
    reviews: await storage.runs.reviews({}),
    commands: await storage.commands.pending(RUN_IDS),
    load: await storage.queue.load(),
    heads: (await storage.events.follow({ runIds: RUN_IDS, all: true })).toSorted((a, b) =>
      a.runId < b.runId ? -1 : 1,
    ),
  }
}
