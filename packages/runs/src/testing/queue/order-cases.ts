/** Cases of RUNS-L4: priorities, fairness keys, and room for new runs. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'

import { queued } from '../support/event-fixtures.ts'
import {
  assertClaimed,
  CLAIMANT,
  claimDue,
  createRun,
  newRun,
  newUnownedWrite,
  ownedRun,
  OWNER,
  readRecord,
  readUnowned,
} from '../support/run-fixtures.ts'
import { generateSteps, OrderOracle } from './order-oracle.ts'

import type { RunStorage } from '../../ports/run-storage.ts'
import type { NewRun } from '../../domain/run-record.ts'
import type { StorageCase } from '../support/storage-case.ts'

/** An instant after all tests. */
const FAR = Date.UTC(2100, 0)

/** Creates runs one after the other: each is the key and the number of a run, such as `a1`. */
async function createOf(
  storage: RunStorage,
  ids: readonly string[],
  changes: Partial<NewRun> = {},
): Promise<void> {
  for (const id of ids) {
    await createRun(storage, id, { fairnessKey: id.slice(0, 1), ...changes })
  }
}

/** Claims runs one by one. */
async function claimEach(storage: RunStorage, count: number): Promise<readonly string[]> {
  const ids: string[] = []
  for (let n = 0; n < count; n += 1) {
    for (const { run } of await claimDue(storage, { wanted: 1 })) ids.push(run.runId)
  }
  return ids
}

/** Creates runs at once, as one group where the store groups creations. */
async function createTogether(storage: RunStorage, runs: readonly NewRun[]): Promise<void> {
  await Promise.all(
    runs.map((run) =>
      storage.runs.create(run, { firstEvent: queued(run), maxUnfinishedRuns: 9_999 }),
    ),
  )
}

export const orderCases: readonly StorageCase[] = [
  {
    name: '[RUNS-L4] A run of a higher priority comes before all runs of lower ones, however long they have waited',
    async run({ storage }) {
      for (const [runId, priority] of [
        ['low-1', 'low'],
        ['normal-1', undefined],
        ['high-1', 'high'],
        ['normal-2', 'normal'],
        ['high-2', 'high'],
      ] as const) {
        await createRun(storage, runId, priority === undefined ? {} : { priority })
      }
      deepStrictEqual(await claimEach(storage, 2), ['high-1', 'high-2'])
      await createRun(storage, 'high-3', { priority: 'high' })
      assertClaimed(await claimDue(storage), ['high-3', 'normal-1', 'normal-2', 'low-1'])
    },
  },
  {
    name: '[RUNS-L4] A run waits for one of the 900 runs that another fairness key submitted before',
    async run({ storage }) {
      const many = Array.from({ length: 900 }, (_, n) => newRun(`a${n}`, { fairnessKey: 'a' }))
      await createRun(storage, 'a', { fairnessKey: 'a' })
      await createTogether(storage, many)
      await createRun(storage, 'b0', { fairnessKey: 'b' })
      await createRun(storage, 'b1', { fairnessKey: 'b' })
      const claimed = await claimEach(storage, 5)
      deepStrictEqual(
        claimed.map((id) => id.slice(0, 1)),
        ['a', 'b', 'a', 'b', 'a'],
      )
    },
  },
  {
    name: '[RUNS-L4] Fairness keys take turns, and the runs of a key come in their order',
    async run({ storage }) {
      await createOf(storage, ['a1', 'a2', 'a3', 'b1', 'b2', 'c1', 'a4'])
      deepStrictEqual(await claimEach(storage, 7), ['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4'])
    },
  },
  {
    name: '[RUNS-L4] One claim of several runs takes them in turns',
    async run({ storage }) {
      await createOf(storage, ['a1', 'a2', 'a3', 'b1', 'b2'])
      assertClaimed(await claimDue(storage, { wanted: 4 }), ['a1', 'b1', 'a2', 'b2'])
      assertClaimed(await claimDue(storage, { wanted: 4 }), ['a3'])
    },
  },
  {
    name: '[RUNS-L4] A fairness key that had no waiting runs for a time gets no more turns later',
    async run({ storage }) {
      await createOf(storage, ['b1', 'a1', 'a2', 'a3', 'a4', 'a5'])
      deepStrictEqual(await claimEach(storage, 4), ['b1', 'a1', 'a2', 'a3'])
      await createOf(storage, ['b2', 'b3', 'b4'])
      deepStrictEqual(await claimEach(storage, 5), ['a4', 'b2', 'a5', 'b3', 'b4'])
    },
  },
  {
    name: '[RUNS-L4] A run has the fairness key of its actor unless it has its own',
    async run({ storage }) {
      for (const runId of ['a1', 'a2', 'a3']) await createRun(storage, runId, { actor: 'a' })
      await createRun(storage, 'b1', { actor: 'b' })
      await createRun(storage, 'c1', { actor: 'a', fairnessKey: 'c' })
      await createRun(storage, 'a4', { actor: 'c', fairnessKey: 'a' })
      deepStrictEqual(await claimEach(storage, 6), ['a1', 'b1', 'c1', 'a2', 'a3', 'a4'])
      const { fairnessKey, priority } = await readRecord(storage, 'c1')
      deepStrictEqual([fairnessKey, priority], ['c', undefined])
    },
  },
  {
    name: '[RUNS-L4] Runs without keys and priorities come in the order of their submission',
    async run({ storage }) {
      const ids = Array.from({ length: 12 }, (_, n) => `run-${n}`)
      for (const runId of ids) await createRun(storage, runId)
      deepStrictEqual(await claimEach(storage, 12), ids)
    },
  },
  {
    name: '[RUNS-L4] Turns count in each priority for itself',
    async run({ storage }) {
      await createOf(storage, ['a1', 'a2', 'b1'], { priority: 'low' })
      await createOf(storage, ['a3', 'a4', 'b2'], { priority: 'high' })
      deepStrictEqual(await claimEach(storage, 6), ['a3', 'b2', 'a4', 'a1', 'b1', 'a2'])
      strictEqual((await readRecord(storage, 'a3')).priority, 'high')
    },
  },
  {
    name: '[RUNS-L4] The ensemble whose first run is due the longest is next, after higher priorities',
    async run({ storage, passTime }) {
      const create = async (runId: string, ensemble: string, changes: Partial<NewRun> = {}) => {
        await createRun(storage, runId, { ensemble, ...changes })
        await passTime(10)
      }
      await create('x1', 'x', { fairnessKey: 'a' })
      await create('y1', 'y')
      await create('x2', 'x', { fairnessKey: 'a' })
      await create('y2', 'y')
      await create('x3', 'x', { fairnessKey: 'b' })
      await create('y3', 'y')
      await create('x4', 'x', { priority: 'high' })
      // x3 comes before x2 in its ensemble, but its ensemble waits until y2 was taken.
      const order = ['x4', 'x1', 'y1', 'y2', 'x3', 'x2', 'y3']
      const known = { ensembles: ['x', 'y'], othersAfterMs: 600_000 }
      assertClaimed(await claimDue(storage, { known, wanted: 3 }), order.slice(0, 3))
      assertClaimed(await claimDue(storage, { known }), order.slice(3))
    },
  },
  {
    name: '[RUNS-L4] Due delayed runs come with other runs of their priority, by the time since which they are due',
    async run({ storage, passTime }) {
      const startAt = (await readClock(storage)) + 2_000
      await createRun(storage, 'late-low', { startAt: startAt - 1_000, priority: 'low' })
      await createRun(storage, 'late-2', { startAt: startAt + 500 })
      await createRun(storage, 'late-1', { startAt })
      await createRun(storage, 'late-high', { startAt: startAt + 600, priority: 'high' })
      await createRun(storage, 'a1')
      await createRun(storage, 'a2')
      await passTime(4_000)
      await createRun(storage, 'a3')
      const order = ['late-high', 'a1', 'a2', 'late-1', 'late-2', 'a3', 'late-low']
      deepStrictEqual(await claimEach(storage, 7), order)
    },
  },
  {
    name: '[RUNS-L4] A delayed run that a command makes ready is first in its queue, and changes no turns',
    async run({ storage }) {
      await createOf(storage, ['a1', 'a2', 'a3'])
      await createRun(storage, 'late', { startAt: FAR, fairnessKey: 'b' })
      const late = await readUnowned(storage, 'late')
      await storage.runs.commitUnowned(newUnownedWrite(late, 'ready'))
      await createOf(storage, ['c1', 'c2'])
      deepStrictEqual(await claimEach(storage, 6), ['late', 'a1', 'c1', 'a2', 'c2', 'a3'])
    },
  },
  {
    name: '[RUNS-L4] Runs that are created together, partly claimed at once, are all claimed once',
    async run({ storage }) {
      const ids = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']
      const claimant = { ...CLAIMANT, maxConcurrentRuns: 2 }
      const created = await Promise.all(
        ids.map((id) => {
          const run = newRun(id, { fairnessKey: id.slice(0, 1) })
          return storage.runs.create(run, {
            firstEvent: queued(run),
            maxUnfinishedRuns: 99,
            claimant,
          })
        }),
      )
      const first = created.flatMap((one) =>
        one.kind === 'created' && one.claim !== undefined ? [one.claim.run.runId] : [],
      )
      const rest = await claimEach(storage, 6)
      deepStrictEqual([...first, ...rest].toSorted(), ids.toSorted())
    },
  },
  {
    name: '[RUNS-L4] Runs that are created at the same time are all claimed, those of a key that waits alone without delay',
    async run({ storage }) {
      await createOf(storage, ['a1'])
      const keys = ['a', 'a', 'a', 'b', 'b', 'b', 'c', 'c', 'c']
      await createTogether(
        storage,
        keys.map((fairnessKey, n) => newRun(`${fairnessKey}-${n}`, { fairnessKey })),
      )
      await createOf(storage, ['d1'])
      const claimed = await claimEach(storage, 12)
      strictEqual(new Set(claimed).size, 11)
      ok(claimed.indexOf('d1') <= 4, claimed.join())
    },
  },
  {
    name: '[RUNS-L4] Every fourth claim takes new runs before those that were claimed before',
    async run({ storage }) {
      const begun = Array.from({ length: 9 }, (_, n) => `begun-${n}`)
      for (const runId of begun) {
        const owner = await ownedRun(storage, runId)
        await storage.queue.release(owner, { kind: 'ready' })
      }
      await createOf(storage, ['new-1', 'new-2', 'new-3'])
      const claimed = await claimEach(storage, 9)
      const isNew = claimed.map((id) => id.startsWith('new'))
      deepStrictEqual(isNew, [false, false, false, true, false, false, false, true, false])
      // The fourth claim takes others, too, if there is room.
      assertClaimed((await claimDue(storage, { wanted: 2 })).slice(0, 1), ['begun-7'])
      await claimDue(storage, { wanted: 1 })
    },
  },
  {
    name: '[RUNS-L15] A waiting run of a higher priority replaces an offered one, a run of the same priority does not',
    async run({ storage }) {
      const request = {
        ...OWNER,
        wanted: 1,
        maxConcurrentRuns: 99,
        known: { ensembles: ['band'], othersAfterMs: 600_000 },
      }
      await createRun(storage, 'low-1', { priority: 'low' })
      await createRun(storage, 'low-2', { priority: 'low' })
      await createRun(storage, 'normal-1')
      await createRun(storage, 'high-1', { priority: 'high' })
      const offer = async (runId: string) => {
        const [outcome] = await storage.queue.claimOffered(
          [{ runId, epoch: 0, claimKey: 'band' }],
          request,
        )
        return [
          outcome?.kind,
          outcome !== undefined && 'claim' in outcome && outcome.claim.run.runId,
        ]
      }
      deepStrictEqual(await offer('low-2'), ['replaced', 'high-1'])
      deepStrictEqual(await offer('low-2'), ['replaced', 'normal-1'])
      deepStrictEqual(await offer('low-2'), ['claimed', 'low-2'])
      deepStrictEqual(await offer('low-1'), ['claimed', 'low-1'])
    },
  },
  {
    name: '[RUNS-L15] Every fourth claim by offers takes the offered new run before runs that were claimed before',
    async run({ storage }) {
      for (let n = 0; n < 6; n += 1) {
        const owner = await ownedRun(storage, `begun-${n}`)
        await storage.queue.release(owner, { kind: 'ready' })
      }
      await createRun(storage, 'new-1')
      const kinds: string[] = []
      for (let n = 0; n < 4; n += 1) {
        const [outcome] = await storage.queue.claimOffered(
          [{ runId: 'new-1', epoch: 0, claimKey: 'band' }],
          {
            ...OWNER,
            wanted: 1,
            maxConcurrentRuns: 99,
            known: { ensembles: ['band'], othersAfterMs: 600_000 },
          },
        )
        kinds.push(outcome?.kind ?? '')
      }
      deepStrictEqual(kinds, ['replaced', 'replaced', 'replaced', 'claimed'])
    },
  },
  ...[1, 2, 3].map((seed): StorageCase => ({
    name: `[RUNS-L4] Generated submissions and claims follow the rule (seed ${seed})`,
    async run({ storage, passTime }) {
      const oracle = new OrderOracle()
      const known = { ensembles: ['x', 'y'], othersAfterMs: 600_000 }
      for (const one of generateSteps(seed, 120)) {
        if (one.kind === 'submit') {
          const { runId, ensemble, priority, fairnessKey } = one
          await createRun(storage, runId, { ensemble, priority, fairnessKey })
          oracle.submit(one)
          // Two runs are not due at the same time.
          await passTime(2)
        } else {
          const claimed = await claimDue(storage, { known, wanted: one.wanted })
          deepStrictEqual(
            claimed.map(({ run }) => run.runId),
            oracle.claim(one.wanted),
          )
        }
      }
    },
  })),
]

/** Reads the clock of the store: the time until a run expires is counted by it. */
async function readClock(storage: RunStorage): Promise<number> {
  await createRun(storage, 'probe', { startBy: FAR, priority: 'high' })
  const { nextInMs } = await storage.queue.findExpired(10)
  assertClaimed(await claimDue(storage, { wanted: 1 }), ['probe'])
  return FAR - nextInMs
}
