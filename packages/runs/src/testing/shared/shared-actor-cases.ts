/** Cases of quotas, deliveries and the audit log in a shared storage. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'

import { entry } from '../tables/audit-cases.ts'
import { completed, queued, reviewRequested, started } from '../support/event-fixtures.ts'
import { endedRun, newRun, ownedRun } from '../support/run-fixtures.ts'
import { at, openStorages } from '../support/open-storages.ts'
import { watchNotifications } from '../support/watch-notifications.ts'

import type { StoreNotification } from '../../ports/notifications.ts'
import type { SharedStorageCase } from '../support/storage-case.ts'
import type { AuditEntry } from '@tutti/protocol'

export const sharedActorCases: readonly SharedStorageCase[] = [
  {
    name: '[RUNS-P11] Concurrent submits from several processes stay within the limit of their actor',
    async run(given) {
      const all = await openStorages(given, 4)
      const submits = await Promise.allSettled(
        Array.from({ length: 32 }, (_, n) => {
          const actor = n < 16 ? 'a' : 'b'
          const run = newRun(`run-${n}`, { actor })
          const quota = { actor, maxUnfinishedRuns: 6, spend: { maxCostUsd: 1, since: 0 } }
          const how = { firstEvent: queued(run), maxUnfinishedRuns: 1000, quota }
          return at(all, n).runs.create(run, how)
        }),
      )
      strictEqual(submits.filter(({ status }) => status === 'fulfilled').length, 12)
      for (const submit of submits) {
        if (submit.status === 'rejected') strictEqual(submit.reason.code, 'CONCURRENCY_LIMIT')
      }
      const { runs } = await given.storage.runs.list({ limit: 99, offset: 0 })
      strictEqual(runs.filter(({ actor }) => actor === 'a').length, 6)
    },
  },
  {
    name: '[RUNS-P11] The limit of the store and that of an actor apply together',
    async run(given) {
      const all = await openStorages(given, 3)
      const submits = await Promise.allSettled(
        Array.from({ length: 24 }, (_, n) => {
          const actor = n % 2 === 0 ? 'a' : 'b'
          const run = newRun(`run-${n}`, { actor })
          const quota = { actor, maxUnfinishedRuns: 5 }
          const how = { firstEvent: queued(run), maxUnfinishedRuns: 8, quota }
          return at(all, n).runs.create(run, how)
        }),
      )
      strictEqual(submits.filter(({ status }) => status === 'fulfilled').length, 8)
      const { runs } = await given.storage.runs.list({ limit: 99, offset: 0 })
      for (const name of ['a', 'b']) {
        ok(runs.filter(({ actor }) => actor === name).length <= 5)
      }
    },
  },
  {
    name: '[RUNS-P11] The cost of runs of other processes counts',
    async run({ storage, another }) {
      const other = await another()
      const owner = await ownedRun(storage, 'run-a', { actor: 'ci' })
      await owner.commit([started, completed])
      const run = newRun('run-b', { actor: 'ci' })
      const quota = { actor: 'ci', spend: { maxCostUsd: 0.5, since: 0 } }
      const how = { firstEvent: queued(run), maxUnfinishedRuns: 9, quota }
      const refused: unknown = await other.runs.create(run, how).catch((error: unknown) => error)
      ok(refused instanceof Error && 'code' in refused)
      strictEqual(refused.code, 'SPEND_LIMIT')
    },
  },
  {
    name: '[RUNS-O1] Another process can claim a delivery, and is not notified of it',
    async run({ storage, another }) {
      const other = await another()
      const owner = await ownedRun(storage, 'run-a', { webhooks: ['hook'] })
      const received: StoreNotification[] = []
      other.listen((notification) => received.push(notification))
      const notifications = watchNotifications(other)
      await other.events.follow({ runIds: ['run-a'], all: false })
      await owner.commit([reviewRequested('review-a')])
      await notifications.events('run-a', 1)
      deepStrictEqual(
        received.filter(({ kind }) => kind === 'delivery'),
        [],
      )
      const [delivery] = await other.outbox.claim({ limit: 9, claimMs: 60_000 })
      strictEqual(delivery?.id, 'run-a:1:hook')
      deepStrictEqual(await storage.outbox.claim({ limit: 9, claimMs: 60_000 }), [])
      notifications.stop()
    },
  },
  {
    name: '[RUNS-O2] Concurrent claims from several processes get each delivery once',
    async run(given) {
      const all = await openStorages(given, 4)
      for (let n = 0; n < 20; n += 1) await endedRun(given.storage, `run-${n}`, { webhooks: ['h'] })
      const claims = await Promise.all(
        Array.from({ length: 16 }, (_, n) =>
          at(all, n).outbox.claim({ limit: 3, claimMs: 60_000 }),
        ),
      )
      const rest = await given.storage.outbox.claim({ limit: 99, claimMs: 60_000 })
      const ids = [...claims.flat(), ...rest].map(({ id, attempt }) => `${id} ${attempt}`)
      deepStrictEqual([ids.length, new Set(ids).size], [20, 20])
      ok(ids.every((id) => id.endsWith(' 1')))
    },
  },
  {
    name: '[RUNS-O4] An outcome is ignored if another process has taken the delivery over',
    async run({ storage, another, passTime }) {
      const other = await another()
      await endedRun(storage, 'run-a', { webhooks: ['hook'] })
      const [old] = await storage.outbox.claim({ limit: 1, claimMs: 10_000 })
      await passTime(11_000)
      const [present] = await other.outbox.claim({ limit: 1, claimMs: 10_000 })
      ok(old !== undefined && present !== undefined)
      deepStrictEqual([old.attempt, present.attempt, old.id], [1, 2, present.id])
      await storage.outbox.settle(old, { kind: 'given_up', reason: 'late' })
      await other.outbox.settle(present, { kind: 'retry', dueInMs: 0, reason: 'away' })
      const [third] = await storage.outbox.claim({ limit: 1, claimMs: 10_000 })
      strictEqual(third?.attempt, 3)
    },
  },
  {
    name: '[RUNS-A2] A reader never sees an entry before an earlier one while others append',
    async run(given) {
      const all = await openStorages(given, 4)
      const pages: (readonly AuditEntry[])[] = []
      let isAdding = true
      const reading = (async () => {
        while (isAdding) pages.push(await given.storage.audit.list({ limit: 1000 }))
      })()
      await Promise.all(
        Array.from({ length: 40 }, (_, n) =>
          at(all, n).audit.append(
            Array.from({ length: 1 + (n % 9) }, (_e, k) => entry(`${n}-${k}`)),
          ),
        ),
      )
      isAdding = false
      await reading
      const everything = await given.storage.audit.list({ limit: 1000 })
      for (const page of pages)
        deepStrictEqual(page, everything.slice(everything.length - page.length))
      const of = (n: number) => everything.filter(({ action }) => action.startsWith(`${n}-`))
      for (let n = 0; n < 40; n += 1) {
        const ids = of(n).map(({ id }) => id)
        strictEqual((ids[0] ?? 0) - (ids.at(-1) ?? 0), n % 9, 'entries of one call are neighbours')
      }
    },
  },
]
