/**
 * Measures runs that only wait: a third each sleeps, waits for an event by key, and starts later. It reports the memory and the
 * processor time of an idle process with N and with 10 N parked runs, the cost of delivering an event to one of them, and how
 * they wake, all at the same time.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

import { isShort, sized } from './lib/form.ts'
import {
  embeddedParkedStore,
  openParkedService,
  PARKED_MS,
  postgresParkedStore,
  WIDTH,
  type Opened,
  type ParkedStore,
} from './lib/parked-stores.ts'
import { formatNumber, printClaim, printTable } from './lib/report.ts'
import { openLocations } from './lib/runs-locations.ts'
import { awaitEnd } from './lib/runs-services.ts'
import { nowMs } from './lib/runs-teams.ts'

/** Larger number of parked runs; the smaller one is a tenth of it. */
const RUNS = sized(100_000, 300, 6_000)
const KINDS = ['sleep', 'event', 'start'] as const
const DELIVERED = sized(500, 10, 100)
const PLAIN = sized(5_000, 50, 500)
const IDLE_MS = sized(10_000, 200, 5_000)
const POLL_MS = 20

/** Interval at which the metrics are read, as by a monitoring system that reads them often. */
const METRICS_MS = 1_000

/** Number of times that memory is collected, and the time between them, in which the event loop cleans up. */
const COLLECTIONS = 5
const COLLECTION_MS = isShort() ? 20 : 500

/** Limits of what parked runs cost. */
const MAX_BYTES = 16
const MAX_IDLE_RATIO = 1.5
const MAX_DELIVERY_RATIO = 1.5
const MIN_WAKE_RATIO = 0.5

setFlagsFromString('--expose-gc')
// NOTE: the flag defines `gc` in new contexts.
const gc = runInNewContext('gc') as () => void

/** Calls `work` for each number below `count`, {@link WIDTH} at a time. */
async function inParallel(count: number, work: (at: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: WIDTH }, worker))
}

/** Parks runs with the numbers from `from` on until `count` are parked. Returns the number after them. */
async function park({ service, storage }: Opened, from: number, count: number): Promise<number> {
  const missing = count - (await storage.queue.load()).parked
  await inParallel(missing, async (at) => {
    const kind = KINDS[(from + at) % KINDS.length] ?? 'sleep'
    await service.submit({
      ensemble: 'parked',
      inputs: { kind, key: `key-${from + at}` },
      ...(kind === 'start' ? { startAfterMs: PARKED_MS } : {}),
    })
  })
  while ((await storage.queue.load()).parked < count) await sleep(POLL_MS)
  return from + missing
}

async function runPlain({ service }: Opened, count: number): Promise<number> {
  const beginMs = nowMs()
  await inParallel(count, async () => {
    const { runId } = await service.submit({
      ensemble: 'parked',
      inputs: { kind: 'none', key: '' },
    })
    await awaitEnd(service, runId)
  })
  return count / ((nowMs() - beginMs) / 1_000)
}

/** Returns the least memory that is used after a collection, in bytes. */
async function readMemory(): Promise<number> {
  let least = Infinity
  for (let n = 0; n < COLLECTIONS; n += 1) {
    gc()
    await sleep(COLLECTION_MS)
    gc()
    const { heapUsed, external } = process.memoryUsage()
    least = Math.min(least, heapUsed + external)
  }
  return least
}

/** The costs of a process with `count` parked runs, numbered below `next`, and those of events for the newest of them. */
async function measureParked({ service, storage }: Opened, count: number, next: number) {
  const memory = await readMemory()
  const before = process.cpuUsage()
  const endMs = nowMs() + IDLE_MS
  while (nowMs() < endMs) {
    await storage.queue.metrics()
    await sleep(Math.min(METRICS_MS, IDLE_MS))
  }
  const { user, system } = process.cpuUsage(before)
  const newest = Array.from({ length: 3 * DELIVERED }, (_, at) => next - 1 - at)
  const waiting = newest.filter((at) => at >= 0 && KINDS[at % KINDS.length] === 'event')
  const beginMs = nowMs()
  for (const at of waiting) {
    await service.externalEvents.receive({ name: 'payment', key: `key-${at}` })
  }
  return {
    count,
    memory,
    idle: (user + system) / 1_000 / (IDLE_MS / 1_000),
    deliveryMs: (nowMs() - beginMs) / waiting.length,
  }
}

/** Wakes all runs that sleep or start later, and submits other runs meanwhile, one after the other. */
async function measureWaking(store: ParkedStore) {
  await store.passTime()
  await using opened = await openParkedService(store, 2 * PARKED_MS)
  const { service, storage } = opened
  const beginMs = nowMs()
  const due = (await storage.queue.load()).parked
  let peak = 0
  let acceptMs = 0
  let loadMs = 0
  let isDone = false
  const probing = (async () => {
    while (!isDone) {
      const askedMs = nowMs()
      await service.submit({ ensemble: 'parked', inputs: { kind: 'none', key: '' } })
      acceptMs = Math.max(acceptMs, nowMs() - askedMs)
      await sleep(POLL_MS)
    }
  })()
  let endMs = nowMs()
  for (let parked = -1, same = 0; same < 20;) {
    await sleep(50)
    peak = Math.max(peak, process.memoryUsage().heapUsed)
    const askedMs = nowMs()
    const load = await storage.queue.load()
    loadMs = Math.max(loadMs, nowMs() - askedMs)
    same = load.parked === parked ? same + 1 : 0
    if (same === 0) endMs = nowMs()
    parked = load.parked
  }
  isDone = true
  await probing
  const woken = due - (await storage.queue.load()).parked
  while ((await storage.queue.load()).queued > 0) await sleep(POLL_MS)
  const rate = woken / ((endMs - beginMs) / 1_000)
  return { woken, rate, peak, acceptMs, loadMs, plain: await runPlain(opened, PLAIN) }
}

async function measureStore(store: ParkedStore) {
  const costs: Awaited<ReturnType<typeof measureParked>>[] = []
  {
    await using opened = await openParkedService(store)
    await runPlain(opened, PLAIN)
    let next = await park(opened, 0, RUNS / 20)
    for (const count of [RUNS / 10, RUNS]) {
      next = await park(opened, next, count)
      costs.push(await measureParked(opened, count, next))
    }
  }
  return { store, costs, waking: await measureWaking(store) }
}

type Measured = Awaited<ReturnType<typeof measureStore>>

function printParked({ store, costs }: Measured): void {
  printTable({
    title: `A process with parked runs, in ${store.name}`,
    columns: [
      'parked runs',
      'memory, MiB',
      'idle processor time, ms/s',
      'delivery of an event, ms',
    ],
    rows: costs.map(({ count, memory, idle, deliveryMs }) => [
      formatNumber(count),
      formatNumber(memory / 2 ** 20),
      formatNumber(idle),
      formatNumber(deliveryMs),
    ]),
  })
}

function printWaking(all: readonly Measured[]): void {
  printTable({
    title: 'Runs that wake at the same time',
    columns: [
      'store',
      'runs',
      'woken/s',
      'plain runs/s',
      'heap at most, MiB',
      'longest submission meanwhile, ms',
      'longest read of the load meanwhile, ms',
    ],
    rows: all.map(({ store, waking: { woken, rate, plain, peak, acceptMs, loadMs } }) => [
      store.name,
      ...[woken, rate, plain, peak / 2 ** 20, acceptMs, loadMs].map(formatNumber),
    ]),
  })
}

function printClaims({ store, costs: [few, many], waking }: Measured): void {
  if (few === undefined || many === undefined)
    throw new Error('Two numbers of parked runs must be measured')
  printClaim({
    text: `a parked run in ${store.name} keeps no memory (at most ${MAX_BYTES} bytes)`,
    atMost: MAX_BYTES,
    measured: (many.memory - few.memory) / (many.count - few.count),
    unit: ' bytes',
  })
  printClaim({
    text: `ten times the parked runs in ${store.name}: at most ${MAX_IDLE_RATIO} times the idle processor time`,
    atMost: MAX_IDLE_RATIO,
    measured: many.idle / few.idle,
    unit: ' times',
  })
  printClaim({
    text: `ten times the parked runs in ${store.name}: delivering an event takes at most ${MAX_DELIVERY_RATIO} times as long`,
    atMost: MAX_DELIVERY_RATIO,
    measured: many.deliveryMs / few.deliveryMs,
    unit: ' times',
  })
  printClaim({
    text: `parked runs in ${store.name} wake at no less than half the rate of plain runs`,
    atLeast: MIN_WAKE_RATIO,
    measured: waking.rate / waking.plain,
    unit: ' times',
  })
}

const directory = mkdtempSync(join(tmpdir(), 'tutti-bench-parked-'))
try {
  await using locations = await openLocations()
  const measured = [
    await measureStore(embeddedParkedStore(directory)),
    await measureStore(postgresParkedStore(locations.postgres())),
  ]
  measured.forEach(printParked)
  printWaking(measured)
  measured.forEach(printClaims)
} finally {
  rmSync(directory, { recursive: true })
}
