/** Plans the runs and the faults of a scale test. Pure. */
import { planRuns, type PlannedFault, type PlannedRun } from '../../chaos/lib/plan.ts'

import type { Sizes } from './sizes.ts'

/** Number of the first held run; the runs of chaos count from 0. */
const FIRST_HELD = 1_000_000

/** Delay between counted submits, in milliseconds: longer than the claims that they cause. */
const COUNTED_EVERY_MS = 300

/** Mean delay between two runs of chaos, in milliseconds, and one that no plan of many runs has. */
const MEAN_MS = 245
const MIN_MEAN_MS = 150

/**
 * Faults, one after another. They are few, because a run that loses two owners without progress is executed apart from
 * others, and held runs make none.
 */
const FAULTS = ['kill_worker', 'kill_worker', 'fail_over', 'kill_worker'] as const

/** Returns the first runs: those for which claims are counted, one after another, and all others that are held. */
export function planHeldRuns(
  seed: number,
  { owned, counted }: Sizes,
): { readonly counted: readonly PlannedRun[]; readonly others: readonly PlannedRun[] } {
  const runs = Array.from({ length: owned }, (_, index): PlannedRun => ({
    piece: String(FIRST_HELD + index),
    idempotencyKey: `scale-${seed}-${index}`,
    ensemble: 'hold',
    submitAfterMs: index < counted ? COUNTED_EVERY_MS : 0,
    isSentTwice: false,
    isFollowed: false,
    commands: [],
    decisions: [],
  }))
  return { counted: runs.slice(0, counted), others: runs.slice(counted) }
}

/** Duration of the steady phase in milliseconds, and its rate. */
export interface SteadyPlan {
  readonly steadyMs: number
  readonly runsPerSecond: number
}

/** Returns the runs of the steady phase: those of chaos at another rate, for as long as it lasts. */
export function planSteadyRuns(
  seed: number,
  { steadyMs, runsPerSecond }: SteadyPlan,
): readonly PlannedRun[] {
  const runs: PlannedRun[] = []
  const slower = 1_000 / runsPerSecond / MEAN_MS
  let atMs = 0
  for (const run of planRuns(seed, Math.ceil(steadyMs / slower / MIN_MEAN_MS))) {
    const submitAfterMs = run.submitAfterMs * slower
    atMs += submitAfterMs
    if (atMs > steadyMs) break
    runs.push({ ...run, submitAfterMs })
  }
  return runs
}

/** Yields kills of processes of the fleet and one failover, spread over the time. */
export function* planSteadyFaults({
  steadyMs,
}: Pick<SteadyPlan, 'steadyMs'>): Generator<PlannedFault, void> {
  const afterMs = steadyMs / (FAULTS.length + 1)
  for (const [index, kind] of FAULTS.entries()) {
    yield { kind, afterMs, which: (index + 0.5) / FAULTS.length, lastsMs: 1_000 }
  }
}
