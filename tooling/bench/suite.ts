/** Shows how long the last `.ci/run` of this checkout took, and its tests. It does not run them. */
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { formatNumber, printClaim, printTable } from './lib/report.ts'

/** Written by `.ci/run`, in seconds. */
interface Durations {
  readonly testS: number
  readonly ciS: number
}

const FILE = fileURLToPath(
  new URL('../../node_modules/.cache/tutti/ci-durations.json', import.meta.url),
)
const LIMITS = { 'npm test': 8, '.ci/run': 13 } as const

// NOTE: only `.ci/run` writes this file.
const durations = existsSync(FILE)
  ? (JSON.parse(readFileSync(FILE, 'utf8')) as Durations)
  : undefined
const minutes = {
  'npm test': (durations?.testS ?? Number.NaN) / 60,
  '.ci/run': (durations?.ciS ?? Number.NaN) / 60,
}
printTable({
  title: 'The last run of the tests and checks',
  columns: ['command', 'minutes'],
  rows: Object.entries(minutes).map(([command, taken]) => [
    command,
    Number.isNaN(taken) ? 'not measured' : formatNumber(taken),
  ]),
})
for (const command of ['npm test', '.ci/run'] as const) {
  printClaim({
    text: `${command} takes at most ${LIMITS[command]} minutes`,
    atMost: LIMITS[command],
    measured: minutes[command],
    unit: ' minutes',
  })
}
