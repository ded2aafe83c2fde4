/** Cases of RUNS-P2, RUNS-P3, RUNS-P5 and RUNS-P7: fencing, numbering, failed and repeated writes. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'

import { toLoggedEvents, poison, result, started, step, token } from '../support/event-fixtures.ts'
import {
  claimDue,
  claimRun,
  commitOne,
  createRun,
  OWNER,
  ownedRun,
  toOwner,
  readAll,
  readRecord,
  readUnowned,
  UNKNOWN_TOKEN,
} from '../support/run-fixtures.ts'

import type { StorageCase } from '../support/storage-case.ts'

const LEASED = { owner: 'owner-l', leaseMs: 60_000 }

export const commitCases: readonly StorageCase[] = [
  {
    name: '[RUNS-P2] A writer whose run was taken over is fenced and writes nothing',
    async run({ storage, passTime }) {
      const old = await ownedRun(storage, 'run-a', { leaseOwner: LEASED })
      await passTime(61_000)
      const [claimed] = await claimDue(storage, { owner: 'owner-b' })
      ok(claimed !== undefined)
      const next = toOwner(storage, claimed)
      strictEqual(next.epoch, old.epoch + 1)
      deepStrictEqual(await old.commit([token('zombie')], { steps: [step(1)] }), { kind: 'fenced' })
      strictEqual((await next.commit([token('x')])).kind, 'written')
      deepStrictEqual(await old.commit([token('zombie')]), { kind: 'fenced' })
      const events = await readAll(storage, 'run-a')
      deepStrictEqual(events.slice(1), toLoggedEvents('run-a', 1, [token('x')]))
      deepStrictEqual(await storage.runs.steps('run-a'), [])
    },
  },
  {
    name: '[RUNS-P2] A writer with an expired lease can write until another process claims the run',
    async run({ storage, passTime }) {
      const owner = await ownedRun(storage, 'run-a', { leaseOwner: LEASED })
      await passTime(61_000)
      strictEqual((await owner.commit([token('x')])).kind, 'written')
    },
  },
  {
    name: '[RUNS-P2] A writer that released its run is fenced, even if the run is unowned',
    async run({ storage }) {
      for (const kind of ['ready', 'parked'] as const) {
        const runId = `run-${kind}`
        const owner = await ownedRun(storage, runId)
        await owner.commit([token('x')])
        strictEqual(await storage.queue.release(owner, { kind }), kind)
        deepStrictEqual(await owner.commit([token('zombie')]), { kind: 'fenced' })
        await claimRun(storage, runId, OWNER)
        deepStrictEqual(await owner.commit([token('zombie')]), { kind: 'fenced' })
        strictEqual((await readAll(storage, runId)).length, 2)
      }
    },
  },
  {
    name: '[RUNS-P2] A writer of a run that has ended is fenced',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      await owner.commit([result('run-a')])
      const late = await owner.commit([token('zombie')], { steps: [step(1)] })
      deepStrictEqual(late, { kind: 'fenced' })
      strictEqual((await readAll(storage, 'run-a')).length, 2)
      strictEqual((await readRecord(storage, 'run-a')).lastSeq, 1)
    },
  },
  {
    name: '[RUNS-P2] A write is fenced if the run was never claimed, is unknown, or has another token',
    async run({ storage }) {
      await createRun(storage, 'run-a')
      const { token: first } = await readUnowned(storage, 'run-a')
      const write = { runId: 'run-a', token: first, writeNo: 1, events: [token('x')], steps: [] }
      const fenced = { kind: 'fenced' }
      deepStrictEqual(await commitOne(storage, write), fenced)
      deepStrictEqual(await commitOne(storage, { ...write, runId: 'run-z' }), fenced)
      await claimRun(storage, 'run-a')
      deepStrictEqual(await commitOne(storage, write), fenced)
      deepStrictEqual(await commitOne(storage, { ...write, token: UNKNOWN_TOKEN }), fenced)
      strictEqual((await readAll(storage, 'run-a')).length, 1)
    },
  },
  {
    name: '[RUNS-P2] A fenced write does not affect the others of its batch',
    async run({ storage }) {
      const a = await ownedRun(storage, 'run-a')
      const b = await ownedRun(storage, 'run-b')
      await storage.queue.release(a, { kind: 'ready' })
      const results = await storage.runs.commit([a.next([token('1')]), b.next([token('2')])])
      const events = toLoggedEvents('run-b', 1, [token('2')])
      deepStrictEqual(results, [{ kind: 'fenced' }, { kind: 'written', events }])
      strictEqual((await readAll(storage, 'run-a')).length, 1)
    },
  },
  {
    name: '[RUNS-P3] Sequence numbers have no gaps across batches and owners, and are separate for each run',
    async run({ storage }) {
      const a = await ownedRun(storage, 'run-a')
      const b = await ownedRun(storage, 'run-b')
      const results = await storage.runs.commit([
        a.next([token('1'), token('2')]),
        b.next([token('x')]),
      ])
      deepStrictEqual(results, [
        { kind: 'written', events: toLoggedEvents('run-a', 1, [token('1'), token('2')]) },
        { kind: 'written', events: toLoggedEvents('run-b', 1, [token('x')]) },
      ])
      await storage.queue.release(a, { kind: 'ready' })
      const next = await claimRun(storage, 'run-a')
      const written = await next.commit([token('3')])
      deepStrictEqual(written, {
        kind: 'written',
        events: toLoggedEvents('run-a', 3, [token('3')]),
      })
      const seqs = async (runId: string): Promise<readonly number[]> =>
        (await readAll(storage, runId)).map(({ seq }) => seq)
      deepStrictEqual(await seqs('run-a'), [0, 1, 2, 3])
      deepStrictEqual(await seqs('run-b'), [0, 1])
      strictEqual((await readRecord(storage, 'run-a')).lastSeq, 3)
    },
  },
  {
    name: '[RUNS-P3] Several hundred events in one write keep their order',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      const events = Array.from({ length: 700 }, (_, n) => token(`${n}`, (n % 3) + 1))
      const written = await owner.commit(events, { steps: [step(1), step(2)] })
      deepStrictEqual(written, { kind: 'written', events: toLoggedEvents('run-a', 1, events) })
      deepStrictEqual(
        (await readAll(storage, 'run-a')).slice(1),
        toLoggedEvents('run-a', 1, events),
      )
      strictEqual((await readRecord(storage, 'run-a')).lastSeq, 700)
    },
  },
  {
    name: '[RUNS-P3] A batch of fifty runs returns one result per run, in order',
    async run({ storage }) {
      const owners = []
      for (let n = 0; n < 50; n += 1) owners.push(await ownedRun(storage, `run-${n}`))
      owners.reverse()
      const results = await storage.runs.commit(
        owners.map((owner) => owner.next([started, token(owner.runId)], { steps: [step(1)] })),
      )
      for (const [index, { runId }] of owners.entries()) {
        const events = toLoggedEvents(runId, 1, [started, token(runId)])
        deepStrictEqual(results[index], { kind: 'written', events })
        deepStrictEqual((await readAll(storage, runId)).slice(1), events)
        strictEqual((await storage.runs.tasks(runId)).length, 2)
        deepStrictEqual(await storage.runs.steps(runId), [step(1)])
      }
    },
  },
  {
    name: '[RUNS-P3] An empty batch has no results, and a write may contain only steps, or be empty',
    async run({ storage }) {
      deepStrictEqual(await storage.runs.commit([]), [])
      const owner = await ownedRun(storage, 'run-a')
      const nothing = { kind: 'written', events: [] }
      deepStrictEqual(await owner.commit([]), nothing)
      deepStrictEqual(await owner.commit([], { steps: [step(1)] }), nothing)
      const written = await owner.commit([token('x')])
      deepStrictEqual(written, {
        kind: 'written',
        events: toLoggedEvents('run-a', 1, [token('x')]),
      })
    },
  },
  {
    name: '[RUNS-P5] A write that cannot be stored does not affect the others of its batch',
    async run({ storage }) {
      const a = await ownedRun(storage, 'run-a')
      const b = await ownedRun(storage, 'run-b')
      const c = await ownedRun(storage, 'run-c')
      const results = await storage.runs.commit([
        b.next([token('stored')], { steps: [step(2)] }),
        a.next([token('lost'), poison()], { steps: [step(1)] }),
        c.next([token('stored too')]),
      ])
      deepStrictEqual(
        results.map(({ kind }) => kind),
        ['written', 'failed', 'written'],
      )
      strictEqual((await readAll(storage, 'run-a')).length, 1)
      deepStrictEqual(
        (await readAll(storage, 'run-b')).slice(1),
        toLoggedEvents('run-b', 1, [token('stored')]),
      )
      strictEqual((await readAll(storage, 'run-c')).length, 2)
      deepStrictEqual(await storage.runs.steps('run-a'), [])
      deepStrictEqual(await storage.runs.steps('run-b'), [step(2)])
    },
  },
  {
    name: '[RUNS-P5] A failed write uses no number: the next write takes its place',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      const { writeNo } = owner.next([])
      const write = { runId: 'run-a', token: owner.token, writeNo, steps: [] }
      const poisoned = await commitOne(storage, { ...write, events: [poison()] })
      strictEqual(poisoned.kind, 'failed')
      const written = await commitOne(storage, { ...write, events: [token('x')] })
      deepStrictEqual(written, {
        kind: 'written',
        events: toLoggedEvents('run-a', 1, [token('x')]),
      })
    },
  },
  {
    name: '[RUNS-P7] A write that is sent again is stored once and returns the same result',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      await owner.commit([token('0')])
      const write = owner.next([token('1'), token('2')], { steps: [step(1)] })
      const first = await commitOne(storage, write)
      deepStrictEqual(await commitOne(storage, write), first)
      deepStrictEqual(await commitOne(storage, write), first)
      strictEqual((await readAll(storage, 'run-a')).length, 4)
      deepStrictEqual(await storage.runs.steps('run-a'), [step(1)])
      const written = await owner.commit([token('3')])
      deepStrictEqual(written, {
        kind: 'written',
        events: toLoggedEvents('run-a', 4, [token('3')]),
      })
    },
  },
  {
    name: '[RUNS-P7] The end of a run that is sent again returns the same result',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      const write = owner.next([token('x'), result('run-a')])
      const first = await commitOne(storage, write)
      deepStrictEqual(first, {
        kind: 'written',
        events: toLoggedEvents('run-a', 1, [token('x'), result('run-a')]),
      })
      deepStrictEqual(await commitOne(storage, write), first)
      strictEqual((await readAll(storage, 'run-a')).length, 3)
    },
  },
  {
    name: '[RUNS-P7] A batch may contain both repeated and new writes',
    async run({ storage }) {
      const a = await ownedRun(storage, 'run-a')
      const b = await ownedRun(storage, 'run-b')
      const write = a.next([token('1')])
      await commitOne(storage, write)
      const results = await storage.runs.commit([write, b.next([token('2')])])
      deepStrictEqual(results, [
        { kind: 'written', events: toLoggedEvents('run-a', 1, [token('1')]) },
        { kind: 'written', events: toLoggedEvents('run-b', 1, [token('2')]) },
      ])
      strictEqual((await readAll(storage, 'run-a')).length, 2)
    },
  },
  {
    name: '[RUNS-P7] A write out of order is fenced: an earlier one, and one that skips a number',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      const early = owner.next([token('1')])
      await commitOne(storage, early)
      await owner.commit([token('2')])
      deepStrictEqual(await commitOne(storage, early), { kind: 'fenced' })
      owner.next([token('skipped')])
      deepStrictEqual(await owner.commit([token('4')]), { kind: 'fenced' })
      strictEqual((await readAll(storage, 'run-a')).length, 3)
    },
  },
  {
    name: '[RUNS-P7] Writes are numbered from 1 under each claim; write 0 is fenced',
    async run({ storage }) {
      const first = await ownedRun(storage, 'run-a')
      await first.commit([token('1')])
      await storage.queue.release(first, { kind: 'ready' })
      const next = await claimRun(storage, 'run-a')
      const write = { runId: 'run-a', token: next.token, events: [token('2')], steps: [] }
      deepStrictEqual(await commitOne(storage, { ...write, writeNo: 0 }), { kind: 'fenced' })
      deepStrictEqual(await commitOne(storage, { ...write, writeNo: 2 }), { kind: 'fenced' })
      strictEqual((await next.commit([token('2')])).kind, 'written')
    },
  },
  {
    name: '[RUNS-P7] A repeated write of an earlier owner is fenced after a takeover',
    async run({ storage, passTime }) {
      const owner = await ownedRun(storage, 'run-a', { leaseOwner: LEASED })
      const write = owner.next([token('1')])
      await commitOne(storage, write)
      await passTime(61_000)
      await claimDue(storage, { owner: 'owner-b' })
      deepStrictEqual(await commitOne(storage, write), { kind: 'fenced' })
      strictEqual((await readAll(storage, 'run-a')).length, 2)
    },
  },
]
