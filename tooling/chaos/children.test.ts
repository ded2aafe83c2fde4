import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { expect, it } from 'vitest'

const PROGRAM = fileURLToPath(new URL('children.ts', import.meta.url))

const run = promisify(execFile)

/** About thirty times what it takes, because CI machines are slow and busy. */
const STUCK_MINUTES = 3

it(
  '[ENS-P1] [ENS-P4] A hundred tasks of a handler are each done once when the process that executes them is killed three times',
  { timeout: (STUCK_MINUTES + 1) * 60_000 },
  async () => {
    const size = ['--children', '100', '--kills', '3', '--workers', '1', '--seed', '1']
    const { stdout } = await run(process.execPath, [
      '--conditions=@tutti/source',
      PROGRAM,
      ...size,
      '--minutes',
      String(STUCK_MINUTES),
    ])
    expect(stdout).toContain('No violations')
    expect(stdout).toMatch(/^processes killed +3$/m)
    expect(stdout).toMatch(/^takeovers \(run_resumed\) +3$/m)
  },
)
