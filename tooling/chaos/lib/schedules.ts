/** Schedules with a tick each second: their ensemble, and the checks that each tick has exactly one run. */
import { ensemble, task, type Ensemble } from '@tutti/ensemble'

import type { RunStorage } from '../../../packages/runs/src/adapter.ts'

/** Name of the ensemble. */
export const TICKING = 'ticking'

/** Makes an ensemble whose run ends at once. */
export function makeTicking(): Ensemble {
  const tick = task({ name: 'tick', description: 'Tick', handler: async () => 'done' })
  return ensemble({ name: TICKING, tasks: [tick] })
}

/** The ticks of one schedule, and the runs that it submitted. */
export interface TickEvidence {
  readonly name: string
  /** The first tick, in milliseconds since 1970; the others follow each second. */
  readonly first: number
  /** The last tick that has a run according to the schedule. */
  readonly last: number
  /** Ticks of all stored runs. */
  readonly runs: readonly number[]
}

/** Reads the ticks of all runs of a schedule. */
export async function readTicks(storage: RunStorage, name: string): Promise<readonly number[]> {
  const ticks: number[] = []
  let before: number | undefined
  for (;;) {
    const tag = { key: 'schedule', value: name }
    const { runs } = await storage.runs.list({ tag, limit: 500, before })
    ticks.push(...runs.map(({ tags }) => Date.parse(String(tags['tick']))))
    before = runs.at(-1)?.place
    if (runs.length < 500) return ticks
  }
}

/** Checks that every tick from the first to the last has exactly one run, and that no other time has one before the last. */
export function judgeTicks({ name, first, last, runs }: TickEvidence): readonly string[] {
  const violations: string[] = []
  const counts = new Map<number, number>()
  for (const tick of runs) counts.set(tick, (counts.get(tick) ?? 0) + 1)
  for (let tick = first; tick <= last; tick += 1_000) {
    const count = counts.get(tick) ?? 0
    if (count !== 1) violations.push(`${name} has ${count} runs at ${new Date(tick).toISOString()}`)
  }
  for (const tick of counts.keys()) {
    if (tick % 1_000 === 0 && tick >= first) continue
    violations.push(`${name} has a run at ${new Date(tick).toISOString()}, which is not a tick`)
  }
  return violations
}
