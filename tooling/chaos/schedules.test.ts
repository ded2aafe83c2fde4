import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { expect, it } from 'vitest'

const PROGRAM = fileURLToPath(new URL('schedules.ts', import.meta.url))

const run = promisify(execFile)

/** Much longer than it takes, because CI machines are slow and busy. */
const STUCK_MINUTES = 3

it(
  '[RUNS-SC5] Each tick of three schedules has one run while two processes submit them and one is killed',
  { timeout: (STUCK_MINUTES + 1) * 60_000 },
  async () => {
    const size = [
      '--schedules',
      '3',
      '--ticks',
      '6',
      '--workers',
      '2',
      '--kills',
      '1',
      '--seed',
      '1',
    ]
    const { stdout } = await run(process.execPath, [
      '--conditions=@tutti/source',
      PROGRAM,
      ...size,
      '--minutes',
      String(STUCK_MINUTES),
    ])
    expect(stdout).toContain('No violations')
    expect(stdout).toMatch(/^processes killed +1$/m)
  },
)
