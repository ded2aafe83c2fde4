/** Cases of RUNS-P6, RUNS-W3 and RUNS-P9: the data of ended runs, and their deletion. */
import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict'

import {
  queued,
  result,
  reviewDecided,
  reviewRequested,
  started,
  step,
  token,
} from '../support/event-fixtures.ts'
import {
  claimDue,
  createRun,
  endedRun,
  OWNER,
  newRun,
  ownedRun,
  parkedRun,
  readAll,
  readRecord,
  newUnownedWrite,
  type Owner,
  readUnowned,
} from '../support/run-fixtures.ts'

import type { RunStorage } from '../../ports/run-storage.ts'
import type { StorageCase } from '../support/storage-case.ts'

const DAY_MS = 86_400_000

export const endCases: readonly StorageCase[] = [
  {
    name: '[RUNS-P16] An ended run keeps its steps, also those of its last write',
    async run({ storage }) {
      const a = await ownedRun(storage, 'run-a')
      const b = await ownedRun(storage, 'run-b')
      await storage.runs.commit([
        a.next([], { steps: [step(1)] }),
        b.next([], { steps: [step(1)] }),
      ])
      await a.commit([result('run-a')], { steps: [step(2)] })
      deepStrictEqual(await storage.runs.steps('run-a'), [step(1), step(2)])
      deepStrictEqual(await storage.runs.steps('run-b'), [step(1)])
    },
  },
  {
    name: '[RUNS-P16] The steps up to an event are those that were written until then',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      const three = [token('1'), token('2'), token('3')]
      await owner.commit(three, { steps: [step(1), step(2), step(3)], stepEvents: [0, 2, 3] })
      await owner.commit([], { steps: [step(4)] })
      await owner.commit([token('4'), result('run-a')], { steps: [step(5)] })
      const counts = []
      for (let upTo = 0; upTo <= 5; upTo += 1) {
        counts.push((await storage.runs.steps('run-a', { upTo })).length)
      }
      deepStrictEqual(counts, [0, 1, 1, 2, 4, 5])
      await rejects(storage.runs.steps('run-a', { upTo: 5, maxBytes: 1 }), {
        code: 'RUN_TOO_LARGE',
      })
      deepStrictEqual(await storage.runs.steps('run-a', { upTo: 0, maxBytes: 0 }), [])
    },
  },
  {
    name: '[RUNS-P16] Old steps of ended runs are deleted in chunks; the runs remain',
    async run({ storage, passTime }) {
      for (const runId of ['run-a', 'run-b']) {
        const owner = await ownedRun(storage, runId)
        await owner.commit([result(runId)], { steps: [step(1), step(2), step(3)] })
      }
      await passTime(5_000)
      const late = await ownedRun(storage, 'run-late')
      await late.commit([result('run-late')], { steps: [step(1)] })
      const active = await ownedRun(storage, 'run-active')
      await active.commit([started], { steps: [step(1)] })
      const which = { maxAgeMs: 4_000, limit: 2 }
      let calls = 1
      while (await storage.runs.deleteSteps(which)) calls += 1
      strictEqual(calls, 4)
      const left = []
      for (const runId of ['run-a', 'run-b', 'run-late', 'run-active']) {
        left.push((await storage.runs.steps(runId)).length)
        ok((await readAll(storage, runId)).length > 1)
      }
      deepStrictEqual(left, [0, 0, 1, 1])
      strictEqual(await storage.runs.deleteSteps({ ...which, maxAgeMs: 0 }), false)
    },
  },
  {
    name: '[RUNS-P6] An ended run cannot be claimed or released, whatever its status',
    async run({ storage, passTime }) {
      for (const status of ['COMPLETED', 'FAILED', 'CANCELLED'] as const) {
        const runId = `run-${status}`
        const owner = await ownedRun(storage, runId, { leaseOwner: { owner: 'x', leaseMs: 1000 } })
        await owner.commit([started, result(runId, { status })])
        strictEqual((await readRecord(storage, runId)).status, status)
        strictEqual(await storage.queue.claim(runId, OWNER), undefined)
        strictEqual(await storage.queue.release(owner, { kind: 'ready' }), 'fenced')
      }
      await passTime(10_000)
      deepStrictEqual(await claimDue(storage), [])
      deepStrictEqual(await storage.queue.renew({ owner: 'x', leaseMs: 1000 }), [])
      deepStrictEqual(await storage.queue.reclaimAll(), [])
      deepStrictEqual(await storage.queue.load(), { running: 0, queued: 0, waiting: 0, parked: 0 })
    },
  },
  {
    name: '[RUNS-P6] The open reviews of an ended run are withdrawn; those of other runs stay open',
    async run({ storage }) {
      const a = await ownedRun(storage, 'run-a')
      const b = await ownedRun(storage, 'run-b')
      await a.commit([started, reviewRequested('review-1')])
      await b.commit([started, reviewRequested('review-2')])
      const decided = [reviewRequested('review-4'), reviewDecided('review-4', 'ann')]
      await a.commit([...decided, reviewRequested('review-3'), result('run-a')])
      const all = await storage.runs.reviews({})
      deepStrictEqual(
        all.map(({ reviewId, status }) => [reviewId, status]),
        [
          ['review-1', 'WITHDRAWN'],
          ['review-2', 'OPEN'],
          ['review-4', 'DECIDED'],
          ['review-3', 'WITHDRAWN'],
        ],
      )
    },
  },
  {
    name: '[RUNS-P6] A run that ends while it is unowned is like any other ended run',
    async run({ storage }) {
      const run = await parkedRun(storage, 'run-a', { events: [reviewRequested('review-1')] })
      const written = await storage.runs.commitUnowned(
        newUnownedWrite(run, 'ready', {
          events: [result('run-a', { status: 'CANCELLED' })],
          steps: [step(2)],
        }),
      )
      strictEqual(written.kind, 'written')
      strictEqual((await readRecord(storage, 'run-a')).status, 'CANCELLED')
      deepStrictEqual(await storage.runs.steps('run-a'), [step(1), step(2)])
      deepStrictEqual(await storage.runs.reviews({ open: true }), [])
      strictEqual(await storage.queue.claim('run-a', OWNER), undefined)
      deepStrictEqual(await storage.queue.load(), { running: 0, queued: 0, waiting: 0, parked: 0 })
      deepStrictEqual(await storage.events.follow({ runIds: [], all: true }), [])
    },
  },
  {
    name: '[RUNS-W3] Pending commands are answered with RUN_COMPLETED when their run ends',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      const other = await ownedRun(storage, 'run-b')
      const ids = []
      for (const runId of ['run-a', 'run-a', 'run-b']) {
        const sent = await storage.commands.send(runId, { kind: 'switch_model', model: 'm' })
        ok(sent?.kind === 'sent')
        ids.push(sent.commandId)
      }
      const [first = '', second = '', third = ''] = ids
      const answers = [{ commandId: first, ok: true }] as const
      await owner.commit([result('run-a')], { answers })
      deepStrictEqual(await storage.commands.answer(first), answers[0])
      const answer = await storage.commands.answer(second)
      ok(answer?.ok === false)
      deepStrictEqual(
        [answer.commandId, answer.error.code, answer.error.retryable],
        [second, 'RUN_COMPLETED', false],
      )
      ok(answer.error.message.includes('run-a') && answer.error.message.includes('FAILED'))
      strictEqual(await storage.commands.answer(third), undefined)
      deepStrictEqual(
        (await storage.commands.pending(['run-a', 'run-b'])).map(({ id }) => id),
        [third],
      )
      await other.commit([token('x')])
    },
  },
  {
    name: '[RUNS-W3] Pending commands of a released run are answered when the run ends while it is unowned',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      const sent = await storage.commands.send('run-a', { kind: 'cancel', mode: 'abort' })
      ok(sent?.kind === 'sent')
      await storage.queue.release(owner, { kind: 'ready' })
      const run = await readUnowned(storage, 'run-a')
      await storage.runs.commitUnowned(newUnownedWrite(run, 'stay', { events: [result('run-a')] }))
      const answer = await storage.commands.answer(sent.commandId)
      strictEqual(answer?.ok === false && answer.error.code, 'RUN_COMPLETED')
    },
  },
  {
    name: '[RUNS-P9] The last runs that ended are retained; the others are deleted completely, the oldest first',
    async run({ storage, passTime }) {
      const submission = { idempotencyKey: 'key', fingerprint: 'print' }
      const ids = ['run-1', 'run-2', 'run-3', 'run-4', 'run-5']
      const owners: Owner[] = []
      for (const runId of ids) {
        owners.push(await ownedRun(storage, runId, runId === 'run-3' ? { submission } : {}))
      }
      for (const n of [3, 1, 5, 2, 4]) {
        const owner = owners[n - 1]
        ok(owner !== undefined)
        await endRunOf(storage, owner)
        await passTime(1000)
      }
      deepStrictEqual(await storage.runs.deleteEnded({ keep: 2, limit: 9 }), [
        'run-3',
        'run-1',
        'run-5',
      ])
      deepStrictEqual(await listed(storage), ['run-4', 'run-2'])
      strictEqual(await storage.runs.get('run-3'), undefined)
      deepStrictEqual(await readAll(storage, 'run-3'), [])
      deepStrictEqual(await storage.runs.tasks('run-3'), [])
      deepStrictEqual(await storage.runs.reviews({ runId: 'run-3' }), [])
      deepStrictEqual(await storage.events.follow({ runIds: ['run-3'], all: false }), [])
      strictEqual((await storage.runs.reviews({})).length, 2)
      strictEqual((await readAll(storage, 'run-4')).length, 4)
      deepStrictEqual(await storage.runs.deleteEnded({ keep: 2, limit: 9 }), [])
      await createRun(storage, 'run-3', { submission })
      deepStrictEqual(await storage.runs.tasks('run-3'), [])
    },
  },
  {
    name: '[RUNS-P9] The answers of a deleted run are deleted, and its key can be used again',
    async run({ storage }) {
      const submission = { idempotencyKey: 'key', fingerprint: 'print' }
      const owner = await ownedRun(storage, 'run-a', { submission })
      const sent = await storage.commands.send('run-a', { kind: 'switch_model', model: 'm' })
      ok(sent?.kind === 'sent')
      await owner.commit([result('run-a')])
      deepStrictEqual(await storage.runs.deleteEnded({ keep: 0, limit: 1 }), ['run-a'])
      strictEqual(await storage.commands.answer(sent.commandId), undefined)
      const other = newRun('run-b', { submission: { ...submission, fingerprint: 'other' } })
      const made = await storage.runs.create(other, {
        firstEvent: queued(other),
        maxUnfinishedRuns: 1,
      })
      strictEqual(made.kind, 'created')
      await rejects(createRun(storage, 'run-b'), { code: 'RUN_EXISTS' })
    },
  },
  {
    name: '[RUNS-P9] Small batches delete the oldest runs first and skip unfinished runs',
    async run({ storage, passTime }) {
      for (let n = 0; n < 6; n += 1) {
        await createRun(storage, `run-ready-${n}`)
        await endedRun(storage, `run-${n}`)
        await passTime(1000)
      }
      await parkedRun(storage, 'run-parked')
      await ownedRun(storage, 'run-owned')
      const batch = () => storage.runs.deleteEnded({ keep: 1, limit: 2 })
      deepStrictEqual(await batch(), ['run-0', 'run-1'])
      deepStrictEqual(await batch(), ['run-2', 'run-3'])
      deepStrictEqual(await batch(), ['run-4'])
      deepStrictEqual(await batch(), [])
      deepStrictEqual(await storage.queue.load(), { running: 1, queued: 6, waiting: 0, parked: 1 })
      strictEqual((await listed(storage)).length, 9)
    },
  },
  {
    name: '[RUNS-P9] Runs that ended too long ago are deleted, even if there are few',
    async run({ storage, passTime }) {
      await endedRun(storage, 'run-1')
      await createRun(storage, 'run-ready')
      await passTime(DAY_MS)
      await endedRun(storage, 'run-2')
      await endedRun(storage, 'run-3')
      await passTime(1000)
      const aged = (maxAgeMs: number, keep = 99) =>
        storage.runs.deleteEnded({ keep, maxAgeMs, limit: 9 })
      deepStrictEqual(await aged(DAY_MS + 60_000), [])
      deepStrictEqual(await aged(DAY_MS), ['run-1'])
      deepStrictEqual(await aged(DAY_MS, 1), ['run-2'])
      await passTime(2 * DAY_MS)
      deepStrictEqual(await aged(DAY_MS), ['run-3'])
      deepStrictEqual(await listed(storage), ['run-ready'])
    },
  },
  {
    name: '[RUNS-L7] The clock of the store measures the age of an ended run, not its events',
    async run({ storage, passTime }) {
      const long = '1999-01-01T00:00:00.000Z'
      const owner = await ownedRun(storage, 'run-a', { createdAt: Date.parse(long) })
      await owner.commit([
        {
          type: 'ensemble_completed',
          ensembleId: 'e',
          completedAt: long,
          durationMs: 1,
          exitReason: 'ERROR',
          totalTokens: 0,
          totalToolCalls: 0,
        },
        result('run-a'),
      ])
      strictEqual((await readRecord(storage, 'run-a')).completedAt, Date.parse(long))
      const aged = () => storage.runs.deleteEnded({ keep: 9, maxAgeMs: DAY_MS, limit: 9 })
      deepStrictEqual(await aged(), [])
      deepStrictEqual(await storage.runs.deleteEnded({ keep: 0, limit: 0 }), [])
      await passTime(DAY_MS + 1000)
      deepStrictEqual(await aged(), ['run-a'])
    },
  },
]

async function endRunOf(storage: RunStorage, { runId, token }: Owner): Promise<void> {
  const events = [started, reviewRequested(`review-${runId}`), result(runId)]
  await storage.runs.commit([{ runId, token, writeNo: 1, events, steps: [step(1)] }])
}

async function listed(storage: RunStorage): Promise<readonly string[]> {
  const { runs } = await storage.runs.list({ limit: 99, offset: 0 })
  return runs.map(({ runId }) => runId)
}
