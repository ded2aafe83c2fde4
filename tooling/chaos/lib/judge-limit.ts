/**
 * Checks that the limit of running runs was not exceeded. A run that executes has a slot, except while it waits for a
 * person. Pure.
 *
 * CHAOS-L1 No two runs have a slot at the same time.
 * CHAOS-L2 A claim takes a slot within the limit. Only a run that continues after a wait may have one beyond it,
 *    because its process has it still.
 */
import type { Evidence } from './evidence.ts'

/** Result of the check. */
export interface LimitVerdict {
  readonly violations: readonly string[]
  /** Maximum number of runs with a slot at the same time. */
  readonly most: number
}

/** Checks all slots. */
export function judgeLimit({ slots, maxRunning }: Evidence): LimitVerdict {
  const violations: string[] = []
  const slotOf = new Map<string, number>()
  const runOf = new Map<number, string>()
  let most = 0
  for (const { runId, isClaim, slot } of slots) {
    const before = slotOf.get(runId)
    if (before !== undefined) runOf.delete(before)
    slotOf.delete(runId)
    if (slot === undefined) continue
    const other = runOf.get(slot)
    if (other !== undefined) violations.push(`L1 ${runId} got slot ${slot}, which ${other} has`)
    if (isClaim && slot > maxRunning) {
      violations.push(`L2 ${runId} was claimed with slot ${slot}, and the limit is ${maxRunning}`)
    }
    slotOf.set(runId, slot)
    runOf.set(slot, runId)
    most = Math.max(most, runOf.size)
  }
  return { violations, most }
}
