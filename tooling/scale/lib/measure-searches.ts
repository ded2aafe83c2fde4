/** Measures renewals of a lease and writes of its runs while many people search a loaded store. */
import { setTimeout as sleep } from 'node:timers/promises'

import { TuttiError } from '@tutti/core'

import { openPostgresStorage, type PostgresLocation } from '../../bench/lib/runs-locations.ts'
import { claimWriters } from './measure-events.ts'
import { measureRate, type Rate } from './measure-store.ts'

import type { Sizes } from './sizes.ts'

/** Searches and the work of their process. */
export interface SearchTimes {
  readonly searches: Rate
  /** Number of searches that the server ended. */
  readonly tooSlow: number
  /** Times of renewals and writes in milliseconds. */
  readonly renewals: readonly number[]
  readonly writes: readonly number[]
  /** Number of times that a run was lost, or the store became unavailable. */
  readonly losses: number
}

/** Number of searches at once. */
export const SEARCHERS = 30

/** Search texts: of all, of some and of no run; those of one or two characters have the least help from an index. */
const TEXTS = ['report', 'no such text', 'report 7000', 'ea', 'zz', '#']

const RUNS = 10

/** Number of renewals within the duration of a lease. */
const RENEWALS = 3

const WRITE_EVERY_MS = 100

/** Time that the searches take after one lease, in milliseconds. */
const MORE_MS = 5_000

/** Measures a process with default connections that owns runs, for longer than its lease. */
export async function measureSearches(
  location: PostgresLocation,
  sizes: Sizes,
): Promise<SearchTimes> {
  await using storage = await openPostgresStorage(location)
  const lease = { owner: 'scale-searched', leaseMs: sizes.leaseMs }
  const writers = await claimWriters(storage, {
    ...lease,
    wanted: RUNS,
    maxConcurrentRuns: sizes.owned + sizes.ready,
  })
  const forMs = sizes.leaseMs + MORE_MS
  let tooSlow = 0
  let losses = 0
  const search = async (searcher: number): Promise<number> => {
    const text = TEXTS[searcher % TEXTS.length] ?? ''
    await storage.runs.list({ text, limit: 50, offset: 0 }).catch((error: unknown) => {
      if (!TuttiError.isInstance(error) || error.code !== 'QUERY_TOO_SLOW') throw error
      tooSlow += 1
    })
    return 1
  }
  const renew = async (): Promise<number> => {
    const held = await storage.queue.renew(lease)
    losses += RUNS - held.length + (storage.isAvailable ? 0 : 1)
    return 1
  }
  let turn = 0
  const write = async (): Promise<number> => (await writers[(turn += 1) % RUNS]?.write()) ?? 0
  const [searches, renewals, writes] = await Promise.all([
    measureRate(SEARCHERS, forMs, search),
    repeat(renew, { forMs, everyMs: sizes.leaseMs / RENEWALS }),
    repeat(write, { forMs, everyMs: WRITE_EVERY_MS }),
  ])
  return { searches, tooSlow, renewals, writes, losses }
}

/** Returns the times of what is done from time to time, in milliseconds. */
async function repeat(
  act: () => Promise<number>,
  { forMs, everyMs }: { readonly forMs: number; readonly everyMs: number },
): Promise<readonly number[]> {
  const times: number[] = []
  for (const startedAt = performance.now(); performance.now() - startedAt < forMs;) {
    const calledAt = performance.now()
    await act()
    times.push(performance.now() - calledAt)
    await sleep(everyMs)
  }
  return times
}
