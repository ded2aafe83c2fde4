/** Cases of RUNS-P9: the deletion of a single run. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'

import { completed, result, reviewRequested, started, step } from '../support/event-fixtures.ts'
import {
  createRun,
  endedRun,
  newRun,
  ownedRun,
  parkedRun,
  readAll,
} from '../support/run-fixtures.ts'

import type { StorageCase } from '../support/storage-case.ts'

export const deleteCases: readonly StorageCase[] = [
  {
    name: '[RUNS-P9] An ended run is deleted once, with all its data, and no other run',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a', { webhooks: ['hook'] })
      await storage.commands.send('run-a', { kind: 'cancel', mode: 'abort' })
      const events = [started, completed, reviewRequested('review-a'), result('run-a')]
      await owner.commit(events, { steps: [step(1)] })
      await endedRun(storage, 'run-b')
      strictEqual(await storage.runs.delete('run-a'), 'deleted')
      strictEqual(await storage.runs.delete('run-a'), 'unknown')
      strictEqual(await storage.runs.get('run-a'), undefined)
      deepStrictEqual(await readAll(storage, 'run-a'), [])
      deepStrictEqual(await storage.runs.tasks('run-a'), [])
      deepStrictEqual(await storage.runs.steps('run-a'), [])
      deepStrictEqual(await storage.runs.reviews({}), [])
      deepStrictEqual(await storage.events.follow({ runIds: ['run-a'], all: false }), [])
      deepStrictEqual(await storage.outbox.claim({ limit: 9, claimMs: 1000 }), [])
      strictEqual((await readAll(storage, 'run-b')).length, 2)
    },
  },
  {
    name: '[RUNS-P9] An unfinished run is not deleted',
    async run({ storage }) {
      await createRun(storage, 'run-ready')
      const owner = await ownedRun(storage, 'run-owned')
      await parkedRun(storage, 'run-parked')
      for (const runId of ['run-ready', 'run-owned', 'run-parked']) {
        strictEqual(await storage.runs.delete(runId), 'unfinished')
      }
      strictEqual((await storage.runs.list({ limit: 9, offset: 0 })).total, 3)
      strictEqual((await owner.commit([result('run-owned')])).kind, 'written')
      strictEqual(await storage.runs.delete('run-owned'), 'deleted')
      strictEqual(await storage.runs.delete('run-z'), 'unknown')
    },
  },
  {
    name: '[RUNS-P9] The id and the key of a deleted run can be used again',
    async run({ storage }) {
      const submission = { idempotencyKey: 'key', fingerprint: 'print' }
      await endedRun(storage, 'run-a', { submission })
      strictEqual(await storage.runs.delete('run-a'), 'deleted')
      const other = newRun('run-a', { submission: { ...submission, fingerprint: 'other' } })
      strictEqual((await createRun(storage, 'run-a', other)).epoch, 0)
      strictEqual((await readAll(storage, 'run-a')).length, 1)
    },
  },
  {
    name: '[RUNS-P9] Many concurrent deletions of one run delete it once',
    async run({ storage }) {
      await endedRun(storage, 'run-a')
      const all = await Promise.all(Array.from({ length: 6 }, () => storage.runs.delete('run-a')))
      strictEqual(all.filter((one) => one === 'deleted').length, 1)
      strictEqual(all.filter((one) => one === 'unknown').length, 5)
    },
  },
]
