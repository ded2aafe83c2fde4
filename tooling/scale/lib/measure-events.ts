/** Measures the events that a store keeps, with and without many processes that listen. */
import { openListeners } from '../../bench/lib/query.ts'
import { measureRate, openStorages } from './measure-store.ts'

import type { PostgresLocation } from '../../bench/lib/runs-locations.ts'
import type { RunStorage } from '../../../packages/runs/src/adapter.ts'
import type { ClaimRequest } from '../../../packages/runs/src/ports/run-queue.ts'
import type { Sizes } from './sizes.ts'

/** Events per second. */
export interface EventRates {
  readonly alone: number
  readonly withListeners: number
}

const WRITERS = 16

/** Events of a write. */
const EVENTS = 5

/** Lease of the writers in milliseconds: longer than a test. */
const LEASE_MS = 3_600_000

/**
 * Measures events of 16 runs at once, each followed by another store, so that its writes notify. The listeners follow
 * other runs.
 */
export async function measureEvents(location: PostgresLocation, sizes: Sizes): Promise<EventRates> {
  await using stack = new AsyncDisposableStack()
  const storages = await openStorages(location, stack)
  const [first, second] = storages
  if (first === undefined || second === undefined) throw new Error('There are no stores')
  const writers = await claimWriters(first, {
    owner: 'scale-writer',
    leaseMs: LEASE_MS,
    wanted: WRITERS,
    maxConcurrentRuns: sizes.owned + sizes.ready,
  })
  const runIds = writers.map(({ runId }) => runId)
  await second.events.follow({ runIds, all: false })
  const write = (writer: number): Promise<number> => writers[writer]?.write() ?? Promise.resolve(0)
  const alone = await measureRate(WRITERS, sizes.measureMs, write)
  await using listeners = await openListeners(location.connectionString, sizes.listeners)
  const withListeners = await measureRate(WRITERS, sizes.measureMs, write)
  if (listeners.count !== sizes.listeners) throw new Error('A listener has lost its connection')
  return { alone: alone.perSecond, withListeners: withListeners.perSecond }
}

/** A run that is written to. */
export interface Writer {
  readonly runId: string
  /** Writes events; returns their number. */
  write(): Promise<number>
}

/** Claims runs to write to. */
export async function claimWriters(
  storage: RunStorage,
  request: ClaimRequest,
): Promise<readonly Writer[]> {
  const claimed = (await storage.dispatcher.take(request)) ?? []
  if (claimed.length < request.wanted) throw new Error(`Could claim only ${claimed.length} runs`)
  return claimed.map(({ run: { runId }, token }) => {
    let writeNo = 0
    return {
      runId,
      async write() {
        const events = Array.from({ length: EVENTS }, (_, n) => ({
          type: 'token' as const,
          token: `word ${n}`,
          taskName: 'ledger',
          taskIndex: 1,
          taskDescription: 'Write',
          agentRole: 'Clerk',
          attempt: 1,
          iterationIndex: 0,
          sentAt: new Date().toISOString(),
        }))
        writeNo += 1
        const [end] = await storage.runs.commit([{ runId, token, writeNo, events, steps: [] }])
        if (end?.kind !== 'written') throw new Error(`Could not write to ${runId}: ${end?.kind}`)
        return EVENTS
      },
    }
  })
}
