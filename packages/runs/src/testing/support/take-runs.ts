/** Takes runs from the dispatcher of a storage. */
import { strictEqual } from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

import type { ClaimedRun, ClaimRequest, KnownEnsembles, LeaseOwner } from '../../ports/run-queue.ts'
import type { RunStorage } from '../../ports/run-storage.ts'

/** Interval of attempts, and time limit of a case, in milliseconds. */
const TRY_MS = 20
const LIMIT_MS = 60_000

/** Time for which a dispatcher must not offer a run, in milliseconds, if none is expected. */
const NOTHING_MS = 300

/** The ensembles of the cases. A dispatcher offers runs only to processes that know them. */
const KNOWN: KnownEnsembles = { ensembles: ['band', 'choir'], othersAfterMs: 600_000 }

/** Long enough that no lease ends unless a case lets time pass. */
const LEASED: LeaseOwner = { owner: 'owner-a', leaseMs: 600_000 }

/** A request, and the number of runs that it is expected to return. */
export interface TakeRequest extends Partial<ClaimRequest> {
  readonly wanted: number
  /** @default wanted */
  readonly expected?: number
}

/** Takes runs until there are as many as expected, and no more. The store itself returns them at once. */
export async function takeRuns(
  storage: RunStorage,
  { expected, ...given }: TakeRequest,
): Promise<readonly ClaimedRun[]> {
  const request = { ...LEASED, known: KNOWN, maxConcurrentRuns: 1000, ...given }
  const count = expected ?? request.wanted
  const isStore = storage.dispatcher.engine.name === 'store'
  const until = performance.now() + (isStore ? 0 : count === 0 ? NOTHING_MS : LIMIT_MS)
  const taken: ClaimedRun[] = []
  do {
    const wanted = request.wanted - taken.length
    taken.push(...((await storage.dispatcher.take({ ...request, wanted })) ?? []))
    if (taken.length < count && !isStore) await sleep(TRY_MS)
  } while ((taken.length < count || count === 0) && performance.now() < until)
  strictEqual(taken.length, count)
  return taken
}
