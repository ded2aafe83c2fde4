/** Cases of RUNS-P1: the creation of runs. */
import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict'

import { TuttiError } from '@tutti/core'

import { ODD_TEXT, queued, result, token } from '../support/event-fixtures.ts'
import {
  CLAIMANT,
  claimRun,
  commitOne,
  createOwned,
  createRun,
  endedRun,
  OWNER,
  newRun,
  ownedRun,
  parkedRun,
  readAll,
  readRecord,
  toOwner,
} from '../support/run-fixtures.ts'

import type { RunStorage } from '../../ports/run-storage.ts'
import type { CreatedRun } from '../../ports/run-store.ts'
import type { NewRun } from '../../domain/run-record.ts'
import type { StorageCase } from '../support/storage-case.ts'

const SUBMISSION = { idempotencyKey: 'key-1', fingerprint: 'print-1' }

export const createCases: readonly StorageCase[] = [
  {
    name: '[RUNS-P1] A new run and its first event are stored together',
    async run({ storage }) {
      const run = newRun('run-a', { tags: { by: 'ci' } })
      const made = await create(storage, run)
      ok(made.kind === 'created')
      const { event } = made
      deepStrictEqual(event, { ...queued(run), runId: 'run-a', seq: 0, id: 'run-a:0' })
      const stored = await storage.runs.get('run-a')
      deepStrictEqual(stored, {
        ...run,
        status: 'ACCEPTED',
        completedTasks: 0,
        epoch: 0,
        lastSeq: 0,
      })
      deepStrictEqual(await readAll(storage, 'run-a'), [event])
      deepStrictEqual(await storage.runs.tasks('run-a'), [])
      deepStrictEqual(await storage.runs.steps('run-a'), [])
      strictEqual(await storage.runs.get('run-z'), undefined)
    },
  },
  {
    name: '[RUNS-P15] A new run belongs to its claimant, unless another run is due or the limit is reached',
    async run({ storage }) {
      const claimant = { ...CLAIMANT, maxConcurrentRuns: 2 }
      const claim = await createOwned(storage, 'run-a', claimant)
      const { token: held = '', ...claimed } = claim ?? {}
      deepStrictEqual(claimed, {
        run: await storage.runs.get('run-a'),
        commands: [],
        lostOwners: 0,
      })
      deepStrictEqual(
        [claim?.run.epoch, claim?.run.code, claim?.run.build],
        [1, 'code-1', 'build-1'],
      )
      const write = { runId: 'run-a', token: held, writeNo: 1, events: [token('x')], steps: [] }
      strictEqual((await commitOne(storage, write)).kind, 'written')
      strictEqual((await storage.queue.load()).running, 1)
      await createRun(storage, 'run-b')
      // Another run is due.
      strictEqual(await createOwned(storage, 'run-c', claimant), undefined)
      await claimRun(storage, 'run-b')
      await claimRun(storage, 'run-c')
      // The limit is reached.
      strictEqual(await createOwned(storage, 'run-d', claimant), undefined)
      const roomy = { ...claimant, maxConcurrentRuns: 9 }
      strictEqual(await createOwned(storage, 'run-e', roomy), undefined)
      await claimRun(storage, 'run-d')
      await claimRun(storage, 'run-e')
      strictEqual((await createOwned(storage, 'run-f', roomy))?.run.runId, 'run-f')
      const unlimited = { ...claimant, maxConcurrentRuns: Infinity }
      strictEqual((await createOwned(storage, 'run-g', unlimited))?.run.runId, 'run-g')
    },
  },
  {
    name: '[RUNS-P15] Runs that are submitted together are claimed in their order, as many as there is room for',
    async run({ storage }) {
      const claimant = { ...CLAIMANT, maxConcurrentRuns: 3 }
      const runIds = ['run-a', 'run-b', 'run-c', 'run-d', 'run-e']
      const claims = await Promise.all(runIds.map((runId) => createOwned(storage, runId, claimant)))
      deepStrictEqual(
        claims.map((claim) => claim?.run.runId),
        ['run-a', 'run-b', 'run-c', undefined, undefined],
      )
      // A run that ends frees the slot that it took at its creation.
      const [first] = claims
      ok(first !== undefined)
      await toOwner(storage, first).commit([result('COMPLETED')])
      const next = await storage.dispatcher.take({ ...claimant, wanted: 5 })
      deepStrictEqual(
        next?.map(({ run }) => run.runId),
        ['run-d'],
      )
    },
  },
  {
    name: '[RUNS-P1] Each of the runs that are submitted together is created, repeated or refused as it would be alone',
    async run({ storage }) {
      await createRun(storage, 'run-a')
      const tags = { 'a \\ key, {x}': 'b "quoted", {y}', empty: '' }
      const results = await Promise.allSettled([
        create(storage, newRun('run-b', { submission: SUBMISSION })),
        create(storage, newRun('run-a')),
        create(storage, newRun('run-c', { submission: SUBMISSION })),
        create(storage, newRun('run-d', { tags, actor: 'ann' })),
        create(storage, newRun('run-d', { ensemble: 'other' })),
      ])
      deepStrictEqual(
        results.map((result) =>
          result.status === 'fulfilled'
            ? result.value.kind
            : TuttiError.isInstance(result.reason) && result.reason.code,
        ),
        ['created', 'RUN_EXISTS', 'repeated', 'created', 'RUN_EXISTS'],
      )
      strictEqual(await storage.runs.get('run-c'), undefined)
      const { ensemble, ...stored } = await readRecord(storage, 'run-d')
      deepStrictEqual([ensemble, stored.tags, stored.actor], ['band', tags, 'ann'])
      const { runs } = await storage.runs.list({
        tag: { key: 'a \\ key, {x}', value: 'b "quoted", {y}' },
        limit: 10,
      })
      deepStrictEqual(
        runs.map(({ runId }) => runId),
        ['run-d'],
      )
      for (const runId of ['run-b', 'run-d']) {
        strictEqual((await readAll(storage, runId)).length, 1)
      }
    },
  },
  {
    name: '[RUNS-P1] A run id can be used once; a second submission changes nothing',
    async run({ storage }) {
      await createRun(storage, 'run-a')
      const again = create(storage, newRun('run-a', { ensemble: 'other' }))
      await rejects(again, { code: 'RUN_EXISTS' })
      strictEqual((await readRecord(storage, 'run-a')).ensemble, 'band')
      strictEqual((await readAll(storage, 'run-a')).length, 1)
      await endedRun(storage, 'run-b')
      await rejects(create(storage, newRun('run-b')), { code: 'RUN_EXISTS' })
    },
  },
  {
    name: '[RUNS-P1] No run is stored if its first event cannot be stored',
    async run({ storage }) {
      const run = newRun('run-a')
      const toJSON = (): never => {
        throw new Error('this value cannot be written')
      }
      // NOTE: a value that cannot be serialized, to make the store fail.
      const inputs = { topic: { toJSON } } as unknown as Record<string, string>
      await rejects(
        storage.runs.create(run, { firstEvent: { ...queued(run), inputs }, maxUnfinishedRuns: 9 }),
      )
      strictEqual(await storage.runs.get('run-a'), undefined)
      await createRun(storage, 'run-a')
    },
  },
  {
    name: '[RUNS-P1] A repeated submission returns the current run, regardless of the requested id',
    async run({ storage }) {
      const run = newRun('run-a', { submission: SUBMISSION })
      strictEqual((await create(storage, run)).kind, 'created')
      const owner = await claimRun(storage, 'run-a')
      await owner.commit([token('x')])
      const stored = await readRecord(storage, 'run-a')
      for (const runId of ['run-a', 'run-b']) {
        const again = await create(storage, { ...run, runId, ensemble: 'other' })
        deepStrictEqual(again, { kind: 'repeated', run: stored })
      }
      strictEqual(await storage.runs.get('run-b'), undefined)
      await owner.commit([result('run-a')])
      const ended = await create(storage, run)
      ok(ended.kind === 'repeated')
      strictEqual(ended.run.status, 'FAILED')
    },
  },
  {
    name: '[RUNS-P1] A repeated submission returns its run even when the limit is reached',
    async run({ storage }) {
      const run = newRun('run-a', { submission: SUBMISSION })
      await create(storage, run)
      const again = await create(storage, run, 1)
      strictEqual(again.kind, 'repeated')
    },
  },
  {
    name: '[RUNS-P1] A run with a refusal is refused, unless it repeats a submission',
    async run({ storage }) {
      const refusal = new TuttiError('BAD_REQUEST', 'no such build')
      const how = { maxUnfinishedRuns: 1000, refusal }
      const run = newRun('run-a', { submission: SUBMISSION })
      await rejects(storage.runs.create(run, { ...how, firstEvent: queued(run) }), refusal)
      strictEqual(await storage.runs.get('run-a'), undefined)
      await create(storage, run)
      const again = await storage.runs.create(run, { ...how, firstEvent: queued(run) })
      strictEqual(again.kind, 'repeated')
      const other = newRun('run-b')
      await rejects(storage.runs.create(other, { ...how, firstEvent: queued(other) }), refusal)
    },
  },
  {
    name: '[RUNS-P1] A key that was used for another submission is refused and changes nothing',
    async run({ storage }) {
      await create(storage, newRun('run-a', { submission: SUBMISSION }))
      const other = { ...SUBMISSION, fingerprint: 'print-2' }
      for (const runId of ['run-a', 'run-b']) {
        const refused = create(storage, newRun(runId, { submission: other }))
        await rejects(refused, { code: 'IDEMPOTENCY_CONFLICT', message: /"key-1"/ })
      }
      strictEqual(await storage.runs.get('run-b'), undefined)
    },
  },
  {
    name: '[RUNS-P1] Submissions without a key, or with different keys, are different runs',
    async run({ storage }) {
      await createRun(storage, 'run-a')
      await createRun(storage, 'run-b')
      await createRun(storage, 'run-c', { submission: SUBMISSION })
      await createRun(storage, 'run-d', { submission: { ...SUBMISSION, idempotencyKey: 'key-2' } })
      strictEqual((await storage.runs.list({ limit: 9, offset: 0 })).total, 4)
      const taken = newRun('run-a', { submission: { ...SUBMISSION, idempotencyKey: 'key-3' } })
      await rejects(create(storage, taken), { code: 'RUN_EXISTS' })
    },
  },
  {
    name: '[RUNS-P1] Keys and fingerprints are compared exactly, including unusual characters',
    async run({ storage }) {
      const submission = { idempotencyKey: `k ${ODD_TEXT}`, fingerprint: `f ${ODD_TEXT}` }
      await createRun(storage, 'run-a', { submission })
      const again = await create(storage, newRun('run-b', { submission }))
      strictEqual(again.kind, 'repeated')
      await createRun(storage, 'run-c', {
        submission: { ...submission, idempotencyKey: submission.idempotencyKey.toUpperCase() },
      })
      const lone = {
        ...submission,
        idempotencyKey: submission.idempotencyKey.replace('\ud800', '\ud801'),
      }
      await createRun(storage, 'run-d', { submission: lone })
    },
  },
  {
    name: '[RUNS-P1] Many concurrent submissions with one key create one run',
    async run({ storage }) {
      const all = await Promise.all(
        Array.from({ length: 10 }, (_, n) =>
          create(storage, newRun(`run-${n}`, { submission: SUBMISSION })),
        ),
      )
      const made = all.flatMap((one) => (one.kind === 'created' ? [one.event.runId] : []))
      strictEqual(made.length, 1)
      for (const one of all) if (one.kind === 'repeated') strictEqual(one.run.runId, made[0])
      const { runs } = await storage.runs.list({ limit: 99, offset: 0 })
      deepStrictEqual(
        runs.map(({ runId }) => runId),
        made,
      )
    },
  },
  {
    name: '[RUNS-P1] Many concurrent submissions with one id create one run',
    async run({ storage }) {
      const all = await Promise.allSettled(
        Array.from({ length: 10 }, () => create(storage, newRun('run-a'))),
      )
      strictEqual(all.filter(({ status }) => status === 'fulfilled').length, 1)
      for (const one of all) {
        if (one.status === 'rejected') strictEqual(one.reason.code, 'RUN_EXISTS')
      }
      strictEqual((await readAll(storage, 'run-a')).length, 1)
    },
  },
  {
    name: '[RUNS-P1] Waiting and executing runs stay within the limit, without those that wait for a person',
    async run({ storage }) {
      await parkedRun(storage, 'run-parked')
      await endedRun(storage, 'run-ended')
      await createRun(storage, 'run-ready')
      await ownedRun(storage, 'run-owned')
      await rejects(create(storage, newRun('run-a'), 2), (error: object) => {
        ok('code' in error && 'retryable' in error && 'details' in error)
        const { code, retryable, details } = error
        deepStrictEqual([code, retryable], ['CONCURRENCY_LIMIT', true])
        deepStrictEqual(details, { retryAfterMs: 5000, reason: 'unfinished_runs' })
        return true
      })
      strictEqual(await storage.runs.get('run-a'), undefined)
      strictEqual((await create(storage, newRun('run-a'), 3)).kind, 'created')
    },
  },
  {
    name: '[RUNS-P1] Many concurrent submissions stay within the limit',
    async run({ storage }) {
      const all = await Promise.allSettled(
        Array.from({ length: 20 }, (_, n) => create(storage, newRun(`run-${n}`), 7)),
      )
      strictEqual(all.filter(({ status }) => status === 'fulfilled').length, 7)
      strictEqual((await storage.queue.load()).queued, 7)
    },
  },
  {
    name: '[RUNS-P1] A run that was released and claimed again is found by its idempotency key',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a', { submission: SUBMISSION })
      await storage.queue.release(owner, { kind: 'ready' })
      await storage.queue.claim('run-a', OWNER)
      const again = await create(storage, newRun('run-b', { submission: SUBMISSION }))
      ok(again.kind === 'repeated')
      deepStrictEqual([again.run.runId, again.run.epoch], ['run-a', 2])
    },
  },
]

function create(storage: RunStorage, run: NewRun, maxUnfinishedRuns = 1000): Promise<CreatedRun> {
  return storage.runs.create(run, { firstEvent: queued(run), maxUnfinishedRuns })
}
