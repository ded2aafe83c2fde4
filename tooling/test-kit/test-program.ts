/** The command line of programs that test the built server for some time, and print its violations. */

/** A program that tests something. */
export interface TestProgram<Options> {
  readonly usage: string
  /** Parses the command line. @throws {Error} naming an option that cannot be used. */
  readOptions(): Options
  /** Runs the test and prints its results, except for the violations. */
  run(options: Options): Promise<TestResult>
}

export interface TestResult {
  readonly violations: readonly string[]
  /** Options that repeat the test, such as `--seed 7`. */
  readonly repeat: string
}

/** Maximum number of violations to print. */
const MAX_PRINTED = 100

/** Exit code for an invalid command line, as shells use it. */
const EXIT_USAGE = 2

/** Runs a program; returns its exit code, which is 1 for a violation. */
export async function runTestProgram<Options>({
  usage,
  readOptions,
  run,
}: TestProgram<Options>): Promise<number> {
  if (process.argv.slice(2).some((word) => word === '--help' || word === '-h')) {
    console.log(usage)
    return 0
  }
  let options
  try {
    options = readOptions()
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`)
    return EXIT_USAGE
  }
  const { violations, repeat } = await run(options)
  for (const violation of violations.slice(0, MAX_PRINTED)) console.log(`VIOLATION ${violation}`)
  if (violations.length === 0) console.log('No violations')
  else console.log(`${violations.length} violations; again with ${repeat}`)
  return violations.length === 0 ? 0 : 1
}

/** Returns the integers of options. @throws {RangeError} naming each that is not an integer of at least `min`. */
export function toIntegers<Name extends string>(
  texts: Readonly<Record<Name, string>>,
  min: number,
): Readonly<Record<Name, number>> {
  const entries = Object.entries<string>(texts)
  const wrong = entries.filter(([, text]) => !Number.isInteger(Number(text)) || Number(text) < min)
  if (wrong.length > 0) {
    throw new RangeError(
      wrong
        .map(([name, text]) => `Cannot use --${name}: got "${text}", expected an integer >= ${min}`)
        .join('\n'),
    )
  }
  // NOTE: the entries have the names of `texts`.
  return Object.fromEntries(entries.map(([name, text]) => [name, Number(text)])) as Record<
    Name,
    number
  >
}

/** Returns the known names of a list with commas, in their own order. @throws {RangeError} naming the unknown ones. */
export function toNames<Name extends string>(
  list: string,
  known: readonly Name[],
): readonly Name[] {
  const names = list.split(',')
  const unknown = names.filter((name) => !known.some((each) => each === name))
  if (unknown.length > 0)
    throw new RangeError(`Unknown name "${unknown.join('", "')}". Known: ${known.join(', ')}`)
  return known.filter((name) => names.includes(name))
}
