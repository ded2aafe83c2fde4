/** Measures contestants in turns, round after round, so that noise affects all alike. */

import { isShort, sized } from './form.ts'

/** Calls in the single round of the short form. */
const SHORT_CALLS = 10

/** Rounds of the quick form. */
const QUICK_ROUNDS = 7

/** A contestant: `run` does the work `count` times. */
export interface Contestant {
  readonly name: string
  /** Prepares a number of calls; called before each `run`, and not measured. */
  prepare?(count: number): void
  run(count: number): Promise<void>
}

export interface CompareOptions {
  /** Calls in one round. */
  readonly calls: number
  readonly rounds: number
  /** Warm-up time of each contestant, rounded up to whole rounds. @default 0, one round */
  readonly warmUpMs?: number
}

/** The time of a contestant. */
export interface Measured {
  readonly name: string
  /** Microseconds per call. */
  readonly us: number
}

/** Returns microseconds per call, the median of the rounds, by contestant, in the order of `contestants`. */
export async function compare(
  contestants: readonly Contestant[],
  options: CompareOptions,
): Promise<readonly Measured[]> {
  const calls = sized(options.calls, SHORT_CALLS)
  const rounds = sized(options.rounds, 1, Math.min(QUICK_ROUNDS, options.rounds))
  const warmUpMs = isShort() ? 0 : (options.warmUpMs ?? 0)
  const times = new Map<string, number[]>(contestants.map(({ name }) => [name, []]))
  for (const contestant of contestants) {
    const startedAt = performance.now()
    do await roundMs(contestant, calls)
    while (performance.now() - startedAt < warmUpMs)
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const contestant of contestants) {
      times.get(contestant.name)?.push(((await roundMs(contestant, calls)) * 1000) / calls)
    }
  }
  return contestants.map(({ name }) => ({ name, us: median(times.get(name) ?? []) }))
}

async function roundMs(contestant: Contestant, calls: number): Promise<number> {
  contestant.prepare?.(calls)
  const startedAt = performance.now()
  await contestant.run(calls)
  return performance.now() - startedAt
}

/** Returns the median. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** Returns the value below which that share of the values lies; NaN when there are none. */
export function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN
}
