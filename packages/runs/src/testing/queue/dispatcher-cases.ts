/**
 * The cases that every dispatcher passes: RUNS-DP of `ports/dispatcher.ts`, and RUNS-L15. A test opens an empty storage
 * with the dispatcher for each case. An engine may offer a run some time after it became ready, so cases take runs until
 * they have what they expect.
 */
import { deepStrictEqual, notStrictEqual, ok, strictEqual } from 'node:assert/strict'

import { toClaimKey } from '../../domain/claim-key.ts'
import { started, step } from '../support/event-fixtures.ts'
import {
  claimRun,
  createRun,
  OWNER,
  ownedRun,
  parkedRun,
  toOwner,
} from '../support/run-fixtures.ts'
import { takeRuns } from '../support/take-runs.ts'

import type { ClaimRequest, Offer, OfferOutcome } from '../../ports/run-queue.ts'
import type { RunRecord } from '../../domain/run-record.ts'
import type { RunStorage } from '../../ports/run-storage.ts'
import type { StorageCase } from '../support/storage-case.ts'

const LEASED = { owner: 'owner-l', leaseMs: 60_000 }

function toOffer(run: Pick<RunRecord, 'runId' | 'epoch' | 'ensemble' | 'code'>): Offer {
  return { runId: run.runId, epoch: run.epoch, claimKey: toClaimKey(run) }
}

async function claimOffered(
  storage: RunStorage,
  offers: readonly Offer[],
  changes: Partial<ClaimRequest> = {},
): Promise<readonly OfferOutcome[]> {
  const request = { ...OWNER, wanted: 10, maxConcurrentRuns: 10, ...changes }
  return storage.queue.claimOffered(offers, request)
}

function kinds(outcomes: readonly OfferOutcome[]): readonly OfferOutcome['kind'][] {
  return outcomes.map(({ kind }) => kind)
}

/** Tests that each dispatcher passes. */
export const dispatcherCases: readonly StorageCase[] = [
  {
    name: '[RUNS-DP1] A dispatcher takes each run once, as many as wanted, with its claim in the store',
    async run({ storage }) {
      for (const runId of ['run-a', 'run-b', 'run-c']) await createRun(storage, runId)
      const first = await takeRuns(storage, { wanted: 2 })
      const rest = await takeRuns(storage, { wanted: 1 })
      deepStrictEqual([...first, ...rest].map(({ run }) => run.runId).toSorted(), [
        'run-a',
        'run-b',
        'run-c',
      ])
      for (const claim of [...first, ...rest]) {
        strictEqual((await toOwner(storage, claim).commit([started])).kind, 'written')
      }
      await takeRuns(storage, { wanted: 1, expected: 0 })
      strictEqual((await storage.queue.load()).running, 3)
    },
  },
  {
    name: '[RUNS-DP1] A dispatcher stays within the limit, and takes the next run when one has been released',
    async run({ storage }) {
      for (let n = 0; n < 6; n += 1) await createRun(storage, `run-${n}`)
      const limited = { wanted: 6, maxConcurrentRuns: 4 }
      const taken = await takeRuns(storage, { ...limited, expected: 4 })
      await takeRuns(storage, { ...limited, expected: 0 })
      const [first] = taken
      ok(first !== undefined)
      const { runId } = first.run
      strictEqual(await storage.queue.release({ ...first, runId }, { kind: 'parked' }), 'parked')
      storage.dispatcher.return(runId)
      const [next] = await takeRuns(storage, { ...limited, expected: 1 })
      ok(!taken.some(({ run }) => run.runId === next?.run.runId))
      deepStrictEqual(await storage.queue.load(), { running: 4, queued: 1, waiting: 0, parked: 1 })
    },
  },
  {
    name: '[RUNS-DP3] A dispatcher takes only runs whose claim keys the process knows',
    async run({ storage }) {
      await createRun(storage, 'run-choir', { ensemble: 'choir' })
      await createRun(storage, 'run-band')
      const band = { known: { ensembles: ['band'], othersAfterMs: 600_000 } }
      const choir = { known: { ensembles: ['choir'], othersAfterMs: 600_000 } }
      const [first] = await takeRuns(storage, { ...band, wanted: 2, expected: 1 })
      strictEqual(first?.run.runId, 'run-band')
      await takeRuns(storage, { ...band, wanted: 2, expected: 0 })
      const [second] = await takeRuns(storage, { ...choir, wanted: 2, expected: 1 })
      strictEqual(second?.run.runId, 'run-choir')
    },
  },
  {
    name: '[RUNS-DP5] A dispatcher offers a run again after it was handed over, for another claim',
    async run({ storage }) {
      await createRun(storage, 'run-a')
      const [first] = await takeRuns(storage, { wanted: 1 })
      ok(first !== undefined)
      await toOwner(storage, first).commit([started], { steps: [step(1)] })
      await storage.queue.release({ runId: 'run-a', token: first.token }, { kind: 'ready' })
      storage.dispatcher.return('run-a')
      const [second] = await takeRuns(storage, { wanted: 1 })
      deepStrictEqual([second?.run.epoch, second?.lostOwners], [2, 0])
      notStrictEqual(second?.token, first.token)
    },
  },
  {
    name: '[RUNS-DP4] A dispatcher offers a run again when the lease of its owner has ended',
    async run({ storage, passTime }) {
      await createRun(storage, 'run-a')
      await takeRuns(storage, { ...LEASED, wanted: 1 })
      await passTime(62_000)
      const [second] = await takeRuns(storage, { wanted: 1 })
      deepStrictEqual([second?.run.epoch, second?.lostOwners], [2, 1])
    },
  },
  {
    name: '[RUNS-DP7] A run that waits for a person leaves its place to another run',
    async run({ storage }) {
      await createRun(storage, 'run-a')
      await createRun(storage, 'run-b')
      const limited = { wanted: 1, maxConcurrentRuns: 1 }
      const [first] = await takeRuns(storage, limited)
      ok(first !== undefined)
      const { runId } = first.run
      ok(await storage.queue.markWaiting({ runId, token: first.token }, 'reviews'))
      storage.dispatcher.return(runId)
      strictEqual((await takeRuns(storage, limited)).length, 1)
      deepStrictEqual(await storage.queue.load(), { running: 1, queued: 0, waiting: 1, parked: 0 })
    },
  },
  {
    name: '[RUNS-DP2] A dispatcher takes a parked run when its time limit has passed',
    async run({ storage, passTime }) {
      const run = await parkedRun(storage, 'run-a', { wakeInMs: 60_000 })
      storage.dispatcher.wakeAt(toOffer(run), 60_000)
      await takeRuns(storage, { wanted: 1, expected: 0 })
      await passTime(61_000)
      strictEqual((await takeRuns(storage, { wanted: 1 })).length, 1)
    },
  },
  {
    name: '[RUNS-L15] A claim by an offer returns the run, and an outcome for each other offer, in their order',
    async run({ storage }) {
      const [a, b] = [await createRun(storage, 'run-a'), await createRun(storage, 'run-b')]
      const unknown = { runId: 'run-z', epoch: 0, claimKey: 'band' }
      const outcomes = await claimOffered(storage, [toOffer(b), unknown, toOffer(a)])
      deepStrictEqual(
        outcomes.map((outcome) => (outcome.kind === 'claimed' ? outcome.claim.run.runId : outcome)),
        ['run-b', { kind: 'outdated' }, 'run-a'],
      )
    },
  },
  {
    name: '[RUNS-L15] An offer counts only until the next claim, whose lease it reports',
    async run({ storage, passTime }) {
      const run = await createRun(storage, 'run-a')
      const early = { ...toOffer(run), epoch: 1 }
      deepStrictEqual(kinds(await claimOffered(storage, [early])), ['outdated'])
      deepStrictEqual(kinds(await claimOffered(storage, [toOffer(run)], LEASED)), ['claimed'])
      await passTime(20_000)
      const [owned] = await claimOffered(storage, [toOffer(run)], { owner: 'owner-b' })
      ok(owned?.kind === 'owned' && owned.forMs > 35_000 && owned.forMs <= 41_000)
      await passTime(42_000)
      deepStrictEqual(kinds(await claimOffered(storage, [toOffer(run)])), ['outdated'])
      deepStrictEqual(kinds(await claimOffered(storage, [early])), ['claimed'])
    },
  },
  {
    name: '[RUNS-L15] A claim by an offer stays within the limit and the wanted number',
    async run({ storage }) {
      const runs = []
      for (let n = 0; n < 5; n += 1) runs.push(await createRun(storage, `run-${n}`))
      const offers = runs.map(toOffer)
      const limited = await claimOffered(storage, offers, { maxConcurrentRuns: 2 })
      deepStrictEqual(kinds(limited).toSorted(), ['claimed', 'claimed', 'full', 'full', 'full'])
      const wanted = await claimOffered(storage, offers.slice(2), { wanted: 1 })
      deepStrictEqual(kinds(wanted).toSorted(), ['claimed', 'full', 'full'])
      strictEqual((await storage.queue.load()).running, 3)
    },
  },
  {
    name: '[RUNS-L15] [RUNS-L4] A run that was claimed before replaces the runs of offers, and then its own offer counts',
    async run({ storage }) {
      const begun = await ownedRun(storage, 'run-begun')
      const runs = [await createRun(storage, 'run-a'), await createRun(storage, 'run-b')]
      await storage.queue.release(begun, { kind: 'ready' })
      const known = { ensembles: ['band'], othersAfterMs: 600_000 }
      const limited = { known, maxConcurrentRuns: 1 }
      const outcomes = await claimOffered(storage, runs.map(toOffer), limited)
      deepStrictEqual(kinds(outcomes).toSorted(), ['full', 'replaced'])
      const claim = outcomes.flatMap((one) => (one.kind === 'replaced' ? [one.claim] : []))[0]
      strictEqual(claim?.run.runId, 'run-begun')
      await storage.queue.release({ ...claim, runId: 'run-begun' }, { kind: 'ready' })
      const own = toOffer({ ...claim.run, epoch: 2 })
      const again = await claimOffered(storage, [...runs.map(toOffer), own], {
        ...limited,
        maxConcurrentRuns: 2,
      })
      strictEqual(again[2]?.kind, 'claimed')
      deepStrictEqual(kinds(again).toSorted(), ['claimed', 'claimed', 'full'])
      const other = { ...limited, known: { ...known, ensembles: ['choir'] } }
      await storage.queue.release({ ...again[2].claim, runId: 'run-begun' }, { kind: 'ready' })
      deepStrictEqual(kinds(await claimOffered(storage, [own], other)), ['outdated'])
    },
  },
  {
    name: '[RUNS-L15] Concurrent claims by offers stay within the limit and get each run once',
    async run({ storage }) {
      const runs = []
      for (let n = 0; n < 20; n += 1) runs.push(await createRun(storage, `run-${n}`))
      const offers = runs.map(toOffer)
      const claimants = Array.from({ length: 10 }, (_, n) =>
        claimOffered(storage, offers, { owner: `owner-${n}`, wanted: 3, maxConcurrentRuns: 7 }),
      )
      const outcomes = (await Promise.all(claimants)).flat()
      const claimed = outcomes.flatMap((one) =>
        one.kind === 'claimed' ? [one.claim.run.runId] : [],
      )
      strictEqual(new Set(claimed).size, claimed.length)
      strictEqual(claimed.length, 7)
    },
  },
  {
    name: '[RUNS-L15] An offer does not claim a run of unknown code, a parked run before its time, or an ended one',
    async run({ storage, passTime }) {
      const run = await createRun(storage, 'run-a')
      const known = { ensembles: ['choir'], othersAfterMs: 0 }
      deepStrictEqual(kinds(await claimOffered(storage, [toOffer(run)], { known })), ['outdated'])
      const parked = await parkedRun(storage, 'run-p', { wakeInMs: 60_000 })
      deepStrictEqual(kinds(await claimOffered(storage, [toOffer(parked)])), ['outdated'])
      await passTime(61_000)
      deepStrictEqual(kinds(await claimOffered(storage, [toOffer(parked)])), ['claimed'])
    },
  },
  {
    name: '[RUNS-L15] An offer does not claim a suspect, which a take does',
    async run({ storage, passTime }) {
      await ownedRun(storage, 'run-a')
      await storage.queue.reclaimAll()
      await claimRun(storage, 'run-a')
      await storage.queue.reclaimAll()
      await passTime(62_000)
      const offer = { runId: 'run-a', epoch: 2, claimKey: 'band' }
      deepStrictEqual(kinds(await claimOffered(storage, [offer])), ['outdated'])
      strictEqual((await takeRuns(storage, { wanted: 1 }))[0]?.lostOwners, 2)
    },
  },
]
