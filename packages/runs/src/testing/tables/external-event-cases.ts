/** Cases of RUNS-EV1 to RUNS-EV7: external events and the waits that they decide. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'

import {
  AT_MS,
  ODD_TEXT,
  result,
  reviewDecided,
  reviewRequested,
  started,
} from '../support/event-fixtures.ts'
import { at, openStorages } from '../support/open-storages.ts'
import { createRun, ownedRun, type Owner } from '../support/run-fixtures.ts'

import type { NewExternalEvent } from '../../ports/external-events.ts'
import type { RunStorage } from '../../ports/run-storage.ts'
import type { SharedStorageCase, StorageCase } from '../support/storage-case.ts'
import type { RunEvent } from '@tutti/protocol'
import type { AwaitedEvent } from '@tutti/protocol/internal'

const PAID: AwaitedEvent = { name: 'paid', key: 'order-1' }

function event(id: string, changes: Partial<NewExternalEvent> = {}): NewExternalEvent {
  return { id, ...PAID, data: '{"amount":1}', ...changes }
}

/** Opens a wait in a run. */
async function openWait(
  owner: Owner,
  reviewId: string,
  { timeoutMs = 0, waitsFor = [PAID] }: { timeoutMs?: number; waitsFor?: AwaitedEvent[] } = {},
): Promise<void> {
  await owner.commit([reviewRequested(reviewId, { kind: 'EVENT', timeoutMs, waitsFor })])
}

/** Creates a run with an open wait. */
async function waitingRun(
  storage: RunStorage,
  runId: string,
  how: { timeoutMs?: number; waitsFor?: AwaitedEvent[] } = {},
): Promise<Owner> {
  const owner = await ownedRun(storage, runId)
  await owner.commit([started])
  await openWait(owner, `wait-of-${runId}`, how)
  return owner
}

/** Returns the decision of a wait by an event. */
function decidedBy(reviewId: string, id: string): RunEvent {
  return { ...reviewDecided(reviewId), event: { id, name: PAID.name } }
}

/** Returns the runs of the assigned events by their ids. */
async function assign(
  storage: RunStorage,
  events?: readonly AwaitedEvent[],
): Promise<Readonly<Record<string, string>>> {
  const assigned = await storage.externalEvents.assign(AT_MS, events)
  return Object.fromEntries(assigned.map(({ id, runId }) => [id, runId]))
}

async function add(storage: RunStorage, ...events: readonly NewExternalEvent[]): Promise<void> {
  for (const one of events) {
    strictEqual((await storage.externalEvents.add(one, 99)).kind, 'added')
  }
}

export const externalEventCases: readonly StorageCase[] = [
  {
    name: '[RUNS-EV1] An external event is stored once under its id, and other content under the id is a conflict',
    async run({ storage: { externalEvents } }) {
      const odd = { data: JSON.stringify(ODD_TEXT), sender: ODD_TEXT, key: 'é 🎻' }
      const id = `id ${ODD_TEXT}`
      deepStrictEqual(await externalEvents.add(event(id, odd), 9), {
        kind: 'added',
        state: { kind: 'free' },
      })
      deepStrictEqual(await externalEvents.add(event(id, odd), 9), {
        kind: 'known',
        state: { kind: 'free' },
      })
      deepStrictEqual(await externalEvents.add(event(id, { ...odd, data: '2' }), 9), {
        kind: 'conflict',
      })
      strictEqual(await externalEvents.data(id), odd.data)
      strictEqual(await externalEvents.data('other'), undefined)
      strictEqual(await externalEvents.state('other'), undefined)
      deepStrictEqual(await externalEvents.add(event('b', { runId: 'none' }), 9), {
        kind: 'run_not_found',
      })
    },
  },
  {
    name: '[RUNS-EV2] The oldest external event of a name and key goes to the wait that opened first',
    async run({ storage }) {
      await add(storage, event('a'), event('b'), event('c'), event('d', { key: 'order-2' }))
      await waitingRun(storage, 'run-a')
      await waitingRun(storage, 'run-b', { waitsFor: [PAID, { name: 'paid', key: 'order-2' }] })
      await waitingRun(storage, 'run-c', { waitsFor: [{ name: 'paid' }] })
      const expected = { a: 'run-a', b: 'run-b' }
      deepStrictEqual(await assign(storage, [{ name: 'other' }]), {})
      deepStrictEqual(await assign(storage, [PAID]), expected)
      deepStrictEqual(await assign(storage), expected)
      deepStrictEqual(await storage.externalEvents.assign(AT_MS, [PAID]), [
        { id: 'a', ...PAID, runId: 'run-a', reviewId: 'wait-of-run-a' },
        { id: 'b', ...PAID, runId: 'run-b', reviewId: 'wait-of-run-b' },
      ])
    },
  },
  {
    name: '[RUNS-EV3] The decision of an external event delivers it, and another end of its wait makes it free',
    async run({ storage }) {
      const one = await waitingRun(storage, 'run-a')
      const other = await waitingRun(storage, 'run-b')
      await add(storage, event('a'), event('b'))
      deepStrictEqual(await assign(storage), { a: 'run-a', b: 'run-b' })
      await one.commit([decidedBy('wait-of-run-a', 'a')])
      await other.commit([reviewDecided('wait-of-run-b')])
      const where = { runId: 'run-a', reviewId: 'wait-of-run-a' }
      deepStrictEqual(await storage.externalEvents.state('a'), { kind: 'delivered', ...where })
      deepStrictEqual(await storage.externalEvents.state('b'), { kind: 'free' })
      deepStrictEqual(await assign(storage), {})
      await openWait(other, 'again')
      deepStrictEqual(await assign(storage), { b: 'run-b' })
      // The end of a run withdraws its waits.
      await other.commit([result('run-b')])
      deepStrictEqual(await storage.externalEvents.state('b'), { kind: 'free' })
      await storage.runs.delete('run-b')
      await one.commit([result('run-a')])
      await storage.runs.delete('run-a')
      deepStrictEqual(await storage.externalEvents.state('a'), {
        kind: 'delivered',
        reviewId: 'wait-of-run-a',
      })
    },
  },
  {
    name: '[RUNS-EV3] An external event that is given back goes to the next wait, and a refused one to none',
    async run({ storage }) {
      const { externalEvents } = storage
      await waitingRun(storage, 'run-a')
      await add(storage, event('a'), event('b'))
      deepStrictEqual(await assign(storage), { a: 'run-a' })
      await externalEvents.refuse('a', `too much ${ODD_TEXT}`)
      deepStrictEqual(await assign(storage), { b: 'run-a' })
      deepStrictEqual(await externalEvents.state('a'), {
        kind: 'refused',
        reason: `too much ${ODD_TEXT}`,
      })
      await externalEvents.giveBack('b')
      deepStrictEqual(await externalEvents.state('b'), { kind: 'free' })
      await externalEvents.remove('b')
      strictEqual(await externalEvents.state('b'), undefined)
    },
  },
  {
    name: '[RUNS-EV4] An external event for one run goes to its waits only, is refused after its end, and is deleted with it',
    async run({ storage }) {
      await waitingRun(storage, 'run-a')
      await createRun(storage, 'run-b')
      await add(storage, event('a', { runId: 'run-b' }))
      deepStrictEqual(await assign(storage), {})
      const owner = await waitingRun(storage, 'run-c')
      await add(storage, event('c', { runId: 'run-c' }))
      deepStrictEqual(await assign(storage), { c: 'run-c' })
      await owner.commit([result('run-c')])
      deepStrictEqual(await storage.externalEvents.state('c'), { kind: 'free' })
      const { externalEvents } = storage
      strictEqual((await externalEvents.add(event('c', { runId: 'run-c' }), 99)).kind, 'known')
      strictEqual((await externalEvents.add(event('d', { runId: 'run-c' }), 99)).kind, 'run_ended')
      await storage.runs.delete('run-c')
      strictEqual(await storage.externalEvents.state('c'), undefined)
    },
  },
  {
    name: '[RUNS-EV5] An external event that nothing waits for is refused when the store has the maximum of them',
    async run({ storage }) {
      const { externalEvents } = storage
      strictEqual((await externalEvents.add(event('a'), 1)).kind, 'added')
      strictEqual((await externalEvents.add(event('b'), 1)).kind, 'full')
      strictEqual((await externalEvents.add(event('a'), 1)).kind, 'known')
      await waitingRun(storage, 'run-a')
      strictEqual((await externalEvents.add(event('b'), 1)).kind, 'added')
    },
  },
  {
    name: '[RUNS-EV5] A sender of external events that nothing waits for leaves room for every other sender',
    async run({ storage }) {
      const { externalEvents } = storage
      const addOf = async (sender: string, ids: readonly string[]): Promise<readonly string[]> => {
        const kinds: string[] = []
        for (const id of ids) kinds.push((await externalEvents.add(event(id, { sender }), 6)).kind)
        return kinds
      }
      deepStrictEqual(await addOf('a', ['a1', 'a2', 'a3', 'a4']), [
        'added',
        'added',
        'added',
        'full',
      ])
      deepStrictEqual(await addOf('b', ['b1', 'b2', 'b3']), ['added', 'added', 'full'])
      deepStrictEqual(await addOf('c', ['c1', 'c2']), ['added', 'full'])
      deepStrictEqual(await addOf('a', ['a1', 'a4']), ['known', 'full'])
      // A delivered event no longer counts.
      const owner = await waitingRun(storage, 'run-a')
      deepStrictEqual(await assign(storage), { a1: 'run-a' })
      await owner.commit([decidedBy('wait-of-run-a', 'a1')])
      deepStrictEqual(await addOf('d', ['d1']), ['added'])
      await externalEvents.remove('a2')
      await externalEvents.remove('a3')
      deepStrictEqual(await addOf('a', ['a4', 'a5']), ['added', 'full'])
    },
  },
  {
    name: '[RUNS-EV6] A wait whose time has passed gets no external event',
    async run({ storage }) {
      await waitingRun(storage, 'run-a', { timeoutMs: 5_000 })
      await add(storage, event('a'))
      deepStrictEqual(await storage.externalEvents.assign(AT_MS + 5_000), [])
      strictEqual((await storage.externalEvents.assign(AT_MS + 4_999)).length, 1)
    },
  },
  {
    name: '[RUNS-EV7] External events are deleted after their retention, unless they are assigned',
    async run({ storage, passTime }) {
      const { externalEvents } = storage
      const owner = await waitingRun(storage, 'run-a')
      await add(storage, event('a'), event('b'), event('c'))
      deepStrictEqual(await assign(storage), { a: 'run-a' })
      strictEqual(await externalEvents.trim(60_000, 9), 0)
      await passTime(2_000)
      strictEqual(await externalEvents.trim(1_000, 1), 1)
      strictEqual(await externalEvents.trim(1_000, 9), 1)
      strictEqual(await externalEvents.trim(1_000, 9), 0)
      await owner.commit([decidedBy('wait-of-run-a', 'a')])
      strictEqual(await externalEvents.trim(1_000, 9), 1)
      strictEqual(await externalEvents.state('a'), undefined)
      // An event for one run is needed until that run ends.
      await add(storage, event('early', { runId: 'run-a', key: 'order-2' }))
      await passTime(2_000)
      strictEqual(await externalEvents.trim(1_000, 9), 0)
      await owner.commit([result('run-a')])
      strictEqual(await externalEvents.trim(1_000, 9), 1)
    },
  },
]

/** The cases that a shared storage also passes. */
export const sharedExternalEventCases: readonly SharedStorageCase[] = [
  {
    name: '[RUNS-EV2] Processes that pair external events and waits concurrently give each at most one of the other',
    async run(given) {
      const all = await openStorages(given, 3)
      const ids = Array.from({ length: 6 }, (_, n) => `event-${n}`)
      const one = await ownedRun(at(all, 0), 'run-a')
      await one.commit([started])
      await Promise.all([
        ...ids.map((id, n) => at(all, n).externalEvents.add(event(id), 99)),
        (async () => {
          for (let n = 0; n < 4; n += 1) await openWait(one, `wait-${n}`)
        })(),
        ...ids.map((_, n) => at(all, n).externalEvents.assign(AT_MS)),
      ])
      const assigned = await at(all, 0).externalEvents.assign(AT_MS)
      strictEqual(assigned.length, 4)
      strictEqual(new Set(assigned.map(({ reviewId }) => reviewId)).size, 4)
      strictEqual(new Set(assigned.map(({ id }) => id)).size, 4)
    },
  },
]
