/** Cases of RUNS-P8: writes to unowned runs. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'

import {
  cancelling,
  toLoggedEvents,
  poison,
  result,
  reviewDecided,
  reviewRequested,
  step,
  token,
} from '../support/event-fixtures.ts'
import {
  assertClaimed,
  claimDue,
  claimRun,
  commitOne,
  createRun,
  OWNER,
  ownedRun,
  parkedRun,
  readAll,
  readRecord,
  newUnownedWrite,
  readUnowned,
  UNKNOWN_TOKEN,
  type UnownedRun,
} from '../support/run-fixtures.ts'

import type { StorageCase } from '../support/storage-case.ts'

export const unownedWriteCases: readonly StorageCase[] = [
  {
    name: '[RUNS-P8] A write to an unowned run continues the numbering, stores steps and makes the run ready',
    async run({ storage }) {
      const run = await parkedRun(storage, 'run-a', { events: [reviewRequested('review-1')] })
      const events = [reviewDecided('review-1', 'ann'), token('x')]
      const written = await storage.runs.commitUnowned(
        newUnownedWrite(run, 'ready', { events, steps: [step(2), step(3)] }),
      )
      deepStrictEqual(written, { kind: 'written', events: toLoggedEvents('run-a', 3, events) })
      deepStrictEqual((await readAll(storage, 'run-a')).slice(3), written.events)
      const after = await readRecord(storage, 'run-a')
      deepStrictEqual([after.status, after.lastSeq, after.epoch], ['RUNNING', 4, 1])
      strictEqual((await storage.runs.reviews({}))[0]?.decidedBy, 'ann')
      const [claimed] = await claimDue(storage)
      strictEqual(claimed?.run.runId, 'run-a')
      deepStrictEqual(await storage.runs.steps('run-a'), [step(1), step(2), step(3)])
      await storage.runs.commitUnowned(newUnownedWrite(await parkedRun(storage, 'run-b'), 'ready'))
      strictEqual((await readRecord(storage, 'run-b')).status, 'RUNNING')
    },
  },
  {
    name: '[RUNS-P8] A write to an unowned run can leave it parked until its time limit, or ready',
    async run({ storage, passTime }) {
      const run = await parkedRun(storage, 'run-a', { wakeInMs: 60_000 })
      await createRun(storage, 'run-b')
      await passTime(30_000)
      await storage.runs.commitUnowned(newUnownedWrite(run, 'stay', { events: [token('x')] }))
      strictEqual((await readRecord(storage, 'run-a')).status, 'WAITING')
      deepStrictEqual(await storage.queue.load(), { running: 0, queued: 1, waiting: 0, parked: 1 })
      const queued = await readUnowned(storage, 'run-b')
      await storage.runs.commitUnowned(newUnownedWrite(queued, 'stay', { events: [token('y')] }))
      assertClaimed(await claimDue(storage), ['run-b'])
      await passTime(31_000)
      assertClaimed(await claimDue(storage), ['run-a'])
    },
  },
  {
    name: '[RUNS-P8] A ready run retains its position when it is written to',
    async run({ storage, passTime }) {
      await createRun(storage, 'run-1')
      const run = await readUnowned(storage, 'run-1')
      await passTime(1000)
      await createRun(storage, 'run-2')
      await passTime(1000)
      await storage.runs.commitUnowned(newUnownedWrite(run, 'ready', { events: [token('x')] }))
      strictEqual((await readRecord(storage, 'run-1')).status, 'ACCEPTED')
      assertClaimed(await claimDue(storage), ['run-1', 'run-2'])
    },
  },
  {
    name: '[RUNS-P8] [RUNS-L4] A parked run that becomes ready continues before runs that were submitted later',
    async run({ storage, passTime }) {
      const run = await parkedRun(storage, 'run-1', { wakeInMs: 100 })
      await passTime(1000)
      await createRun(storage, 'run-2')
      await passTime(1000)
      await storage.runs.commitUnowned(newUnownedWrite(run, 'ready'))
      assertClaimed(await claimDue(storage), ['run-1', 'run-2'])
    },
  },
  {
    name: '[RUNS-P8] The events of a write to an unowned run update its record',
    async run({ storage }) {
      for (const next of ['ready', 'stay'] as const) {
        const cancelled = await parkedRun(storage, `run-c-${next}`)
        await storage.runs.commitUnowned(newUnownedWrite(cancelled, next, { events: [cancelling] }))
        strictEqual((await readRecord(storage, cancelled.runId)).status, 'CANCELLING')
        const ended = await parkedRun(storage, `run-e-${next}`)
        await storage.runs.commitUnowned(
          newUnownedWrite(ended, next, { events: [result(ended.runId)] }),
        )
        strictEqual((await readRecord(storage, ended.runId)).status, 'FAILED')
        const again = await storage.runs.commitUnowned(
          newUnownedWrite({ ...ended, lastSeq: ended.lastSeq + 1 }, next, {
            events: [token('late')],
          }),
        )
        deepStrictEqual(again, { kind: 'fenced' })
      }
      deepStrictEqual(await storage.queue.load(), { running: 0, queued: 1, waiting: 0, parked: 1 })
    },
  },
  {
    name: '[RUNS-P8] A run that is being cancelled stays CANCELLING when it becomes ready',
    async run({ storage }) {
      const run = await parkedRun(storage, 'run-a', { events: [cancelling] })
      await storage.runs.commitUnowned(newUnownedWrite(run, 'ready'))
      strictEqual((await readRecord(storage, 'run-a')).status, 'CANCELLING')
    },
  },
  {
    name: '[RUNS-P2] A repeated write of the last owner to an unowned run is fenced, even after its end',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      const write = owner.next([token('x')])
      await commitOne(storage, write)
      await storage.queue.release(owner, { kind: 'ready' })
      deepStrictEqual(await commitOne(storage, write), { kind: 'fenced' })
      const run = await readUnowned(storage, 'run-a')
      await storage.runs.commitUnowned(newUnownedWrite(run, 'stay', { events: [result('run-a')] }))
      deepStrictEqual(await commitOne(storage, write), { kind: 'fenced' })
      strictEqual((await readAll(storage, 'run-a')).length, 3)
    },
  },
  {
    name: '[RUNS-P8] A write is fenced if the run is owned or has changed since it was read',
    async run({ storage }) {
      const run = await parkedRun(storage, 'run-a')
      const write = (of: UnownedRun) => storage.runs.commitUnowned(newUnownedWrite(of, 'ready'))
      const fenced = { kind: 'fenced' }
      deepStrictEqual(await write({ ...run, lastSeq: run.lastSeq - 1 }), fenced)
      deepStrictEqual(await write({ ...run, lastSeq: run.lastSeq + 1 }), fenced)
      deepStrictEqual(await write({ ...run, token: UNKNOWN_TOKEN }), fenced)
      deepStrictEqual(await write({ ...run, runId: 'run-z' }), fenced)
      const owner = await claimRun(storage, 'run-a')
      deepStrictEqual(await write({ ...owner.claimed.run, token: owner.token }), fenced)
      await storage.queue.release(owner, { kind: 'parked' })
      deepStrictEqual(await write(run), fenced)
      strictEqual((await readAll(storage, 'run-a')).length, run.lastSeq + 1)
      strictEqual((await write(await readUnowned(storage, 'run-a'))).kind, 'written')
    },
  },
  {
    name: '[RUNS-P8] A write gives the run a new token, so that a write by the earlier one is fenced',
    async run({ storage }) {
      const run = await parkedRun(storage, 'run-a')
      await storage.runs.commitUnowned(newUnownedWrite(run, 'stay'))
      const after = await readUnowned(storage, 'run-a')
      ok(after.token !== run.token)
      const stale = newUnownedWrite({ ...after, token: run.token }, 'stay')
      deepStrictEqual(await storage.runs.commitUnowned(stale), { kind: 'fenced' })
      strictEqual(
        (await storage.runs.commitUnowned(newUnownedWrite(after, 'stay'))).kind,
        'written',
      )
    },
  },
  {
    name: '[RUNS-P8] One of several concurrent writes is stored',
    async run({ storage }) {
      const run = await parkedRun(storage, 'run-a')
      const results = await Promise.all(
        Array.from({ length: 8 }, (_, n) =>
          storage.runs.commitUnowned(
            newUnownedWrite(run, 'stay', { events: [token(`${n}`)], steps: [step(n)] }),
          ),
        ),
      )
      const stored = results.flatMap((one) => (one.kind === 'written' ? one.events : []))
      strictEqual(stored.length, 1)
      strictEqual(results.filter(({ kind }) => kind === 'fenced').length, 7)
      deepStrictEqual((await readAll(storage, 'run-a')).slice(run.lastSeq + 1), stored)
      strictEqual((await storage.runs.steps('run-a')).length, 2)
    },
  },
  {
    name: '[RUNS-P8] A write that is concurrent with a claim is fenced, or the owner sees it',
    async run({ storage }) {
      const run = await parkedRun(storage, 'run-a')
      const [written, claimed] = await Promise.all([
        storage.runs.commitUnowned(newUnownedWrite(run, 'stay', { steps: [step(2)] })),
        storage.queue.claim('run-a', OWNER),
      ])
      ok(claimed !== undefined)
      const isStored = written.kind === 'written'
      deepStrictEqual(await storage.runs.steps('run-a'), isStored ? [step(1), step(2)] : [step(1)])
      strictEqual(claimed.run.lastSeq, run.lastSeq + (isStored ? 1 : 0))
    },
  },
  {
    name: '[RUNS-P4] A write that cannot be stored changes nothing',
    async run({ storage }) {
      const run = await parkedRun(storage, 'run-a')
      const write = newUnownedWrite(run, 'ready', {
        events: [result('run-a'), poison()],
        steps: [step(2)],
      })
      strictEqual((await storage.runs.commitUnowned(write)).kind, 'failed')
      deepStrictEqual(await readUnowned(storage, 'run-a'), run)
      deepStrictEqual(await storage.runs.steps('run-a'), [step(1)])
      deepStrictEqual(await storage.queue.load(), { running: 0, queued: 0, waiting: 0, parked: 1 })
    },
  },
  {
    name: '[RUNS-L6] A step of a write to an unowned run resets the losses to 0; an event does not',
    async run({ storage }) {
      for (const steps of [[], [step(2)]]) {
        const runId = `run-${steps.length}`
        await ownedRun(storage, runId)
        await storage.queue.reclaimAll()
        const run = await readUnowned(storage, runId)
        await storage.runs.commitUnowned(newUnownedWrite(run, 'ready', { steps }))
        const owner = await claimRun(storage, runId)
        strictEqual(owner.claimed.lostOwners, 1 - steps.length)
        await storage.queue.release(owner, { kind: 'parked' })
      }
    },
  },
]
