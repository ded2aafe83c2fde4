/** Compares runners of whole runs, one at a time and concurrently. */
import { printClaim } from './report.ts'
import { compare, type CompareOptions, type Contestant } from './measure.ts'

/** A contestant that executes runs. */
export interface Runner {
  readonly name: string
  /** Prepares a number of runs before the clock starts. */
  prepare?(runs: number): void
  /** Executes one run and returns its answer. */
  run(): Promise<string>
}

/** Options of a race. */
export interface RaceOptions extends CompareOptions {
  /** Number of concurrent runs. */
  readonly width: number
  /** Expected answer of every run; another answer ends the benchmark. */
  readonly answer: string
}

/** A claim that another runner takes at least this many times as long as the reference. */
export interface SpeedClaim {
  readonly slower: Runner
  readonly faster: Runner
  readonly times: number
}

/** Runners, and the claims about them. */
export interface Race {
  readonly runners: readonly Runner[]
  readonly claims: readonly SpeedClaim[]
}

/**
 * Races `runners` in turns. Prints microseconds per run, the ratio to the first runner, and runs per second; then a
 * line for each of `claims`.
 *
 * @throws {Error} when a run returns a wrong answer.
 */
export async function race(
  runners: readonly Runner[],
  claims: readonly SpeedClaim[],
  options: RaceOptions,
): Promise<void> {
  const { width } = options
  const results = await compare(
    runners.map((runner) => contestantOf(runner, options)),
    options,
  )
  const usOf = ({ name }: Runner): number =>
    results.find((result) => result.name === name)?.us ?? Number.NaN
  console.log(`${width} at a time:`)
  const own = results[0]?.us ?? Number.NaN
  for (const { name, us } of results) {
    const ratio = (us / own).toFixed(1)
    const perSecond = (1_000_000 / us).toFixed(0)
    console.log(`${name}: ${us.toFixed(0)} us a run, ${ratio} times, ${perSecond} runs/s`)
  }
  for (const { slower, faster, times } of claims) {
    printClaim({
      text: `${slower.name} takes at least ${times} times as long as ${faster.name}, ${width} at a time`,
      atLeast: times,
      measured: usOf(slower) / usOf(faster),
      unit: ' times',
    })
  }
}

function contestantOf(runner: Runner, { width, answer }: RaceOptions): Contestant {
  return {
    name: runner.name,
    prepare: (count) => runner.prepare?.(count),
    async run(count) {
      let left = count
      const worker = async (): Promise<void> => {
        while (left > 0) {
          left -= 1
          assertAnswer(runner.name, await runner.run(), answer)
        }
      }
      await Promise.all(Array.from({ length: width }, worker))
    },
  }
}

function assertAnswer(name: string, given: string, wanted: string): void {
  if (given === wanted) return
  throw new Error(`${name} answered ${JSON.stringify(given)}, not ${JSON.stringify(wanted)}`)
}
