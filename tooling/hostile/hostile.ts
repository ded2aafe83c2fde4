/**
 * `npm run hostile`: starts the built server with a small heap. One key sends the largest requests that the limits allow
 * over many connections, without pause; another key reads, submits and awaits results.
 *
 * The process must survive, every 503 must have Retry-After, no other status of 500 or above may occur, and the other key
 * must always be served; a violation ends it with code 1. The times are printed with their goals, which do not fail it.
 * Loopback only.
 */
import { parseArgs } from 'node:util'

import { runTestProgram, toIntegers, toNames } from '../test-kit/test-program.ts'
import { KINDS } from './lib/mix.ts'
import {
  runHostile,
  type HostileOptions,
  type HostileReport,
  type Times,
} from './lib/run-hostile.ts'

const USAGE = `Usage: npm run hostile -- [options]

  --seconds N      duration of the load (60)
  --heap N         heap of the server in MiB (384)
  --connections N  connections of the hostile key (24)
  --only KINDS     kinds of requests, separated by commas (${KINDS.join(',')})
`

/** Goals of the other key, in milliseconds. */
const GOALS = {
  health: { part: 1, ms: 250 },
  read: { part: 0.95, ms: 1_000 },
  submit: { part: 0.95, ms: 1_000 },
  result: { part: 0.95, ms: 5_000 },
} as const satisfies Record<keyof Times, object>

process.exit(
  await runTestProgram<HostileOptions>({
    usage: USAGE,
    readOptions() {
      const { values } = parseArgs({
        options: {
          seconds: { type: 'string', default: '60' },
          heap: { type: 'string', default: '384' },
          connections: { type: 'string', default: '24' },
          only: { type: 'string', default: KINDS.join(',') },
        },
      })
      const { only, ...numbers } = values
      const { heap: heapMb, ...others } = toIntegers(numbers, 1)
      return { ...others, heapMb, kinds: toNames(only, KINDS) }
    },
    async run(options) {
      const { seconds, heapMb, connections } = options
      console.log(`hostile: ${connections} connections, heap of ${heapMb} MiB, ${seconds} s`)
      const report = await runHostile(options)
      printReport(report)
      const repeat = `--seconds ${seconds} --heap ${heapMb} --connections ${connections}`
      return { violations: report.violations, repeat }
    },
  }),
)

function printReport({ times, statuses, stallsMs, heapBytes }: HostileReport): void {
  for (const [name, { part, ms }] of Object.entries(GOALS)) {
    // NOTE: the keys of GOALS are those of the times.
    printTimes(name, times[name as keyof Times], { part, ms })
  }
  console.log(`stalls    ${stallsMs.join(', ')} ms are the longest of the event loop`)
  console.log(`heap      ${Math.round(heapBytes / 1024 / 1024)} MiB at most`)
  const counts = Object.entries(statuses).toSorted(([a], [b]) => a.localeCompare(b))
  const total = counts.reduce((sum, [, count]) => sum + count, 0)
  for (const [status, count] of counts) {
    console.log(`  ${status.padEnd(18)} ${count} (${Math.round((100 * count) / total)} %)`)
  }
}

function printTimes(
  name: string,
  times: readonly number[],
  { part, ms }: { readonly part: number; readonly ms: number },
): void {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): number =>
    Math.round(sorted[Math.ceil(sorted.length * share) - 1] ?? 0)
  const isMet = at(part) <= ms
  const goal = part === 1 ? `max <= ${ms}` : `p${part * 100} <= ${ms}`
  console.log(
    `${name.padEnd(9)} ${sorted.length} requests, p50 ${at(0.5)}, p95 ${at(0.95)}, p99 ${at(0.99)}, max ${at(1)} ms; ` +
      `goal ${goal} ms: ${isMet ? 'met' : 'not met'}`,
  )
}
