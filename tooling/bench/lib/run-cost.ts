/** Measures what a run costs its process: time of the main thread, and memory. */
import { sized } from './form.ts'
import { median } from './measure.ts'
import { formatNumber, printClaim, printTable } from './report.ts'

import type { Runner } from './runners.ts'

/** Runs in one round; few, so that most rounds have no garbage collection. */
const RUNS = 20

/** Maximum cost of a run. */
export interface CostLimits {
  /** CPU time of the thread in microseconds. */
  readonly cpuUs: number
  /** Allocated memory in kilobytes of 1,024 bytes. */
  readonly allocatedKb: number
}

/**
 * Prints the cost of a run of `runner`, one at a time, and a claim for each of `limits`. CPU time is the mean of all
 * rounds and includes garbage collection on the thread. Allocated memory is the growth of the heap, the median of
 * rounds, because a collection reduces the heap.
 */
export async function printRunCost(
  title: string,
  runner: Runner,
  limits: CostLimits,
): Promise<void> {
  const warmUpRounds = sized(500, 0)
  const rounds = sized(500, 1, 100)
  const heapBytes: number[] = []
  let cpuUs = 0
  for (let round = -warmUpRounds; round < rounds; round += 1) {
    runner.prepare?.(RUNS)
    const usedBefore = process.memoryUsage().heapUsed
    const cpuBefore = process.threadCpuUsage()
    for (let run = 0; run < RUNS; run += 1) await runner.run()
    const cpu = process.threadCpuUsage(cpuBefore)
    if (round < 0) continue
    heapBytes.push(process.memoryUsage().heapUsed - usedBefore)
    cpuUs += cpu.user + cpu.system
  }
  const cost: CostLimits = {
    cpuUs: cpuUs / (rounds * RUNS),
    allocatedKb: median(heapBytes) / RUNS / 1_024,
  }
  printTable({
    title: `${title}: cost of a run`,
    columns: ['', 'µs of thread CPU', 'KB allocated'],
    rows: [[runner.name, formatNumber(cost.cpuUs), formatNumber(cost.allocatedKb)]],
  })
  printClaim({
    text: `${title}: a run takes at most ${limits.cpuUs} µs of thread CPU`,
    atMost: limits.cpuUs,
    measured: cost.cpuUs,
    unit: ' µs',
  })
  printClaim({
    text: `${title}: a run allocates at most ${limits.allocatedKb} KB`,
    atMost: limits.allocatedKb,
    measured: cost.allocatedKb,
    unit: ' KB',
  })
}
