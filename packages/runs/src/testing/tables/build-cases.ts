/** Cases of RUNS-Z1 to RUNS-Z6, RUNS-Z11, RUNS-Z12 and RUNS-Z18: codes of ensembles, and runs that wait for one. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'

import { listClaimKeys, toWholeCode } from '../../domain/claim-key.ts'
import { result, reviewRequested, started } from '../support/event-fixtures.ts'
import {
  assertClaimed,
  claimDue,
  createRun,
  endedRun,
  ownedRun,
  readRecord,
  readUnowned,
  toOwner,
} from '../support/run-fixtures.ts'

import type { NewBuild, RunMove } from '../../ports/build-store.ts'
import type { ClaimRequest, KnownEnsembles } from '../../ports/run-queue.ts'
import type { RunStorage } from '../../ports/run-storage.ts'
import type { EnsembleManifest } from '@tutti/ensemble/internal'
import type { RunEvent } from '@tutti/protocol'
import type { StorageCase } from '../support/storage-case.ts'

/** The code of a process with one ensemble. */
function knownCode(build: string, code: string, ensemble = 'band'): KnownEnsembles {
  const codes = { [ensemble]: code }
  return { ensembles: listClaimKeys(codes), code: { build, codes }, othersAfterMs: 60_000 }
}

const OLD = knownCode('v1', 'aaaa')
const NEW = knownCode('v2', 'bbbb')

/** Creates a run that a process of the old code had, and that waits for an owner. */
async function begunRun(
  storage: RunStorage,
  runId: string,
  events: readonly RunEvent[] = [],
): Promise<void> {
  await createRun(storage, runId)
  const claimed = await claimDue(storage, { known: OLD, wanted: 1 })
  assertClaimed(claimed, [runId])
  for (const claim of claimed) {
    const owner = toOwner(storage, claim)
    await owner.commit([started, ...events])
    strictEqual(await storage.queue.release(owner, { kind: 'ready' }), 'ready')
  }
  await endLease(storage)
}

/** Ends the lease of the default owner, so that no living process knows the old code. */
async function endLease(storage: RunStorage): Promise<void> {
  await claimDue(storage, { known: { ensembles: [], othersAfterMs: Infinity } })
}

const QUERY = { codes: { band: 'bbbb' }, limit: 10, includesHeld: false }

function claimWith(storage: RunStorage, known: KnownEnsembles, more: Partial<ClaimRequest> = {}) {
  return claimDue(storage, { owner: 'owner-b', known, ...more })
}

function newBuild(build: string, code: string, share = 100): NewBuild {
  return { build, share, ensembles: [{ code, ensemble: 'band', manifest: newManifest(code) }] }
}

function newManifest(description: string): EnsembleManifest {
  return { name: 'band', settings: {}, tasks: { play: { description } } }
}

/** Returns the build and the share of each code in the store, in its order. */
async function readShares(storage: RunStorage): Promise<readonly (readonly [string, number])[]> {
  return (await storage.builds.list()).map(({ build, share }) => [build, share])
}

/** Moves one run; returns whether it was moved. */
async function moveOne(
  storage: RunStorage,
  { runId, token }: Pick<RunMove, 'runId' | 'token'>,
): Promise<boolean> {
  const moved = await storage.builds.move([{ runId, token, to: { build: 'v2', code: 'bbbb' } }])
  return moved.includes(runId)
}

export const buildCases: readonly StorageCase[] = [
  {
    name: '[RUNS-Z1] A claim gives a run the code and the build of its owner; other claims change neither',
    async run({ storage }) {
      const run = await createRun(storage, 'run-a')
      deepStrictEqual([run.build, run.code], [undefined, undefined])
      const [claimed] = await claimDue(storage, { known: OLD })
      deepStrictEqual([claimed?.run.build, claimed?.run.code], ['v1', 'aaaa'])
      ok(claimed !== undefined)
      await storage.queue.release(toOwner(storage, claimed), { kind: 'ready' })
      await storage.queue.claim('run-a', { owner: 'other', leaseMs: Infinity })
      const { build, code } = await readRecord(storage, 'run-a')
      deepStrictEqual([build, code], ['v1', 'aaaa'])
      const { runs } = await storage.runs.list({ limit: 9, offset: 0 })
      deepStrictEqual([runs[0]?.build, runs[0]?.code], ['v1', 'aaaa'])
    },
  },
  {
    name: '[RUNS-Z2] A run that a process has taken is claimed by processes with its code only, however long it waits',
    async run({ storage, passTime }) {
      await begunRun(storage, 'run-a')
      deepStrictEqual(await claimWith(storage, NEW), [])
      await passTime(600_000)
      deepStrictEqual(await claimWith(storage, NEW), [])
      assertClaimed(await claimWith(storage, OLD), ['run-a'])
    },
  },
  {
    name: '[RUNS-Z2] A run that no process has taken is claimed by processes of every code',
    async run({ storage }) {
      await createRun(storage, 'run-a')
      assertClaimed(await claimWith(storage, NEW), ['run-a'])
    },
  },
  {
    name: '[RUNS-Z20] A run with the whole code of a build is claimed by processes with the same ensembles only, and keeps its code',
    async run({ storage }) {
      const codes = { band: 'aaaa', choir: 'cccc' }
      const whole = toWholeCode('band', codes)
      const toKnown = (known: Readonly<Record<string, string>>): KnownEnsembles => ({
        ensembles: listClaimKeys(known),
        code: { build: 'v2', codes: known },
        othersAfterMs: 60_000,
      })
      await createRun(storage, 'run-a', { code: { build: 'v1', code: whole, isFixed: false } })
      deepStrictEqual(await claimWith(storage, toKnown({ band: 'aaaa' })), [])
      deepStrictEqual(await claimWith(storage, toKnown({ ...codes, choir: 'dddd' })), [])
      const [claimed] = await claimWith(storage, toKnown(codes))
      deepStrictEqual([claimed?.run.build, claimed?.run.code], ['v2', whole])
    },
  },
  {
    name: '[RUNS-Z3] A due run is stranded while no living process knows its code',
    async run({ storage }) {
      deepStrictEqual(await storage.builds.findStranded(QUERY), [])
      await begunRun(storage, 'run-a')
      const [found, ...others] = await storage.builds.findStranded(QUERY)
      deepStrictEqual(others, [])
      const { token, ...run } = found ?? { token: undefined }
      ok(token !== undefined)
      deepStrictEqual(run, {
        runId: 'run-a',
        ensemble: 'band',
        build: 'v1',
        code: 'aaaa',
        isHeld: false,
        isCancelling: false,
        hasBegun: true,
        isFixed: false,
      })
      const own = { ...QUERY, codes: { band: 'aaaa' } }
      deepStrictEqual(await storage.builds.findStranded(own), [])
      const other = { ...QUERY, codes: { choir: 'bbbb' } }
      deepStrictEqual(await storage.builds.findStranded(other), [])
    },
  },
  {
    name: '[RUNS-Z4] A held run is WAITING_FOR_BUILD and not due; moved, it becomes ready for its new code',
    async run({ storage }) {
      await begunRun(storage, 'run-a')
      const [run] = await storage.builds.findStranded(QUERY)
      ok(run !== undefined)
      ok(await storage.builds.hold(run))
      const held = await readRecord(storage, 'run-a')
      strictEqual(held.status, 'WAITING_FOR_BUILD')
      deepStrictEqual(await claimWith(storage, OLD), [])
      deepStrictEqual((await storage.queue.metrics()).unfinished, { WAITING_FOR_BUILD: 1 })
      strictEqual((await storage.queue.load()).queued, 0)
      deepStrictEqual(await storage.builds.findStranded(QUERY), [])
      const [found] = await storage.builds.findStranded({ ...QUERY, includesHeld: true })
      deepStrictEqual(found, { ...run, isHeld: true })
      deepStrictEqual(await storage.builds.findUnowned('run-a'), found)
      const [own] = await storage.builds.findStranded({ ...QUERY, codes: { band: 'aaaa' } })
      deepStrictEqual(own, found)
      ok(await moveOne(storage, found))
      deepStrictEqual(await claimWith(storage, OLD), [])
      const claimed = await claimWith(storage, NEW)
      assertClaimed(claimed, ['run-a'])
      strictEqual(claimed[0]?.run.status, 'RUNNING')
    },
  },
  {
    name: '[RUNS-Z18] A claim finds stranded runs, and held runs of a code that its process has',
    async run({ storage }) {
      await begunRun(storage, 'run-a')
      const claimFinds = async (known: KnownEnsembles): Promise<boolean> => {
        assertClaimed(await claimWith(storage, known), [])
        return storage.queue.hasStranded
      }
      strictEqual(await claimFinds(NEW), true)
      strictEqual(await claimFinds(knownCode('v2', 'bbbb', 'choir')), !storage.isShared)
      const [run] = await storage.builds.findStranded(QUERY)
      ok(run !== undefined && (await storage.builds.hold(run)))
      strictEqual(await claimFinds(NEW), !storage.isShared)
      strictEqual(await claimFinds(OLD), true)
    },
  },
  {
    name: '[RUNS-Z4] A held run that is sent a decision is stranded again, and one that is claimed by id is RUNNING',
    async run({ storage }) {
      await begunRun(storage, 'run-a')
      const [run] = await storage.builds.findStranded(QUERY)
      ok(run !== undefined && (await storage.builds.hold(run)))
      const claimed = await storage.queue.claim('run-a', { owner: 'owner-b', leaseMs: Infinity })
      strictEqual(claimed?.run.status, 'RUNNING')
    },
  },
  {
    name: '[RUNS-P12] Held runs are listed by change, by whether they wait for a review',
    async run({ storage }) {
      const runs = { 'run-a': [], 'run-b': [reviewRequested('review-1')] }
      for (const [runId, events] of Object.entries(runs)) {
        await begunRun(storage, runId, events)
        const [run] = await storage.builds.findStranded(QUERY)
        ok(run !== undefined && (await storage.builds.hold(run)))
      }
      const idsOf = async (awaitsReview: boolean) => {
        const statuses = ['RUNNING', 'WAITING_FOR_BUILD'] as const
        const query = { ensembles: ['band'], limit: 9, statuses, awaitsReview }
        return (await storage.runs.listByChange(query)).runs.map(({ runId }) => runId)
      }
      deepStrictEqual([await idsOf(false), await idsOf(true)], [['run-a'], ['run-b']])
    },
  },
  {
    name: '[RUNS-Z5] A run that was claimed or has ended is neither moved nor held',
    async run({ storage }) {
      await begunRun(storage, 'run-a')
      const [run] = await storage.builds.findStranded(QUERY)
      ok(run !== undefined)
      const [claimed] = await claimWith(storage, OLD)
      ok(claimed !== undefined)
      strictEqual(await moveOne(storage, run), false)
      strictEqual(await storage.builds.hold(run), false)
      strictEqual(await storage.builds.findUnowned('run-a'), undefined)
      await toOwner(storage, claimed).commit([result('run-a')])
      strictEqual(await moveOne(storage, run), false)
      strictEqual(await storage.builds.findUnowned('run-b'), undefined)
    },
  },
  {
    name: '[RUNS-Z5] A parked run that is moved stays parked',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      await storage.queue.release(owner, { kind: 'ready' })
      const [claimed] = await claimWith(storage, OLD)
      ok(claimed !== undefined)
      await storage.queue.release(toOwner(storage, claimed), { kind: 'parked' })
      const { token } = await readUnowned(storage, 'run-a')
      ok(await moveOne(storage, { runId: 'run-a', token }))
      const { status, code } = await readRecord(storage, 'run-a')
      deepStrictEqual([status, code], ['WAITING', 'bbbb'])
      deepStrictEqual(await claimWith(storage, NEW), [])
    },
  },
  {
    name: '[RUNS-Z6] Registered codes are listed, the newest first, and have their manifests',
    async run({ storage, passTime }) {
      deepStrictEqual(await storage.builds.list(), [])
      await storage.builds.register(newBuild('v1', 'aaaa'))
      await passTime(1_000)
      await storage.builds.register(newBuild('v2', 'bbbb'))
      await passTime(1_000)
      await storage.builds.register(newBuild('v1', 'aaaa'))
      const builds = await storage.builds.list()
      deepStrictEqual(
        builds.map(({ build, ensemble, code }) => [build, ensemble, code]),
        [
          ['v2', 'band', 'bbbb'],
          ['v1', 'band', 'aaaa'],
        ],
      )
      const [second, first] = builds
      ok(first !== undefined && second !== undefined)
      ok(builds.every((build) => Number.isInteger(build.startedAt)))
      ok(first.startedAt > second.startedAt)
      ok(first.firstStartedAt < second.firstStartedAt)
      deepStrictEqual(await storage.builds.manifest('bbbb'), newManifest('bbbb'))
      strictEqual(await storage.builds.manifest('cccc'), undefined)
    },
  },
  {
    name: '[RUNS-Z6] Each build is listed with its runs that have not ended, by status',
    async run({ storage }) {
      await storage.builds.register(newBuild('v1', 'aaaa'))
      await storage.builds.register(newBuild('v2', 'bbbb'))
      await begunRun(storage, 'run-a')
      await createRun(storage, 'run-b', { code: { build: 'v1', code: 'aaaa', isFixed: false } })
      await createRun(storage, 'run-c')
      await endedRun(storage, 'run-d', { code: { build: 'v1', code: 'aaaa', isFixed: false } })
      const builds = await storage.builds.list()
      const counts = Object.fromEntries(builds.map(({ build, unfinished }) => [build, unfinished]))
      deepStrictEqual(counts, { v1: { ACCEPTED: 1, RUNNING: 1 }, v2: {} })
    },
  },
  {
    name: '[RUNS-Z11] A build lives once a process has registered it and has a lease, and has its share of new runs',
    async run({ storage }) {
      deepStrictEqual(await storage.builds.living(), [])
      await storage.builds.register(newBuild('v1', 'aaaa', 25))
      await claimDue(storage, { known: OLD })
      const [living, ...others] = await storage.builds.living()
      deepStrictEqual(others, [])
      const { firstStartedAt, ...build } = living ?? { firstStartedAt: undefined }
      ok(Number.isInteger(firstStartedAt))
      deepStrictEqual(build, {
        build: 'v1',
        ensemble: 'band',
        code: 'aaaa',
        share: 25,
        processes: 1,
      })
      strictEqual((await storage.builds.list())[0]?.processes, 1)
    },
  },
  {
    name: '[RUNS-Z12] A share that was set is kept by a process that starts, unless it starts with another one than before',
    async run({ storage }) {
      strictEqual(await storage.builds.setShare('v1', 25), false)
      await storage.builds.register(newBuild('v1', 'aaaa', 5))
      deepStrictEqual(await readShares(storage), [['v1', 5]])
      ok(await storage.builds.setShare('v1', 25))
      await storage.builds.register(newBuild('v1', 'aaaa', 5))
      deepStrictEqual(await readShares(storage), [['v1', 25]])
      await storage.builds.register(newBuild('v1', 'aaaa', 0))
      deepStrictEqual(await readShares(storage), [['v1', 0]])
    },
  },
  {
    name: '[RUNS-Z2] A run that was created for a build is claimed by processes with its code only',
    async run({ storage }) {
      const code = { build: 'v2', code: 'bbbb', isFixed: false }
      const created = await createRun(storage, 'run-a', { code })
      deepStrictEqual([created.build, created.code], ['v2', 'bbbb'])
      deepStrictEqual(await claimWith(storage, OLD), [])
      assertClaimed(await claimWith(storage, NEW), ['run-a'])
    },
  },
  {
    name: '[RUNS-Z3] A due run that was created for a build which no process has is stranded, and has not begun',
    async run({ storage }) {
      await createRun(storage, 'run-a', { code: { build: 'v1', code: 'aaaa', isFixed: false } })
      await createRun(storage, 'run-b', { code: { build: 'v1', code: 'aaaa', isFixed: true } })
      const runs = await storage.builds.findStranded(QUERY)
      deepStrictEqual(
        runs.map(({ runId, hasBegun, isFixed }) => ({ runId, hasBegun, isFixed })),
        [
          { runId: 'run-a', hasBegun: false, isFixed: false },
          { runId: 'run-b', hasBegun: false, isFixed: true },
        ],
      )
      const to = { build: 'v2', code: 'bbbb' }
      const moves = runs.map(({ runId, token }) => ({ runId, token, to }))
      deepStrictEqual(await storage.builds.move([]), [])
      deepStrictEqual([...(await storage.builds.move(moves))].toSorted(), ['run-a', 'run-b'])
      assertClaimed(await claimWith(storage, NEW), ['run-a', 'run-b'])
    },
  },
  {
    name: '[RUNS-Z4] A held run that has not begun is ACCEPTED again when it is moved',
    async run({ storage }) {
      await createRun(storage, 'run-a', { code: { build: 'v1', code: 'aaaa', isFixed: true } })
      const [run] = await storage.builds.findStranded(QUERY)
      ok(run !== undefined && (await storage.builds.hold(run)))
      strictEqual((await readRecord(storage, 'run-a')).status, 'WAITING_FOR_BUILD')
      ok(await moveOne(storage, run))
      strictEqual((await readRecord(storage, 'run-a')).status, 'ACCEPTED')
    },
  },
]
