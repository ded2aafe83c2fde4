/** Cases of RUNS-L4 and RUNS-L5: the release of runs, and the order in which they become due. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'

import { SUSPECT_DELAY_MS } from '../../domain/suspects.ts'
import {
  cancelling,
  result,
  reviewRequested,
  started,
  step,
  token,
} from '../support/event-fixtures.ts'
import {
  assertClaimed,
  claimDue,
  claimRun,
  createRun,
  newUnownedWrite,
  ownedRun,
  toOwner,
  parkedRun,
  readRecord,
  readUnowned,
  UNKNOWN_TOKEN,
} from '../support/run-fixtures.ts'

import type { StorageCase } from '../support/storage-case.ts'

const LEASED = { owner: 'owner-l', leaseMs: 60_000 }

export const releaseCases: readonly StorageCase[] = [
  {
    name: '[RUNS-L2] Only the owner of a run can release it, and only once',
    async run({ storage }) {
      await createRun(storage, 'run-a')
      const release = (token: string, runId = 'run-a') =>
        storage.queue.release({ runId, token }, { kind: 'parked' })
      const { token: before } = await readUnowned(storage, 'run-a')
      strictEqual(await release(before), 'fenced')
      const { token: current } = await claimRun(storage, 'run-a')
      strictEqual(await release(before), 'fenced')
      strictEqual(await release(UNKNOWN_TOKEN), 'fenced')
      strictEqual(await release(current, 'run-z'), 'fenced')
      deepStrictEqual(await storage.queue.load(), { running: 1, queued: 0, waiting: 0, parked: 0 })
      strictEqual(await release(current), 'parked')
      strictEqual(await release(current), 'fenced')
      deepStrictEqual(await storage.queue.load(), { running: 0, queued: 0, waiting: 0, parked: 1 })
    },
  },
  {
    name: '[RUNS-L8] A run that is released as lost is due at once, and counts as a loss',
    async run({ storage }) {
      await createRun(storage, 'run-w')
      const owner = await ownedRun(storage, 'run-a')
      strictEqual(await storage.queue.release(owner, { kind: 'lost' }), 'lost')
      strictEqual(await storage.queue.release(owner, { kind: 'lost' }), 'fenced')
      deepStrictEqual(await owner.commit([token('zombie')]), { kind: 'fenced' })
      const [claimed] = await claimDue(storage, { wanted: 1 })
      deepStrictEqual([claimed?.run.runId, claimed?.lostOwners], ['run-a', 1])
      ok((claimed?.run.epoch ?? 0) > owner.epoch)
      strictEqual((await readRecord(storage, 'run-a')).status, 'ACCEPTED')
    },
  },
  {
    name: '[RUNS-L13] A run without the last write of its owner is released as lost instead of parked',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      await owner.commit([token('stored')])
      strictEqual(await storage.queue.release(owner, { kind: 'parked', lastWriteNo: 2 }), 'lost')
      const [claimed] = await claimDue(storage)
      ok(claimed !== undefined)
      const next = toOwner(storage, claimed)
      await next.commit([token('stored')])
      strictEqual(await storage.queue.release(next, { kind: 'parked', lastWriteNo: 1 }), 'parked')
    },
  },
  {
    name: '[RUNS-L16] An excused loss is not counted, whether or not another process has claimed the run since',
    async run({ storage, passTime }) {
      for (const runId of ['run-a', 'run-b']) {
        const owner = await ownedRun(storage, runId, { leaseOwner: LEASED })
        await passTime(62_000)
        const claims = runId === 'run-a' ? [] : await claimDue(storage)
        await storage.queue.excuse([owner])
        // A loss of the next owner counts.
        const [next = claims[0]] = await claimDue(storage)
        ok(next !== undefined)
        strictEqual(
          await storage.queue.release({ runId, token: next.token }, { kind: 'lost' }),
          'lost',
        )
        const [claimed] = await claimDue(storage)
        deepStrictEqual([claimed?.run.runId, claimed?.lostOwners], [runId, 1])
      }
    },
  },
  {
    name: '[RUNS-L16] A loss is excused once, and not when the run has been claimed twice since',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      await storage.queue.release(owner, { kind: 'lost' })
      const [second] = await claimDue(storage)
      ok(second !== undefined)
      await storage.queue.release({ runId: 'run-a', token: second.token }, { kind: 'ready' })
      const [third] = await claimDue(storage)
      ok(third !== undefined)
      await storage.queue.excuse([owner, { ...owner, runId: 'run-z' }])
      await storage.queue.release({ runId: 'run-a', token: third.token }, { kind: 'ready' })
      const [fourth] = await claimDue(storage)
      strictEqual(fourth?.lostOwners, 1)
    },
  },
  {
    name: '[RUNS-L8] Each release as lost counts as a loss',
    async run({ storage, passTime }) {
      let owner = await ownedRun(storage, 'run-a')
      for (let lost = 1; lost <= 3; lost += 1) {
        await storage.queue.release(owner, { kind: 'lost' })
        await passTime(lost * lost * SUSPECT_DELAY_MS)
        const [claimed] = await claimDue(storage)
        ok(claimed !== undefined)
        strictEqual(claimed.lostOwners, lost)
        owner = toOwner(storage, claimed)
      }
    },
  },
  {
    name: '[RUNS-L4] A parked run becomes due when its time limit passes, and never without one',
    async run({ storage, passTime }) {
      await parkedRun(storage, 'run-1', { wakeInMs: 60_000 })
      await parkedRun(storage, 'run-2')
      await parkedRun(storage, 'run-3', { wakeInMs: 30_000.25 })
      await parkedRun(storage, 'run-4', { wakeInMs: Infinity })
      await passTime(28_000)
      deepStrictEqual(await claimDue(storage), [])
      await passTime(3000)
      assertClaimed(await claimDue(storage), ['run-3'])
      await passTime(40_000)
      assertClaimed(await claimDue(storage), ['run-1'])
      await passTime(1e10)
      deepStrictEqual(await claimDue(storage), [])
      deepStrictEqual(await storage.queue.load(), { running: 2, queued: 0, waiting: 0, parked: 2 })
    },
  },
  {
    name: '[RUNS-L4] A run whose time limit has passed when it is parked is due at once',
    async run({ storage, passTime }) {
      await parkedRun(storage, 'run-1', { wakeInMs: 0 })
      await parkedRun(storage, 'run-2', { wakeInMs: -1000 })
      await passTime(1000)
      const claimed = await claimDue(storage)
      deepStrictEqual(claimed.map(({ run }) => run.runId).toSorted(), ['run-1', 'run-2'])
    },
  },
  {
    name: '[RUNS-P4] A run is WAITING_REVIEW or WAITING while it is parked, and RUNNING when it continues',
    async run({ storage }) {
      const wait = reviewRequested('wait', { kind: 'EVENT' })
      strictEqual((await parkedRun(storage, 'run-c', { events: [wait] })).status, 'WAITING')
      const { runs } = await storage.runs.list({ statuses: ['WAITING'], limit: 9, offset: 0 })
      deepStrictEqual(
        runs.map(({ runId }) => runId),
        ['run-c'],
      )
      strictEqual((await claimRun(storage, 'run-c')).claimed.run.status, 'RUNNING')
      const events = [wait, reviewRequested('review')]
      strictEqual((await parkedRun(storage, 'run-a', { events })).status, 'WAITING_REVIEW')
      const owner = await claimRun(storage, 'run-a')
      strictEqual(owner.claimed.run.status, 'RUNNING')
      deepStrictEqual(await storage.runs.steps('run-a'), [step(1)])
      strictEqual((await readRecord(storage, 'run-a')).status, 'RUNNING')
      await storage.queue.release(owner, { kind: 'ready' })
      strictEqual((await readRecord(storage, 'run-a')).status, 'RUNNING')
      await createRun(storage, 'run-b')
      const accepted = await claimRun(storage, 'run-b')
      await storage.queue.release(accepted, { kind: 'ready' })
      strictEqual((await readRecord(storage, 'run-b')).status, 'ACCEPTED')
    },
  },
  {
    name: '[RUNS-P4] A run that is being cancelled stays CANCELLING when it is parked and resumed',
    async run({ storage }) {
      const parked = await parkedRun(storage, 'run-a', { events: [cancelling] })
      strictEqual(parked.status, 'CANCELLING')
      strictEqual((await claimRun(storage, 'run-a')).claimed.run.status, 'CANCELLING')
    },
  },
  {
    name: '[RUNS-L5] A run with a pending command becomes ready instead of parked',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      await owner.commit([started])
      await storage.commands.send('run-a', { kind: 'switch_model', model: 'm' })
      const [signal] = await storage.commands.pending(['run-a'])
      ok(signal !== undefined)
      strictEqual(await storage.queue.release(owner, { kind: 'parked', wakeInMs: 1 }), 'ready')
      strictEqual((await readRecord(storage, 'run-a')).status, 'RUNNING')
      const [claimed] = await claimDue(storage)
      deepStrictEqual(claimed?.commands, [signal])
      strictEqual(claimed.lostOwners, 0)
    },
  },
  {
    name: '[RUNS-L5] Answered commands, and commands for other runs, do not prevent parking',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      await ownedRun(storage, 'run-b')
      const sent = await storage.commands.send('run-a', { kind: 'switch_model', model: 'm' })
      await storage.commands.send('run-b', { kind: 'switch_model', model: 'm' })
      ok(sent?.kind === 'sent')
      await owner.commit([], { answers: [{ commandId: sent.commandId, ok: true }] })
      strictEqual(await storage.queue.release(owner, { kind: 'parked' }), 'parked')
      deepStrictEqual((await claimRun(storage, 'run-a')).claimed.commands, [])
    },
  },
  {
    name: '[RUNS-L5] A command that is sent during a release reaches the next owner or its sender',
    async run({ storage }) {
      for (let n = 0; n < 10; n += 1) {
        const runId = `run-${n}`
        const owner = await ownedRun(storage, runId)
        const send = () => storage.commands.send(runId, { kind: 'switch_model', model: 'm' })
        const release = () => storage.queue.release(owner, { kind: 'parked' })
        const [sent, became] =
          n % 2 === 0
            ? await Promise.all([send(), release()])
            : await Promise.all([release(), send()]).then(([r, s]) => [s, r] as const)
        ok(sent !== undefined)
        strictEqual(became, sent.kind === 'sent' ? 'ready' : 'parked')
        const { claimed } = await claimRun(storage, runId)
        const ids = sent.kind === 'sent' ? [sent.commandId] : []
        deepStrictEqual(
          claimed.commands.map(({ id }) => id),
          ids,
        )
      }
    },
  },
  {
    name: '[RUNS-L4] Runs that were claimed before come first, then all others, each the oldest first',
    async run({ storage, passTime }) {
      await ownedRun(storage, 'run-lost-2', {
        leaseOwner: { owner: 'owner-m', leaseMs: 90_000 },
      })
      await createRun(storage, 'run-1')
      await passTime(1000)
      await ownedRun(storage, 'run-lost-1', { leaseOwner: LEASED })
      await passTime(1000)
      await parkedRun(storage, 'run-woken', { wakeInMs: 5000 })
      await passTime(1000)
      await createRun(storage, 'run-2')
      await passTime(10_000)
      await createRun(storage, 'run-3')
      await passTime(90_000)
      const ids = ['run-woken', 'run-lost-1', 'run-lost-2', 'run-1', 'run-2', 'run-3']
      assertClaimed(await claimDue(storage, { wanted: 3 }), ids.slice(0, 3))
      assertClaimed(await claimDue(storage), ids.slice(3))
    },
  },
  {
    name: '[RUNS-L7] The clock of the store measures how long a run waits, not that of its creator',
    async run({ storage, passTime }) {
      await createRun(storage, 'run-1', { createdAt: Date.UTC(2200, 0) })
      await passTime(1000)
      await createRun(storage, 'run-2', { createdAt: 0 })
      assertClaimed(await claimDue(storage), ['run-1', 'run-2'])
    },
  },
  {
    name: '[RUNS-L4] A run that is handed over continues before runs that were submitted later',
    async run({ storage, passTime }) {
      const owner = await ownedRun(storage, 'run-1')
      await createRun(storage, 'run-2')
      await passTime(1000)
      await storage.queue.release(owner, { kind: 'ready' })
      await passTime(1000)
      await createRun(storage, 'run-3')
      assertClaimed(await claimDue(storage), ['run-1', 'run-2', 'run-3'])
    },
  },
  {
    name: '[RUNS-L4] A decided run continues before runs that were submitted while it waited',
    async run({ storage, passTime }) {
      const parked = await parkedRun(storage, 'run-reviewed', { events: [reviewRequested('r')] })
      const limited = { wanted: 1, maxConcurrentRuns: 1 }
      const runIds = Array.from({ length: 4 }, (_, n) => `run-${n}`)
      for (const runId of runIds) await createRun(storage, runId)
      await passTime(1000)
      // The claim that follows the last one may begin after it.
      const [first] = await claimDue(storage, limited)
      ok(first !== undefined)
      strictEqual(first.run.runId, 'run-0')
      const unowned = await readUnowned(storage, parked.runId)
      const decided = newUnownedWrite(unowned, 'ready', { steps: [step(2)] })
      strictEqual((await storage.runs.commitUnowned(decided)).kind, 'written')
      await createRun(storage, 'run-4')
      await toOwner(storage, first).commit([result('run-0')])
      assertClaimed(await claimDue(storage, limited), ['run-reviewed'])
      const rest = { wanted: 9, maxConcurrentRuns: 9 }
      assertClaimed(await claimDue(storage, rest), [...runIds.slice(1), 'run-4'])
    },
  },
  {
    name: '[RUNS-L4] After a start all owned runs are ready, before those that were waiting',
    async run({ storage, passTime }) {
      await createRun(storage, 'run-1')
      await parkedRun(storage, 'run-parked')
      await passTime(1000)
      const owner = await ownedRun(storage, 'run-2')
      await ownedRun(storage, 'run-3', { leaseOwner: LEASED })
      await owner.commit([started, cancelling])
      const reclaimed = await storage.queue.reclaimAll()
      deepStrictEqual(reclaimed, ['run-1', 'run-2', 'run-3'])
      deepStrictEqual(await storage.queue.load(), { running: 0, queued: 3, waiting: 0, parked: 1 })
      deepStrictEqual(await owner.commit([token('zombie')]), { kind: 'fenced' })
      const claimed = await claimDue(storage)
      deepStrictEqual(
        claimed.map(({ run, lostOwners }) => [run.runId, run.status, run.epoch, lostOwners]),
        [
          ['run-2', 'CANCELLING', 2, 1],
          ['run-3', 'ACCEPTED', 2, 1],
          ['run-1', 'ACCEPTED', 1, 0],
        ],
      )
    },
  },
]
