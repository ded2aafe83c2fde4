/** Compares runners of whole runs, one at a time and concurrently. */
import { compare, type CompareOptions, type Contestant, type Measured } from './measure.ts'
import { formatNumber, printClaim, printTable } from './report.ts'

/** A contestant that executes runs. */
export interface Runner {
  readonly name: string
  /** Prepares a number of runs before the clock starts. */
  prepare?(runs: number): void
  /** Executes one run and returns its answer. */
  run(): Promise<string>
}

export interface RaceOptions extends CompareOptions {
  /** Title of the table. */
  readonly title: string
  /** Numbers of concurrent runs. */
  readonly widths: readonly number[]
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
  const { title, widths } = options
  const results: { readonly width: number; readonly times: readonly Measured[] }[] = []
  for (const width of widths) {
    const contestants = runners.map((runner) => contestantOf(runner, width, options.answer))
    results.push({ width, times: await compare(contestants, options) })
  }
  printTable({
    title,
    columns: ['', ...widths.flatMap((width) => [`µs a run, ${width} at once`, 'times', 'runs/s'])],
    rows: runners.map(({ name }, at) => [
      name,
      ...results.flatMap(({ times }) => cellsOf(times[at]?.us, times[0]?.us)),
    ]),
  })
  for (const { slower, faster, times: atLeast } of claims) {
    for (const { width, times } of results) {
      const usOf = ({ name }: Runner): number =>
        times.find((result) => result.name === name)?.us ?? Number.NaN
      printClaim({
        text: `${title}: ${slower.name} takes at least ${atLeast} times as long as ${faster.name}, ${width} at once`,
        atLeast,
        measured: usOf(slower) / usOf(faster),
        unit: ' times',
      })
    }
  }
}

function cellsOf(us = Number.NaN, own = Number.NaN): readonly string[] {
  return [formatNumber(us), formatNumber(us / own), formatNumber(Math.round(1_000_000 / us))]
}

function contestantOf(runner: Runner, width: number, answer: string): Contestant {
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
