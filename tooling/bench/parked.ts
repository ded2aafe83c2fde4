/**
 * Measures runs that only wait, in the embedded store: a third each sleeps, waits for an event by key, and starts later. It
 * reports the heap and the processor time of the idle process with N and with 10 N parked runs, the cost of delivering
 * an event to one of them, and how they wake. To wake all at once, the store is opened again with a clock that is ahead.
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

import { systemClock } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'

import { builtPackage } from './lib/built.ts'
import { sized } from './lib/form.ts'
import { formatNumber, printClaim, printTable } from './lib/report.ts'
import { awaitEnd } from './lib/runs-services.ts'
import { nowMs } from './lib/runs-teams.ts'

import type { RunStorage } from '../../packages/runs/src/adapter.ts'
import type { RunService } from '../../packages/runs/src/index.ts'

type RunsDoor = typeof import('../../packages/runs/src/index.ts')

/** Larger number of parked runs; the smaller one is a tenth of it. */
const RUNS = sized(100_000, 300, 6_000)
const KINDS = ['sleep', 'event', 'start'] as const
const DELIVERED = sized(500, 10, 100)
const PLAIN = sized(5_000, 50, 500)
const IDLE_MS = sized(10_000, 200, 5_000)
const WIDTH = 50
const POLL_MS = 20

/** Longer than filling the store takes. */
const PARKED_MS = 24 * 3_600_000

/** Limits of what parked runs cost. */
const MAX_HEAP_BYTES = 16
const MAX_IDLE_RATIO = 2
const MAX_DELIVERY_RATIO = 1.5
const MIN_WAKE_RATIO = 0.5

setFlagsFromString('--expose-gc')
// NOTE: the flag defines `gc` in new contexts.
const gc = runInNewContext('gc') as () => void

const team = ensemble({
  name: 'parked',
  tasks: [
    task({
      name: 'wait',
      description: 'Wait {kind} {key}',
      async handler({ inputs, sleep: pause, waitFor }) {
        if (inputs['kind'] === 'sleep') await pause(PARKED_MS)
        if (inputs['kind'] === 'event') await waitFor('payment', { key: inputs['key'] ?? '' })
        return 'done'
      },
    }),
  ],
})

interface Opened extends AsyncDisposable {
  readonly service: RunService
  readonly storage: RunStorage
}

async function open(directory: string, aheadMs = 0): Promise<Opened> {
  const { createRunService, sqliteRunStorage } = await builtPackage<RunsDoor>('runs')
  const clock = { ...systemClock, now: () => systemClock.now() + aheadMs }
  // The thread of a store has the clock of the system.
  const storage = await sqliteRunStorage(directory, {
    clock,
    synchronous: 'NORMAL',
    ownThread: false,
  })
  const service = createRunService(storage, [team], {
    clock,
    maxConcurrentRuns: WIDTH,
    maxQueuedRuns: RUNS,
  })
  await service.start()
  return { service, storage, [Symbol.asyncDispose]: () => service.close({ drainTimeoutMs: 0 }) }
}

/** Calls `work` for each number below `count`, {@link WIDTH} at a time. */
async function inParallel(count: number, work: (at: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: WIDTH }, worker))
}

/** Parks runs until there are `count`. */
async function park({ service, storage }: Opened, from: number, count: number): Promise<void> {
  await inParallel(count - from, async (at) => {
    const kind = KINDS[at % KINDS.length] ?? 'sleep'
    await service.submit({
      ensemble: 'parked',
      inputs: { kind, key: `key-${from + at}` },
      ...(kind === 'start' ? { startAfterMs: PARKED_MS } : {}),
    })
  })
  while ((await storage.queue.load()).parked < count) await sleep(POLL_MS)
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

/** The costs of the process with `count` parked runs, and those of the delivery of events to some of them. */
async function measureParked(directory: string, from: number, count: number) {
  await using opened = await open(directory)
  await park(opened, from, count)
  const bytes = readdirSync(directory)
    .map((file) => statSync(join(directory, file)).size)
    .reduce((sum, size) => sum + size, 0)
  await sleep(IDLE_MS / 2)
  gc()
  gc()
  const { heapUsed } = process.memoryUsage()
  const before = process.cpuUsage()
  await sleep(IDLE_MS)
  const { user, system } = process.cpuUsage(before)
  const beginMs = nowMs()
  // The events of the newest runs; the next size replaces them.
  const newest = Array.from({ length: count - from }, (_, at) => at).filter((at) => at % 3 === 1)
  for (const at of newest.slice(0, DELIVERED)) {
    await opened.service.externalEvents.receive({ name: 'payment', key: `key-${from + at}` })
  }
  const delivered = Math.min(newest.length, DELIVERED)
  return {
    count,
    bytes: bytes / count,
    heapUsed,
    idle: (user + system) / 1_000 / (IDLE_MS / 1_000),
    deliveryMs: (nowMs() - beginMs) / delivered,
    left: count - delivered,
  }
}

/** Wakes all runs that sleep or start later, and submits other runs meanwhile, one after the other. */
async function measureWaking(directory: string) {
  await using opened = await open(directory, 2 * PARKED_MS)
  const { service, storage } = opened
  const beginMs = nowMs()
  const due = (await storage.queue.load()).parked
  let peak = 0
  let newRunMs = 0
  let isDone = false
  const probing = (async () => {
    while (!isDone) {
      const askedMs = nowMs()
      const { runId } = await service.submit({
        ensemble: 'parked',
        inputs: { kind: 'none', key: '' },
      })
      await awaitEnd(service, runId)
      newRunMs = Math.max(newRunMs, nowMs() - askedMs)
      await sleep(POLL_MS)
    }
  })()
  for (let parked = -1, same = 0; same < 20;) {
    await sleep(50)
    peak = Math.max(peak, process.memoryUsage().heapUsed)
    const load = await storage.queue.load()
    same = load.parked === parked && load.running + load.queued <= 1 ? same + 1 : 0
    parked = load.parked
  }
  const endMs = nowMs() - 20 * 50
  isDone = true
  await probing
  const woken = due - (await storage.queue.load()).parked
  return {
    woken,
    rate: woken / ((endMs - beginMs) / 1_000),
    peak,
    newRunMs,
    plain: await runPlain(opened, PLAIN),
  }
}

const directory = mkdtempSync(join(tmpdir(), 'tutti-bench-parked-'))
try {
  {
    await using warm = await open(directory)
    await runPlain(warm, PLAIN)
  }
  const few = await measureParked(directory, 0, RUNS / 10)
  const many = await measureParked(directory, few.left, RUNS)
  const waking = await measureWaking(directory)
  printTable({
    title: 'A process with parked runs, in SQLite',
    columns: [
      'parked runs',
      'heap, MiB',
      'idle processor time, ms/s',
      'delivery of an event, ms',
      'store, KB a run',
    ],
    rows: [few, many].map(({ count, heapUsed, idle, deliveryMs, bytes }) => [
      formatNumber(count),
      formatNumber(heapUsed / 2 ** 20),
      formatNumber(idle),
      formatNumber(deliveryMs),
      formatNumber(bytes / 1_000),
    ]),
  })
  printTable({
    title: 'Runs that wake at the same time',
    columns: [
      'runs',
      'woken/s',
      'plain runs/s',
      'heap at most, MiB',
      'longest new run meanwhile, ms',
    ],
    rows: [
      [
        formatNumber(waking.woken),
        formatNumber(waking.rate),
        formatNumber(waking.plain),
        formatNumber(waking.peak / 2 ** 20),
        formatNumber(waking.newRunMs),
      ],
    ],
  })
  printClaim({
    text: `a parked run keeps no memory (at most ${MAX_HEAP_BYTES} bytes)`,
    atMost: MAX_HEAP_BYTES,
    measured: (many.heapUsed - few.heapUsed) / (many.count - few.count),
    unit: ' bytes',
  })
  printClaim({
    text: 'ten times the parked runs: at most twice the idle processor time',
    atMost: MAX_IDLE_RATIO,
    measured: many.idle / few.idle,
    unit: ' times',
  })
  printClaim({
    text: 'ten times the parked runs: delivering an event takes at most 1.5 times as long',
    atMost: MAX_DELIVERY_RATIO,
    measured: many.deliveryMs / few.deliveryMs,
    unit: ' times',
  })
  printClaim({
    text: 'parked runs wake at no less than half the rate of plain runs',
    atLeast: MIN_WAKE_RATIO,
    measured: waking.rate / waking.plain,
    unit: ' times',
  })
} finally {
  rmSync(directory, { recursive: true })
}
