import { describe, expect, it, onTestFinished } from 'vitest'

import { connectClient } from '../../../../../tooling/postgres/connect-client.ts'
import { testDatabase } from '../../../../../tooling/postgres/test-database.ts'
import { result, step, token } from '../../testing/support/event-fixtures.ts'
import { createRun, readAll, toOwner, type Owner } from '../../testing/support/run-fixtures.ts'
import { postgresRunStorage } from './index.ts'

import type { Client } from 'pg'
import type { RunStorage } from '../../ports/run-storage.ts'

const RUNS = 200
const LIMIT = 12
const WRITES_A_RUN = 6

describe('several stores under load', () => {
  it('[RUNS-L2] [RUNS-L3] [RUNS-P3] A run has one owner at a time, the limit holds, and there are no gaps', async () => {
    await using stack = new AsyncDisposableStack()
    const { url } = stack.use(await testDatabase())
    const connect = async () =>
      stack.use(await postgresRunStorage({ connectionString: url, maxConnections: 5 }))
    const storages = await Promise.all([connect(), connect(), connect(), connect()])
    const watcher = await connectClient(url)
    stack.defer(() => watcher.end())
    const world: World = {
      given: new Map(),
      mostOwned: 0,
      ended: new Set(),
      writes: 0,
      isOver: false,
    }
    const [first] = storages
    const all = [
      watchOwned(watcher, world),
      createRuns(storages),
      ...storages.flatMap((storage, index) => [
        work(storage, { owner: `owner-${index}`, world }),
        work(storage, { owner: `owner-${index}b`, world }),
      ]),
    ]
    // If one of them fails, the others must not outlive the database.
    onTestFinished(() => {
      world.isOver = true
    })
    try {
      await Promise.all(all)
    } catch (error) {
      world.isOver = true
      await Promise.allSettled(all)
      throw error
    }
    expect(world.mostOwned).toBeLessThanOrEqual(LIMIT)
    expect(world.mostOwned).toBeGreaterThan(2)
    expect(world.ended.size).toBe(RUNS)
    for (const [claim, owners] of world.given) expect(owners, claim).toHaveLength(1)
    for (let index = 0; index < RUNS; index += 1) {
      const events = await readAll(first, `run-${index}`)
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at))
      const texts = events.flatMap((event) => (event.type === 'token' ? [event.token] : []))
      expect(texts, `run-${index}`).toEqual(Array.from({ length: WRITES_A_RUN }, (_, n) => `${n}`))
      expect(events.at(-1)?.type).toBe('run_result')
    }
    expect(await first.queue.load()).toEqual({ running: 0, queued: 0, waiting: 0, parked: 0 })
  })
})

interface World {
  /** The owners of each claim, which is a run and an epoch. */
  readonly given: Map<string, string[]>
  mostOwned: number
  readonly ended: Set<string>
  writes: number
  /** Whether the test has ended, also before all runs have. */
  isOver: boolean
}

async function createRuns(storages: readonly RunStorage[]): Promise<void> {
  for (let index = 0; index < RUNS; index += storages.length) {
    await Promise.all(storages.map((storage, at) => createRun(storage, `run-${index + at}`)))
  }
}

/** Repeatedly counts the runs that are owned. */
async function watchOwned(watcher: Client, world: World): Promise<void> {
  while (world.ended.size < RUNS && !world.isOver) {
    const { rows } = await watcher.query<{ count: string }>(
      `SELECT count(*) FROM tutti.runs WHERE state = 'owned'`,
    )
    world.mostOwned = Math.max(world.mostOwned, Number(rows[0]?.count))
  }
}

/** Simulates a process that claims runs, writes to them, and sometimes releases or forgets one. */
async function work(
  storage: RunStorage,
  { owner, world }: { readonly owner: string; readonly world: World },
): Promise<void> {
  for (let turn = 0; world.ended.size < RUNS && !world.isOver; turn += 1) {
    // Runs that are forgotten in one turn are not renewed in the next.
    const leaseOwner = { owner: `${owner}-${turn}`, leaseMs: 250 }
    const claimed =
      (await storage.dispatcher.take({
        ...leaseOwner,
        wanted: 4,
        maxConcurrentRuns: LIMIT,
      })) ?? []
    for (const { run } of claimed) {
      const claim = `${run.runId} ${run.epoch}`
      world.given.set(claim, [...(world.given.get(claim) ?? []), owner])
    }
    const owners = await Promise.all(
      claimed.map(async (one) => ({
        ...toOwner(storage, one),
        begun: (await storage.runs.steps(one.run.runId)).length,
      })),
    )
    await Promise.all([
      ...owners.map((one) => drive(storage, one, world)),
      storage.queue.renew(leaseOwner),
    ])
    if (claimed.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** Continues a run from its last step. */
async function drive(
  storage: RunStorage,
  owner: Owner & { readonly begun: number },
  world: World,
): Promise<void> {
  for (let n = owner.begun; n < WRITES_A_RUN; n += 1) {
    world.writes += 1
    const { kind } = await owner.commit([token(`${n}`)], { steps: [step(n)] })
    if (kind === 'fenced') return
    expect(kind).toBe('written')
    const dice = Math.random()
    if (dice < 0.03) return
    if (dice < 0.15) {
      await storage.queue.release(owner, { kind: 'ready' })
      return
    }
    if (dice < 0.25) {
      await storage.queue.release(owner, { kind: 'parked', wakeInMs: 20 })
      return
    }
  }
  const { kind } = await owner.commit([result(owner.runId)])
  if (kind === 'written') world.ended.add(owner.runId)
}
