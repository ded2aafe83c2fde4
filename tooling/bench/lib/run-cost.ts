/** Measures what a run costs its process: time and memory. */
import { sized } from './form.ts'
import { median, quantile } from './measure.ts'
import { formatNumber, printClaim, printTable } from './report.ts'

import type { Runner } from './runners.ts'

/** Runs in one round; few, so that most rounds have no garbage collection. */
const RUNS = 20

/** Maximum cost of a run. */
export interface CostLimits {
  /** Time in microseconds. */
  readonly us: number
  /** Allocated memory in kilobytes of 1,024 bytes. */
  readonly allocatedKb: number
}

/**
 * Prints the cost of a run of `runner`, one at a time, and a claim for each of `limits`. The time is that of the fastest
 * tenth of all rounds, which other programs and collections of garbage did not interrupt: the processor time of a thread
 * is counted in ticks on some machines, and a round is shorter. Allocated memory is the growth of the heap, the median
 * of rounds, because a collection reduces the heap.
 */
export async function printRunCost(
  title: string,
  runner: Runner,
  limits: CostLimits,
): Promise<void> {
  const warmUpRounds = sized(500, 0)
  const rounds = sized(500, 1, 100)
  const heapBytes: number[] = []
  const us: number[] = []
  for (let round = -warmUpRounds; round < rounds; round += 1) {
    runner.prepare?.(RUNS)
    const usedBefore = process.memoryUsage().heapUsed
    const startedAt = performance.now()
    for (let run = 0; run < RUNS; run += 1) await runner.run()
    const ms = performance.now() - startedAt
    if (round < 0) continue
    heapBytes.push(process.memoryUsage().heapUsed - usedBefore)
    us.push((ms * 1_000) / RUNS)
  }
  const cost: CostLimits = {
    us: quantile(us, 0.1),
    allocatedKb: median(heapBytes) / RUNS / 1_024,
  }
  printTable({
    title: `${title}: cost of a run`,
    columns: ['', 'µs, fastest tenth of rounds', 'KB allocated'],
    rows: [[runner.name, formatNumber(cost.us), formatNumber(cost.allocatedKb)]],
  })
  printClaim({
    text: `${title}: a run takes at most ${limits.us} µs in the fastest tenth of rounds`,
    atMost: limits.us,
    measured: cost.us,
    unit: ' µs',
  })
  printClaim({
    text: `${title}: a run allocates at most ${limits.allocatedKb} KB`,
    atMost: limits.allocatedKb,
    measured: cost.allocatedKb,
    unit: ' KB',
  })
}
