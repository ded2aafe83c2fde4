/** Measuring side by side: every contestant in turn, round after round, so that noise meets all alike. */

/** Something that is measured: `run` does the work `count` times. */
export interface Contestant {
  readonly name: string
  run(count: number): Promise<void>
}

/** How a comparison is run. */
export interface CompareOptions {
  /** Calls in one round. */
  readonly calls: number
  readonly rounds: number
}

/** Microseconds a call, the median of the rounds, by contestant in the order given. */
export async function compare(
  contestants: readonly Contestant[],
  { calls, rounds }: CompareOptions,
): Promise<readonly { readonly name: string; readonly us: number }[]> {
  const times = new Map<string, number[]>(contestants.map(({ name }) => [name, []]))
  for (const { run } of contestants) await run(calls)
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, run } of contestants) {
      const startedAt = performance.now()
      await run(calls)
      times.get(name)?.push(((performance.now() - startedAt) * 1000) / calls)
    }
  }
  return contestants.map(({ name }) => ({ name, us: median(times.get(name) ?? []) }))
}

/** The middle value. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
