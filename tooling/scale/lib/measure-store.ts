/** Measures claims, submits and renewals of a loaded store, while no process executes runs. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

import { listClaimKeys } from '../../../packages/runs/src/domain/claim-key.ts'
import { query } from '../../bench/lib/query.ts'
import { openPostgresStorage, type PostgresLocation } from '../../bench/lib/runs-locations.ts'
import { readCounts, subtractCounts } from './statement-counts.ts'

import type { Sizes } from './sizes.ts'
import type { RunStorage } from '../../../packages/runs/src/adapter.ts'

/** A rate, and the times of single calls in milliseconds. */
export interface Rate {
  readonly perSecond: number
  readonly times: readonly number[]
}

/** Claims by 16 and by 64 claimants. */
export interface ClaimRates {
  readonly by16: Rate
  readonly by64: Rate
  /** Mean number of buffers that a claim reads. */
  readonly buffers: number
}

const STORAGES = 4

/** Connections of a storage: a third of them claim and create. */
const CONNECTIONS = 48

const ENSEMBLE = 'shop'

/** Leases of measured owners: longer than a test. */
const LEASE_MS = 3_600_000

const RENEWALS = 200

/** WAL of the record of a commit, in bytes. */
const COMMIT_BYTES = 55

/** Runs per claim when many are claimed. */
const BATCH = 100

/** Pauses of each claimant, and of all renewals, while a snapshot is held, in milliseconds. */
const CLAIM_EVERY_MS = 100
const RENEW_EVERY_MS = 16

/** Owners of the runs that are claimed before the measurement. */
const OWNERS = 200

/** Returns the WAL of one renewal in bytes, with its share of a commit. */
export async function measureRenewalWal(location: PostgresLocation): Promise<number> {
  await using storage = await openPostgresStorage(location)
  const renewAll = async (): Promise<void> => {
    for (let n = 0; n < RENEWALS; n += 1) {
      await storage.queue.renew({ owner: `scale-${n % OWNERS}`, leaseMs: LEASE_MS })
    }
  }
  // The first change of a page after a checkpoint writes the whole page.
  await renewAll()
  const before = await readCounts(location.connectionString, 'renewal')
  await renewAll()
  const after = await readCounts(location.connectionString, 'renewal')
  const { walBytes, calls } = subtractCounts(after, before)
  return walBytes / calls + COMMIT_BYTES
}

/** Claims runs until so many are owned, then measures claims of one run each. */
export async function measureClaims(location: PostgresLocation, sizes: Sizes): Promise<ClaimRates> {
  await using stack = new AsyncDisposableStack()
  const storages = await openStorages(location, stack)
  const limit = sizes.owned + sizes.ready
  // The store adds slots one by one when the limit has grown; that is not measured.
  await query(
    location.connectionString,
    `INSERT INTO ${location.schema}.slots SELECT n FROM generate_series(1, ${limit}) AS n
     ON CONFLICT DO NOTHING`,
    `VACUUM ANALYZE ${location.schema}.slots`,
  )
  await ownRuns(storages, sizes.owned, limit)
  const claim = await makeClaim(location, storages, sizes)
  const measure = (claimants: number): Promise<Rate> =>
    measureRate(claimants, sizes.measureMs, claim)
  const before = await readCounts(location.connectionString, 'claim')
  const by16 = await measure(16)
  const by64 = await measure(64)
  const after = await readCounts(location.connectionString, 'claim')
  const { buffers, calls } = subtractCounts(after, before)
  return { by16, by64, buffers: buffers / calls }
}

/** Times of claims in milliseconds: before a snapshot was held, and at the end of the time for which it was. */
export interface SnapshotTimes {
  readonly before: readonly number[]
  readonly next: readonly number[]
}

/**
 * Holds a snapshot while runs are claimed and leases are renewed, as by a fleet of {@link OWNERS} processes. Then measures
 * claims as before, while the snapshot is still held.
 */
export async function measureSnapshot(
  location: PostgresLocation,
  sizes: Sizes,
  before: Rate,
): Promise<SnapshotTimes> {
  await using stack = new AsyncDisposableStack()
  const storages = await openStorages(location, stack)
  const claim = await makeClaim(location, storages, sizes)
  const heldS = (sizes.snapshotMs + 2 * sizes.measureMs) / 1_000
  const held = query(location.connectionString, `SELECT pg_sleep(${heldS})`)
  let renewals = 0
  await Promise.all([
    measureRate(16, sizes.snapshotMs, async (claimant) => {
      await sleep(CLAIM_EVERY_MS)
      return claim(claimant)
    }),
    measureRate(1, sizes.snapshotMs, async () => {
      await sleep(RENEW_EVERY_MS)
      const owner = `scale-${(renewals += 1) % OWNERS}`
      return (await storages[0]?.queue.renew({ owner, leaseMs: LEASE_MS }))?.length ?? 0
    }),
  ])
  const { times } = await measureRate(16, sizes.measureMs, claim)
  await held
  return { before: before.times, next: times }
}

/** Measures submits by 16 callers at once. */
export async function measureSubmits(location: PostgresLocation, sizes: Sizes): Promise<Rate> {
  await using stack = new AsyncDisposableStack()
  const storages = await openStorages(location, stack)
  return await measureRate(16, sizes.measureMs, async (caller) => {
    const run = {
      runId: `scale-submitted-${randomUUID()}`,
      ensemble: ENSEMBLE,
      workflow: 'SEQUENTIAL',
      inputs: { topic: 'scale' },
      tags: { team: 't1' },
      taskCount: 1,
      createdAt: Date.now(),
    } as const
    const { ensemble, workflow, inputs, tags } = run
    await storages[caller % STORAGES]?.runs.create(run, {
      maxUnfinishedRuns: 10 * (sizes.ready + sizes.parked + sizes.owned),
      firstEvent: {
        type: 'run_queued',
        queuedAt: new Date().toISOString(),
        ensemble,
        workflow,
        totalTasks: 1,
        inputs,
        tags,
      },
    })
    return 1
  })
}

/** Returns a function that claims a run for a claimant, as an executor does, and returns the number of claimed runs. */
async function makeClaim(
  { connectionString, schema }: PostgresLocation,
  storages: readonly RunStorage[],
  { owned, ready }: Sizes,
): Promise<(claimant: number) => Promise<number>> {
  const [row] = await query(
    connectionString,
    `SELECT code FROM ${schema}.runs WHERE state = 'ready' LIMIT 1`,
  )
  const ensembles = listClaimKeys({ [ENSEMBLE]: String(row?.['code']) })
  return async (claimant) => {
    const claimed = await storages[claimant % STORAGES]?.dispatcher.take({
      owner: `claimant-${claimant}`,
      leaseMs: LEASE_MS,
      wanted: 1,
      maxConcurrentRuns: owned + ready,
      known: { ensembles, othersAfterMs: 10_000 },
    })
    return claimed?.length ?? 0
  }
}

/** Opens stores, each with many connections. */
export async function openStorages(
  location: PostgresLocation,
  stack: AsyncDisposableStack,
): Promise<readonly RunStorage[]> {
  const open = () => openPostgresStorage({ ...location, maxConnections: CONNECTIONS })
  const storages = await Promise.all(Array.from({ length: STORAGES }, open))
  for (const storage of storages) stack.use(storage)
  return storages
}

async function ownRuns(
  [storage]: readonly RunStorage[],
  count: number,
  maxConcurrentRuns: number,
): Promise<void> {
  for (let owned = 0, batch = 0; owned < count; batch += 1) {
    const claimed =
      (await storage?.dispatcher.take({
        owner: `scale-${batch % OWNERS}`,
        leaseMs: LEASE_MS,
        wanted: Math.min(BATCH, count - owned),
        maxConcurrentRuns,
      })) ?? []
    owned += claimed?.length ?? 0
    if (claimed?.length === 0) throw new Error(`Could claim only ${owned} of ${count} runs`)
  }
}

/** Calls `act` from several callers, each one call after another; it returns the number of what it did. */
export async function measureRate(
  callers: number,
  forMs: number,
  act: (caller: number) => Promise<number>,
): Promise<Rate> {
  const times: number[] = []
  let done = 0
  const startedAt = performance.now()
  const work = async (caller: number): Promise<void> => {
    while (performance.now() - startedAt < forMs) {
      const calledAt = performance.now()
      const count = await act(caller)
      done += count
      times.push(performance.now() - calledAt)
    }
  }
  const ends = await Promise.allSettled(
    Array.from({ length: callers }, (_, caller) => work(caller)),
  )
  const failed = ends.find((end) => end.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  return { perSecond: done / ((performance.now() - startedAt) / 1_000), times }
}
