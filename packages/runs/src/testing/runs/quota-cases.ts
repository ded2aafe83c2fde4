/** Cases of RUNS-P11: quotas of actors. */
import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict'

import {
  AT,
  AT_MS,
  completed,
  failed,
  ODD_TEXT,
  queued,
  result,
  started,
  taskStarted,
} from '../support/event-fixtures.ts'
import {
  createRun,
  endedRun,
  newRun,
  ownedRun,
  parkedRun,
  readRecord,
} from '../support/run-fixtures.ts'

import type { RunStorage } from '../../ports/run-storage.ts'
import type { Quota } from '../../domain/quota.ts'
import type { CreatedRun } from '../../ports/run-store.ts'
import type { NewRun } from '../../domain/run-record.ts'
import type { StorageCase } from '../support/storage-case.ts'
import type { RunEvent } from '@tutti/protocol'

const ACTOR = { actor: 'ci' }

export const quotaCases: readonly StorageCase[] = [
  {
    name: '[RUNS-P11] An actor stays within its limit of unfinished runs, including parked runs',
    async run({ storage }) {
      await createRun(storage, 'run-ready', ACTOR)
      await ownedRun(storage, 'run-owned', ACTOR)
      await parkedRun(storage, 'run-parked', ACTOR)
      await endedRun(storage, 'run-ended', ACTOR)
      await createRun(storage, 'run-of-nobody')
      await createRun(storage, 'run-of-another', { actor: 'CI' })
      await rejects(submit(storage, 'run-a', { maxUnfinishedRuns: 3 }), {
        code: 'CONCURRENCY_LIMIT',
        message: 'Key "ci" has 3 unfinished runs; its limit is 3',
        retryable: true,
        details: { retryAfterMs: 5000, reason: 'unfinished_runs_of_key' },
      })
      strictEqual(await storage.runs.get('run-a'), undefined)
      await submit(storage, 'run-a', { maxUnfinishedRuns: 4 })
      await rejects(submit(storage, 'run-b', { maxUnfinishedRuns: 1 }), {
        message: 'Key "ci" has 4 unfinished runs; its limit is 1',
      })
    },
  },
  {
    name: '[RUNS-P11] An ended run and the runs of other actors do not count',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a', ACTOR)
      const quota = { maxUnfinishedRuns: 1 }
      await rejects(submit(storage, 'run-b', quota), {
        message: /^Key "ci" has 1 unfinished run; /,
      })
      await submit(storage, 'run-c', { ...quota, actor: 'other' })
      await owner.commit([result('run-a')])
      await submit(storage, 'run-b', quota)
    },
  },
  {
    name: '[RUNS-P11] Many concurrent submissions stay within the limit of the actor',
    async run({ storage }) {
      const all = await Promise.allSettled(
        Array.from({ length: 16 }, (_, n) =>
          submit(storage, `run-${n}`, { maxUnfinishedRuns: 5, actor: n % 2 === 0 ? 'a' : 'b' }),
        ),
      )
      strictEqual(all.filter(({ status }) => status === 'fulfilled').length, 10)
      const { runs } = await storage.runs.list({ limit: 99, offset: 0 })
      strictEqual(runs.filter(({ actor }) => actor === 'a').length, 5)
    },
  },
  {
    name: '[RUNS-P11] A repeated submission returns its run even when its actor has reached the limit',
    async run({ storage }) {
      const submission = { idempotencyKey: 'key', fingerprint: 'print' }
      const quota = { maxUnfinishedRuns: 1, spend: { maxCostUsd: 1, since: 0 } }
      await submit(storage, 'run-a', quota, { submission })
      const none = { maxUnfinishedRuns: 0, spend: { maxCostUsd: 0, since: 0 } }
      strictEqual((await submit(storage, 'run-a', none, { submission })).kind, 'repeated')
    },
  },
  {
    name: '[RUNS-P11] The cost of runs counts from the instant on, over all attempts, for ended and unfinished runs',
    async run({ storage }) {
      const retried = [taskStarted(1), failed, { ...taskStarted(1), attempt: 2 }, completed]
      await spend(storage, 'run-counted', { events: retried, ...ACTOR })
      await spend(storage, 'run-ended', { events: [completed, result('run-ended')], ...ACTOR })
      await spend(storage, 'run-before', { createdAt: AT_MS - 1, ...ACTOR })
      await spend(storage, 'run-of-another', { actor: 'other' })
      await spend(storage, 'run-of-nobody', {})
      const quota = { maxCostUsd: 1.25, since: AT_MS }
      await rejects(submit(storage, 'run-a', { spend: quota }), {
        code: 'SPEND_LIMIT',
        message: `Key "ci" has spent $1.25 since ${AT}; its limit is $1.25`,
        retryable: true,
        details: { spentUsd: 1.25, maxCostUsd: 1.25 },
      })
      strictEqual(await storage.runs.get('run-a'), undefined)
      await submit(storage, 'run-a', { spend: { ...quota, maxCostUsd: 1.26 } })
      const earlier = { maxCostUsd: 1.74, since: AT_MS - 1 }
      await rejects(submit(storage, 'run-b', { spend: earlier }), { code: 'SPEND_LIMIT' })
    },
  },
  {
    name: '[RUNS-P11] An unknown cost counts as 0, and known costs count',
    async run({ storage }) {
      const { costUsd: _none, ...unpriced } = completed
      const second = { ...taskStarted(1), attempt: 2 }
      const ended = result('run-b')
      await spend(storage, 'run-a', {
        events: [taskStarted(1), unpriced, second, failed],
        ...ACTOR,
      })
      await spend(storage, 'run-b', {
        events: [taskStarted(1), failed, second, unpriced],
        ...ACTOR,
      })
      await assertSpent(storage, 0.5)
      await spend(storage, 'run-c', { events: [unpriced, ended], ...ACTOR })
      await assertSpent(storage, 0.5)
      const retried = [taskStarted(1), failed, second, completed]
      await spend(storage, 'run-d', { events: [...retried, ended], ...ACTOR })
      await assertSpent(storage, 1.25)
      const half = [taskStarted(1), failed, second, unpriced]
      await spend(storage, 'run-e', { events: [...half, ended], ...ACTOR })
      await assertSpent(storage, 1.5)
    },
  },
  {
    name: '[RUNS-P11] An actor with a spend limit of 0 cannot submit; without limits all runs are accepted',
    async run({ storage }) {
      const nothing = { maxCostUsd: 0, since: AT_MS }
      await rejects(submit(storage, 'run-a', { spend: nothing }), { code: 'SPEND_LIMIT' })
      await rejects(submit(storage, 'run-a', { maxUnfinishedRuns: 0 }), {
        code: 'CONCURRENCY_LIMIT',
      })
      await spend(storage, 'run-a', ACTOR)
      strictEqual((await submit(storage, 'run-b', {})).kind, 'created')
    },
  },
  {
    name: '[RUNS-P11] Actors are distinguished by their full names, including unusual and long ones',
    async run({ storage }) {
      const long = 'ß🎻'.repeat(2000)
      const names = [ODD_TEXT, ODD_TEXT.replace('\ud800', '\ud801'), `${long}a`, `${long}b`, '"']
      for (const [n, actor] of names.entries()) {
        const quota = { actor, maxUnfinishedRuns: 1, spend: { maxCostUsd: 0.5, since: 0 } }
        await submit(storage, `run-${n}`, quota)
        strictEqual((await storage.runs.get(`run-${n}`))?.actor, actor)
        await rejects(submit(storage, 'run-a', quota), { code: 'CONCURRENCY_LIMIT' })
      }
    },
  },
  {
    name: '[RUNS-P11] The limit of the store also applies within a quota',
    async run({ storage }) {
      await createRun(storage, 'run-a')
      const run = newRun('run-b', ACTOR)
      const quota = { ...ACTOR, maxUnfinishedRuns: 9 }
      const how = { firstEvent: queued(run), maxUnfinishedRuns: 1, quota }
      await rejects(storage.runs.create(run, how), { code: 'CONCURRENCY_LIMIT' })
    },
  },
  {
    name: '[RUNS-P1] The request, the actor and the webhooks are stored with the run',
    async run({ storage }) {
      const asked = {
        request: {
          tasks: [
            { name: ODD_TEXT, description: 'Play', expectedOutput: 'A tune', agent: 'Player' },
          ],
          options: { maxToolOutputLength: 7 },
        },
        actor: ODD_TEXT,
        webhooks: [ODD_TEXT, 'a:1:b'],
      }
      const run = await createRun(storage, 'run-a', asked)
      const { request, actor, webhooks } = run
      deepStrictEqual({ request, actor, webhooks }, asked)
      const owner = await ownedRun(storage, 'run-b', asked)
      deepStrictEqual(owner.claimed.run.request, asked.request)
      await owner.commit([started])
      deepStrictEqual((await readRecord(storage, 'run-b')).webhooks, asked.webhooks)
      const bare = await createRun(storage, 'run-c', { webhooks: [] })
      for (const name of ['request', 'actor', 'webhooks']) ok(!(name in bare), name)
    },
  },
]

function submit(
  storage: RunStorage,
  runId: string,
  { actor = 'ci', ...limits }: Partial<Quota>,
  changes: Partial<NewRun> = {},
): Promise<CreatedRun> {
  const run = newRun(runId, { actor, ...changes })
  const quota = { actor, ...limits }
  return storage.runs.create(run, { firstEvent: queued(run), maxUnfinishedRuns: 1000, quota })
}

/** Checks the total cost of the actor's runs, by means of quotas that refuse it. */
async function assertSpent(storage: RunStorage, spentUsd: number): Promise<void> {
  const spend = { maxCostUsd: spentUsd, since: 0 }
  await rejects(submit(storage, 'run-z', { spend }), {
    details: { spentUsd, maxCostUsd: spentUsd },
  })
}

/** Creates a run with `events`, by default of a task that costs 50 cents. */
async function spend(
  storage: RunStorage,
  runId: string,
  { events = [completed], ...changes }: Partial<NewRun> & { readonly events?: readonly RunEvent[] },
): Promise<void> {
  const owner = await ownedRun(storage, runId, changes)
  strictEqual((await owner.commit([started, ...events])).kind, 'written')
}
