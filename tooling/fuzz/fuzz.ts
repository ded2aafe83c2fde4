/**
 * `npm run fuzz`: attacks the built server with requests and messages that are generated from its schemas.
 *
 * Every attempt must be answered without a status of 500 or above, within the size limit of its answer; the process
 * must survive, and its event loop must never stall for long. Prints every violation; exits with code 1 if there is
 * one. Loopback only.
 */
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'

import { runTestProgram, toIntegers, toNames } from '../test-kit/test-program.ts'
import { runFuzz, TARGETS, type FuzzOptions } from './run-fuzz.ts'

const NAMES = TARGETS.map(({ name }) => name)

const USAGE = `Usage: npm run fuzz -- [options]

  --seconds N   duration of the attack (60)
  --seed N      seed of the generated attempts (random)
  --only NAMES  targets to attack, separated by commas (${NAMES.join(',')})
`

process.exit(
  await runTestProgram<FuzzOptions>({
    usage: USAGE,
    readOptions() {
      const { values } = parseArgs({
        options: {
          seconds: { type: 'string', default: '60' },
          seed: { type: 'string', default: String(randomInt(1_000_000)) },
          only: { type: 'string', default: NAMES.join(',') },
        },
      })
      const { seconds } = toIntegers({ seconds: values.seconds }, 1)
      const { seed } = toIntegers({ seed: values.seed }, 0)
      const names = toNames(values.only, NAMES)
      return { seconds, seed, targets: TARGETS.filter(({ name }) => names.includes(name)) }
    },
    async run(options) {
      const { seconds, seed } = options
      console.log(`fuzz: seed ${seed}, ${seconds} s`)
      const { attempts, violations, longestStallMs } = await runFuzz(options)
      for (const [name, count] of Object.entries(attempts))
        console.log(`${name.padEnd(12)}${count} attempts`)
      console.log(`longest stall ${Math.round(longestStallMs)} ms`)
      return { violations, repeat: `--seed ${seed}` }
    },
  }),
)
