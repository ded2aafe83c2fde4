import { strictEqual } from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import {
  startFailoverCluster,
  type FailoverCluster,
} from '../../../../../tooling/postgres/failover-cluster.ts'
import { step, token } from '../../testing/support/event-fixtures.ts'
import {
  claimRun,
  createRun,
  newUnownedWrite,
  ownedRun,
  parkedRun,
  readAll,
  readUnowned,
  toOwner,
  type Owner,
} from '../../testing/support/run-fixtures.ts'
import { postgresRunStorage } from './index.ts'

import type { RunStorage } from '../../ports/run-storage.ts'

const A = { owner: 'owner-a', leaseMs: 600_000 }
const B = { owner: 'owner-b', leaseMs: 600_000 }

/** Time for two servers to start, and for a standby to become a primary. */
const SLOW_MS = 60_000

let cluster: FailoverCluster
let a: RunStorage
let b: RunStorage

beforeAll(async () => {
  cluster = await startFailoverCluster()
  await cluster.addStandby()
  a = await postgresRunStorage({ connectionString: cluster.url, maxConnections: 4 })
  b = await postgresRunStorage({ connectionString: cluster.url, maxConnections: 4 })
}, SLOW_MS)

afterAll(async () => {
  await a[Symbol.asyncDispose]()
  await b[Symbol.asyncDispose]()
  await cluster[Symbol.asyncDispose]()
}, SLOW_MS)

// One failover cuts every run at another point: what follows `stall` is acknowledged, and lost.
describe('a failover to an asynchronous standby', () => {
  let claimed: Owner
  let written: Owner
  let parked: Owner
  let commanded: Owner
  let submitted: Owner
  let inFlight: Owner
  let lostCommand: string | undefined
  let lostToken: string

  beforeAll(async () => {
    for (const runId of ['run-claimed', 'run-parked']) await createRun(a, runId)
    written = await ownedRun(a, 'run-written', { leaseOwner: A })
    await written.commit([token('known')], { steps: [step(1)] })
    parked = await claimRun(a, 'run-parked', A)
    commanded = await ownedRun(a, 'run-commanded', { leaseOwner: A })
    inFlight = await ownedRun(a, 'run-in-flight', { leaseOwner: A })
    await parkedRun(a, 'run-unowned')
    await cluster.catchUp()
    await cluster.stall()
    claimed = await claimRun(a, 'run-claimed', A)
    for (const text of ['lost 1', 'lost 2']) {
      strictEqual((await claimed.commit([token(text)])).kind, 'written')
      strictEqual((await written.commit([token(text)], { steps: [step(2)] })).kind, 'written')
    }
    strictEqual(await a.queue.release(parked, { kind: 'parked' }), 'parked')
    const sent = await b.commands.send('run-commanded', { kind: 'switch_model', model: 'm' })
    lostCommand = sent?.kind === 'sent' ? sent.commandId : undefined
    const unowned = await readUnowned(b, 'run-unowned')
    strictEqual((await b.runs.commitUnowned(newUnownedWrite(unowned, 'stay'))).kind, 'written')
    lostToken = (await readUnowned(b, 'run-unowned')).token
    submitted = await ownedRun(a, 'run-submitted', { leaseOwner: A })
    strictEqual((await submitted.commit([token('lost')])).kind, 'written')
    await cluster.failOver()
    for (const storage of [a, b]) await retried(() => storage.queue.load())
  }, SLOW_MS)

  it('[RUNS-L1] [RUNS-P2] A failover to an asynchronous standby fences a claim that the new primary does not know, under the same epoch', async () => {
    const present = await claimRun(b, 'run-claimed', B)
    expect(present.epoch).toBe(claimed.epoch)
    const first = await present.commit([token('b 1')], { steps: [step(7)] })
    // The third write of the lost claim; the present claim expects its second.
    expect(await claimed.commit([token('zombie')], { steps: [step(3)] })).toEqual(FENCED)
    expect(
      await b.runs.commit([{ ...present.next([token('zombie')]), token: claimed.token }]),
    ).toEqual([FENCED])
    const again = { ...claimed.next([token('zombie')]), writeNo: 1 }
    expect(await b.runs.commit([again])).toEqual([FENCED])
    const second = { ...present.next([token('b 2')], { steps: [step(8)] }), writeNo: 2 }
    const [stored] = await b.runs.commit([second])
    expect([first.kind, stored?.kind]).toEqual(['written', 'written'])
    expect(await texts(b, 'run-claimed')).toEqual(['b 1', 'b 2'])
    expect(await b.runs.steps('run-claimed')).toEqual([step(7), step(8)])
    expect(await a.queue.release(claimed, { kind: 'ready' })).toBe('fenced')
    expect(await a.queue.markWaiting(claimed, 'reviews')).toBe(false)
  })

  it('[RUNS-L13] [RUNS-P7] A failover to an asynchronous standby fences a known claim whose last writes are lost, and stores its later writes never', async () => {
    expect(await written.commit([token('after')])).toEqual(FENCED)
    expect(await texts(a, 'run-written')).toEqual(['known'])
    expect(await a.runs.steps('run-written')).toEqual([step(1)])
    const held = await a.queue.renew(A)
    expect(held).toContainEqual({ runId: 'run-written', token: written.token })
    // [RUNS-L13] The review for which it waits may be in a lost write.
    expect(await a.queue.release(written, { kind: 'parked', lastWriteNo: 3 })).toBe('lost')
    expect((await (await takeOver(b, 'run-written')).commit([token('b')])).kind).toBe('written')
    expect(await texts(a, 'run-written')).toEqual(['known', 'b'])
  })

  it('[RUNS-P7] A failover to an asynchronous standby stores a write once whose answer was lost with the primary', async () => {
    const write = inFlight.next([token('in flight')])
    for (const _ of [1, 2]) {
      expect(await a.runs.commit([write])).toMatchObject([
        { kind: 'written', events: [{ seq: 1 }] },
      ])
    }
    expect(await texts(a, 'run-in-flight')).toEqual(['in flight'])
  })

  it('[RUNS-L2] A failover to an asynchronous standby leaves a run whose release is lost to its owner, which finds it among its runs', async () => {
    const held = await a.queue.renew(A)
    expect(held).toContainEqual({ runId: 'run-parked', token: parked.token })
    expect(await a.queue.release(parked, { kind: 'lost' })).toBe('lost')
    expect((await (await takeOver(b, 'run-parked')).commit([token('b')])).kind).toBe('written')
  })

  it('[RUNS-W1] A failover to an asynchronous standby does not answer a lost command, and queues the next one', async () => {
    expect(lostCommand).toBeDefined()
    expect(await b.commands.answer(lostCommand ?? '')).toBeUndefined()
    expect(await a.commands.pending(['run-commanded'])).toEqual([])
    const answers = [{ commandId: lostCommand ?? '', ok: true } as const]
    expect((await commanded.commit([token('x')], { answers })).kind).toBe('written')
    const sent = await b.commands.send('run-commanded', { kind: 'switch_model', model: 'm' })
    expect(sent?.kind).toBe('sent')
  })

  it('[RUNS-P8] A failover to an asynchronous standby fences a write to an unowned run as it was before the failover', async () => {
    const present = await readUnowned(b, 'run-unowned')
    const lost = { ...present, token: lostToken }
    expect(await b.runs.commitUnowned(newUnownedWrite(lost, 'stay'))).toEqual(FENCED)
    const stored = await b.runs.commitUnowned(newUnownedWrite(present, 'stay'))
    expect(stored).toMatchObject({ kind: 'written', events: [{ seq: present.lastSeq + 1 }] })
  })

  it('[RUNS-P1] A failover to an asynchronous standby accepts a lost submission again, which the earlier owner cannot write to', async () => {
    expect(await b.runs.get('run-submitted')).toBeUndefined()
    expect(await submitted.commit([token('zombie')])).toEqual(FENCED)
    const again = await ownedRun(b, 'run-submitted', { leaseOwner: B })
    expect(await submitted.commit([token('zombie')])).toEqual(FENCED)
    expect((await again.commit([token('b')])).kind).toBe('written')
    expect(await texts(b, 'run-submitted')).toEqual(['b'])
  })
})

describe('a failover to a synchronous standby', () => {
  it(
    '[RUNS-P7] A failover to a synchronous standby loses no acknowledged write, and its owner continues',
    { timeout: SLOW_MS },
    async () => {
      await using servers = await startFailoverCluster()
      await servers.addStandby()
      await using storage = await postgresRunStorage({
        connectionString: servers.url,
        maxConnections: 4,
      })
      await servers.replicateSynchronously()
      const owner = await ownedRun(storage, 'run-a', { leaseOwner: A })
      expect((await owner.commit([token('1')], { steps: [step(1)] })).kind).toBe('written')
      await servers.failOver()
      await retried(() => storage.queue.load())
      expect((await owner.commit([token('2')])).kind).toBe('written')
      expect(await texts(storage, 'run-a')).toEqual(['1', '2'])
      expect(await storage.queue.renew(A)).toEqual([{ runId: 'run-a', token: owner.token }])
    },
  )
})

const FENCED = { kind: 'fenced' }

async function texts(storage: RunStorage, runId: string): Promise<readonly string[]> {
  const events = await readAll(storage, runId)
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, seq) => seq))
  return events.flatMap((event) => (event.type === 'token' ? [event.token] : []))
}

/** Claims a run that its owner released as lost. */
async function takeOver(storage: RunStorage, runId: string): Promise<Owner> {
  const request = { ...B, wanted: 1, maxConcurrentRuns: 100 }
  const [next] = (await storage.dispatcher.take(request)) ?? []
  expect(next?.run.runId).toBe(runId)
  return next === undefined ? expect.fail('nothing is due') : toOwner(storage, next)
}

/** Repeats a call until the storage has reconnected. */
async function retried(call: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await call()
      return
    } catch {
      await sleep(50)
    }
  }
}
