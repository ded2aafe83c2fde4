/**
 * `npm run fuzz`: attacks the built server with requests and messages that are generated from its schemas.
 *
 * Every attempt must be answered without a status of 500 or above, within the size limit of its answer; the process
 * must survive, and its event loop must never stall for long. Prints every violation; exits with code 1 if there is
 * one. Loopback only.
 */
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'

import { runFuzz, TARGETS, type FuzzOptions } from './run-fuzz.ts'

const NAMES = TARGETS.map(({ name }) => name)

const USAGE = `Usage: npm run fuzz -- [options]

  --seconds N   duration of the attack (60)
  --seed N      seed of the generated attempts (random)
  --only NAMES  targets to attack, separated by commas (${NAMES.join(',')})
`

/** Exit code for an invalid command line, as shells use it. */
const EXIT_USAGE = 2

process.exit(await main())

async function main(): Promise<number> {
  if (process.argv.includes('--help')) {
    console.log(USAGE)
    return 0
  }
  const options = readOptions()
  if (typeof options === 'string') {
    console.error(`${options}\n\n${USAGE}`)
    return EXIT_USAGE
  }
  const { seconds, seed } = options
  console.log(`fuzz: seed ${seed}, ${seconds} s`)
  const { attempts, violations, longestStallMs } = await runFuzz(options)
  for (const [name, count] of Object.entries(attempts))
    console.log(`${name.padEnd(12)}${count} attempts`)
  console.log(`longest stall ${Math.round(longestStallMs)} ms`)
  for (const violation of violations) console.log(`VIOLATION ${violation}`)
  console.log(violations.length === 0 ? 'No violations' : `Repeat with --seed ${seed}`)
  return violations.length === 0 ? 0 : 1
}

/** Parses the command line; returns the options or the problems. */
function readOptions(): FuzzOptions | string {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '60' },
      seed: { type: 'string', default: String(randomInt(1_000_000)) },
      only: { type: 'string', default: NAMES.join(',') },
    },
  })
  const [seconds, seed] = [Number(values.seconds), Number(values.seed)]
  if (!(seconds > 0)) return `--seconds must be a number above 0, got "${values.seconds}"`
  if (!Number.isInteger(seed)) return `--seed must be an integer, got "${values.seed}"`
  const names = values.only.split(',')
  const unknown = names.filter((name) => !NAMES.includes(name))
  if (unknown.length > 0)
    return `Unknown target "${unknown.join('", "')}". Known: ${NAMES.join(', ')}`
  return { seconds, seed, targets: TARGETS.filter(({ name }) => names.includes(name)) }
}
