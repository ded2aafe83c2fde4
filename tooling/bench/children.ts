/**
 * Measures a run that adds 10 000 tasks: in process, and over HTTP on a server with the embedded store. The work of a task is a
 * function that returns at once, so all of the processor time is our own. Each size runs in its own process, which collects
 * garbage and reads its heap after each 1 000 tasks.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

import { isShort, sized } from './lib/form.ts'
import { formatNumber, printClaim, printTable } from './lib/report.ts'

import type { ChildrenCost } from './fixtures/many-children.ts'

const FEW = sized(1_000, 50)
const MANY = sized(10_000, 200)

/** Tasks between two readings of the heap. */
const STEP = sized(1_000, 50)

/** Maximum processor time of the run with many tasks, in milliseconds. */
const MAX_OWN_MS = 3_000

/** Maximum ratio of the times, where 1 is linear: the collector has more to do with a larger heap. */
const MAX_RATIO = 1.5

/** Maximum heap for a task that has ended and whose result the run still holds, in bytes. */
const MAX_TASK_BYTES = 16_384

const TIMEOUT_MS = 300_000

const program = fileURLToPath(new URL('./fixtures/many-children.ts', import.meta.url))

function measure(runner: string, count: number): ChildrenCost {
  const { status, signal, stdout, stderr } = spawnSync(
    process.execPath,
    ['--expose-gc', program, runner, String(count), String(STEP)],
    { encoding: 'utf8', timeout: TIMEOUT_MS },
  )
  if (status !== 0) throw new Error(`The process ended with ${status ?? signal}: ${stderr}`)
  // NOTE: only our own program writes this output.
  return JSON.parse(stdout) as ChildrenCost
}

const rows: string[][] = []
const heaps: string[][] = []
for (const [runner, label] of [
  ['process', 'in process'],
  ['server', 'over HTTP, embedded store'],
] as const) {
  const few = measure(runner, FEW)
  const many = measure(runner, MANY)
  const ratio = many.ownMs / few.ownMs / (MANY / FEW)
  const first = many.heapBytes[0] ?? Number.NaN
  const last = many.heapBytes.at(-1) ?? Number.NaN
  const taskBytes = (last - first) / (MANY - STEP)
  rows.push([
    label,
    formatNumber(few.ownMs),
    formatNumber(many.ownMs),
    formatNumber(ratio),
    formatNumber(taskBytes),
  ])
  heaps.push([label, ...many.heapBytes.map((bytes) => formatNumber(bytes / 1024 ** 2))])
  printClaim({
    text: `${formatNumber(MANY)} added tasks ${label} take at most ${MAX_OWN_MS} ms of processor time, all of it our own`,
    atMost: MAX_OWN_MS,
    measured: many.ownMs,
    unit: ' ms',
  })
  printClaim({
    text: `processor time is linear in the number of tasks ${label}: ${formatNumber(MANY)} take at most ${MAX_RATIO} times as long each as ${formatNumber(FEW)}`,
    atMost: MAX_RATIO,
    measured: ratio,
    unit: ' times',
  })
  printClaim({
    text: `an ended task ${label} keeps at most ${formatNumber(MAX_TASK_BYTES)} bytes until its run has ended`,
    atMost: MAX_TASK_BYTES,
    measured: taskBytes,
    unit: ' bytes',
  })
}
printTable({
  title: `A run that adds ${formatNumber(FEW)} and ${formatNumber(MANY)} tasks`,
  columns: [
    '',
    `${formatNumber(FEW)} tasks, ms`,
    `${formatNumber(MANY)} tasks, ms`,
    'processor time of a task, times',
    'heap for a task, bytes',
  ],
  rows,
})
printTable({
  title: `Heap in MiB after each ${formatNumber(STEP)} tasks`,
  columns: ['', ...(heaps[0] ?? []).slice(1).map((_, at) => formatNumber((at + 1) * STEP))],
  rows: heaps,
})
if (isShort() && rows.length !== 2) throw new Error('Not all runs were measured')
