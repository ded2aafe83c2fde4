/** Cases of reads that are limited by size, and of their continuation. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'

import {
  completed,
  ODD_TEXT,
  result,
  reviewDecided,
  reviewRequested,
  started,
  taskFields,
  taskStarted,
  token,
} from '../support/event-fixtures.ts'
import { ownedRun } from '../support/run-fixtures.ts'

import type { StorageCase } from '../support/storage-case.ts'

export const sizeCases: readonly StorageCase[] = [
  {
    name: 'A read of events stops after the event that reaches the size, and is empty only at the end',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      await owner.commit(['1', '2', '3'].map((text) => token(text.repeat(10_000))))
      const seqs = async (from: number, maxBytes: number): Promise<readonly number[]> => {
        const { events } = await storage.events.read({ runId: 'run-a', from, limit: 9, maxBytes })
        return events.map(({ seq }) => seq)
      }
      deepStrictEqual(await seqs(1, 1), [1])
      deepStrictEqual(await seqs(1, 15_000), [1, 2])
      deepStrictEqual(await seqs(3, 15_000), [3])
      deepStrictEqual(await seqs(4, 15_000), [])
    },
  },
  {
    name: 'A read of events without a size stops after a megabyte',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      await owner.commit(['1', '2', '3'].map((text) => token(text.repeat(600_000))))
      const { events } = await storage.events.read({ runId: 'run-a', from: 1, limit: 9 })
      deepStrictEqual(
        events.map(({ seq }) => seq),
        [1, 2],
      )
    },
  },
  {
    name: 'A read of reviews stops after the review that reaches the size',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      const asked = ['r-1', 'r-2', 'r-3'].map((reviewId) =>
        reviewRequested(reviewId, { taskOutput: 'x'.repeat(10_000) }),
      )
      await owner.commit([started, taskStarted(1), ...asked])
      const ids = async (maxBytes?: number): Promise<readonly string[]> => {
        const size = maxBytes === undefined ? {} : { maxBytes }
        const reviews = await storage.runs.reviews({ runId: 'run-a', open: true, ...size })
        return reviews.map(({ reviewId }) => reviewId)
      }
      deepStrictEqual(await ids(15_000), ['r-1', 'r-2'])
      deepStrictEqual(await ids(), ['r-1', 'r-2', 'r-3'])
    },
  },
  {
    name: 'All reviews of a query are counted, regardless of their size',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      const other = await ownedRun(storage, 'run-b')
      const asked = ['r-1', 'r-2', 'r-3'].map((reviewId) =>
        reviewRequested(reviewId, { taskOutput: 'x'.repeat(10_000) }),
      )
      await owner.commit([started, taskStarted(1), ...asked])
      await other.commit([started, taskStarted(1), reviewRequested('r-4')])
      const { runs } = storage
      strictEqual(await runs.countReviews({ open: true, maxBytes: 1 }), 4)
      strictEqual(await runs.countReviews({ open: true, runId: 'run-a', maxBytes: 1 }), 3)
      strictEqual(await runs.countReviews({ reviewId: 'r-4' }), 1)
      strictEqual(await runs.countReviews({ runId: 'run-none' }), 0)
      await owner.commit([reviewDecided('r-1')])
      strictEqual(await runs.countReviews({ open: true }), 3)
      strictEqual(await runs.countReviews({}), 4)
    },
  },
  {
    name: 'Only the last outputs are read if they are too long in total; the others are marked as omitted',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      const first = { ...completed, output: 'a'.repeat(3_000_000) }
      const second = { ...completed, ...taskFields(2), output: 'b'.repeat(4_500_000) }
      await owner.commit([started, taskStarted(1), first, taskStarted(2)])
      const [whole] = await storage.runs.tasks('run-a')
      strictEqual(whole?.output?.length, 3_000_000)
      ok(!('outputOmitted' in whole))
      await owner.commit([second])
      const [left, right] = await storage.runs.tasks('run-a')
      deepStrictEqual([left?.output, left?.outputOmitted], [undefined, true])
      deepStrictEqual([right?.output?.length, right?.outputOmitted], [4_500_000, undefined])
    },
  },
  {
    name: 'A list contains neither inputs nor requests, and only the start of an error',
    async run({ storage }) {
      const inputs = { topic: 'x'.repeat(100_000) }
      const owner = await ownedRun(storage, 'run-a', { inputs, request: { memo: inputs } })
      const error = ODD_TEXT.repeat(500)
      await owner.commit([started, result('run-a', { status: 'FAILED', error })])
      const [listed] = (await storage.runs.list({ limit: 1, offset: 0 })).runs
      ok(listed !== undefined && listed.error !== undefined)
      ok(listed.error.length >= 300 && error.startsWith(listed.error))
      ok(JSON.stringify(listed).length < 10_000)
    },
  },
]
